"""`cute.gemm`: one MMA for each K, N and M of its partitions."""

from dataclasses import replace
from itertools import product
from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects.cute.atoms import OPERAND_MODES, Operand
from tilewright.dialects.cute.ops.gemm import GemmOp
from tilewright.dialects.cute.symbolic import layouts
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute_nvgpu.atoms.traits import AnyMmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.universal_fma import UniversalFma
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import TCGEN05, WGMMA
from tilewright.dialects.cute_nvgpu.ops import fragment
from tilewright.dialects.cute_nvgpu.ops.fragment_arithmetic import FmaOp
from tilewright.dialects.cute_nvgpu.ops.mma import MMA_OPS
from tilewright.dialects.cute_nvgpu.ops.sm90 import WGMMA_OPS
from tilewright.dialects.cute_nvgpu.ops.sm100 import UMMA_OPS
from tilewright.dialects.cute_nvgpu.ops.umma import IDS
from tilewright.dialects.cute_nvgpu.ops.wgmma_sync import WgmmaFenceOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.emit.emitter import zero_constant
from tilewright.lowering.emit.registers import NeverWritten, RegisterChunks, from_elements
from tilewright.lowering.tile.access import register_places
from tilewright.lowering.tile.convert_tensor_memory import tensor_operand
from tilewright.lowering.tile.descriptors import descriptor
from tilewright.lowering.tile.kernel import KernelLowering, lowers, static_extents, undefined
from tilewright.lowering.tile.written_registers import WRITES

WRITES[GemmOp] = lambda op: op.d


@lowers
def _gemm(op: GemmOp, kernel: KernelLowering) -> None:
    gemm = Gemm(op, kernel)
    _, m, n = static_extents(gemm.d)
    steps = (*static_extents(gemm.tensors["A"]), 1)[2]
    for k, column, row in product(range(steps), range(n), range(m)):
        gemm.issue(row, column, k)


class Gemm:
    """The MMAs of one op."""

    def __init__(self, op: GemmOp, kernel: KernelLowering):
        self.op, self.kernel = op, kernel
        mma = kernel.typed(op.mma).value
        self.atom: AnyMmaAtom | UniversalFma = mma.atom.data
        self.traits = mma.traits
        self.d = kernel.tensor(op.d)
        self.tensors: dict[Operand, Tensor] = {
            which: _as_it_is(kernel.tensor(value)) for which, value in op.tensors.items()
        }
        self.accumulate = None if op.accumulate is None else kernel[op.accumulate]

    def issue(self, row: int, column: int, k: int) -> None:
        """D += A B of one atom's tile."""
        flag, emitter = None if k else self.accumulate, self.kernel.emitter
        in_tensor_memory = isinstance(self.atom, UmmaAtom)
        c = None if in_tensor_memory else self._accumulator(row, column, k)
        inputs: dict[Operand, SSAValue] = {}
        ids: dict[Operand, int] = {}
        for which, tensor in self.tensors.items():
            if which == "C" and c is not None:
                inputs[which] = c
                continue
            down = (row, column)[OPERAND_MODES[which][0]]
            along = column if which == "C" else k
            inputs[which], ids[which] = self._operand(which, tensor, down, along)
        match self.atom:
            case UmmaAtom() as atom:
                op = UMMA_OPS[atom.op]
                tensors: dict[str, SSAValue] = {"D": inputs["C"], **inputs}
                ordered = [tensors[name] for name in op.TENSORS]
                modifiers: dict[str, Any] = {
                    name: ids[which] for which, name in IDS.items() if which in ids
                }
                emitter.add(op(ordered, atom, enable_input_d=flag, **modifiers))
                return
            case WgmmaAtom() as atom:
                op = WGMMA_OPS[atom.op](list(inputs.values()), atom, scale_d=flag)
            case UniversalFma():
                if flag is not None:
                    inputs["C"] = self._or_zeros(flag, inputs["C"])
                op = FmaOp(*inputs.values(), inputs["C"].type)
            case atom:
                if flag is not None:
                    inputs["C"] = self._or_zeros(flag, inputs["C"])
                sparsity = (0,) if "E" in ids else ()
                scales = [n for x in ("SFA", "SFB") if x in ids for n in (ids[x], 0)]
                op = MMA_OPS[atom.op](list(inputs.values()), atom, (*sparsity, *scales))
        d = emitter.emit(op)
        registers = self.kernel.registers(self.d)
        registers.write(self._places(self.d, row, column), d, emitter)

    def _accumulator(self, row: int, column: int, k: int) -> SSAValue:
        """C, which may be anything where it is said not to count."""
        tensor = self.d if k else self.tensors["C"]
        places = self._places(tensor, row, column)
        registers = self.kernel.registers(tensor)
        try:
            return registers.read(places, self.kernel.emitter)
        except NeverWritten:
            if k or self.accumulate is None:
                raise undefined(self.op) from None
            return self._zeros(registers.type(len(places)))

    def _or_zeros(self, flag: SSAValue, c: SSAValue) -> SSAValue:
        assert isinstance(c.type, FragmentType)
        return self.kernel.emitter.select(flag, c, self._zeros(c.type))

    def _zeros(self, type_: FragmentType) -> SSAValue:
        emitter, element = self.kernel.emitter, type_.element_type
        zero = emitter.once(("zero", element), lambda: zero_constant(element))
        return emitter.once(("splat", zero, type_), lambda: fragment.SplatOp(zero, type_))

    def _places(self, tensor: Tensor, row: int, column: int) -> list[int]:
        first, count = block_of(tensor, row, column)
        return register_places(self.op, tensor, range(first, first + count))

    def _operand(self, which: Operand, tensor: Tensor, down: int, k: int) -> tuple[SSAValue, int]:
        """An operand as the atom wants it: a fragment, a descriptor or a tensor in tensor memory;
        and which of the values that share its register or cell are the MMA's."""
        if tensor.space == "tmem":
            assert isinstance(self.atom, UmmaAtom)
            first = block_of(tensor, down, k)[0]
            return tensor_operand(self.atom, which, tensor, first, self.kernel)
        if tensor.space == "smem":
            return self._descriptor(which, tensor, down, k), 0
        places, packed = self._places(tensor, down, k), self.traits.operand(which).packed
        registers, wanted = self.kernel.registers(tensor), self.traits.shape[0]
        if isinstance(self.atom, UniversalFma) and len(places) < wanted:
            # One element of B, for all rows of A that a register holds.
            (one,) = self.kernel.read_elements(self.op, tensor, places)
            value = from_elements([one] * wanted, registers.type(wanted), self.kernel.emitter)
        elif packed == 1:
            value = self.kernel.read(self.op, tensor, places)
        else:
            self.kernel.read_elements(self.op, tensor, places)
            value = registers.carried(places[0] // packed, self.kernel.emitter)
        return self._cast(which, value), places[0] % packed

    def _cast(self, which: Operand, value: SSAValue) -> SSAValue:
        """A fragment of the element type that the atom wants."""
        read, element = value.type, self.atom.element(which)
        assert isinstance(read, FragmentType)
        count = read.count.data * read.element.bits // element.bits
        if read == (wanted := FragmentType.of(element, count)):
            return value
        cast = self.kernel.emitter.emit(fragment.CastOp(value, wanted))
        if isinstance(self.atom, WgmmaAtom):
            # Registers of another kind are written anew, after the fence of the source.
            self.kernel.emitter.add(WgmmaFenceOp())
        return cast

    def _descriptor(self, which: Operand, tensor: Tensor, down: int, k: int) -> SSAValue:
        """The descriptor of one atom's matrix in a partition."""
        format = TCGEN05 if isinstance(self.atom, UmmaAtom) else WGMMA
        first, _ = block_of(tensor, down, k)
        matrix, element = layouts.mode(tensor.modes, (0,)), self.atom.element(which)
        return descriptor(tensor, first, matrix, element, format, self.kernel)


def _as_it_is(tensor: Tensor) -> Tensor:
    """The tensor before the op: MMAs read no registers that others of them write, but sums."""
    if not isinstance(tensor.base, RegisterChunks):
        return tensor
    return replace(tensor, base=tensor.base.as_they_are())


def block_of(tensor: Tensor, row: int, column: int) -> tuple[int, int]:
    """The first element of one atom's values in a partition, and how many there are."""
    values, rows, *_ = static_extents(tensor)
    return (column * rows + row) * values, values
