"""TMA instructions as tiles are made of them: the box of a tile, and how it lies in shared memory.

A box runs along the modes of the tensor, the contiguous one last. Along each mode it is as long as
the tile's first run of elements in shared memory that lies densely behind the modes before it, so
that a tile wider than its swizzle takes several boxes.
"""

from collections.abc import Sequence
from typing import Literal

from tilewright.dialects.cute import ComposedLayout, Layout, LayoutError, Swizzle, coalesce, flatten
from tilewright.dialects.cute.atoms import SMEM_ALIGN, TmaBox
from tilewright.dialects.cute.int_tuple import product_each
from tilewright.dialects.cute.swizzle import AnyLayout, outer_of
from tilewright.dialects.cute.symbolic.evaluate import image
from tilewright.dialects.cute.symbolic.scalar import divisor_of
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import (
    TensorBox,
    TensorMapError,
    tensor_element,
)
from tilewright.dialects.cute_nvgpu.lattice import tma as rows
from tilewright.dialects.frozen import frozen

TmaKind = Literal["load", "store", "reduce"]


@frozen
class TmaInstruction:
    """A TMA load, to all CTAs of a cluster where it is multicast, store or reduction."""

    kind: TmaKind
    reduction: str | None = None
    multicast: bool = False

    def __post_init__(self) -> None:
        if (self.kind == "reduce") != (self.reduction in rows.TENSOR_REDUCE):
            kinds = ", ".join(rows.TENSOR_REDUCE)
            legal = f"of {kinds}" if self.kind == "reduce" else "with reduce alone"
            raise AtomError(f"expected a reduction {legal}, got {self.reduction}")
        if self.multicast and self.kind != "load":
            raise AtomError(f"expected multicast with a load alone, got {self.kind}")

    @property
    def row(self) -> rows.TensorCopyRow:
        """The row of the instruction."""
        if self.reduction is not None:
            return rows.TENSOR_REDUCE[self.reduction]
        if self.kind == "store":
            return rows.TENSOR_STORE
        return rows.TENSOR_LOAD_MULTICAST if self.multicast else rows.TENSOR_LOAD

    def why_not_element(self, element: str) -> str | None:
        """Why the instruction takes no elements of a type, or None where it does."""
        return None if self.reduction is None else rows.why_not_reduced(self.reduction, element)

    @property
    def parameters(self) -> str:
        """The text between angle brackets in IR."""
        words = [self.kind, self.reduction, "multicast" if self.multicast else None]
        return ", ".join(word for word in words if word)


_INSTRUCTIONS = {
    instruction.parameters: instruction
    for instruction in (
        TmaInstruction("load"),
        TmaInstruction("load", multicast=True),
        TmaInstruction("store"),
        *(TmaInstruction("reduce", reduction) for reduction in rows.TENSOR_REDUCE),
    )
}
"""Every instruction by its text."""

LEFT_OUT = {
    "im2col": "boxes are tiles",
    "gather4": "boxes are tiles: rows from anywhere are copies of one row each",
    "scatter4": "boxes are tiles: rows to anywhere are copies of one row each",
    "cta_group": "each CTA of a pair copies to itself, and its pipeline tells the other one",
}
"""Forms of TMA copies that there are none of here, and what does the same."""


def tma_instruction(words: Sequence[str]) -> TmaInstruction:
    """The instruction that these words name. Raises AtomError, naming the nearest, for others."""
    text = ", ".join(words)
    if text in _INSTRUCTIONS:
        return _INSTRUCTIONS[text]

    def shared(legal: str) -> int:
        named = legal.split(", ")
        return 2 * len({*named} & {*words}) - len(named)

    legal = ", ".join(f"<{parameters}>" for parameters in _INSTRUCTIONS)
    nearest = max(_INSTRUCTIONS, key=shared)
    why = next((f" ({LEFT_OUT[word]})" for word in words if word in LEFT_OUT), "")
    raise AtomError(f"expected {legal}, got <{text}>{why}; nearest legal: <{nearest}>")


def tensor_box(box: TmaBox) -> TensorBox:
    """The box as tensor maps have it. Raises TensorMapError."""
    return TensorBox(box.extents, tensor_element(box.element), box.swizzle)


def contiguous_mode(tensor: Layout) -> int:
    """The mode of a tensor in global memory whose stride is known to be 1.

    Raises LayoutError where there is none.
    """
    modes = list(tensor)
    if not all(isinstance(mode.shape, tuple) is False for mode in modes):
        raise LayoutError(f"expected modes of one extent each, got {tensor}")
    contiguous = [i for i, mode in enumerate(modes) if mode.stride == 1]
    if len(contiguous) != 1:
        raise LayoutError(f"expected one mode of stride 1, got {tensor}")
    return contiguous[0]


def box_for(tensor: Layout, tile: tuple[int, ...], memory: AnyLayout, element: str) -> TmaBox:
    """The box of a tile in shared memory. Raises LayoutError where no instruction copies it."""
    last = contiguous_mode(tensor)
    count = tensor.rank()
    plain = outer_of(memory)
    swizzle = 0
    if isinstance(memory, ComposedLayout) and isinstance(memory.inner, Swizzle):
        swizzle = rows.CHUNK << memory.inner.bits if memory.inner.bits else 0
    shape = product_each(plain.shape)
    if shape != tile or len(tile) > count:
        raise LayoutError(f"expected shared memory of the tile {tile}, got {memory}")
    modes = (*(mode for mode in range(count) if mode != last), last)
    extents: dict[int, int] = {}
    dense = 1
    for mode in reversed(modes):
        extents[mode] = _dense_run(plain[mode], dense) if mode < len(tile) else 1
        dense *= extents[mode]
    box = TmaBox(tuple(extents[mode] for mode in modes), element, swizzle, modes)
    ordered = _in_order(memory, box)
    try:
        tensor_box(box).check_layout(ordered)
    except TensorMapError as error:
        raise LayoutError(str(error)) from None
    if (why := why_not_boxes(box, ordered)) is not None:
        raise LayoutError(why)
    return box


def why_not_boxes(box: TmaBox, memory: AnyLayout) -> str | None:
    """Why the boxes of a tile do not start where TMA lays them down in memory of that layout, its
    modes those of the box, or None where they do."""
    plain = outer_of(memory)
    width = tensor_element(box.element).bytes
    for mode, extent in zip(plain, box.extents, strict=True):
        for first in range(0, mode.size(), extent):
            behind = divisor_of(image(mode, first)) * width
            if behind % SMEM_ALIGN:
                return (
                    f"expected boxes that start at multiples of {SMEM_ALIGN} bytes of shared "
                    f"memory, got one {behind} bytes behind another in {memory}; nearest legal: "
                    f"{-(-behind // SMEM_ALIGN) * SMEM_ALIGN}"
                )
    return None


def _dense_run(mode: Layout, stride: int) -> int:
    flat = coalesce(mode)
    extent, step = flatten(flat.shape)[0], flatten(flat.stride)[0]
    if step != stride or extent == 1:
        return 1
    assert isinstance(extent, int)
    while extent > rows.MAX_BOX:
        extent //= 2
    return extent


def _in_order(memory: AnyLayout, box: TmaBox) -> AnyLayout:
    plain = outer_of(memory)
    modes = [plain[mode] if mode < plain.rank() else Layout(1, 0) for mode in box.modes]
    ordered = Layout(tuple(x.shape for x in modes), tuple(x.stride for x in modes))
    if isinstance(memory, ComposedLayout):
        return ComposedLayout(memory.inner, 0, ordered)
    return ordered
