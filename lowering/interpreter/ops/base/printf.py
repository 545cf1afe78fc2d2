"""`gpu.printf` and `cf.assert`: a line for every thread, one after the other."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import cf
from xdsl.ir import Operation

from tilewright.dialects.gpu import PrintfOp
from tilewright.dialects.printf_format import (
    PLACES,
    SAID,
    FormatString,
    failed_assertion,
)
from tilewright.dialects.ptx.calls import BrkptOp, TrapOp
from tilewright.lowering.interpreter.arithmetic.typed_words import typed
from tilewright.lowering.interpreter.builder import Effect, effects, executes
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.share import PrintedText
from tilewright.lowering.interpreter.values import Bits, spread


def print_lines(
    say: Callable[[str], Any], op: Operation, format_: FormatString, values: Sequence[Any],
    count: int, text: Callable[[int], str] | None = None,
) -> list[str]:  # fmt: skip
    """Print for an op the line of each of `count` threads, with the `text` at an address; the
    lines."""
    columns = [
        typed(spread(value, count), type_).tolist()
        for value, type_ in zip(values, format_.types, strict=True)
    ]
    rows = zip(*columns, strict=True) if columns else [()] * count
    lines = [format_.line(row, text) for row in rows]
    say(PrintedText.of(op, "".join(lines)))
    return lines


@effects
def _printf(op: PrintfOp) -> Effect:
    format_ = FormatString.of(op, op.format.data, op.operand_types)

    def run(machine: Machine, gang: Gang, *values: Bits) -> None:
        text = machine.memory.text
        print_lines(machine.launch.say, op, format_, values, gang.count, text)

    return run


@effects
def _assert(op: cf.AssertOp) -> Effect:
    message = op.msg.data
    format_ = FormatString(failed_assertion(message), ("s32",) * len(PLACES))

    def run(machine: Machine, gang: Gang, condition: Bits) -> None:
        failed = np.flatnonzero(~spread(condition, gang.count))
        if len(failed):
            lanes = gang.lanes[failed]
            if SAID not in op.attributes:
                places = [machine.special(place)[lanes] for place in PLACES]
                print_lines(machine.launch.say, op, format_, places, len(failed))
            raise Fault(f"fails: {message}", int(failed[0]))

    return run


@executes(BrkptOp, TrapOp)
def _trap(machine: Machine, gang: Gang) -> None:
    raise Fault("is executed", 0)
