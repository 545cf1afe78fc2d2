"""Kernels of one instruction each, to be run on a chip and in the interpreter."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.lattice import WmmaRow
from tilewright.dialects.cute_nvgpu.lattice.scalar import APPROXIMATE, ARITHMETIC, LOGIC
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.ptx import scalars, wmma
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.ptx.functions import RetOp
from tilewright.dialects.ptx.instruction import REGISTER_OF, ScalarOp
from tilewright.dialects.ptx.matrix import MmaOp
from tilewright.dialects.ptx.registers import ConstOp, ListGetOp, ListMakeOp, SregOp
from tilewright.dialects.ptx.scalars import AddOp, CvtaOp, CvtOp, MulOp, SelpOp, SetpOp
from tilewright.dialects.ptx.types import KINDS, RegType, reg

SCALAR_OPS: tuple[type[ScalarOp], ...] = (
    *(scalars.SCALAR_OPS[row.name] for row in (*ARITHMETIC, *APPROXIMATE, *LOGIC)),
    CvtOp,
)


def scalar_forms(arch: str) -> dict[str, tuple[type[ScalarOp], str]]:
    """Every form of every scalar instruction that the chip runs, by its name."""
    return {
        f"{op.name}.{form}": (op, form)
        for op in SCALAR_OPS
        for form in op.ROW.forms
        if target(arch).supports(op.ROW.forms[form].requirement.target)
    }


class Code:
    """A straight-line kernel whose parameters are pointers."""

    def __init__(self, parameters: int):
        self.block = Block(arg_types=[reg("b64")] * parameters)

    def add(self, op: object) -> SSAValue:
        self.block.add_op(op)  # type: ignore[arg-type]
        return op.results[0]  # type: ignore[attr-defined]

    def const(self, bits: int, kind: str) -> SSAValue:
        return self.add(ConstOp(bits, kind))

    def start(self, pointer: SSAValue) -> SSAValue:
        """The address of a buffer."""
        return self.add(CvtaOp("to.global.u64", [pointer]))

    def offset(self, width: int, type_: str) -> SSAValue:
        """Where this thread's `width` bytes begin, as u32 or u64."""
        thread = self.add(SregOp("tid.x"))
        if type_ == "u64":
            thread = self.add(CvtOp("u64.u32", [thread]))
        return self.add(MulOp(f"lo.{type_}", [thread, self.const(width, type_.replace("u", "b"))]))

    def element(self, pointer: SSAValue, width: int) -> SSAValue:
        """The address of this thread's `width` bytes in a buffer."""
        return self.add(AddOp("u64", [self.start(pointer), self.offset(width, "u64")]))

    def load_list(self, pointer: SSAValue, kind: str, count: int) -> SSAValue:
        """This thread's registers, from a buffer."""
        width = KINDS[kind] // 8
        address = self.element(pointer, width * count)
        parts = [self.add(LdOp("global", kind, address, i * width)) for i in range(count)]
        return parts[0] if count == 1 else self.add(ListMakeOp(parts, reg(kind, count)))

    def store_list(self, pointer: SSAValue, value: SSAValue) -> None:
        """The inverse of `load_list`."""
        assert isinstance(value.type, RegType)
        kind, count = value.type.kind.data, value.type.count.data
        width = KINDS[kind] // 8
        address = self.element(pointer, width * count)
        for i in range(count):
            part = self.add(ListGetOp(value, i)) if count > 1 else value
            self.block.add_op(StOp("global", kind, address, part, i * width))

    def module(self, name: str, shared_bytes: int = 0, align: int = 128) -> ModuleOp:
        self.block.add_op(RetOp())
        names = [(f"p{i}", "u64") for i in range(len(self.block.args))]
        return ModuleOp([EntryOp(name, names, Region(self.block), shared_bytes, align)])


def access_type(type_: str) -> str:
    """How a value of an instruction type is kept in memory; predicates as 16 bits."""
    kind = REGISTER_OF[type_]
    return "b16" if kind == "pred" else kind


def scalar_kernel(op_type: type[ScalarOp], form: str) -> ModuleOp:
    """Thread i computes one form on element i of the input buffers into the last buffer."""
    row = op_type.ROW.forms[form]
    code = Code(len(row.types) + 1)
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


def _load(code: Code, pointer: SSAValue, type_: str) -> SSAValue:
    access = access_type(type_)
    address = code.element(pointer, KINDS[access] // 8)
    value = code.add(LdOp("global", access, address))
    if REGISTER_OF[type_] == "pred":
        return code.add(SetpOp("ne.u16", [value, code.const(0, "b16")]))
    return value


def mma_kernel(atom: MmaAtom, selectors: Sequence[int] = ()) -> ModuleOp:
    """One warp computes one MMA: words of its inputs in, words of D out."""
    code = Code(len(atom.inputs) + 1)
    fragments = [
        code.load_list(pointer, *atom.registers(operand))
        for pointer, operand in zip(code.block.args, atom.inputs, strict=False)
    ]
    op = wmma.MmaOp if isinstance(atom.row, WmmaRow) else MmaOp
    code.store_list(code.block.args[-1], code.add(op(fragments, atom, selectors)))
    return code.module("mma")
