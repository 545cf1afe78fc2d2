"""Ops of `cute_nvgpu` that are an op of `ptx`: those of one row, and those of a table.

What the instruction reads stands in the order of the op's operands, but for the address of its
memory, which comes first: the place of an element of a memref, its `indices`, is an `address` plus
an `offset`, in the memref's `space`. Its other fields are the op's properties of the same names.
"""

from enum import Enum
from functools import cache
from typing import Any

from xdsl.ir import SSAValue
from xdsl.irdl import OpDef

from tilewright.dialects.cute_nvgpu.dialect import CUTE_NVGPU
from tilewright.dialects.cute_nvgpu.ops import (
    address,
    fragment_memory,
    matrix_copy,
)
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp
from tilewright.dialects.op_facts import SEGMENTS
from tilewright.dialects.ptx import data_movement
from tilewright.dialects.ptx import matrix_copy as ptx_matrix_copy
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.scalar_types import register_type
from tilewright.dialects.row_ops import ops_of
from tilewright.lowering.to_ptx.conversion import RULES, Conversion, Rule
from tilewright.lowering.to_ptx.convert_memref import locate
from tilewright.lowering.to_ptx.convert_tmem import TmemTile, locate_cell

_INSTRUCTIONS: dict[type[NvgpuOp], type[PtxOp]] = {
    address.LdmatrixOp: ptx_matrix_copy.LdmatrixOp,
    fragment_memory.LoadOp: data_movement.LdOp,
    fragment_memory.StoreOp: data_movement.StOp,
    matrix_copy.StmatrixOp: ptx_matrix_copy.StmatrixOp,
}
"""The instructions of ops that have no row of their own."""


def add_instruction_rules() -> None:
    """Give ops of `cute_nvgpu` without a rule of their own that of their instruction."""
    for op in CUTE_NVGPU.operations:
        if op not in RULES and issubclass(op, NvgpuOp):
            of_row = (other for other in ops_of(*op.ROWS[:1]) if issubclass(other, PtxOp))
            instruction = _INSTRUCTIONS.get(op) or next(of_row, None)
            if instruction is not None:
                RULES[op] = _rule(op, instruction)


def _rule(op_type: type[NvgpuOp], instruction: type[PtxOp]) -> Rule:
    definition, made_of = op_type.get_irdl_definition(), instruction.get_irdl_definition()
    sources = _operands(definition)
    if "indices" in sources:
        place = sources.index("indices")
        sources = [sources[place - 1], *sources[: place - 1], *sources[place + 1 :]]
    operands = list(zip(_operands(made_of), sources, strict=False))
    results = [name for name, _ in made_of.results]

    def lower(op: Any, to: Conversion) -> list[SSAValue]:
        fields: dict[str, Any] = {name: to.given(getattr(op, source)) for name, source in operands}
        if operands:
            fields |= _place(op, operands[0][0], fields[operands[0][0]], to)
        fields |= zip(results, (register_type(result.type) for result in op.results), strict=True)
        to.add(made := instruction_of(op, instruction, fields))
        return list(made.results)

    return lower


def instruction_of(op: Any, instruction: type[PtxOp], fields: dict[str, Any]) -> PtxOp:
    """The instruction with those of some fields that it has, other properties being the op's of the
    same names."""
    names, own = _fields(instruction, op.__class__)
    given = {name: field for name, field in fields.items() if name in names}
    for name in own:
        if name not in fields:
            given[name] = _constant(getattr(op, name))
    return instruction.of_fields(**given)


@cache
def _fields(instruction: type[PtxOp], op: type[Any]) -> tuple[set[str], set[str]]:
    """The names of its operands, results and properties, and of the properties that an op has."""
    definition = instruction.get_irdl_definition()
    properties = definition.properties.keys() - {SEGMENTS}
    results = [name for name, _ in definition.results]
    return {*_operands(definition), *results, *properties}, properties.intersection(dir(op))


def _operands(definition: OpDef) -> list[str]:
    return [name for name, _ in definition.operands]


def _constant(value: Any) -> Any:
    """A property as an instruction has it: what an attribute of the dialect's own is of."""
    data: Any = getattr(value, "data", value)
    return data.value if isinstance(data, Enum) else data


def _place(op: Any, name: str, memory: Any, to: Conversion) -> dict[str, Any]:
    """The fields that say where in memory the op's indices are, if it has any."""
    if not hasattr(op, "indices"):
        return {name: memory.address} if isinstance(memory, TmemTile) else {}
    if isinstance(memory, TmemTile):
        address, offset = locate_cell(op, memory, op.indices, to)
        return {name: address, "offset": offset}
    address, offset = locate(op, memory, op.indices, to)
    return {name: address, "offset": offset, "space": memory.ptx_space}
