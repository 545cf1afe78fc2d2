"""Reading and writing elements of tensors wherever they are: in registers by name, in memory by
vectors where neighbours allow it."""

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import memref
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute.tensor import Tensor, alignment_of_runs, run_of
from tilewright.dialects.cute.types.tensors import element_type
from tilewright.dialects.cute_nvgpu.ops import fragment, fragment_memory
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.frozen import frozen
from tilewright.lowering.emit.registers import RegisterChunks, extracted, from_elements
from tilewright.lowering.tile.kernel import KernelLowering, offset_of
from tilewright.lowering.tile.places import item_type, per_item, static_places
from tilewright.source.diagnostic import OpError

VECTOR_BITS = (128, 64, 32)
"""The bits that a vector access moves."""


@frozen
class RegisterPiece:
    """Neighbouring elements on their way: a fragment, or scalars where there is no whole register
    of them."""

    fragment: SSAValue | None
    scalars: tuple[SSAValue, ...] = ()

    def as_fragment(self, element: Any, kernel: KernelLowering) -> SSAValue:
        """The elements as a fragment."""
        if self.fragment is not None:
            return self.fragment
        type_ = FragmentType.get(len(self.scalars), element)
        return from_elements(self.scalars, type_, kernel.emitter)

    def as_scalars(self, kernel: KernelLowering) -> Sequence[SSAValue]:
        """The elements one by one."""
        if self.fragment is None:
            return self.scalars
        assert isinstance(self.fragment.type, FragmentType)
        count = self.fragment.type.count.data
        return [extracted(self.fragment, i, kernel.emitter) for i in range(count)]


def register_places(op: Operation, tensor: Tensor, at: Sequence[Any]) -> list[int]:
    """Where elements of a register tensor are. Raises OpError where that is not known."""
    if isinstance(at, range) and isinstance(tensor.offset, int):
        places = static_places(tensor.modes)
        return [tensor.offset + places[place] for place in at]
    offsets = [offset_of(tensor, place) for place in at]
    if not all(isinstance(offset, int) for offset in offsets):
        raise OpError(
            op,
            f"'{op.name}' expected registers that are known when the kernel is compiled, got a "
            "coordinate that is not; nearest legal: a constant coordinate, or the variable of an "
            "scf.for with constant bounds",
        )
    return [offset for offset in offsets if isinstance(offset, int)]


# --- pieces: elements that one instruction moves --------------------------------------------------


def load_piece(
    op: Operation, tensor: Tensor, first: Any, count: int, kernel: KernelLowering
) -> RegisterPiece:
    """`count` elements from the `first` on, that lie side by side where they are in memory; of one
    element `first` may be any coordinate."""
    if isinstance(tensor.base, RegisterChunks):
        return _registers_piece(op, tensor, range(first, first + count), kernel)
    line, at = kernel.place(tensor, first)
    element = element_type(tensor.element)
    if count * tensor.bits in VECTOR_BITS:
        type_ = FragmentType.get(count, element)
        load = fragment_memory.LoadOp(line, [at], item_fragment(tensor, type_))
        return RegisterPiece(recast(kernel.emitter.emit(load), type_, kernel))
    _check_whole_bytes(op, tensor, count)
    places = [at, *(kernel.place(tensor, first + i)[1] for i in range(1, count))]
    return RegisterPiece(
        None, tuple(kernel.emitter.emit(memref.LoadOp.get(line, [at])) for at in places)
    )


def _registers_piece(
    op: Operation, tensor: Tensor, at: Sequence[int], kernel: KernelLowering
) -> RegisterPiece:
    registers, places = kernel.registers(tensor), register_places(op, tensor, at)
    if len(places) % registers.per_register == 0:
        return RegisterPiece(kernel.read(op, tensor, places))
    return RegisterPiece(None, tuple(kernel.read_elements(op, tensor, places)))


def takes_predicate(tensor: Tensor, count: int) -> bool:
    """One instruction stores so many elements, which may have a predicate."""
    return not isinstance(tensor.base, RegisterChunks) and count * tensor.bits in VECTOR_BITS


def store_piece(
    op: Operation,
    tensor: Tensor,
    first: Any,
    count: int,
    piece: RegisterPiece,
    kernel: KernelLowering,
    predicate: SSAValue | None = None,
) -> None:
    """The inverse of `load_piece`; with a predicate where `takes_predicate`."""
    if isinstance(tensor.base, RegisterChunks):
        places = register_places(op, tensor, range(first, first + count))
        if piece.fragment is not None:
            tensor.base.write(places, piece.fragment, kernel.emitter)
        else:
            values = dict(zip(places, piece.scalars, strict=True))
            tensor.base.write_elements(values)
        return
    line, at = kernel.place(tensor, first)
    if count * tensor.bits in VECTOR_BITS:
        value = piece.as_fragment(element_type(tensor.element), kernel)
        assert isinstance(value.type, FragmentType)
        value = recast(value, item_fragment(tensor, value.type), kernel)
        kernel.emitter.add(fragment_memory.StoreOp(value, line, [at], predicate=predicate))
        return
    _check_whole_bytes(op, tensor, count)
    for i, value in enumerate(piece.as_scalars(kernel)):
        place = kernel.place(tensor, first + i)[1] if i else at
        kernel.emitter.add(memref.StoreOp.get(value, line, [place]))


def item_fragment(tensor: Tensor, type_: FragmentType) -> FragmentType:
    """The fragment in which an instruction moves elements to or from the items of a line."""
    if per_item(tensor) == 1:
        return type_
    return FragmentType.get(type_.count.data // per_item(tensor), item_type(tensor))


def recast(value: SSAValue, type_: FragmentType, kernel: KernelLowering) -> SSAValue:
    """The same registers as a fragment of that type."""
    return value if value.type == type_ else kernel.emitter.emit(fragment.CastOp(value, type_))


def _check_whole_bytes(op: Operation, tensor: Tensor, count: int) -> None:
    if per_item(tensor) > 1:
        raise OpError(
            op,
            f"'{op.name}' expected runs of whole registers of {tensor.element}, got {count} "
            f"elements side by side of {tensor} (32 bits are {VECTOR_BITS[-1] // tensor.bits}); "
            "nearest legal: a layout with such runs, and their alignment",
        )


# --- single elements ------------------------------------------------------------------------------


def read_scalars(
    op: Operation, tensor: Tensor, at: Sequence[Any], kernel: KernelLowering
) -> list[SSAValue]:
    """The elements at coordinates, by vectors where they follow one another in memory."""
    if isinstance(tensor.base, RegisterChunks):
        return kernel.read_elements(op, tensor, register_places(op, tensor, at))
    width = _vector(tensor, at)
    scalars: list[SSAValue] = []
    for first in range(0, len(at), width):
        piece = load_piece(op, tensor, at[first], width, kernel)
        scalars += piece.as_scalars(kernel)
    return scalars


def write_scalars(
    op: Operation,
    tensor: Tensor,
    at: Sequence[Any],
    values: Sequence[SSAValue],
    kernel: KernelLowering,
) -> None:
    """The inverse of `read_scalars`."""
    if isinstance(tensor.base, RegisterChunks):
        places = register_places(op, tensor, at)
        tensor.base.write_elements(dict(zip(places, values, strict=True)))
        return
    width = _vector(tensor, at)
    for first in range(0, len(at), width):
        piece = RegisterPiece(None, tuple(values[first : first + width]))
        store_piece(op, tensor, at[first], width, piece, kernel)


def _vector(tensor: Tensor, at: Sequence[Any]) -> int:
    """How many elements of a whole tensor one access can move; 1 where `at` is not all of it."""
    return widest_vector([tensor], len(at)) if isinstance(at, range) else 1


def widest_vector(tensors: Sequence[Tensor], count: int) -> int:
    """How many elements one instruction can move, of the `count` that all of these tensors have:
    neighbours everywhere, on their own alignment."""
    for bits in VECTOR_BITS:
        width = bits // tensors[0].bits
        if width > 1 and count % width == 0 and all(_fits(tensor, width) for tensor in tensors):
            return width
    return 1


def _fits(tensor: Tensor, width: int) -> bool:
    if isinstance(tensor.base, RegisterChunks):
        return True
    wanted = width * tensor.bits // 8
    return run_of(tensor, ()) % width == 0 and alignment_of_runs(tensor, width) % wanted == 0
