"""`mmaf` and `mmai` by `tcgen05.mma`: one thread issues the MMAs of the CTA, the accumulators stay
in tensor memory, A and B are matrices in shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFScaledOp
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom, UmmaFragmentKind
from tilewright.dialects.cute_nvgpu.ops.sm100 import MmaBsOp, MmaOp
from tilewright.lowering.cuda_tile.kernel.issued_products import IssuedProduct
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.tensor_tiles import is_there, make_room, placed
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings
from tilewright.lowering.cuda_tile.products.scale_factors import (
    factor_copies,
    factors_operand,
    store_factors,
)
from tilewright.lowering.cuda_tile.products.shared_operands import OperandMatrices, SharedOperands
from tilewright.passes.cuda_tile.analysis.facts import is_zero
from tilewright.passes.cuda_tile.analysis.loaded_operands import loaded_by
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication, extents_along
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    OPERAND,
    Accumulators,
    TensorCoreLayouts,
    block_of,
    factors_of,
    packed_operand,
    tensor_core_atom,
)


def brought(value: SSAValue, accumulators: Accumulators, kernel: EntryLowering) -> None:
    """Have a tile in the columns of some accumulators."""
    if is_there(kernel.values[value], accumulators, kernel):
        return
    kernel.tensor.store(accumulators, kernel.elements(value, accumulators.layout()))


def _is_ahead(value: SSAValue, kernel: EntryLowering) -> bool:
    source = loaded_by(value)
    return source is not None and Rings.in_kernel(kernel).plan.of(source.load) is not None


class TensorCoreProduct:
    """A multiplication by `tcgen05.mma`."""

    def __init__(self, op: Multiplication, accumulators: Accumulators, kernel: EntryLowering):
        self.op, self.accumulators, self.kernel = op, accumulators, kernel
        atom = tensor_core_atom(op, kernel.arch)
        assert atom is not None
        thread_bits = kernel.table.thread_bits
        self.layouts = TensorCoreLayouts(atom, extents_along(op), thread_bits)
        self.shared = SharedOperands(self.layouts, kernel)
        self.packed = packed_operand(op, thread_bits) if OPERAND in op.attributes else None
        self.factors = [factors for factors, *_ in factors_of(op)]
        self.copied = [value for _, value, _ in factors_of(op) if _is_ahead(value, kernel)]
        """The scale factors that TMA loads."""

    def multiply(self) -> None:
        """Emit it."""
        kernel, op, accumulators = self.kernel, self.op, self.accumulators
        tensor = kernel.tensor
        make_room(accumulators.address, op, kernel)
        if not is_zero(op.acc):
            brought(op.acc, accumulators, kernel)
        for factors, value, axis in factors_of(op):
            if value not in self.copied:
                store_factors(factors, value, axis, kernel)
        wanted = {"A": op.lhs, "B": op.rhs}
        if self.packed is not None:
            tensor.store(self.packed, kernel.elements(wanted.pop("A"), self.packed.layout()))
        operands, staged = self.shared.laid_down(
            wanted, lambda: tensor.order(kernel.scratch.written)
        )
        tensor.order()
        issued = IssuedProduct(op, {name: operands[name] for name in staged})
        tensor.issue(issued, lambda: self.issue(operands))
        kernel.ahead.issued(op)
        kernel.copied.issued(op)
        kernel[op.result] = placed(accumulators, kernel)

    def issue(self, operands: Mapping[str, OperandMatrices]) -> None:
        """The MMAs, by one thread, once the operands are there; what they free when complete."""
        issued = [*self._issued(operands)]
        kernel = self.kernel

        def issue() -> None:
            for op in issued:
                kernel.emitter.add(op)
            kernel.ahead.commit(self.op)

        kernel.tensor.by_elected(issue)

    def _issued(self, operands: Mapping[str, OperandMatrices]) -> Iterator[Operation]:
        """The copies of scale factors and MMAs, behind the waits for their operands."""
        a, b, atom = operands.get("A"), operands["B"], self.layouts.atom
        assert isinstance(atom, UmmaAtom)
        kind: UmmaFragmentKind = "ts" if a is None else "ss"
        atom = replace(atom, majors=("k" if a is None else a.major, b.major), frag_kind=kind)
        kernel, (_, columns, depth) = self.kernel, atom.shape
        rows, _ = atom.cta_extents("D")
        extents = self.layouts.extents
        for matrices in operands.values():
            matrices.ready()
        for factors, value, axis in factors_of(self.op):
            if value in self.copied:
                yield from factor_copies(factors, value, axis, kernel)
        flag = kernel.adds_first(self.op)
        for batch in range(extents["b"]):
            for m in range(0, extents["m"], rows):
                for n in range(0, extents["n"], columns):
                    d = kernel.tensor.block(self.accumulators, atom, batch, m, n)
                    for k in range(0, extents["k"], depth):
                        tensors = [
                            d,
                            self._left(a, atom, (batch, m, k)),
                            self.shared.descriptor(b, "B", batch, n, k),
                        ]
                        yield self._mma(atom, tensors, (batch, m, n, k), None if k else flag)

    def _left(
        self, a: OperandMatrices | None, atom: UmmaAtom, place: tuple[int, int, int]
    ) -> SSAValue:
        """A of one MMA, in shared memory or in tensor memory."""
        if a is not None:
            return self.shared.descriptor(a, "A", *place)
        assert self.packed is not None
        return self.kernel.tensor.operand(self.packed, atom, place)

    def _mma(
        self,
        atom: UmmaAtom,
        tensors: list[SSAValue],
        place: tuple[int, int, int, int],
        adds: SSAValue | None,
    ) -> Operation:
        """One MMA, at a place of the batch, M, N and K."""
        batch, m, n, k = place
        if not self.factors:
            return MmaOp(tensors, atom, enable_input_d=adds)
        assert isinstance(self.op, MmaFScaledOp)
        number = k // block_of(self.op)
        (sfa, a_id), (sfb, b_id) = (
            factors_operand(factors, which, atom, (batch, at, number), self.kernel)
            for factors, which, at in zip(self.factors, ("SFA", "SFB"), (m, n), strict=True)
        )
        tensors = [*tensors, sfa, sfb]
        return MmaBsOp(tensors, atom, enable_input_d=adds, sfa_id=a_id, sfb_id=b_id)
