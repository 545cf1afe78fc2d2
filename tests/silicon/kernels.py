"""Kernels of one instruction each, to be run on a chip and in the interpreter."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects.cute_nvgpu.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.dialects.ptx.arithmetic import OPS as ARITHMETIC
from tilewright.dialects.ptx.arithmetic import AddOp, MulOp
from tilewright.dialects.ptx.control_flow import EntryOp, RetOp
from tilewright.dialects.ptx.convert import CvtaOp, CvtOp
from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.ptx.instruction import REGISTER_OF, ScalarOp
from tilewright.dialects.ptx.logic import OPS as LOGIC
from tilewright.dialects.ptx.logic import SelpOp, SetpOp
from tilewright.dialects.ptx.matrix import MmaOp
from tilewright.dialects.ptx.registers import (
    ConstOp,
    ListGetOp,
    ListMakeOp,
    SregOp,
)
from tilewright.dialects.ptx.types import KINDS, reg

SCALAR_OPS: tuple[type[ScalarOp], ...] = (*ARITHMETIC, *LOGIC, CvtOp)


def scalar_forms() -> list[tuple[type[ScalarOp], str]]:
    """Every form of every scalar instruction."""
    return [(op, form) for op in SCALAR_OPS for form in op.FORMS]


class _Code:
    """A straight-line kernel whose parameters are pointers."""

    def __init__(self, parameters: int):
        self.block = Block(arg_types=[reg("b64")] * parameters)

    def add(self, op: object) -> SSAValue:
        self.block.add_op(op)  # type: ignore[arg-type]
        return op.results[0]  # type: ignore[attr-defined]

    def const(self, bits: int, kind: str) -> SSAValue:
        return self.add(ConstOp(bits, kind))

    def element(self, pointer: SSAValue, width: int) -> SSAValue:
        """The address of this thread's `width` bytes in a buffer."""
        base = self.add(CvtaOp("to.global.u64", [pointer]))
        thread = self.add(CvtOp("u64.u32", [self.add(SregOp("tid.x"))]))
        offset = self.add(MulOp("lo.u64", [thread, self.const(width, "b64")]))
        return self.add(AddOp("u64", [base, offset]))

    def module(self, name: str) -> ModuleOp:
        self.block.add_op(RetOp())
        names = [(f"p{i}", "u64") for i in range(len(self.block.args))]
        return ModuleOp([EntryOp(name, names, Region(self.block))])


def access_type(type_: str) -> str:
    """How a value of an instruction type is kept in memory; predicates as 16 bits."""
    kind = REGISTER_OF[type_]
    return "b16" if kind == "pred" else kind


def scalar_kernel(op_type: type[ScalarOp], form: str) -> ModuleOp:
    """Thread i computes one form on element i of the input buffers into the last buffer."""
    row = op_type.FORMS[form]
    code = _Code(len(row.types) + 1)
    inputs = [
        _load(code, pointer, type_)
        for pointer, type_ in zip(code.block.args, row.types, strict=False)
    ]
    result = code.add(op_type(form, inputs))
    access = access_type(row.result)
    if REGISTER_OF[row.result] == "pred":
        result = code.add(SelpOp("b16", [code.const(1, "b16"), code.const(0, "b16"), result]))
    address = code.element(code.block.args[-1], KINDS[access] // 8)
    code.block.add_op(StOp("global", access, address, result))
    return code.module("scalar")


def _load(code: _Code, pointer: SSAValue, type_: str) -> SSAValue:
    access = access_type(type_)
    address = code.element(pointer, KINDS[access] // 8)
    value = code.add(LdOp("global", access, address))
    if REGISTER_OF[type_] == "pred":
        return code.add(SetpOp("ne.u16", [value, code.const(0, "b16")]))
    return value


def mma_kernel(atom: MmaAtom, selectors: Sequence[int] = ()) -> ModuleOp:
    """One warp computes one MMA: words of its inputs in, words of D out."""
    code = _Code(len(atom.inputs) + 1)
    fragments = [
        _load_fragment(code, pointer, atom, operand)
        for pointer, operand in zip(code.block.args, atom.inputs, strict=False)
    ]
    result = code.add(MmaOp(fragments, atom, selectors))
    kind, count = atom.registers("D")
    address = code.element(code.block.args[-1], KINDS[kind] // 8 * count)
    for i in range(count):
        part = code.add(ListGetOp(result, i)) if count > 1 else result
        code.block.add_op(StOp("global", kind, address, part, i * KINDS[kind] // 8))
    return code.module("mma")


def _load_fragment(code: _Code, pointer: SSAValue, atom: MmaAtom, operand: Operand) -> SSAValue:
    kind, count = atom.registers(operand)
    width = KINDS[kind] // 8
    address = code.element(pointer, width * count)
    parts = [code.add(LdOp("global", kind, address, i * width)) for i in range(count)]
    return parts[0] if count == 1 else code.add(ListMakeOp(parts, reg(kind, count)))
