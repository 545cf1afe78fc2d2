"""Loads and stores with the words that no table of theirs lists: orders that are said or volatile,
signs of numbers, what caches keep, 128 bits. PTX ISA 9.7.9.8, 9.7.9.9 and 9.7.9.11."""

import re
from itertools import pairwise

from tilewright.dialects.cute_nvgpu.lattice.data_movement import (
    ACCESS_TYPES,
    CACHE_HINT,
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
from tilewright.dialects.frozen import frozen

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
    r"(async|weak|volatile|mmio)|(relaxed|acquire|release)|(cta|cluster|gpu|sys)|"
    r"((?:global|shared(?:::cluster)?|local|const|param)(?:::cta|::entry|::func)?)|"
    r"([clw][a-z])|(nc)|(L1::.*)|(L2::evict.*)|(L2::c.*)|(L2::.*)|(v\d)|(.*)"
)
"""The words of accesses, in the order of the PTX ISA."""
_COUNTS = {"": 1, "v2": 2, "v4": 4, "v8": 8}


@frozen
class Said:
    """The words of a load or store, each kind joined in the order of the PTX ISA."""

    mnemonic: str
    name: str
    order: str
    space: str
    cache: str
    vector: str
    type_: str

    @classmethod
    def of(cls, mnemonic: str) -> "Said":
        """The words of a mnemonic in any order."""
        name, *words = mnemonic.split(".")
        ranked = sorted((_RANKS.fullmatch(word).lastindex or 0, word) for word in words)  # pyright: ignore
        said = (
            ".".join(word for rank, word in ranked if first <= rank < end)
            for first, end in pairwise((1, 4, 5, 11, 12, 13))
        )
        return cls(".".join((name, *(word for _, word in ranked))), name, *said)

    @property
    def place(self) -> str:
        """The space, of whichever part of it."""
        return re.sub("::(cta|entry|func)", "", self.space) or GENERIC

    @property
    def semantics(self) -> str:
        """The order, which is none of other threads in memory that these do not see."""
        if self.order != "volatile":
            return self.order or WEAK
        return WEAK if self.place == "local" else "relaxed.sys"

    @property
    def count(self) -> int:
        """How many registers it accesses; 0 where no access has so many."""
        return _COUNTS.get(self.vector, 0)

    @property
    def access(self) -> str:
        """The type in memory, of signed and unsigned numbers that of their bits."""
        return re.sub(r"[us](8|16|32|64)", r"b\1", self.type_)


def in_order(mnemonic: str) -> str | None:
    """The load or store of the same words in the order of the PTX ISA; None of any other."""
    ordered = Said.of(mnemonic).mnemonic
    return None if access(ordered) is None else ordered


def access(mnemonic: str) -> InstructionRow | None:
    """The row of a load or store; None of any other mnemonic."""
    said = Said.of(mnemonic)
    if said.name not in ("ld", "st") or said.mnemonic != mnemonic or "async" in said.order:
        return None
    space, count, is_whole = said.place, said.count, said.type_ == "b128"
    rows, type_ = (LOADS if said.name == "ld" else STORES), "b64" if is_whole else said.access
    if said.order == "volatile" and space in OWN_SPACES and space != "local":
        return None
    row = next(
        (row for row in rows if space in row.spaces and said.semantics in row.semantics
         and type_ in ACCESS_TYPES and count in row.lengths(type_)), None,
    )  # fmt: skip
    if row is None or (is_whole and count != 1):
        return None
    kept = f".{said.cache}" if said.cache else ""
    wide = " wide" if row.is_wide else ""
    if not _KEEPING.fullmatch(f"{said.name} {said.order or 'plain'} {space}{kept}{wide}"):
        return None
    operands = row.operands(ACCESS_TYPES[type_], count)
    if is_whole:
        operands = (Wide("d", "register"), Address("a")) if row.loads else (Address("a"), Wide("b"))
    required = later(row.needs, cached(said.semantics, said.cache))
    version = next((version for word, version in _VERSIONS if re.match(word, mnemonic)), (6, 0))
    required = Requirement(required.target, max(required.version, version))
    return InstructionRow(
        f"ptx.{said.name}", row.does, (mnemonic,), required,
        row.section, (*operands, CACHE_POLICY) if CACHE_HINT in kept else operands,
    )  # fmt: skip
