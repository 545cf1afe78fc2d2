"""Say what a PTX mnemonic is: its atom, operands, layouts, targets and PTX ISA version; for an
illegal one, why there is none such, and the nearest legal one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS
from tilewright.tools.commands.input import InputError, read_target
from tilewright.tools.instructions.catalogue import canonical, listings
from tilewright.tools.instructions.listing import Listing, version_text
from tilewright.tools.instructions.why_mnemonic import why_illegal_mnemonic
from tilewright.tools.render_table import line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("mnemonic", metavar="MNEMONIC", help="as PTX spells it, without operands")
    parser.add_argument("--arch", metavar="TARGET", help="the target that must run it: sm_90a")


def run(options: argparse.Namespace) -> None:
    arch = None if options.arch is None else read_target(options.arch).name
    mnemonic: str = options.mnemonic.strip()
    reason = why_illegal_mnemonic(mnemonic, arch)
    if reason is not None:
        raise InputError(reason)
    mnemonic = canonical(mnemonic)
    row = listings()[mnemonic]
    print("\n".join([mnemonic, *row.explain(mnemonic), *_availability(row)]))


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
