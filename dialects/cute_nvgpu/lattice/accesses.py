"""Loads and stores with the words that no table of theirs lists: orders that are said or volatile,
signs of numbers, what caches keep, 128 bits. PTX ISA 9.7.9.8, 9.7.9.9 and 9.7.9.11."""

import re

from tilewright.dialects.cute_nvgpu.lattice.data_movement import (
    ACCESS_TYPES,
    CACHE_POLICY,
    GENERIC,
    LOADS,
    OWN_SPACES,
    STORES,
    WEAK,
    cached,
)
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Wide
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement, later

_MNEMONIC = re.compile(
    r"(?P<name>ld|st)"
    r"(?:\.(?P<order>weak|volatile|(?:mmio\.)?(?:relaxed|acquire|release)\.(?:cta|cluster|gpu|sys)))?"
    r"(?:\.(?P<space>global|shared(?:::cluster)?|local|const|param)(?:::(?:cta|entry|func))?)?"
    r"(?P<words>(?:\.(?:[a-z]{2}|L[12]::\w+))*)"
    r"(?:\.v(?P<count>[248]))?\.(?P<kind>[bsuf])(?P<bits>\d+)"
)
_LOADED, _STORED = r"\.(?:ca|cg|cs|lu|cv)", r"\.(?:wb|cg|cs|wt)"
_SIZE = r"(?:\.L2::(?:64|128|256)B)?"
_HINT = r"(?:\.L2::cache_hint)?"
_KEPT = (
    r"(?:\.L1::(?:evict_(?:normal|unchanged|first|last)|no_allocate))?"
    r"(?:\.L2::evict_(?:first|last|normal)(?=.* wide))?"
)
_WEAK, _ORDERED, _GLOBAL = "(?:plain|weak)", r"(?!volatile|mmio)\S+", f"(?:global|{GENERIC})"
_KEEPING = re.compile(
    rf"(?:ld {_WEAK} (?:[\w:]+{_LOADED}|{_GLOBAL}{_LOADED}{_HINT}{_SIZE})|"
    rf"st {_WEAK} (?:[\w:]+{_STORED}|{_GLOBAL}{_STORED}{_HINT})|"
    rf"ld plain global(?:(?:\.c[ags])?\.nc|\.nc{_KEPT}){_HINT}{_SIZE}|"
    rf"ld {_ORDERED} {_GLOBAL}{_KEPT}{_HINT}{_SIZE}|st {_ORDERED} {_GLOBAL}{_KEPT}{_HINT}|"
    rf"ld volatile {_GLOBAL}{_SIZE}|\S+ \S+ [\w:]+)(?: wide)?"
)
"""The words on caches that accesses may have, behind their order and space."""
_VERSIONS = (
    (r".*\.volatile\.local", (9, 1)), (r".*\.sys\b.*b128", (8, 4)), (r".*b128", (8, 3)),
    (r".*::cta", (7, 8)),
)  # fmt: skip
"""The versions of PTX that brought some words."""

_RANKS = re.compile(
    r"(weak|volatile|mmio)|(relaxed|acquire|release)|(cta|cluster|gpu|sys)|"
    r"(global|shared.*|local|const|param.*)|([clw][a-z])|(nc)|(L1::.*)|(L2::evict.*)|(L2::c.*)|"
    r"(L2::.*)|(v\d)|(.*)"
)
"""The words of accesses, in the order of the PTX ISA."""


def in_order(mnemonic: str) -> str | None:
    """The load or store of the same words in the order of the PTX ISA; None of any other."""
    name, *words = mnemonic.split(".")
    words.sort(key=lambda word: _RANKS.match(word).lastindex or 0)  # pyright: ignore
    ordered = ".".join((name, *words))
    return None if access(ordered) is None else ordered


def access(mnemonic: str) -> InstructionRow | None:
    """The row of a load or store; None of any other mnemonic."""
    if (said := _MNEMONIC.fullmatch(mnemonic)) is None:
        return None
    name, order, words, kind = said["name"], said["order"], said["words"], said["kind"]
    space, count, bits = said["space"] or GENERIC, int(said["count"] or 1), int(said["bits"])
    rows, is_whole = (LOADS if name == "ld" else STORES), bits == 128
    semantics = order or WEAK
    if order == "volatile":
        semantics = WEAK if space == "local" else "relaxed.sys"
        rows = () if space in OWN_SPACES and space != "local" else rows
    type_ = "b64" if is_whole else f"{'b' if kind in 'su' else kind}{bits}"
    row = next(
        (row for row in rows if space in row.spaces and semantics in row.semantics
         and type_ in ACCESS_TYPES and count in row.lengths(type_)), None,
    )  # fmt: skip
    if row is None or (is_whole and (kind, count) != ("b", 1)):
        return None
    wide = " wide" if row.is_wide else ""
    if not _KEEPING.fullmatch(f"{name} {order or 'plain'} {space}{words}{wide}"):
        return None
    operands = row.operands(ACCESS_TYPES[type_], count)
    if is_whole:
        operands = (Wide("d", "register"), Address("a")) if row.loads else (Address("a"), Wide("b"))
    required = later(row.needs, cached(semantics, words))
    version = next((version for word, version in _VERSIONS if re.match(word, mnemonic)), (6, 0))
    required = Requirement(required.target, max(required.version, version))
    return InstructionRow(
        f"ptx.{name}", row.does, (mnemonic,), required,
        row.section, (*operands, CACHE_POLICY) if ".L2::cache_hint" in words else operands,
    )  # fmt: skip
