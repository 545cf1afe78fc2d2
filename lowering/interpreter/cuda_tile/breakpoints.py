"""Breakpoints in programs of tiles: whole tiles where blocks come to a line of the source, which is
that of the text or, in bytecode, the line of Python that its debug info names."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.printer import Printer

from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.frozen import factory
from tilewright.lowering.interpreter.breakpoints import Breakpoints, Shown
from tilewright.lowering.interpreter.cuda_tile.blocks import Prepared, Step
from tilewright.lowering.interpreter.cuda_tile.fault_state import text_of
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.pieces import Unstored
from tilewright.lowering.interpreter.cuda_tile.poison import Poisoned
from tilewright.source.diagnostic import ExecutionError, line_of, place_of


class _ValueNames(Printer):
    """The names of values as `tilewright-opt` prints them, numbers where they have none."""

    def __init__(self, op: Operation):
        super().__init__(io.StringIO())
        self.named: dict[str, list[SSAValue]] = {}
        self.print_op(op)

    def print_ssa_value(self, value: SSAValue) -> str:
        name = super().print_ssa_value(value)
        values = self.named.setdefault(name.removeprefix("%"), [])
        if value not in values:
            values.append(value)
        return name


@dataclass
class LineStops:
    """The stops that breakpoints make in an entry of a module, whose text is `source`."""

    points: Breakpoints
    entry: Operation
    source: str | None
    met: set[int] = factory(set)
    lines: set[int] = factory(set)

    def __post_init__(self) -> None:
        top = self.entry
        while (parent := top.parent_op()) is not None:
            top = parent
        self.names = _ValueNames(top).named
        self.known = {id(value): name for name, values in self.names.items() for value in values}
        place = place_of(self.entry.location)
        self.file = None if place is None else place[0]
        for wanted in self.points.values:
            if wanted.name not in self.names:
                names = ", ".join(f"%{name}" for name in self.names)
                raise ExecutionError(f"expected a value of {names} to print, got {wanted.text}")
            if "," in wanted.text:
                raise ExecutionError(
                    f"expected %name or %name[block] of Tile IR to print, got {wanted.text}"
                )

    def watch(self, block: Prepared) -> None:
        """Stop before the first step of each line of a block; where no values are asked for, show
        behind its last one the tiles that the line gives."""
        steps: dict[int, list[Step]] = {}
        for step in block.steps:
            place = place_of(step.op.location)
            if place is not None and self.file in (None, place[0]):
                steps.setdefault(place[1], []).append(step)
        self.lines |= steps.keys()
        for line in self.points.lines:
            own = steps.get(line, [])
            if own:
                self.met.add(line)
                where = block.steps.index(own[0] if self.points.values else own[-1])
                stop = self._stop(line, own)
                block.steps.insert(where + (not self.points.values), stop)
                block.pointwise = False
        for step in block.steps:
            # Whatever has a value is to be there when it is asked for.
            step.dead, step.late = (), False

    def _stop(self, line: int, steps: Sequence[Step]) -> Step:
        def stop(frame: Frame) -> None:
            if self.points.reached(line):
                self.points.say("\n".join(self._state(line, steps, frame)))

        return Step(steps[0].op, (), (), act=stop)

    def _state(self, line: int, steps: Sequence[Step], frame: Frame) -> Iterator[str]:
        op = steps[0].op
        first = frame.gang.machine.coordinates(int(frame.blocks[0]))
        what = f"'{op.name}'" if self.points.values else "done"
        yield f"line {line}: {what} by {frame.count} blocks, block {first} first"
        place = place_of(op.location)
        text = None if place is None else line_of(place[0], line, self.source)
        if text is not None:
            yield text.rstrip()
        for wanted in self.points.values:
            yield self._asked(wanted, frame)
        if not self.points.values:
            results = [value for step in steps for value in step.op.results]
            for value in results:
                if isinstance(value.type, TileType):
                    yield self._line(f"%{self.known[id(value)]}", value, frame, 0)

    def _asked(self, wanted: Shown, frame: Frame) -> str:
        value = next((v for v in reversed(self.names[wanted.name]) if _has(frame, id(v))), None)
        if value is None:
            return f"  {wanted.text} has no value yet"
        row = 0
        if wanted.thread is not None:
            row = int(np.searchsorted(frame.blocks, wanted.thread))
            if row == frame.count or frame.blocks[row] != wanted.thread:
                return f"  {wanted.text}: that block is not among those here"
        return self._line(wanted.text, value, frame, row)

    def _line(self, name: str, value: SSAValue, frame: Frame, row: int) -> str:
        content = frame[value]
        if isinstance(content, Unstored):
            content = content.tile()
        count = len(content) if isinstance(content, np.ndarray | Poisoned) else 0
        where = f" in block {frame.gang.machine.coordinates(int(frame.blocks[row]))}"
        where = " in all of them" if count == 1 < frame.count else where * (frame.count > 1)
        return f"  {name}: {shown(value.type)} = {text_of(content, value, row)}{where}"


def _has(frame: Frame | None, key: int) -> bool:
    while frame is not None:
        if key in frame.values:
            return True
        frame = frame.parent
    return False
