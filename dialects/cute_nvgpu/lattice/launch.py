"""The limits of launches: threads, clusters and bytes of parameters. CUDA C++ Programming
Guide, compute capabilities; PTX ISA 5.1.6.1 and 11.1 for the parameters."""

from collections.abc import Sequence
from math import prod

from tilewright.dialects.cute_nvgpu.lattice.cluster import MAX_CLUSTER
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Version

MAX_GRID = ((1 << 31) - 1, 65535, 65535)
MAX_BLOCK = (1024, 1024, 64)
MAX_THREADS = 1024

_PARAMETER_BYTES: tuple[tuple[int, Version], ...] = ((4352, BASELINE.version), (32764, (8, 1)))
"""How many bytes the parameters of a kernel may take, by the PTX ISA version that takes so many."""


def why_illegal_block(extents: Sequence[int]) -> str | None:
    """The fault of the size of a block, or None."""
    if (why := _why_no_extents("a block", extents, "threads", MAX_THREADS)) is not None:
        return why
    if any(extent > limit for extent, limit in zip(extents, MAX_BLOCK, strict=True)):
        return f"expected a block of at most {_by(MAX_BLOCK)} threads, got {_by(extents)}"
    return None


def why_illegal_cluster(extents: Sequence[int]) -> str | None:
    """The fault of the size of a cluster, or None."""
    return _why_no_extents("a cluster", extents, "CTAs", MAX_CLUSTER)


def _why_no_extents(what: str, extents: Sequence[int], of: str, most: int) -> str | None:
    if len(extents) != 3:
        padded = _by((*extents, 1, 1, 1)[:3])
        return f"expected {what} of three extents, got {_by(extents)}; nearest legal: {padded}"
    if min(extents) < 1:
        return f"expected {what} of positive extents, got {_by(extents)}"
    if prod(extents) > most:
        return f"expected {what} of at most {most} {of}, got {prod(extents)}: {_by(extents)}"
    return None


def _by(extents: Sequence[int]) -> str:
    """`32x4x1`."""
    return "x".join(map(str, extents)) or "none"


def parameter_version(size: int) -> Version | None:
    """The PTX ISA version whose kernels may have parameters of so many bytes; None where none
    may."""
    return next((version for most, version in _PARAMETER_BYTES if size <= most), None)


MAX_PARAMETER_BYTES = _PARAMETER_BYTES[-1][0]
