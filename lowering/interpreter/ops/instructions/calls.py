"""Calls of the driver's functions, which have no body: those that print, `malloc` and `free`.
CUDA C++ Programming Guide, formatted output, assertions and dynamic memory."""

from functools import partial

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.printf_format import (
    PLACES,
    FormatString,
    failed_assertion,
    passed_as,
)
from tilewright.dialects.ptx.functions import CallOp
from tilewright.dialects.ptx.types import KINDS, reg
from tilewright.lowering.interpreter.builder import Effect, accesses
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.memref import load_words
from tilewright.lowering.interpreter.ops.base.printf import print_lines
from tilewright.lowering.interpreter.ops.instructions.address import allocate
from tilewright.lowering.interpreter.ops.instructions.operands import moved, windows
from tilewright.lowering.interpreter.share import PrintedText
from tilewright.lowering.interpreter.values import Bits, distinct, spread
from tilewright.source.diagnostic import OpError


@accesses
def _call(op: CallOp, number: int) -> Effect:
    function = _FUNCTIONS.get(name := op.callee.string_value())
    if function is None:
        raise OpError(op, f"'{op.name}' expected a function with a body, or one of "
                          f"{', '.join(_FUNCTIONS)}, got {name}")  # fmt: skip
    return partial(function, op, number)


def _vprintf(
    op: Operation, number: int, machine: Machine, gang: Gang, formats: Bits, places: Bits
) -> Bits:
    """Print what lies one behind the other from the threads' places on, in each the values of its
    format; how many these are."""
    counts = np.zeros(gang.count, np.uint32)
    formats = spread(formats, gang.count)
    for address in distinct(formats):
        text, chosen, offset = machine.memory.text(address), formats == address, 0
        kinds = passed_as(text)
        columns = list[Bits]()
        for kind in kinds:
            width = KINDS[kind] // 8
            offset = -(-offset // width) * width
            words = np.zeros((gang.count, 1), f"uint{8 * width}")
            where = windows(moved(places, offset), chosen, generic=True, shared=False)
            for shared, place, part in where:
                words = load_words(
                    machine, gang, place, width=width, count=1, number=number, shared=shared,
                    chosen=part, otherwise=words,
                )  # fmt: skip
            columns.append(words[chosen, 0])
            offset += width
        format_ = FormatString.of(op, text, [reg(kind) for kind in kinds])
        count = int(chosen.sum())
        print_lines(machine.launch.say, op, format_, columns, count, machine.memory.text)
        counts[chosen] = len(kinds)
    return counts


def _assertfail(op: Operation, _: int, machine: Machine, gang: Gang, *given: Bits) -> None:
    """Print what CUDA prints of an assertion that fails, in each thread, and end the kernel."""
    text, lanes = machine.memory.text, gang.lanes
    columns = [spread(value, gang.count) for value in given[:4]]
    columns += [machine.special(place)[lanes] for place in PLACES]
    lines = [
        f"{text(file)}:{line}: {text(function)}: {failed_assertion(text(message)) % tuple(places)}"
        for message, file, line, function, *places in zip(
            *map(np.ndarray.tolist, columns), strict=True
        )
    ]
    machine.launch.say(PrintedText.of(op, "".join(lines)))
    raise Fault(f"fails: {text(int(columns[0][0]))}", 0)


def _malloc(_op: Operation, _: int, machine: Machine, gang: Gang, sizes: Bits) -> Bits:
    return allocate(machine, gang, sizes)


def _free(*_: object) -> None:
    """Freed memory stays where it is: nothing else gets its addresses."""


_FUNCTIONS = {
    "vprintf": _vprintf, "__assertfail": _assertfail, "malloc": _malloc, "free": _free
}  # fmt: skip
