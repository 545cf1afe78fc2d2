"""Which loads and stores the tensor memory accelerator makes, and the tensor maps that they need.

A tensor map is a parameter of the kernel that its caller does not know: it is made of a pointer
and the integers that say the tensor's sizes and strides, all parameters or constants.
"""

from __future__ import annotations

from math import prod
from typing import Any

from xdsl.dialects.builtin import FloatTF32Type
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.enums import MemoryOrderingSemantics
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, IfOp, LoopOp
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp
from tilewright.dialects.cuda_tile.ops.integer import MulIOp
from tilewright.dialects.cuda_tile.ops.memory import (
    GridDependency,
    JoinTokensOp,
    LoadPtrTkoOp,
    MakeTokenOp,
    MemoryOp,
    TokenOp,
)
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, StoreViewTkoOp
from tilewright.dialects.cuda_tile.types import GatherScatterViewType, MappedView
from tilewright.dialects.cute.types.argument import ARGUMENT, NAN_FLAG, NUMBER, ArgumentAttr
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import TCGEN05
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorMapError
from tilewright.dialects.cute_nvgpu.lattice.targets import Target, target
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK, MAX_BOX, MAX_RANK, TENSOR_ELEMENTS
from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.dialects.frozen import frozen_entity
from tilewright.dialects.sequences import numbered
from tilewright.passes.cuda_tile.analysis.facts import divisor, known_integer
from tilewright.passes.cuda_tile.analysis.hints import hint
from tilewright.passes.cuda_tile.analysis.loaded_operands import is_rounded_by_copies, is_turned
from tilewright.passes.cuda_tile.analysis.view_access import (
    Extent,
    extents_of,
    pads_zero,
    tensor_of,
    tile_dimensions,
)
from tilewright.passes.cuda_tile.layouts.elements import scalar_type, shape_of
from tilewright.passes.cuda_tile.layouts.layouts import above, bits_of, dim_bits
from tilewright.passes.cuda_tile.layouts.passed_values import passed_on, region_of
from tilewright.passes.cuda_tile.layouts.shared_matrices import ALIGNMENT, MatrixOrder

TMA = target("sm_90")
QUAD = 4
"""The rows that a thread has of each sixteen, where a box has two of them."""


@frozen_entity
class BoxedAccess:
    """A load or a store by TMA: the argument of the map, the order in which the tile lies in shared
    memory, and along which of its dimensions each dimension of the tensor runs, if any."""

    op: LoadViewTkoOp | StoreViewTkoOp
    source: ArgumentAttr
    order: MatrixOrder
    along: tuple[int | None, ...]
    ctas: int
    """The CTAs of a cluster that load a part each for all of them: boxes, or, where there are too
    few, parts of each along the tensor's dimension `cut`."""
    cut: int | None
    half: tuple[int, int] | None
    """The tensor's dimension in which each CTA of a pair loads a half, and the extent of that."""
    pairs: int | None = None
    """The dimension of the map that numbers rows of `QUAD`, of which a box has two; they are
    numbered by the one in front of it."""

    @property
    def map_type(self) -> TmaDescriptorType:
        """The type of the tensor map."""
        type_ = self.source.type
        assert isinstance(type_, TmaDescriptorType)
        return type_

    @property
    def element(self) -> Attribute:
        """The type that holds an element in memory."""
        return scalar_type(self.op, self.map_type.element_type)

    @property
    def is_rounded(self) -> bool:
        """True of f32 that the copy rounds to tf32."""
        return isinstance(self.map_type.element_type, FloatTF32Type)

    @property
    def is_multiplied(self) -> bool:
        """True where a size or a stride is a multiple of a parameter."""
        return any(mode.data < 0 for mode in self.source.modes)

    @property
    def boxes(self) -> int:
        """The boxes of a tile, side by side along the last dimension; where they have pairs of
        rows, those of the first ones before those of the second ones."""
        return 1 << (len(self.order.run) - self.order.row + (self.pairs is not None))

    @property
    def box(self) -> int:
        """The elements of a box."""
        return self.order.elements // self.boxes

    def part(self, axis: int, bits: int) -> ArgumentAttr:
        """The map whose boxes have a part of the extent along a dimension of the tensor, the number
        of which has so many bits."""
        type_, source = self.map_type, self.source
        shape = [extent.data >> bits * (i == axis) for i, extent in enumerate(type_.shape)]
        part = TmaDescriptorType.get(
            shape, type_.element_type, type_.swizzle.data, type_.swizzle_atom.data
        )
        return ArgumentAttr(source.index, source.part, source.modes, part) if bits else source


def boxed_load(
    op: LoadViewTkoOp, arch: Target | None, ctas: int = 1, half: int | None = None,
    pairs: int | None = None,
) -> BoxedAccess | str:  # fmt: skip
    """The load by TMA that an op may be, by so many CTAs for each other where that can be, or of
    half of a dimension by each CTA of a pair, or of `pairs` of a dimension's rows; else why not."""
    if (why := _why_none(op, arch)) is not None:
        return why
    if not pads_zero(op) and op.nan_flag is None:
        return "what lies outside of the tensor is not zero"
    if not reads_only(op.token):
        return "a write comes before it"
    return _boxed(op, ctas, half, pairs)


def boxed_store(op: StoreViewTkoOp, arch: Target | None) -> BoxedAccess | str:
    """The store by TMA that an op may be; else why not."""
    if (why := _why_none(op, arch)) is not None:
        return why
    if not all(
        isinstance(access, StoreViewTkoOp) and is_weak(access)
        for access in accesses_behind(op.result_token)
    ):
        return "an access that is no such store comes after it"
    boxed = _boxed(op)
    if isinstance(boxed, BoxedAccess):
        sizes, strides = extents_of(tensor_of(op.view))
        if _divisor(sizes[strides.index(1)]) * boxed.order.order.size % CHUNK:
            return (
                f"a row is not known to be a multiple of {CHUNK} bytes: TMA writes all of the last"
            )
    return boxed


def accesses_behind(token: SSAValue) -> set[Operation]:
    """The accesses that come after a token, and what else nobody knows to be none."""
    behind, seen, tokens = set[Operation](), {token}, [token]
    while tokens:
        token = tokens.pop()
        for use in token.uses:
            passed: list[SSAValue] = []
            match op := region_of(use.operation) or use.operation:
                case GridDependency():
                    passed = [op.result_token]
                case TokenOp():
                    passed = [op.result_token]
                    behind.add(op)
                case JoinTokensOp():
                    passed = [op.result]
                case ForOp() | LoopOp() | IfOp():
                    columns = [column for column in passed_on(op) if token in column]
                    own = [op, *(region.first_block for region in op.regions)]
                    passed = [x for column in columns for x in column if x.owner in own]
                case _:
                    behind.add(op)
            tokens += [other for other in passed if other not in seen]
            seen.update(passed)
    return behind


def _why_none(op: LoadViewTkoOp | StoreViewTkoOp, arch: Target | None) -> str | None:
    if arch is None or not arch.supports(TMA):
        return "the target has no TMA"
    if hint(op, "allow_tma", arch) == 0:
        return "allow_tma is false"
    if isinstance(op.view_type, GatherScatterViewType):
        return "the view gathers"
    return None if is_weak(op) else "the access is not weak"


def is_weak(op: MemoryOp) -> bool:
    """True of an access that nobody else makes at the same time."""
    return op.ordering is MemoryOrderingSemantics.WEAK


def reads_only(token: SSAValue | None) -> bool:
    """True where nothing behind a token has written memory."""
    if token is None:
        return True
    match token.owner:
        case MakeTokenOp():
            return True
        case JoinTokensOp() as joined:
            return all(map(reads_only, joined.tokens))
        case LoadViewTkoOp() | LoadPtrTkoOp() as load:
            return is_weak(load) and reads_only(load.token)
        case GridDependency() as grids:
            # Whoever copies waits for the grids before this one first.
            return reads_only(grids.token)
        case _:
            return False


def is_repeatable(load: LoadViewTkoOp | LoadPtrTkoOp) -> bool:
    """True of a load that has the same result wherever it is made."""
    return is_weak(load) and reads_only(load.token)


LOADED_PLACES = "loaded_places"
"""Attribute of a load of numbers by which other loads of its loop lie."""


def is_repeatable_number(op: Operation) -> bool:
    """True of a load of one number, or of several that are places, that may be made once more: by
    who copies what it says where to find, an expert or a page."""
    return (
        isinstance(op, LoadViewTkoOp | LoadPtrTkoOp)
        and (bits_of(shape_of(op.results[0])) == 0 or LOADED_PLACES in op.attributes)
        and is_repeatable(op)
    )


def _boxed(
    op: LoadViewTkoOp | StoreViewTkoOp, ctas: int = 1, half: int | None = None,
    pairs: int | None = None,
) -> BoxedAccess | str:  # fmt: skip
    tensor = tensor_of(op.view)
    sizes, strides = extents_of(tensor)
    if strides.count(1) != 1 or len(sizes) > MAX_RANK:
        return f"the tensor has no one dimension of stride 1, or more than {MAX_RANK}"
    element = scalar_type(op, tensor.result.type.element_type)  # type: ignore[attr-defined]
    row = TENSOR_ELEMENTS.get(str(element))
    flag = op.nan_flag
    if flag is not None and "FLOAT" not in str(row and row.driver):
        return f"tensor maps pad no {element} with NaN"
    if row is None or ELEMENT_OF[tensor.result.type.element_type].bits < 8:  # type: ignore[attr-defined]
        return f"tensor maps have no elements of {element}"
    inner = strides.index(1)
    pointer = _argument(tensor.base)
    if pointer is None or divisor(tensor.base) % CHUNK:
        return f"the tensor's address is not known to be a parameter and a multiple of {CHUNK}"
    if any(_divisor(stride) * row.bytes % CHUNK for stride in strides if stride != 1):
        return f"a stride is not known to be a multiple of {CHUNK} bytes"
    dims = [*(i for i in range(len(sizes)) if i != inner), inner]
    numbers: list[int] = []
    for dim in dims:
        for extent in (sizes[dim], strides[dim]):
            known = _given(extent)
            if known is None:
                return "a size or a stride of the tensor is no parameter"
            numbers += known
    if flag is not None:
        numbers += [NAN_FLAG, flag.index]
    if is_rounded_by_copies(op):
        element = FloatTF32Type()
    return _of_dimensions(op, pointer, dims, numbers, row.bytes, element, ctas, half, pairs)


def _of_dimensions(
    op: LoadViewTkoOp | StoreViewTkoOp,
    pointer: int,
    dims: list[int],
    numbers: list[int],
    size: int,
    element: Any,
    ctas: int,
    half: int | None,
    pairs: int | None,
) -> BoxedAccess | str:
    """The access whose map has the tensor's dimensions in this order."""
    view = op.view_type
    mapped = view.dim_map if isinstance(view, MappedView) else range(view.index_rank)
    tile_of = numbered(mapped)
    along = tuple(tile_of.get(dim) for dim in dims)
    bits = dim_bits(view.tile_shape)
    dimensions = tile_dimensions(op)
    extents = [dimension.extent for dimension in dimensions]
    inner = along[-1]
    if inner is not None and dimensions[inner].step * divisor(op.index[inner]) * size % CHUNK:
        return f"tiles are not known to begin at multiples of {CHUNK} bytes"
    if half is not None:
        bits[half], extents[half] = bits[half][:-1], extents[half] // 2
    own = [range(0) if i is None else bits[i] for i in along]
    box, moved = [1 if i is None else extents[i] for i in along], range(0)
    if pairs is not None:
        axis, rows = along.index(pairs), dimensions[pairs]
        kind, size_of, times, stride_of = numbers[4 * axis : 4 * axis + 4]
        if (rows.size_divisor | rows.step) % QUAD or kind < 0 or len(along) == MAX_RANK:
            return f"rows are not known to be multiples of {QUAD}"
        few = [NUMBER, size_of // QUAD] if kind == NUMBER else [QUAD, size_of]
        far = [min(times, -1) * QUAD, stride_of]
        if times == NUMBER:
            far = [NUMBER, stride_of * QUAD]
        numbers[4 * axis : 4 * axis + 4] = [*few, *far, NUMBER, QUAD, times, stride_of]
        low, moved, high = bits[pairs][:1], bits[pairs][1:2], bits[pairs][2:]
        along, pairs = (*along[: axis + 1], None, *along[axis + 1 :]), axis + 1
        own[axis : axis + 1] = [high, low]
        box[axis : axis + 1] = [box[axis] // QUAD, 2]
    turned = isinstance(op, LoadViewTkoOp) and is_turned(op, own[-1])
    atom = TCGEN05.swizzle_atom("mn", 8 * size) if turned else CHUNK
    order = MatrixOrder.of(own[-1], [*above(own, len(own) - 1), *moved], size, atom)
    box[-1] = 1 << order.row
    if max(box) > MAX_BOX or box[-1] * size < CHUNK:
        return f"a box of {'x'.join(map(str, box))} elements is none"
    cut = None
    if pairs is not None:
        ctas = 1
    if ctas > 1 and (1 << (len(order.run) - order.row)) % ctas:
        cut = next((i for i, extent in enumerate(box[:-1]) if extent > 1), None)
        if cut is None or box[cut] % ctas or prod(box) // ctas * size % ALIGNMENT:
            cut, ctas = None, 1
        else:
            box[cut] //= ctas
    type_ = TmaDescriptorType.get(box, element, order.width, order.atom)
    try:
        _ = type_.box
    except TensorMapError as error:
        return str(error)
    source = ArgumentAttr.get(pointer, "flat_map", numbers, type_)
    halved = None if half is None else (along.index(half), extents[half])
    return BoxedAccess(op, source, order, along, ctas, cut, halved, pairs)


def _divisor(extent: Extent) -> int:
    return extent if isinstance(extent, int) else divisor(extent)


def _argument(value: SSAValue) -> int | None:
    """The number of the parameter that a value is, as wide as it is or wider."""
    while isinstance(value.owner, AssumeOp | ExtIOp):
        value = value.owner.operands[0]
    owner = value.owner
    if isinstance(owner, Block) and isinstance(owner.parent_op(), EntryOp):
        return value.index  # type: ignore[attr-defined]
    return None


def _given(extent: Extent) -> list[int] | None:
    if isinstance(extent, int):
        return [NUMBER, extent]
    kind = ARGUMENT
    if (
        isinstance(product := extent.owner, MulIOp)
        and (times := known_integer(product.rhs) or 0) > 0
    ):
        extent, kind = product.lhs, -times
    number = _argument(extent)
    return None if number is None else [kind, number]
