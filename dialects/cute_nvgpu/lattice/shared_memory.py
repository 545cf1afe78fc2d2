"""Shared memory that one CTA may have. CUDA C++ Programming Guide, compute capabilities."""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.lattice.targets import Target

_KIB = {
    **dict.fromkeys((70, 72), 96),
    75: 64,
    **dict.fromkeys((80, 87), 163),
    **dict.fromkeys((86, 89, 120, 121), 99),
    **dict.fromkeys((90, 100, 103, 110), 227),
}


def shared_memory_limit(target: Target) -> int:
    """The bytes of shared memory of a CTA, where the launch asks for the most (dynamic)."""
    return _KIB[target.number] * 1024
