"""`cute.convert`: `cvt` on the fragments of register tensors."""

from __future__ import annotations

from tilewright.dialects.cute.ops.convert import ConvertOp
from tilewright.dialects.cute.types.tensors import element_type
from tilewright.dialects.cute_nvgpu.ops import fragment_arithmetic
from tilewright.dialects.cute_nvgpu.types.conversion import ConvertAttr
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.tile.access import register_places
from tilewright.lowering.tile.kernel import Kernel, lowers
from tilewright.lowering.tile.written_registers import WRITES


@lowers(ConvertOp)
def _convert(op: ConvertOp, kernel: Kernel) -> None:
    source, dest, *random = (kernel.tensor(operand) for operand in op.operands)
    every = range(source.modes.size())
    value, *bits = (
        kernel.read(op, tensor, register_places(op, tensor, range(tensor.modes.size())))
        for tensor in (source, *random)
    )
    atom = op.atom
    assert isinstance(atom, ConvertAttr)
    result = FragmentType.get(len(every), element_type(dest.element))
    converted = fragment_arithmetic.ConvertOp(value, result, atom, random=bits[0] if bits else None)
    places = register_places(op, dest, every)
    kernel.registers(dest).write(places, kernel.emitter.emit(converted), kernel.emitter)


WRITES[ConvertOp] = lambda op: op.destination
