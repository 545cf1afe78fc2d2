"""`cp.async`."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.lattice import CP_ASYNC
from tilewright.tools.instructions.listing import Listing
from tilewright.tools.instructions.operand_forms import Address, Constant, Count, OperandForm
from tilewright.tools.render_table import line

_LEVELS = {"ca": "all cache levels", "cg": "L2 alone"}


def listings() -> Iterator[Listing]:
    """The one row."""
    row = CP_ASYNC
    yield Listing(
        "cp.async",
        (),
        (),
        "; ".join(f"{cache} {'|'.join(map(str, sizes))} B" for cache, sizes in row.sizes.items()),
        (),
        tuple(row.sizes),
        row.target,
        row.ptx_version,
        row.section,
        tuple(map(row.mnemonic, row.sizes)),
        lambda mnemonic: _operands(_cache(mnemonic)),
        lambda mnemonic: _explain(_cache(mnemonic)),
    )


def _cache(mnemonic: str) -> str:
    return mnemonic.split(".")[2]


def _operands(cache: str) -> tuple[OperandForm, ...]:
    sizes, section = CP_ASYNC.sizes[cache], CP_ASYNC.section
    return (
        Address("dst", section),
        Address("src", section),
        Constant("cp-size", sizes, section),
        Count("src-size", section, range(max(sizes) + 1)),
    )


def _explain(cache: str) -> Iterator[str]:
    sizes = " or ".join(map(str, CP_ASYNC.sizes[cache]))
    yield line("computes", f"start a copy from global to shared memory, cached in {_LEVELS[cache]}")
    yield line("op", f"cute_nvgpu.cp.async ... cache {cache}")
    yield line("operands", "[dst], [src], cp-size{, src-size}; the rest of cp-size is zeroed")
    yield line("cp-size", f"{sizes} bytes, both addresses aligned to it")
