"""A mnemonic of the lattice explained: what it does, and where it is available."""

from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS
from tilewright.tools.instructions.catalogue import canonical, listing
from tilewright.tools.instructions.listing import Listing, version_text
from tilewright.tools.render_table import line


def explanation(mnemonic: str) -> list[str]:
    """The lines that explain a legal mnemonic."""
    mnemonic = canonical(mnemonic)
    row = listing(mnemonic)
    assert row is not None, mnemonic
    return [mnemonic, *row.explain(mnemonic), *_availability(row)]


def _availability(row: Listing) -> Iterator[str]:
    names = [target.name for target in TARGETS.values() if target.supports(row.target)]
    yield line("requires", row.target.at_least)
    yield line("targets", ", ".join(names))
    yield line("PTX ISA", f"{version_text(row.ptx_version)} or later, section {row.section}")
    yield line("modifiers", _modifiers(row))


def _modifiers(row: Listing) -> str:
    """The modifiers that the row takes; a rounding names its default."""
    roundings = [name for name in row.modifiers if name in ("rn", "rz", "rm", "rp")]
    others = [f".{name}" for name in row.modifiers if name not in roundings]
    if roundings:
        others.append(" | ".join(f".{name}" for name in roundings) + f" (none is .{roundings[0]})")
    return ", ".join(others) or "none"
