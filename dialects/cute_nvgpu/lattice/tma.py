"""The tensor memory accelerator: the boxes that it copies, and what its instructions need."""

from collections.abc import Iterator
from dataclasses import replace

from tilewright.dialects.cute_nvgpu.lattice.data_movement import (
    CACHE_HINT,
    CACHE_POLICY,
    SCOPES,
)
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address, BoxForm
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    Choice,
    Constant,
    OperandForm,
    Scalar,
    Vector,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import (
    NeedingRow,
    Requirement,
    needs,
    target,
)
from tilewright.dialects.frozen import frozen

CHUNK = 16
"""The bytes that a swizzle keeps together; strides and rows of a box are multiples of it."""

OUT_OF_BOUNDS = 0x7FF7
"""Each 16 bits outside of a tensor where those are NaN, of each type; `fma.oob` knows them of
either sign (H200)."""

_BARE = ("register", "float")
_SOURCE = (Address("srcMem", loose=_BARE),)


@frozen
class TensorCopyRow(NeedingRow):
    """`cp.async.bulk.tensor.Nd...`, of `ranks` dimensions; the suffix says where its mode stands.
    `before` and `after` are the operands around the box."""

    op: str
    does: str
    suffix: str
    ranks: range
    needs: Requirement
    before: tuple[OperandForm, ...] = ()
    after: tuple[OperandForm, ...] = _SOURCE
    stem: str = "cp.async.bulk.tensor"
    mode: str = "tile"

    @property
    def section(self) -> str:
        """The instruction."""
        return self.stem

    def rank(self, coordinates: int) -> int:
        """The dimensions of a tensor, of so many coordinates: four rows have one each."""
        return 2 if self.mode in FOUR_ROWS else coordinates

    def mnemonic(self, rank: int, *, hint: bool = False) -> str:
        """The mnemonic of a copy of that rank."""
        suffix = self.suffix.replace("MODE", self.mode)
        return f"{self.stem}.{rank}d.{suffix}" + (CACHE_HINT if hint else "")

    def operands(self, rank: int, *, hint: bool = False) -> tuple[OperandForm, ...]:
        """The operands of a copy of that rank, in PTX's order."""
        policy = (CACHE_POLICY,) if hint else ()
        box = BoxForm("tensorMap", 1 + 4 if self.mode in FOUR_ROWS else rank)
        offsets = {"im2col": rank - 2, **dict.fromkeys(OF_A_ROW, 2)}.get(self.mode)
        info = () if offsets is None else (Vector("im2colInfo", "b16", offsets),)
        return *self.before, box, *self.after[:1], *info, *self.after[1:], *policy

    @property
    def forms(self) -> dict[str, tuple[OperandForm, ...]]:
        """The operands of every mnemonic."""
        return {
            self.mnemonic(rank, hint=hint): self.operands(rank, hint=hint)
            for rank in self.ranks
            for hint in (False, True)
        }


FOUR_ROWS = ("tile::gather4", "tile::scatter4")
"""The modes of a copy of four rows."""
OF_A_ROW = ("im2col::w", "im2col::w::128")
"""The modes of a copy of pixels along W alone."""
MAX_RANK = 5
_RANKS = range(1, MAX_RANK + 1)
_HOPPER = needs("sm_90 8.0")
_BLACKWELL = needs("sm_100a|sm_100f|sm_110f 8.6")

OWN_MEMORY = target("sm_120")
"""For this ptxas asks whose memory it is that a load to .shared::cluster writes, and calls a
function for another CTA's. Of a CTA's own .shared::cta says the same, from PTX ISA 8.6 on."""
TENSOR_LOAD = TensorCopyRow(
    "tma.load", "start to copy a box of a tensor to shared memory; its bytes arrive at an mbarrier",
    "shared::cluster.global.MODE.mbarrier::complete_tx::bytes", _RANKS, _HOPPER,
    (Address("dstMem", loose=_BARE),), (Address("mbar", loose=_BARE),),
)  # fmt: skip
# On other targets ptxas advises against it, and chips before sm_100 need sm_90a.
TENSOR_LOAD_MULTICAST = TensorCopyRow(
    "tma.load", "start to copy a box of a tensor to the shared memory of several CTAs",
    f"{TENSOR_LOAD.suffix}.multicast::cluster",
    _RANKS,
    needs("sm_90a|sm_100f|sm_110f 8.0"),
    TENSOR_LOAD.before,
    (*TENSOR_LOAD.after, Choice("ctaMask", range(1 << 16))),
)  # fmt: skip
TENSOR_LOAD_PAIR = TensorCopyRow(
    "tma.load", "start to copy a box of a tensor to shared memory; its bytes arrive at an mbarrier "
    "of either CTA of the pair",
    f"{TENSOR_LOAD.suffix}.cta_group::2", _RANKS, _BLACKWELL,
    TENSOR_LOAD.before, TENSOR_LOAD.after,
)  # fmt: skip
TENSOR_LOAD_PAIR_MULTICAST = TensorCopyRow(
    "tma.load", "start to copy a box of a tensor to the shared memory of several CTAs; its bytes "
    "arrive at mbarriers of either CTA of their pairs",
    f"{TENSOR_LOAD_MULTICAST.suffix}.cta_group::2", _RANKS, TENSOR_LOAD_PAIR.needs,
    TENSOR_LOAD.before, TENSOR_LOAD_MULTICAST.after,
)  # fmt: skip
TENSOR_STORE = TensorCopyRow(
    "tma.store", "start to copy a box of shared memory to a tensor, as part of a bulk group",
    "global.shared::cta.MODE.bulk_group", _RANKS, _HOPPER,
)  # fmt: skip
TENSOR_PREFETCH = TensorCopyRow(
    "ptx.cp.async.bulk.prefetch.tensor", "bring a box of a tensor to the L2", "L2.global.MODE",
    _RANKS, _HOPPER, after=(), stem="cp.async.bulk.prefetch.tensor",
)  # fmt: skip

_WORDS = ("i32", "ui32", "si32", "i64", "ui64")
_ORDERED = ("ui32", "si32", "ui64", "si64", "f16", "bf16")
REDUCED_ELEMENTS: dict[str, tuple[str, ...]] = {
    "add": ("i32", "ui32", "si32", "i64", "ui64", "f16", "bf16", "f32", "f64"),
    "min": _ORDERED,
    "max": _ORDERED,
    "inc": ("i32", "ui32"),
    "dec": ("i32", "ui32"),
    "and": _WORDS,
    "or": _WORDS,
    "xor": _WORDS,
}
"""The reductions, and the element types of tensor maps that each of them takes. PTX ISA,
cp.reduce.async.bulk, the table for `.global`; an H200 traps for `and`, `or` and `xor` of INT64."""

REPEATABLE = ("min", "max", "and", "or")
"""The reductions that change nothing when they are done again."""

TENSOR_REDUCE: dict[str, TensorCopyRow] = {
    kind: TensorCopyRow(
        "tma.reduce",
        f"start to combine a box of shared memory with a tensor by {kind}, in a bulk group",
        f"global.shared::cta.{kind}.MODE.bulk_group",
        _RANKS,
        _HOPPER,
        stem="cp.reduce.async.bulk.tensor",
    )
    for kind in REDUCED_ELEMENTS
}
"""Combine a box with a tensor in global memory, by kind of reduction."""


def why_not_reduced(kind: str, element: str) -> str | None:
    """Why elements of a type are not reduced so, or None where they are."""
    legal = REDUCED_ELEMENTS[kind]
    if element in legal:
        return None
    size, floats = element.lstrip("us"), "f" in element
    nearest = min(
        legal, key=lambda candidate: (candidate.lstrip("us") != size, ("f" in candidate) != floats)
    )
    return (
        f"expected elements of {', '.join(legal)} for {kind}, got {element} (PTX ISA, "
        f"cp.reduce.async.bulk.tensor); nearest legal: {nearest}"
    )


@frozen
class BulkCopyRow(NeedingRow):
    """`cp.async.bulk...` of bytes that lie one after the other; the suffix says where the hint of a
    cache stands, if one may. A reduction is of elements of an MLIR type. `after` are operands
    behind the policy."""

    op: str
    does: str
    suffix: str
    needs: Requirement
    plain: tuple[OperandForm, ...]
    stem: str = "cp.async.bulk"
    element: str = "i64"
    after: tuple[OperandForm, ...] = ()

    @property
    def section(self) -> str:
        """The instruction."""
        return self.stem

    def mnemonic(self, *, hint: bool = False) -> str:
        """The mnemonic, with the hint of a cache or without."""
        return f"{self.stem}.{self.suffix.format(CACHE_HINT if hint else '')}"

    def operands(self, *, hint: bool = False) -> tuple[OperandForm, ...]:
        """The operands, in PTX's order."""
        return *self.plain, *((CACHE_POLICY,) if hint else ()), *self.after

    @property
    def forms(self) -> dict[str, tuple[OperandForm, ...]]:
        """The operands of every mnemonic."""
        hints = (False, True) if "{}" in self.suffix else (False,)
        return {self.mnemonic(hint=hint): self.operands(hint=hint) for hint in hints}


COPIED = Choice("size", range(0, 1 << 20, CHUNK))
"""The bytes of a bulk copy: of constants ptxas takes these."""
_BYTES_BETWEEN = Address("dstMem"), Address("srcMem"), COPIED
BULK_LOAD = BulkCopyRow(
    "ptx.cp.async.bulk.load",
    "start to copy bytes of global memory to shared memory; they arrive at an mbarrier",
    "shared::cluster.global.mbarrier::complete_tx::bytes{}", _HOPPER,
    (*_BYTES_BETWEEN, Address("mbar")),
)  # fmt: skip
BULK_LOAD_MULTICAST = BulkCopyRow(
    BULK_LOAD.op, "start to copy bytes of global memory to the shared memory of several CTAs",
    "shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster{}",
    TENSOR_LOAD_MULTICAST.needs, (*BULK_LOAD.plain, Choice("ctaMask", range(1 << 16))),
)  # fmt: skip
BULK_STORE = BulkCopyRow(
    "ptx.cp.async.bulk.store",
    "start to copy bytes of shared memory to global memory, as part of a bulk group",
    "global.shared::cta.bulk_group{}", _HOPPER, _BYTES_BETWEEN,
)  # fmt: skip
BULK_LOAD_IGNORING = BulkCopyRow(
    BULK_LOAD.op, "start to copy bytes to shared memory, of which the first and the last may lie "
    "outside of an allocation and be anything",
    "shared::cta.global.mbarrier::complete_tx::bytes{}.ignore_oob", needs("sm_90 9.2"),
    (*_BYTES_BETWEEN, *(
        Choice(f"ignoreBytes{side}", range(CHUNK), type_="u32") for side in ("Left", "Right")
    ), Address("mbar")),
)  # fmt: skip
_MASK = (Choice("byteMask", range(1 << CHUNK)),)
_MASKED = ", of each 16 those whose bits of a mask are set"
BULK_STORE_MASKED = replace(
    BULK_STORE, does=BULK_STORE.does + _MASKED, suffix=f"{BULK_STORE.suffix}.cp_mask",
    needs=needs("sm_100 8.6"), after=_MASK,
)  # fmt: skip
MULTIMEM_STORE = replace(
    BULK_STORE, op="ptx.multimem.cp.async.bulk", stem="multimem.cp.async.bulk",
    does="start to copy bytes of shared memory to every GPU's copy, as part of a bulk group",
    suffix="global.shared::cta.bulk_group", needs=needs("sm_90 9.1"),
)  # fmt: skip
MULTIMEM_STORE_MASKED = replace(
    MULTIMEM_STORE, does=MULTIMEM_STORE.does + _MASKED, suffix=f"{MULTIMEM_STORE.suffix}.cp_mask",
    needs=needs("sm_100 9.1"), after=_MASK,
)  # fmt: skip
BULK_PREFETCH = BulkCopyRow(
    "ptx.cp.async.bulk.prefetch", "bring bytes of global memory to the L2",
    "L2.global{}", _HOPPER, _BYTES_BETWEEN[1:], stem="cp.async.bulk.prefetch",
)  # fmt: skip


def _bulk_reductions() -> Iterator[tuple[str, BulkCopyRow]]:
    for kind, elements in REDUCED_ELEMENTS.items():
        for element in elements:
            # Bits for logic, numbers for the rest.
            if element.startswith("i") is (kind in ("and", "or", "xor")):
                type_ = element.replace("ui", "u").replace("si", "s").replace("i", "b")
                rounds = kind == "add" and type_ in ("f16", "bf16")
                form = f"{kind}{'.noftz' * rounds}.{type_}"
                yield form, BulkCopyRow(
                    "ptx.cp.reduce.async.bulk",
                    f"start to combine bytes of shared memory with global memory by {kind}",
                    f"global.shared::cta.bulk_group{{}}.{form}", _HOPPER, _BYTES_BETWEEN,
                    "cp.reduce.async.bulk", element,
                )  # fmt: skip


BULK_REDUCE = dict(_bulk_reductions())
"""Combine bytes with global memory, by form: `add.noftz.f16`."""
MULTIMEM_REDUCE = {
    form: replace(
        row, op="ptx.multimem.cp.reduce.async.bulk", stem="multimem.cp.reduce.async.bulk",
        does=row.does.replace("global memory", "every GPU's copy"),
        suffix=row.suffix.format(""), needs=MULTIMEM_STORE.needs,
    )
    for form, row in BULK_REDUCE.items()
}  # fmt: skip
BULK_COPIES = (
    BULK_LOAD, BULK_LOAD_MULTICAST, BULK_LOAD_IGNORING, BULK_STORE, BULK_STORE_MASKED,
    MULTIMEM_STORE, MULTIMEM_STORE_MASKED, BULK_PREFETCH, *BULK_REDUCE.values(),
    *MULTIMEM_REDUCE.values(),
)  # fmt: skip

BULK_COMMIT_GROUP = InstructionRow(
    "tma.commit_group", "make the thread's bulk copies that are in no group yet the latest group",
    ("cp.async.bulk.commit_group",), _HOPPER, "cp.async.bulk.commit_group",
)  # fmt: skip
BULK_WAIT_GROUP = InstructionRow(
    "tma.wait_group",
    "wait until at most the latest N bulk groups are not complete (.read: have not read all)",
    ("cp.async.bulk.wait_group", "cp.async.bulk.wait_group.read"), _HOPPER,
    "cp.async.bulk.wait_group", (Constant("N"),),
)  # fmt: skip
PREFETCH_TENSORMAP = InstructionRow(
    "tma.prefetch", "bring a tensor map to the cache", ("prefetch.tensormap",), _HOPPER,
    "prefetch", (Address("a"),),
)  # fmt: skip

_WORD, _DOUBLE = Choice("new_val", type_="u32"), Scalar("new_val", "b64", plain=True)
_REPLACED: dict[str, tuple[OperandForm, ...]] = {
    "global_address": (_DOUBLE,),
    "rank": (_WORD,),
    **dict.fromkeys(
        ("box_dim", "global_dim", "element_stride"), (Constant("ord", range(MAX_RANK)), _WORD)
    ),
    "global_stride": (Constant("ord", range(MAX_RANK)), _DOUBLE),
    "elemtype": (Constant("val", range(13)),),
    "interleave_layout": (Constant("val", range(3)),),
    "swizzle_mode": (Constant("val", range(4)),),
    "fill_mode": (Constant("val", range(2)),),
    "swizzle_atomicity": (Constant("val", range(4)),),
}
"""The fields of a tensor map, and what they are replaced by: PTX ISA, tensormap.replace."""
TENSORMAP_REPLACE: dict[str, InstructionRow] = {
    (form := f"tile.{field}.{space}b1024.{'b64' if _DOUBLE in operands else 'b32'}"):
    InstructionRow(
        "ptx.tensormap.replace", f"replace the {field} of a tensor map",
        (f"tensormap.replace.{form}",),
        needs("sm_100f|sm_110f|sm_120f 8.6" if field == "swizzle_atomicity"
              else "sm_90a|sm_100f|sm_110f|sm_120f 8.3"), "tensormap.replace",
        (Address("addr"), *operands),
    )
    for space in ("global.", "shared::cta.", "") for field, operands in _REPLACED.items()
}  # fmt: skip
"""By what stands behind the name."""
TENSOR_MAP_BYTES = 128
CP_FENCEPROXY = InstructionRow(
    "ptx.tensormap.cp_fenceproxy",
    "copy a tensor map from shared to global memory, and order that before what others read of it",
    tuple(
        f"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{scope}"
        ".sync.aligned" for scope in SCOPES
    ),
    needs("sm_90 8.3"), "tensormap.cp_fenceproxy",
    (Address("dst"), Address("src"), Constant("size", (TENSOR_MAP_BYTES,))),
    threads="all of the warp",
)  # fmt: skip

_OF_BLACKWELL = *OF_A_ROW, "tile::gather4"


def _in_modes(row: TensorCopyRow, *modes: str) -> dict[str, TensorCopyRow]:
    """The rows of a copy, by mode."""
    own = "cta.global" in row.suffix
    return {"tile": row} | {
        mode: replace(
            row, mode=mode, does=f"{row.does}, by {mode}",
            ranks=range(2, 3) if mode in FOUR_ROWS else _RANKS[2:],
            needs=row.needs if mode in ("im2col", "im2col_no_offs")
            else needs("sm_100 8.6") if own and mode != "im2col::w::128" else _BLACKWELL,
        )
        for mode in modes
    }  # fmt: skip


TENSOR_LOADS: dict[tuple[str | bool, ...], TensorCopyRow] = {
    (mode, *(word in of.suffix for word in ("multicast", "cta_group", "cta.global"))): of
    for row in (
        TENSOR_LOAD, TENSOR_LOAD_MULTICAST, TENSOR_LOAD_PAIR, TENSOR_LOAD_PAIR_MULTICAST,
        replace(
            TENSOR_LOAD, needs=needs("sm_90 8.6"),
            suffix=TENSOR_LOAD.suffix.replace("shared::cluster", "shared::cta"),
        ),
    )
    for mode, of in _in_modes(row, "im2col", *_OF_BLACKWELL).items()
}  # fmt: skip
"""Loads by their mode, whether they are multicast, of a pair, and of the CTA's own addresses."""
TENSOR_STORES = _in_modes(TENSOR_STORE, "im2col_no_offs", "tile::scatter4")
TENSOR_PREFETCHES = _in_modes(TENSOR_PREFETCH, "im2col", *_OF_BLACKWELL)
TENSOR_REDUCTIONS = {
    (kind, mode): row
    for kind, plain in TENSOR_REDUCE.items()
    for mode, row in _in_modes(plain, "im2col_no_offs", "tile::scatter4").items()
}
"""By kind and mode."""
TENSOR_COPIES = (
    *TENSOR_LOADS.values(), *TENSOR_STORES.values(), *TENSOR_PREFETCHES.values(),
    *TENSOR_REDUCTIONS.values(),
)  # fmt: skip
"""Every copy of boxes."""

SWIZZLE_ATOMS = {0: (CHUNK,), 32: (CHUNK,), 64: (CHUNK,), 128: (CHUNK, 32)}
"""By the bytes of a row of the swizzle's pattern (0 is no swizzle) those that it may keep together:
32 on Blackwell."""
SWIZZLES = tuple(SWIZZLE_ATOMS)

SLICES = CHUNK, 2 * CHUNK  # the bytes of one of an interleaved tensor, by its layout from 1 on

MAX_BOX = 256
"""The largest extent of a box."""
MAX_PIXELS = 1024
"""The most pixels that a copy by `im2col` has."""

MAX_EXTENT = 1 << 32
ENDLESS_EXTENT = (1 << 31) - (1 << 16)
"""That of a dimension that has no end: coordinates are signed, and of 2^32 - 2^16 elements, which
the driver takes, an H200 says that the copy is an illegal instruction."""
MAX_STRIDE = 1 << 40


@frozen
class TensorElement:
    """An element type of tensor maps: MLIR's name of it, or PTX's where that has none, its bytes,
    the driver's name of it."""

    mlir: str
    bytes: int
    driver: str


_BYTES = ("ui8", "i8", "si8", "f8E4M3FN", "f8E5M2", "f8E8M0FNU")
TENSOR_ELEMENTS: dict[str, TensorElement] = {
    row.mlir: row
    for row in (
        *(TensorElement(name, 1, "UINT8") for name in _BYTES),
        *(TensorElement(name, 2, "UINT16") for name in ("i16", "ui16", "si16")),
        *(TensorElement(name, 4, "UINT32") for name in ("i32", "ui32")),
        TensorElement("si32", 4, "INT32"),
        *(TensorElement(name, 8, "UINT64") for name in ("i64", "ui64")),
        TensorElement("si64", 8, "INT64"),
        TensorElement("f16", 2, "FLOAT16"),
        TensorElement("bf16", 2, "BFLOAT16"),
        # FLOAT32 copies bits, TFLOAT32 rounds them.
        TensorElement("f32", 4, "FLOAT32"),
        TensorElement("tf32", 4, "TFLOAT32"),
        TensorElement("f64", 8, "FLOAT64"),
    )
}
"""The element types of a tensor map, by MLIR's name."""
_INTEGERS = ("ui8", "ui16", "ui32", "si32", "ui64", "si64")
MADE_ELEMENTS = (
    *(TENSOR_ELEMENTS[name] for name in (*_INTEGERS, "f16", "f32")),
    TensorElement("f32.ftz", 4, "FLOAT32_FTZ"),
    *(TENSOR_ELEMENTS[name] for name in ("f64", "bf16", "tf32")),
    TensorElement("tf32.ftz", 4, "TFLOAT32_FTZ"),
)
"""By the number that `tensormap.replace` gives each. Of the numbers that are subnormal in those of
`.ftz` reductions make zeros, and other copies do not (H200)."""
