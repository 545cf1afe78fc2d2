"""`gpu.printf`, PTX's `vprintf` and `cf.assert`: a line for every thread, one after the other."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import cf

from tilewright.dialects.gpu import PrintfOp
from tilewright.dialects.printf_format import PLACES, FormatString, failed_assertion
from tilewright.dialects.ptx.calls import TrapOp, VprintfOp
from tilewright.lowering.interpreter.arithmetic.typed_words import typed
from tilewright.lowering.interpreter.builder import Builder, Step, runs
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.values import spread


def print_lines(
    say: Callable[[str], Any], format_: FormatString, values: Sequence[Any], count: int
) -> list[str]:
    """Print the line of each of `count` threads; the lines."""
    columns = [
        typed(spread(value, count), type_).tolist()
        for value, type_ in zip(values, format_.types, strict=True)
    ]
    rows = zip(*columns, strict=True) if columns else [()] * count
    lines = [format_.template % row for row in rows]
    say("".join(lines))
    return lines


@runs(PrintfOp, VprintfOp)
def _printf(op: PrintfOp | VprintfOp, builder: Builder) -> Step:
    format_ = FormatString.of(op, op.format.data, op.operand_types)
    slots = builder.slots(op.operands)

    def step(machine: Machine, gang: Gang) -> None:
        print_lines(machine.launch.say, format_, [gang.regs[slot] for slot in slots], gang.count)

    return step


@runs(cf.AssertOp)
def _assert(op: cf.AssertOp, builder: Builder) -> Step:
    message = op.msg.data
    format_ = FormatString(failed_assertion(message), ("s32",) * len(PLACES))
    condition = builder.slot(op.arg)

    def step(machine: Machine, gang: Gang) -> None:
        failed = np.flatnonzero(~spread(gang.regs[condition], gang.count))
        if len(failed):
            lanes = gang.lanes[failed]
            places = [machine.special(place)[lanes] for place in PLACES]
            print_lines(machine.launch.say, format_, places, len(failed))
            raise Fault(f"fails: {message}", int(failed[0]))

    return step


@runs(TrapOp)
def _trap(op: TrapOp, builder: Builder) -> Step:
    def step(machine: Machine, gang: Gang) -> None:
        raise Fault("is executed", 0)

    return step
