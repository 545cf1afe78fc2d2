"""Ops of `cute_nvgpu` that are an op of `ptx`: of one row, and with the same fields.

The place of an element of a memref, its `indices`, is an address plus an `offset` in `ptx`.
"""

from typing import Any

from xdsl.irdl import OpDef

from tilewright.dialects.cute_nvgpu.dialect import CUTE_NVGPU
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp
from tilewright.dialects.ptx.dialect import PTX
from tilewright.dialects.ptx.instruction import RowOp
from tilewright.lowering.to_ptx.conversion import RULES, Conversion, Rule
from tilewright.lowering.to_ptx.convert_memref import locate
from tilewright.lowering.to_ptx.convert_tmem import TmemTile, locate_cell


def add_instruction_rules() -> None:
    """Give ops of `cute_nvgpu` without a rule of their own that of their instruction."""
    rows = [op for op in PTX.operations if issubclass(op, RowOp) and "ROW" in vars(op)]
    instruction_of = {id(op.ROW): op for op in rows}
    for op in CUTE_NVGPU.operations:
        instruction = instruction_of.get(id(vars(op).get("ROW")))
        if op not in RULES and issubclass(op, NvgpuOp) and instruction is not None:
            RULES[op] = _rule(op, instruction)


def _rule(op_type: type[NvgpuOp], instruction: type[RowOp]) -> Rule:
    definition = op_type.get_irdl_definition()
    sources = [name for name in _operands(definition) if name != "indices"]
    operands = list(zip(_operands(instruction.get_irdl_definition()), sources, strict=True))
    placed = "indices" in _operands(definition)

    def lower(op: Any, to: Conversion) -> None:
        fields = {name: getattr(op, name) for name in definition.properties}
        values = {name: to.values[getattr(op, source)] for name, source in operands}
        if placed:
            address = operands[0][0]
            place: Any = locate_cell if isinstance(values[address], TmemTile) else locate
            values[address], fields["offset"] = place(op, values[address], op.indices, to)
        made = instruction(**values, **fields)
        to.add(made)
        for result, register in zip(op.results, made.results, strict=True):
            to[result] = register

    return lower


def _operands(definition: OpDef) -> list[str]:
    return [name for name, _ in definition.operands]
