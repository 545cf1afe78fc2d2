"""Loads, stores and moves of registers. PTX ISA 9.7.9."""

from collections.abc import Mapping
from dataclasses import replace

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    Choice,
    Constant,
    OperandForm,
    Result,
    Scalar,
    Vector,
    Wide,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import (
    BASELINE,
    Minimum,
    NeedingRow,
    Requirement,
    later,
    needs,
    target,
)
from tilewright.dialects.frozen import frozen

ACCESS_TYPES: dict[str, str] = {
    "b8": "b16",
    "b16": "b16",
    "b32": "b32",
    "b64": "b64",
    "f32": "f32",
    "f64": "f64",
}
"""The types of a memory access and the register that each goes through; narrow ones sit in b16."""

PARAMETER_TYPES: dict[str, str] = {
    "u8": "b16",
    "u16": "b16",
    "u32": "b32",
    "f32": "f32",
    "u64": "b64",
    "f64": "f64",
}
"""The scalar types of kernel parameters, and the register that each is loaded to."""

VECTOR_BITS = 128
"""The most that one access moves, but for those of WIDE_BITS."""
WIDE_BITS = 256

SPACES: dict[str, str] = {"global": "b64", "shared": "b32"}
"""Spaces and the width of their addresses."""

GENERIC = "generic"
"""Addresses of global memory, or of windows of shared and local memory; no word in mnemonics."""

_GLOBAL = {"global": "b64", GENERIC: "b64"}
"""Global memory, by addresses of its own or generic ones."""

OWN_SPACES: dict[str, str] = {"local": "b64", "const": "b64", "param": "b64"}
"""Memory of a thread, of a module and of a launch, which no other thread writes."""

LINE = 128
"""The bytes of a line of the caches."""
L1 = tuple(
    f"L1::{way}"
    for way in ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate")
)
CACHING = (
    *("nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt"),
    *L1,
    *(f"L2::{word}" for word in ("evict_first", "evict_last", "evict_normal", "cache_hint",
                                 "64B", "128B", "256B")),
)  # fmt: skip
"""The words of loads and stores that say how caches keep what is accessed. PTX ISA 9.7.9.1."""
_OF_CACHE = (
    ("L2::256B", "sm_80"), ("L2::cache_hint", "sm_80"), ("L2::", "sm_75"), ("L1::", "sm_70"),
)  # fmt: skip
"""The lowest targets of accesses with such words, the highest first."""

CACHE_HINT = ".L2::cache_hint"
CACHE_POLICY = Choice("cache-policy")
"""The word and the operand of instructions that a policy says how caches keep what they access."""

CLUSTER_SPACE = "shared::cluster"
"""The shared memory of any CTA of the cluster, whose addresses `mapa` gives."""


WEAK = "weak"
"""Accesses that nobody else makes at the same time."""

SCOPES: dict[str, Requirement] = {
    "cta": BASELINE, "cluster": needs("sm_90 7.8"), "gpu": BASELINE, "sys": BASELINE,
}  # fmt: skip
"""Whose threads see strong accesses in one order."""

SEMANTICS: dict[str, tuple[str, ...]] = {
    name: (*weak, *(f"{word}.{scope}" for word in words for scope in SCOPES))
    for name, weak, words in (
        ("ld", (WEAK,), ("relaxed", "acquire")),
        ("st", (WEAK,), ("relaxed", "release")),
        ("atom", (), ("relaxed", "acquire", "release", "acq_rel")),
        ("red", (), ("relaxed", "release")),
    )
}
"""How accesses may be ordered, and for whom."""


MMIO = "mmio.relaxed.sys"
"""Accesses of devices: as many, and as wide, as the program has."""
MMIO_ORDERED = {"ld": "mmio.acquire.sys", "st": "mmio.release.sys"}
"""Those that are ordered with others."""


ASYNC = tuple(f"async.{order}" for order in ("release.gpu", "release.sys", "mmio.release.sys"))
"""Stores and sums that go on by themselves, and that their thread's earlier accesses precede."""


def order_and_scope(semantics: str) -> tuple[str, str]:
    """The order and the scope of semantics: `release` and `sys` of `async.mmio.release.sys`."""
    order, *scope = (word for word in semantics.split(".") if word not in ("async", "mmio"))
    return order, ".".join(scope)


def needs_of(semantics: str) -> Requirement:
    """The needs of an order: those of its scope."""
    return SCOPES.get(semantics.rpartition(".")[2], BASELINE)


def cached(semantics: str, cache: str | None) -> Requirement:
    """The needs of an access by an order and such words."""
    lowest = next((lowest for word, lowest in _OF_CACHE if word in (cache or "")), None)
    return later(needs_of(semantics), needs(f"{lowest} 7.4") if lowest else BASELINE)


_PLACE = Address("a", elements=True)


@frozen
class MemoryAccessRow(NeedingRow):
    """`ld{.SEMANTICS}.SPACE{.vN}.TYPE` or `st`."""

    name: str
    does: str
    section: str
    spaces: Mapping[str, str]
    semantics: tuple[str, ...] = (WEAK,)
    needs: Requirement = BASELINE
    is_wide: bool = False
    is_alone: bool = False

    @property
    def loads(self) -> bool:
        """True where it loads."""
        return self.name == "ld"

    def mnemonic(self, space: str, type_: str, count: int = 1, semantics: str = WEAK) -> str:
        """`ld.global.v2.f32`, `st.release.sys.global.b8`."""
        order = "" if semantics == WEAK else f".{semantics}"
        place = "" if space == GENERIC else f".{space}"
        return f"{self.name}{order}{place}{f'.v{count}' if count > 1 else ''}.{type_}"

    @property
    def forms(self) -> dict[str, tuple[OperandForm, ...]]:
        """The operands of every mnemonic, in PTX's order."""
        forms = {
            self.mnemonic(space, type_, count, semantics): self.operands(register, count)
            for space in self.spaces
            for semantics in self.semantics
            for type_, register in ACCESS_TYPES.items()
            for count in self.lengths(type_)
        }
        if self.loads and self.spaces is OWN_SPACES:
            for type_, register in PARAMETER_TYPES.items():
                forms[self.mnemonic("param", type_)] = self.operands(register, 1)
        return forms

    def lengths(self, type_: str) -> tuple[int, ...]:
        """How many elements of a type one access may move."""
        counts, width = (1, 2, 4, 8), int(type_[1:])
        if self.is_alone:
            return (1,) * (self.semantics is not ASYNC or width > 8)
        if self.is_wide:
            return (WIDE_BITS // width,) if WIDE_BITS // width in counts else ()
        return tuple(count for count in counts[:3] if count * width <= VECTOR_BITS)

    def operands(self, register: str, count: int) -> tuple[OperandForm, ...]:
        """Those of an access of `count` registers."""
        if self.loads:
            return Vector("d", register, count, written=True, loose=True), _PLACE
        if self.semantics is ASYNC:
            return _PLACE, Scalar("b", register)
        return _PLACE, Vector("b", register, count, loose=True)


PREFETCH = InstructionRow(
    "address.prefetch", "bring a line of global memory to the L2", ("prefetch.global.L2",),
    BASELINE, "9.7.9.15", (Address("a"),),
)  # fmt: skip

_IN_CLUSTERS = SCOPES["cluster"]


def _accesses(name: str, does: str, section: str) -> tuple[MemoryAccessRow, ...]:
    """Rows by what they need: those of memory of every target first."""
    wide = tuple(order for order in SEMANTICS[name] if needs_of(order) is _IN_CLUSTERS)
    plain = tuple(order for order in SEMANTICS[name] if order not in wide)
    everywhere = {**SPACES, CLUSTER_SPACE: "b32", GENERIC: "b64"}
    return (
        MemoryAccessRow(name, f"{does} memory", section, SPACES, plain),
        MemoryAccessRow(
            name, f"{does} memory, ordered in clusters", section, everywhere, wide, _IN_CLUSTERS
        ),
        MemoryAccessRow(
            name, f"{does} the shared memory of a CTA of the cluster", section,
            {CLUSTER_SPACE: "b32"}, plain, _IN_CLUSTERS,
        ),
        MemoryAccessRow(name, f"{does} memory of any space", section, {GENERIC: "b64"}, plain),
        MemoryAccessRow(
            name, f"{does} memory that no other thread writes", section,
            OWN_SPACES if name == "ld" else {"local": "b64"},
        ),
        MemoryAccessRow(
            name, f"{does} memory that a device may be behind", section,
            _GLOBAL, (MMIO,), needs("sm_70 8.2"), is_alone=True,
        ),
        MemoryAccessRow(
            name, f"{does} memory that a device may be behind, in order", section,
            _GLOBAL, (MMIO_ORDERED[name],), needs("sm_70 9.3"),
            is_alone=True,
        ),
        MemoryAccessRow(
            name, f"{does} memory, {WIDE_BITS} bits", section,
            _GLOBAL, SEMANTICS[name], needs("sm_100 8.8"), True,
        ),
    )  # fmt: skip


LOADS = _accesses("ld", "load from", "9.7.9.8")
STORES = (
    *_accesses("st", "store to", "9.7.9.11"),
    MemoryAccessRow(
        "st", "start to store to memory", "9.7.9.12", _GLOBAL, ASYNC,
        needs("sm_100 8.7"), is_alone=True,
    ),
)  # fmt: skip

_MOVED = {"pred": "pred", "f32": "f32", "f64": "f64"} | {
    f"{kind}{bits}": f"b{bits}" for bits in (16, 32, 64) for kind in "bus"
}
HALVES = {"b16": "b8", "b32": "b16", "b64": "b32"}
"""The kind of the halves of registers of a kind."""


def _mov(type_: str) -> InstructionRow:
    register = _MOVED[type_]
    lists: list[tuple[OperandForm, ...]] = []
    part, count = HALVES.get(type_, ""), 2
    while part and count <= 4:
        sides = Vector("a", part, count, loose=True)
        lists.append((Result("d", register), sides))
        taken = Vector("d", part, count, written=True, loose=True)
        lists.append((taken, Scalar("a", type_, plain=True)))
        part, count = HALVES.get(part, ""), 2 * count
    return InstructionRow(
        "ptx.mov",
        "move a register, a constant or the address of a variable",
        (f"mov.{type_}",),
        BASELINE,
        "9.7.9.1",
        (
            Result("d", register),
            Scalar("a", type_, plain=True, sums=register in ("b32", "b64")),
        ),
        tuple(lists),
    )


MOV: dict[str, InstructionRow] = {type_: _mov(type_) for type_ in _MOVED}
"""Moves by type; those of twice a register's width put two halves together, or take them apart."""

_WHOLE = Vector("d", "b64", 2, written=True, loose=True), Vector("a", "b64", 2, loose=True)
MOV_WIDE = InstructionRow(
    "ptx.mov", "put two registers together to one of 128 bits, or take that apart", ("mov.b128",),
    needs("sm_70 8.3"), "9.7.9.2", (Wide("d", "register"), _WHOLE[1]),
    ((_WHOLE[0], Wide("a")), (Wide("d", "register"), Wide("a"))),
)  # fmt: skip
PREFETCHES = InstructionRow(
    "ptx.prefetch", "bring a line of memory to a cache",
    tuple(
        f"prefetch.{where}" for where in ("global.L1", "local.L1", "local.L2", "L1", "L2")
    ),
    BASELINE, "9.7.9.15", (Address("a"),),
)  # fmt: skip
PREFETCHES_KEPT = InstructionRow(
    "ptx.prefetch", "bring a line of memory to the L2, and say how long it stays",
    ("prefetch.global.L2::evict_last", "prefetch.global.L2::evict_normal"),
    needs("sm_80 7.4"), "9.7.9.15", (Address("a"),),
)  # fmt: skip

TIMES: dict[str, str] = {
    **dict.fromkeys(("clock", "clock_hi", "globaltimer_lo", "globaltimer_hi"), "b32"),
    **dict.fromkeys(("clock64", "globaltimer"), "b64"),
}
"""Special registers that count time, and the kind of their registers. PTX ISA 10.26 to 10.28."""
OF_BLOCKS = {"smid": "b32", **TIMES}
"""Those that say where a block runs and when, the same for all of its threads but for moments."""

OF_LAUNCH: dict[str, tuple[str, Requirement]] = {
    name: (kind, needed)
    for kind, needed, names in (
        ("b32", BASELINE, (f"envreg{number}" for number in range(32))),
        ("b32", BASELINE, (f"pm{number}" for number in range(8))),
        ("b64", BASELINE, (*(f"pm{number}_64" for number in range(8)), "gridid")),
        ("b32", BASELINE, ("total_smem_size", "dynamic_smem_size")),
        ("b32", needs("sm_90 8.1"), ("aggr_smem_size",)),
        ("b32", needs("sm_80 7.6"),
         (f"reserved_smem_offset_{of}" for of in ("begin", "end", "cap", "0", "1"))),
        ("b64", needs("sm_75 8.0"), ("current_graph_exec",)),
        ("pred", SCOPES["cluster"], ("is_explicit_cluster",)),
    )
    for name in names
}  # fmt: skip
"""Special registers of which the driver or the launch says what they hold, the kind of their
registers, and their needs. PTX ISA 10."""

GRID_WORKSPACE = {"envreg1": 32, "envreg2": 0}
"""Those that hold the address of a word by which the CTAs of a cooperative launch wait for each
other (CUDA's `grid.sync()`), and where their bits are in it."""

CLUSTER_REGISTERS = (
    "cluster_nctarank",
    *(
        f"{name}.{axis}"
        for name in ("clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
        for axis in "xyz"
    ),
)
"""The special registers of clusters, but for the rank. PTX ISA 10.20 to 10.25."""

SPECIAL_REGISTERS: dict[str, Minimum] = {
    **dict.fromkeys(
        ("%cluster_ctarank", *(f"%{name}" for name in CLUSTER_REGISTERS)), target("sm_90")
    ),
    **{f"%{name}": needed.target for name, (_, needed) in OF_LAUNCH.items()},
}
"""Special registers that not every target has. PTX ISA 10."""

LOP3 = InstructionRow(
    "ptx.lop3", "d = the bits that a table has for those of a, b and c", ("lop3.b32",), BASELINE,
    "9.7.8.9",
    (
        Result("d"), Scalar("a", "b32"), Scalar("b", "b32"), Scalar("c", "b32"),
        Constant("immLut", range(256)),
    ),
)  # fmt: skip
_KEPT = tuple(
    f"L2::evict_{first}{other}"
    for first in ("last", "normal", "first", "unchanged")
    for other in ("", ".L2::evict_first", ".L2::evict_unchanged")
)
CREATE_POLICY = InstructionRow(
    "ptx.createpolicy", "make how caches keep a part of the accesses",
    tuple(f"createpolicy.fractional.{kept}.b64" for kept in _KEPT), needs("sm_80 7.4"), "9.7.9.18",
    (Result("d", "b64"), Scalar("fraction", "f32", optional=True)),
)  # fmt: skip
EVICT_FIRST, EVICT_NORMAL = 0x12F0000000000000, 0x1000000000000000
"""The policies that `createpolicy.fractional.L2::evict_first` and `evict_normal` make of all
accesses."""
CREATE_POLICY_RANGE = replace(
    CREATE_POLICY, does="make how caches keep accesses to a range of addresses",
    mnemonics=tuple(
        f"createpolicy.range{space}.{kept}.b64" for space in (".global", "") for kept in _KEPT
    ),
    operands=(
        Result("d", "b64"), Address("a"), Choice("primary-size", type_="u32"),
        Choice("total-size", type_="u32"),
    ),
)  # fmt: skip
CREATE_POLICY_CVT = replace(
    CREATE_POLICY, does="make how caches keep accesses of what CUDA's API says of that",
    mnemonics=("createpolicy.cvt.L2.b64",), operands=(Result("d", "b64"), Scalar("a", "b64")),
)  # fmt: skip
ST_BULK = InstructionRow(
    "ptx.st.bulk", "fill bytes of the CTA's shared memory with zeros",
    ("st.bulk.weak.shared::cta",), needs("sm_100 8.6"), "9.7.9.13",
    (Address("a"), Scalar("size", "b64"), Constant("initval", (0,))),
)  # fmt: skip
DISCARD = InstructionRow(
    "ptx.discard", "forget a line of memory, which need not be written back",
    ("discard.global.L2", "discard.L2"), needs("sm_80 7.4"), "9.7.9.17",
    (Address("a"), Constant("size", (128,))),
)  # fmt: skip
APPLY_PRIORITY = InstructionRow(
    "ptx.applypriority", "let a line of memory stay in the L2 as any other",
    ("applypriority.global.L2::evict_normal", "applypriority.L2::evict_normal"), DISCARD.needs,
    "9.7.9.16", DISCARD.operands,
)  # fmt: skip


@frozen
class AsyncCopyRow(NeedingRow):
    """`cp.async.CACHE.shared.global{.PREFETCH} [dst], [src], cp-size{, src-size}`: legal sizes in
    bytes, by CACHE or CACHE.PREFETCH."""

    sizes: dict[str, tuple[int, ...]]
    needs: Requirement
    section: str

    def mnemonic(self, cache: str) -> str:
        kept, *prefetch = cache.split(".")
        return ".".join(("cp.async", kept, "shared.global", *prefetch))

    def operands(self, cache: str) -> tuple[OperandForm, ...]:
        """Those of a copy, in PTX's order."""
        sizes = self.sizes[cache]
        fill = Choice("src-size", range(max(sizes) + 1), optional=True, type_="u32", bounded=True)
        hint = (CACHE_POLICY,) if CACHE_HINT in cache else ()
        return Address("dst"), Address("src"), Constant("cp-size", sizes), fill, *hint


CP_ASYNC = AsyncCopyRow({"ca": (4, 8, 16), "cg": (16,)}, needs("sm_80 7.0"), "9.7.9.25.3.1")
CP_ASYNC_PREFETCH = AsyncCopyRow(
    {
        f"{cache}{hint}{amount}": sizes
        for cache, sizes in CP_ASYNC.sizes.items()
        for hint in ("", CACHE_HINT)
        for amount in (*("",) * bool(hint), ".L2::64B", ".L2::128B", ".L2::256B")
    },
    needs("sm_80 7.4"),
    CP_ASYNC.section,
)
"""A copy that brings more to the L2 cache, or is kept there by a policy."""
CP_ASYNC_COMMIT_GROUP = InstructionRow(
    "cp.async.commit_group", "make the thread's cp.async that are in no group yet the latest group",
    ("cp.async.commit_group",), CP_ASYNC.needs, "9.7.9.25.3.2",
)  # fmt: skip
CP_ASYNC_WAIT_GROUP = InstructionRow(
    "cp.async.wait_group", "wait until at most the latest N groups are not complete",
    ("cp.async.wait_group",), CP_ASYNC.needs, "9.7.9.25.3.3",
    (Constant("N"),),
)  # fmt: skip
CP_ASYNC_WAIT_ALL = replace(
    CP_ASYNC_WAIT_GROUP, does="wait until all of the thread's cp.async are complete",
    mnemonics=("cp.async.wait_all",), operands=(),
)  # fmt: skip
