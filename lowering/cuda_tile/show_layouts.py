"""The places of a kernel's tiles, as attributes of the ops that make them."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, StringAttr

from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.lowering.cuda_tile.convert_cuda_tile_to_cute_nvgpu import lower_entry
from tilewright.lowering.cuda_tile.places import TilePlaces, is_tile
from tilewright.passes.cuda_tile.steps import EntryPass


class CudaTileShowLayoutsPass(EntryPass):
    """Say in `cute.places` of every op of Tile IR where its tiles are, as
    `convert-cuda-tile-to-cute-nvgpu` decides it for a target: in registers, (thread, register) to
    the element's number in row-major order, in shared memory, in tensor memory. The ops are those
    that it lowers in the end, split or strip-mined. In `cute.retreats` of an entry is what its
    kernel does without, and why."""

    name = "cuda-tile-show-layouts"

    @staticmethod
    def rewrite(entry: EntryOp, chip: Target | None) -> None:
        lowered = lower_entry(entry, chip)
        if texts := [retreat.text for retreat in lowered.retreats]:
            entry.attributes["cute.retreats"] = ArrayAttr(map(StringAttr, texts))
        places = TilePlaces(lowered)
        for inner in entry.walk():
            if texts := [places.of(result) for result in inner.results if is_tile(result)]:
                inner.attributes["cute.places"] = ArrayAttr(map(StringAttr, texts))
