"""Ops that one instruction of a text was read as, which is written of them again."""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.cute_nvgpu.lattice.composed import own_needs
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Requirement

ONE_INSTRUCTION = "ptx.one_instruction"
"""The attribute of such ops. Of the last it is how many there are and the instruction, with `%0` on
for the values that they read of no other of them, and `=0` on for the result of the op there."""
_OF_PARAMETERS = "ld.param.", "mov.b64 "
"""The beginnings of those that load a parameter, or move the address of one: it stands in them by
its name."""
_PLACE = re.compile(r"([%=])(\d+)")


class OneInstruction(NamedTuple):
    """The ops, the instruction, and the values of its places."""

    ops: Sequence[Operation]
    text: str
    values: Mapping[str, SSAValue]

    @property
    def parameter(self) -> SSAValue | None:
        """The parameter that it is of."""
        return self.values["%0"] if self.text.startswith(_OF_PARAMETERS) else None

    @property
    def requirement(self) -> Requirement:
        """The target and version of the instruction, whatever its ops need."""
        return own_needs(self.text) or BASELINE

    def written(self, names: Mapping[SSAValue, Sequence[str]]) -> str:
        """The instruction on registers of these names."""
        return _PLACE.sub(lambda place: names[self.values[place[0]]][0], self.text) + ";"


def _values(ops: Sequence[Operation]) -> dict[str, SSAValue]:
    """The values that ops read of no other of them, and their results."""
    results = {result for op in ops for result in op.results}
    reads = dict.fromkeys(one for op in ops for one in op.operands if one not in results)
    return {
        **{f"%{place}": value for place, value in enumerate(reads)},
        **{f"={place}": op.results[0] for place, op in enumerate(ops) if len(op.results) == 1},
    }


def mark(
    block: Block, before: Operation | None, text: str, values: Sequence[SSAValue | None]
) -> None:  # fmt: skip
    """Let the ops of a block behind one be one instruction, with `{}` for each of its values; not
    where others are read too, or it gives what none of the ops does."""
    ops = [*takewhile(lambda op: op is not before, reversed(block.ops))][::-1]
    places = {value: place for place, value in _values(ops).items()}
    if places.keys() >= {*values} and not any(
        place[0] == "%" and value not in values for value, place in places.items()
    ):
        for op in ops[:-1]:
            op.attributes[ONE_INSTRUCTION] = UnitAttr()
        text = text.format(*map(places.__getitem__, values))
        ops[-1].attributes[ONE_INSTRUCTION] = StringAttr(f"{len(ops)} {text}")


def one_instruction(first: Operation) -> OneInstruction | None:
    """The instruction that begins with an op, where all its ops are there and nothing else reads
    what is between them."""
    ops = [first]
    while not isinstance(said := ops[-1].attributes.get(ONE_INSTRUCTION), StringAttr):
        if said is None or (behind := ops[-1].next_op) is None:
            return None
        ops.append(behind)
    count, _, text = said.data.partition(" ")
    values, places = _values(ops), {place[0] for place in _PLACE.finditer(text)}
    given = {values[place] for place in places if place in values}
    inside = (result for op in ops for result in op.results if result not in given)
    is_whole = (
        len(ops) == int(count)
        and places == {one for one in values if one[0] == "%" or one in places}
        and all(use.operation in ops for result in inside for use in result.uses)
    )
    return OneInstruction(ops, text, values) if is_whole else None
