"""`cute.copy` by the tensor memory accelerator: one box after the other."""

from itertools import product
from math import prod
from typing import Any

from tilewright.dialects.cute.ops.copy import CopyOp
from tilewright.dialects.cute.ops.tma import MakeTmaCopyOp
from tilewright.dialects.cute.symbolic.evaluate import image
from tilewright.dialects.cute.symbolic.tuples import tuple_sum
from tilewright.dialects.cute.tensor import CoordTensor, Tensor
from tilewright.dialects.cute.types.tensors import MemRefType
from tilewright.dialects.cute.types.tma import TmaCopyType
from tilewright.dialects.cute_nvgpu.atoms.tma import TmaInstruction
from tilewright.dialects.cute_nvgpu.ops import tma
from tilewright.dialects.cute_nvgpu.types.copies import TmaInstructionAttr
from tilewright.dialects.cute_nvgpu.types.tensor_map import TmaDescriptorType
from tilewright.lowering.tile.convert_pipeline import pipeline_of, use_of
from tilewright.lowering.tile.kernel import KernelLowering, lowers, static_extents
from tilewright.lowering.tile.places import flat_tuple, zeros_like
from tilewright.source.diagnostic import OpError


@lowers
def _make(op: MakeTmaCopyOp, kernel: KernelLowering) -> None:
    if op.source not in kernel.arguments:
        raise OpError(
            op,
            f"'{op.name}' expected a tensor that is an argument of the kernel, got a view of one "
            "(its tensor map is made before the kernel runs); nearest legal: the argument, and the "
            "coordinates sliced",
        )
    copy, coords = op.evaluate([kernel.typed(op.source)])
    type_ = op.copy.type
    assert isinstance(type_, TmaCopyType) and isinstance(op.source.type, MemRefType)
    box = type_.box
    descriptor = TmaDescriptorType.get(box.extents, op.source.type.element_type, box.swizzle)
    kernel.tensor_maps[op.copy] = kernel.arguments.tensor_map(
        op.source, list(box.modes), descriptor
    )
    kernel[op.copy], kernel[op.coords] = copy, coords


def convert_tma_copy(op: CopyOp, kernel: KernelLowering) -> None:
    """The boxes of one copy, each with its first element's coordinates and place."""
    assert op.tiled is not None
    type_ = op.tiled.type
    assert isinstance(type_, TmaCopyType)
    loads = type_.atom.loads  # type: ignore[attr-defined]
    coords, memory = (op.source, op.destination) if loads else (op.destination, op.source)
    for corner, at in _boxes(type_, kernel.typed(coords).value, kernel.tensor(memory)):
        _one(op, corner, at, kernel)


Box = tuple[list[Any], Any]
"""The coordinate of a box's first element, in the order of the box's dimensions; and where that
element is in the tile."""


def _boxes(type_: TmaCopyType, coords: CoordTensor, memory: Tensor) -> list[Box]:
    box, tile = type_.box, static_extents(memory)
    extent_of = dict(zip(box.modes, box.extents, strict=True))
    steps = [
        extent_of[_tensor_mode(coords, place)] if extent > 1 else 1
        for place, extent in enumerate(tile)
    ]
    boxes: list[Box] = []
    for at in product(*(range(0, size, step) for size, step in zip(tile, steps, strict=True))):
        corner = flat_tuple(tuple_sum(coords.start, image(coords.layout, at)))
        boxes.append(([corner[mode] for mode in box.modes], at))
    assert len(boxes) * prod(box.extents) == prod(tile)
    return boxes


def _tensor_mode(coords: CoordTensor, place: int) -> int:
    """Along which mode of the tensor a mode of its tile runs."""
    step = flat_tuple(tuple_sum(zeros_like(coords.start), image(coords.layout.mode(place), 1)))
    return next(mode for mode, along in enumerate(step) if along != 0)


def _one(op: CopyOp, corner: list[Any], at: Any, kernel: KernelLowering) -> None:
    assert op.tiled is not None
    map_, coordinates = kernel.tensor_maps[op.tiled], [kernel.index(number) for number in corner]
    hint = None if op.cache_hint is None else kernel[op.cache_hint]
    if op.pipeline is None or op.use is None:
        line, place = kernel.place(kernel.tensor(op.source), at)
        if (kind := _instruction(op).reduction) is None:
            store = tma.TmaStoreOp(line, [place], map_, coordinates, cache_hint=hint)
            kernel.emitter.add(store)
        else:
            reduction = tma.TmaReduction(kind)
            reduce = tma.TmaReduceOp(line, [place], map_, coordinates, reduction, cache_hint=hint)
            kernel.emitter.add(reduce)
        return
    pipeline = pipeline_of(kernel, op.pipeline)
    assert pipeline.full is not None
    stage = kernel.index(pipeline.stage(use_of(kernel, op.use)))
    line, place = kernel.place(kernel.tensor(op.destination), at)
    mask = None if op.mask is None else kernel[op.mask]
    load = tma.TmaLoadOp(
        map_, coordinates, line, [place], pipeline.full, [stage], mask=mask, cache_hint=hint
    )
    kernel.emitter.add(load)


def _instruction(op: CopyOp) -> TmaInstruction:
    assert op.tiled is not None and isinstance(op.tiled.type, TmaCopyType)
    atom = op.tiled.type.atom
    assert isinstance(atom, TmaInstructionAttr)
    return atom.data
