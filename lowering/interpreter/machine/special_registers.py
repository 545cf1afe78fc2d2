"""Special registers: where each thread is, in its block, cluster and grid. PTX ISA 10."""

from math import prod

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import SMS
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.lowering.interpreter.array_types import Int64Array
from tilewright.lowering.interpreter.values import Bits, Lanes

WARP = 32

Dim = tuple[int, int, int]


def clustered(grid: Dim, cluster: Dim) -> Int64Array:
    """The CTAs of a grid, by their place in it, cluster by cluster; those of a cluster in the order
    of their ranks."""
    numbers = np.arange(prod(grid), dtype=np.int64).reshape(grid[::-1])
    (gx, gy, gz), (x, y, z) = grid, cluster
    blocks = numbers.reshape(gz // z, z, gy // y, y, gx // x, x)
    return blocks.transpose(0, 2, 4, 1, 3, 5).ravel()


def _lane_masks(relation: str, lanes: Bits) -> Bits:
    """The bits of the lanes that are equal to some, or less, or greater."""
    own = np.uint64(1) << lanes
    below = own - np.uint64(1)
    masks = {"eq": own, "lt": below, "le": own | below, "gt": ~(own | below), "ge": ~below}
    return (masks[relation] & np.uint64(0xFFFFFFFF)).astype(np.uint32)


class SpecialRegisters:
    """Those of a wave: `ctas` are its CTAs by their place in the grid, each of `slots` thread
    slots, whole warps, and with a multiprocessor for itself; CTAs of a cluster stand side by
    side."""

    def __init__(
        self, block: Dim, grid: Dim, cluster: Dim, ctas: Int64Array, slots: int, arch: str
    ):
        self._block, self._grid = block, grid
        self._cluster = cluster
        self._ctas = ctas
        self._slots = slots
        self._sm = SMS.get(target(arch).number, SMS[90])
        self._known: dict[str, Bits] = {}

    def __getitem__(self, register: str) -> Bits:
        """A special register of every thread slot of the wave: uint32; `thread`, which PTX has not,
        is its number in the grid: uint64."""
        if register not in self._known:
            self._known[register] = self._read(register)
        return self._known[register]

    def _read(self, register: str) -> Bits:
        slots = np.arange(len(self._ctas) * self._slots)
        if register == "laneid":
            return (slots % WARP).astype(np.uint32)
        if register == "warpid":
            return (slots % self._slots // WARP).astype(np.uint32)
        if register in ("nwarpid", "nsmid"):
            count = self._sm.threads // WARP if register == "nwarpid" else len(self._ctas)
            return np.full(len(slots), count, dtype=np.uint32)
        if register == "smid":
            return (slots // self._slots).astype(np.uint32)
        if register == "thread":
            ctas = self._ctas[slots // self._slots]
            return (ctas * prod(self._block) + slots % self._slots).astype(np.uint64)
        if register.startswith("lanemask_"):
            return _lane_masks(register[9:], (slots % WARP).astype(np.uint64))
        if register == "cluster_ctarank":
            return (slots // self._slots % prod(self._cluster)).astype(np.uint32)
        if register == "cluster_nctarank":
            return np.full(len(slots), prod(self._cluster), dtype=np.uint32)
        name, axis = register.split(".")
        place = "xyz".index(axis)
        size = self._cluster[place]
        extents_of = {
            "ntid": self._block[place],
            "nctaid": self._grid[place],
            "cluster_nctaid": size,
            "nclusterid": self._grid[place] // size,
        }
        if (extent := extents_of.get(name)) is not None:
            return np.full(len(slots), extent, dtype=np.uint32)
        if name.startswith("cluster"):
            cta = self[f"ctaid.{axis}"]
            return cta // np.uint32(size) if name == "clusterid" else cta % np.uint32(size)
        thread, cta = slots % self._slots, self._ctas[slots // self._slots]
        extents, index = (self._block, thread) if name == "tid" else (self._grid, cta)
        below = int(np.prod(extents[:place], dtype=np.int64))
        return (index // below % extents[place]).astype(np.uint32)

    def where(self, lane: int) -> str:
        """`block (1,0,0), thread (5,0,0)`, of a thread slot of the wave."""
        parts = [
            tuple(int(self[f"{name}.{axis}"][lane]) for axis in "xyz") for name in ("ctaid", "tid")
        ]
        return f"block {parts[0]}, thread {parts[1]}".replace(", ", ",").replace("),", "), ")


def all_lanes(ctas: int, slots: int, threads: int) -> Lanes:
    """The thread slots of a wave that threads have."""
    slots_ = np.arange(ctas * slots)
    return slots_[slots_ % slots < threads]
