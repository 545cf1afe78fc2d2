"""`cute.gemm`: one MMA for each K, N and M of its partitions."""

from __future__ import annotations

from itertools import product
from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects.cute import ComposedLayout, Layout
from tilewright.dialects.cute.ops.gemm import GemmOp
from tilewright.dialects.cute.symbolic import layouts
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    TCGEN05,
    WGMMA,
    DescriptorFormat,
)
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.ops import fragment
from tilewright.dialects.cute_nvgpu.ops.mma import MMA_OPS
from tilewright.dialects.cute_nvgpu.ops.sm90 import MmaOp as WgmmaOp
from tilewright.dialects.cute_nvgpu.ops.sm100 import MmaOp as UmmaOp
from tilewright.dialects.cute_nvgpu.ops.smem_desc import MakeSmemDescOp
from tilewright.dialects.cute_nvgpu.ops.wgmma_sync import WgmmaFenceOp
from tilewright.dialects.cute_nvgpu.types.fragments import MLIR_TYPES, FragmentType
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.lowering.tile.access import register_places
from tilewright.lowering.tile.convert_tensor_memory import accumulator
from tilewright.lowering.tile.emitter import zero_constant
from tilewright.lowering.tile.kernel import Kernel, lowers, static_extents, undefined
from tilewright.lowering.tile.registers import Undefined
from tilewright.lowering.tile.written_registers import WRITES

WRITES[GemmOp] = lambda op: op.d


@lowers(GemmOp)
def _gemm(op: GemmOp, kernel: Kernel) -> None:
    atom = kernel.typed(op.mma).value.atom.data
    d, a, b, c = (kernel.tensor(operand) for operand in (op.d, op.a, op.b, op.c))
    flag = None if op.accumulate is None else kernel[op.accumulate]
    if isinstance(atom, UmmaAtom):
        _multiply_in_tensor_memory(atom, d, a, b, flag, kernel)
        return
    gemm = Gemm(op, kernel, atom, d, a, b, c, flag)
    _, m, n = static_extents(d)
    steps = (*static_extents(a), 1)[2]
    for k, column, row in product(range(steps), range(n), range(m)):
        gemm.issue(row, column, k)


class Gemm:
    """The MMAs of one op."""

    def __init__(
        self,
        op: GemmOp,
        kernel: Kernel,
        atom: MmaAtom | WgmmaAtom,
        d: Tensor,
        a: Tensor,
        b: Tensor,
        c: Tensor,
        accumulate: SSAValue | None,
    ) -> None:
        self.op, self.kernel, self.atom = op, kernel, atom
        self.d, self.a, self.b, self.c = d, a, b, c
        self.accumulate = accumulate

    def issue(self, row: int, column: int, k: int) -> None:
        """D += A B of one atom's tile."""
        c = self._accumulator(row, column, k)
        a = self._operand("A", self.a, row, k)
        b = self._operand("B", self.b, column, k)
        flag = None if k else self.accumulate
        if isinstance(self.atom, WgmmaAtom):
            d = self.kernel.emitter.emit(WgmmaOp((a, b, c), self.atom, scale_d=flag))
        else:
            c = c if flag is None else self._or_zeros(flag, c)
            d = self.kernel.emitter.emit(MMA_OPS[self.atom.op]((a, b, c), self.atom))
        registers = self.kernel.registers(self.d)
        registers.write(self._places(self.d, row, column), d, self.kernel.emitter)

    def _accumulator(self, row: int, column: int, k: int) -> SSAValue:
        """C, which may be anything where it is said not to count."""
        tensor = self.d if k else self.c
        places = self._places(tensor, row, column)
        registers = self.kernel.registers(tensor)
        try:
            return registers.read(places, self.kernel.emitter)
        except Undefined:
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
        first, count = _block_of(tensor, row, column)
        return register_places(self.op, tensor, range(first, first + count))

    def _fragment(self, tensor: Tensor, row: int, column: int) -> SSAValue:
        return self.kernel.read(self.op, tensor, self._places(tensor, row, column))

    def _operand(self, which: Any, tensor: Tensor, row: int, k: int) -> SSAValue:
        """A fragment as the atom wants it, or the descriptor of a matrix."""
        element = self.atom.element(which)
        if tensor.space == "smem":
            return _descriptor(tensor, row, k, element, self.kernel)
        value = self._fragment(tensor, row, k)
        fragment_type = value.type
        assert isinstance(fragment_type, FragmentType)
        if fragment_type.element is element:
            return value
        cast = self.kernel.emitter.emit(
            fragment.CastOp(value, FragmentType.of(element, fragment_type.count.data))
        )
        if isinstance(self.atom, WgmmaAtom) and fragment_type.element.register != element.register:
            # Registers of another kind are written anew, after the fence of the source.
            self.kernel.emitter.add(WgmmaFenceOp())
        return cast


def _multiply_in_tensor_memory(
    atom: UmmaAtom, d: Tensor, a: Tensor, b: Tensor, accumulate: SSAValue | None, kernel: Kernel
) -> None:
    """D += A B, tile by tile, by the `tcgen05.mma`s that one thread issues; for the first K
    `accumulate` says whether D counts."""
    _, m, n = static_extents(d)
    steps = (*static_extents(a), 1)[2]
    for k, column, row in product(range(steps), range(n), range(m)):
        sums = accumulator(atom, d, _block_of(d, row, column)[0], kernel)
        one = _descriptor(a, row, k, atom.element("A"), kernel, TCGEN05)
        other = _descriptor(b, column, k, atom.element("B"), kernel, TCGEN05)
        flag = None if k else accumulate
        kernel.emitter.add(UmmaOp((sums, one, other), atom, enable_input_d=flag))


def _block_of(tensor: Tensor, row: int, column: int) -> tuple[int, int]:
    """The first element of one atom's values in a partition, and how many there are."""
    values, rows, *_ = static_extents(tensor)
    return (column * rows + row) * values, values


def _descriptor(
    tensor: Tensor,
    row: int,
    k: int,
    element: ElementType,
    kernel: Kernel,
    format: DescriptorFormat = WGMMA,
) -> SSAValue:
    """The descriptor of one atom's matrix in a partition."""
    first, _ = _block_of(tensor, row, k)
    line, at = kernel.place(tensor, first)
    type_ = SmemDescViewType.get(MLIR_TYPES[element.name], _matrix(tensor), format)
    return kernel.emitter.once(("desc", line, at, type_), lambda: MakeSmemDescOp(line, [at], type_))


def _matrix(tensor: Tensor) -> Layout | ComposedLayout:
    """The layout of one atom's matrix (mn, k), through the swizzle of its memory."""
    values = layouts.mode(tensor.modes, (0,))
    if isinstance(tensor.layout, ComposedLayout):
        return ComposedLayout(tensor.layout.inner, 0, values)
    return values
