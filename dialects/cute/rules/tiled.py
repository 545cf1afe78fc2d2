"""Rules of tiled MMAs and copies: who has which part of a tensor."""

from collections.abc import Callable
from typing import Any

from tilewright.dialects.cute.atoms import CopyAtom, Operand
from tilewright.dialects.cute.int_tuple import flatten, rank
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.rules import RuleError, attempted, required
from tilewright.dialects.cute.rules.tensors import in_registers, sliced, tensor_of, typed_tensor
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute.symbolic import layouts
from tilewright.dialects.cute.symbolic.composed import through
from tilewright.dialects.cute.symbolic.tuples import is_static, product
from tilewright.dialects.cute.tensor import Tensor, multiples
from tilewright.dialects.cute.tiled_copy import Side, TiledCopy, make_tiled_copy_of
from tilewright.dialects.cute.tiled_mma import TiledMma
from tilewright.dialects.cute.values import Typed


def check_tiles(source: Typed, modes: Layout, tile: tuple[int, ...], of: str) -> None:
    """Raises RuleError unless the first modes of a tensor are whole tiles."""
    extents = layouts.modes(modes)
    shapes = [mode.shape for mode, _ in zip(extents, tile, strict=False)]
    wanted = "x".join(map(str, tile))
    required(
        len(shapes) == len(tile) and is_static(tuple(shapes)),
        f"expected a tensor whose first {len(tile)} modes are whole tiles of {wanted}, those of "
        f"{of}, got {source.quoted}",
    )
    for i, (shape, extent) in enumerate(zip(shapes, tile, strict=True)):
        size = product(shape)
        assert isinstance(size, int)
        if size % extent:
            nearest = max(round(size / extent), 1) * extent
            raise RuleError(
                f"expected mode {i} of the tensor to be whole tiles of {wanted}, those of {of}, "
                f"got {size} in {source.quoted}; nearest legal: {nearest}"
            )


def mma_partition(mma: Typed, source: Typed, thread: Typed, which: Operand) -> Typed:
    """(FrgV,RestRows,RestColumns,...): what one thread's MMAs have of an operand."""
    tiled: TiledMma = mma.value
    tensor = tensor_of(source)
    check_tiles(source, tensor.modes, tiled.tile_of(which), f"operand {which} of {mma.quoted}")
    whole = attempted(
        lambda: tiled.thrfrg(which, tensor.modes),
        f"expected a tensor that {mma.quoted} divides, got {source.quoted}",
    )
    return sliced(tensor, tiled.partition_coord(which, whole, multiples(thread.value)), whole)


def copy_partition(copy: Typed, source: Typed, thread: Typed, side: Side) -> Typed:
    """((FrgV,FrgX),RestM,RestN,...): what one thread copies from (S) or to (D) a tensor."""
    tiled: TiledCopy = copy.value
    tensor = tensor_of(source)
    check_tiles(source, tensor.modes, tiled.tile_shape, copy.quoted)
    whole = attempted(
        lambda: tiled.tidfrg(side, tensor.modes),
        f"expected a tensor that {copy.quoted} divides, got {source.quoted}",
    )
    return sliced(tensor, tiled.partition_coord(whole, multiples(thread.value)), whole)


def retile(copy: Typed, fragment: Typed) -> Typed:
    """An MMA's fragment as the copy moves it: ((FrgV,FrgX),RestM,RestN,...)."""
    tiled: TiledCopy = copy.value
    tensor = tensor_of(fragment)
    otherwise = (
        f"expected a fragment of whole tiles of {copy.quoted}, {tiled.values} values each, "
        f"got {fragment.quoted}"
    )
    required(isinstance(tensor, Tensor) and tensor.space == "rmem", otherwise)
    layout = attempted(lambda: tiled.retile(tensor.modes), otherwise)
    return typed_tensor(tensor.with_layout(layout))


def make_tiled_copy_for(which: Operand) -> Callable[[Typed, CopyAtom], Typed]:
    """The rule of make_tiled_copy_A, B and C."""

    def rule(mma: Typed, atom: CopyAtom) -> Typed:
        return Typed("tiled_copy", make_tiled_copy_of(which, atom, mma.value))

    return rule


# --- fragments ------------------------------------------------------------------------------------


def check_values(which: Operand, mma: Typed, source: Typed, modes: Layout) -> None:
    """Raises RuleError unless the first mode of a partition is one thread's part of an atom's
    operand."""
    operand = mma.value.traits.operand(which)
    values = operand.tv[1]
    count = product(layouts.mode(modes, (0,)).shape) if rank(modes.shape) > 1 else 0
    required(
        count == values.size(),
        f"expected a partition of operand {which}, (V,...) with V the {values.size()} values of "
        f"(thread, value) {operand.tv} of the atom in {mma.quoted}, got {source.quoted}",
    )


def check_element(which: Operand, mma: Typed, source: Typed, tensor: Tensor) -> None:
    """Raises RuleError unless the atom reads operands of such elements."""
    elements = mma.value.traits.operand(which).elements
    required(
        tensor.element in elements,
        f"expected operand {which} of {' or '.join(elements)}, as the atom of {mma.quoted} has it, "
        f"got {source.quoted}",
    )


def make_fragment(mma: Typed, source: Typed, which: Operand) -> Typed:
    """The operand of the MMA for a partition: registers, or the partition itself where the
    instruction has its matrix in shared memory or tensor memory."""
    tensor = tensor_of(source)
    operand = mma.value.traits.operand(which)
    required(is_static(tensor.modes.shape), f"expected a static shape, got {source.quoted}")
    check_values(which, mma, source, tensor.modes)
    element = operand.elements[0]
    if operand.space != "rmem" or which != "C":
        required(isinstance(tensor, Tensor), f"expected a memref, got {source.quoted}")
        check_element(which, mma, source, tensor)
        element = tensor.element
    if operand.space == "rmem":
        return in_registers(element, _fragment(tensor.modes.shape, operand.packed))
    check_in_memory(which, mma, source, tensor)
    return source


def _fragment(shape: Any, packed: int) -> Layout:
    """Values first, then rows, then K. What shares registers along K does so: K first, each row in
    registers of its own."""
    if packed == 1:
        return layouts.column_major(shape)
    values, rows, *rest = shape
    v, *along = layouts.modes(row := layouts.column_major((values, *rest)))
    step = -(-row.size() // packed) * packed
    down = layouts.composition(Layout(1 << 16, step), layouts.column_major(product(rows)))
    return layouts.joined([v, down, *along])


def words_of_ids(modes: Layout, packed: int) -> bool:
    """True where no atom's values of a fragment stretch over two registers."""
    values, *rest = layouts.modes(modes)
    size = values.size()
    return packed == 1 or all(step % size == 0 for mode in rest for step in flatten(mode.stride))


def check_in_memory(which: Operand, mma: Typed, source: Typed, tensor: Tensor) -> None:
    """Raises RuleError unless the instruction can read the matrices of a partition from where they
    are."""
    tiled: TiledMma = mma.value
    space = tiled.traits.operand(which).space
    required(
        tensor.space == space,
        f"expected operand {which} in {space}, as the atom of {mma.quoted} reads it, got "
        f"{source.quoted}",
    )
    reason = tiled.atom.why_not_operand(which, _matrix(tensor))
    required(
        reason is None,
        f"expected operand {which} as the atom of {mma.quoted} reads it, got {source.quoted} "
        f"({reason})",
    )


def _matrix(tensor: Tensor) -> AnyLayout:
    """The layout of one atom's matrix, (rows, columns)."""

    def first(modes: Layout) -> Layout:
        return layouts.mode(modes, (0,))

    layout: Any = through(first, tensor.layout)
    return layout
