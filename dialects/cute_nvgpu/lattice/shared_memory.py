"""Shared memory that one CTA may have. CUDA C++ Programming Guide, compute capabilities."""

from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, Target
from tilewright.dialects.frozen import frozen


@frozen
class SharedMemoryRow:
    """The bytes of shared memory of a CTA: `static` in arrays of the code, which ptxas checks, and
    `dynamic` where the launch asks for the most (opt-in)."""

    static: int
    dynamic: int


def _kib(dynamic: int) -> SharedMemoryRow:
    return SharedMemoryRow(48 * 1024, dynamic * 1024)


SHARED_MEMORY: dict[int, SharedMemoryRow] = {
    **dict.fromkeys((70, 72), _kib(96)),
    75: _kib(64),
    **dict.fromkeys((80, 87), _kib(163)),
    **dict.fromkeys((86, 89, 120, 121), _kib(99)),
    **dict.fromkeys((90, 100, 103, 110), _kib(227)),
}
"""By the number of the target."""

assert {target.number for target in TARGETS.values()} == SHARED_MEMORY.keys()

RESERVED = 1024
"""The bytes of an SM's shared memory that the system takes for each CTA beside its own."""

STATIC_SHARED_LIMIT = min(row.static for row in SHARED_MEMORY.values())
"""Above this many bytes a kernel's shared memory must be dynamic. PTX ISA 5.1.7."""

REACH = 1 << 32
"""The bytes of shared memory that its addresses, of 32 bits, reach."""


def is_alignment(align: int) -> bool:
    """True where ptxas aligns a variable to so many bytes."""
    return 0 < align < 1 << 31 and not align & (align - 1)


def shared_memory_limit(target: Target) -> int:
    """The bytes of shared memory of a CTA, where the launch asks for the most (dynamic)."""
    return SHARED_MEMORY[target.number].dynamic


def why_too_much(size: int, target: Target) -> str | None:
    """The fault of a kernel's bytes of shared memory, or None."""
    limit = shared_memory_limit(target)
    if size <= limit:
        return None
    return f"expected at most {limit} bytes of shared memory in a CTA of {target}, got {size}"


RANK_SHIFT = 24
"""The bits of a shared-memory address within a CTA. Those above say which CTA of the cluster it is
in: 0 the own one, or a rank from 1 here; on an H200 the rank itself, in own addresses too."""
