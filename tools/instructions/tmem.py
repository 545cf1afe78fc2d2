"""Tensor memory: its allocation, loads, stores, copies, shifts, waits, fences and commits."""

from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.atoms.operands import (
    tmem_access_operands,
    tmem_reduction_operands,
)
from tilewright.dialects.cute_nvgpu.atoms.tmem_copy import (
    PACKED_BITS,
    REDUCE_FORMS,
    TmemAccess,
    copy_lanes,
    parse_access,
)
from tilewright.dialects.cute_nvgpu.lattice.tmem import (
    CELL_BITS,
    CTA_GROUPS,
    TMEM_COMMIT_MULTICAST,
    TMEM_ROWS,
    TmemRow,
)
from tilewright.dialects.cute_nvgpu.lattice.tmem_access import (
    TMEM_COPY,
    TMEM_COPY_SHAPES,
    TMEM_LOAD,
    TMEM_LOAD_REDUCE,
    TMEM_SHAPES,
    TMEM_STORE,
    TmemAccessRow,
    TmemCopyShape,
    TmemShape,
)
from tilewright.tools.instructions.listing import Listing, operands_line
from tilewright.tools.render_table import line

_TADDR = "a lane in bits 31 to 16 and a column in bits 15 to 0"


def listings() -> Iterator[Listing]:
    """One of every row."""
    yield from map(_plain, TMEM_ROWS)
    for shape in TMEM_SHAPES.values():
        yield _access(TMEM_LOAD, shape)
        yield _access(TMEM_STORE, shape)
        if shape.reduces:
            yield _reduction(shape)
    yield from map(_copy, TMEM_COPY_SHAPES.values())


# Instructions without a shape


def _plain(row: TmemRow) -> Listing:
    groups = tuple(f"cta_group::{group}" for group in CTA_GROUPS if len(row.mnemonics) > 1)
    return Listing.of(
        row,
        (),
        (),
        "-",
        (("multicast::cluster",) if row is TMEM_COMMIT_MULTICAST else (), groups),
        row.mnemonics,
        lambda _: [row.operands],
        lambda _, __: _explain_plain(row),
    )


def _explain_plain(row: TmemRow) -> Iterator[str]:
    yield line("computes", row.does)
    yield operands_line(row.operands)
    yield line("op", f"cute_nvgpu.{row.op}")
    if row.threads:
        yield line("threads", row.threads)


# Loads and stores


def _access(row: TmemAccessRow, shape: TmemShape) -> Listing:
    accesses = [
        TmemAccess(shape, number, packed) for packed in (False, True) for number in shape.numbers
    ]
    return Listing.of(
        row,
        (),
        (),
        "b32",
        ((shape.name,), (*(f"x{number}" for number in shape.numbers), row.half_cells)),
        tuple(access.mnemonic(row) for access in accesses),
        lambda mnemonic: [tmem_access_operands(row, parse_access(mnemonic))],
        lambda mnemonic, _: _explain_access(row, parse_access(mnemonic)),
    )


def _explain_access(row: TmemAccessRow, access: TmemAccess) -> Iterator[str]:
    shape = access.shape
    verb, where = ("load", "from") if row is TMEM_LOAD else ("store", "to")
    bits = PACKED_BITS if access.packed else CELL_BITS
    cells = f"{shape.lanes} lanes x {access.columns} columns"
    parts = ", the low halves of cells" if access.packed else ""
    yield line("computes", f"{verb} {cells} {where} tensor memory{parts}")
    yield operands_line(tmem_access_operands(row, access))
    yield line("op", f"cute_nvgpu.{row.op} ... shape {shape.name}{_ir_words(row, access)}")
    yield line("layout", f"{access.tile(bits)} -> lane + {shape.lanes}*element of {bits} bits")
    if shape.halves:
        yield line("", "threads from 16 on: immHalfSplitoff columns further right")
    yield line("address", f"{_TADDR}; the lane is the first of the warp's 32"
               + ("" if shape.lanes == 32 else ", or the 16th"))  # fmt: skip


def _ir_words(row: TmemAccessRow, access: TmemAccess) -> str:
    packed = {TMEM_LOAD.op: " pack", TMEM_STORE.op: " unpack"}[row.op] if access.packed else ""
    return packed + (" half N" if access.shape.halves else "")


# Reductions


def _reduction(shape: TmemShape) -> Listing:
    row = TMEM_LOAD_REDUCE
    numbers = [number for number in shape.numbers if number > 1]
    spelled = {
        row.mnemonic(shape, number, *form): (TmemAccess(shape, number), form)
        for number in numbers
        for form in REDUCE_FORMS
    }
    return Listing.of(
        row, (), (), "f32 | u32 | s32",
        ((shape.name,), (*(f"x{number}" for number in numbers), "abs", "NaN")), spelled,
        lambda mnemonic: [tmem_reduction_operands(spelled[mnemonic][0])],
        lambda mnemonic, _: _explain_reduction(*spelled[mnemonic]),
    )  # fmt: skip


def _explain_reduction(access: TmemAccess, form: tuple[str, str, str]) -> Iterator[str]:
    reduction, type_, modifiers = form
    least = {"min": "the least", "max": "the greatest"}[reduction]
    of = "magnitude" if ".abs" in modifiers else "element"
    nan = ", NaN where there is one" if ".NaN" in modifiers else ""
    yield line("computes", f"load, and give each thread {least} {of} of what it loads{nan}")
    yield operands_line(tmem_reduction_operands(access))
    yield line("op", f"cute_nvgpu.{TMEM_LOAD_REDUCE.op} ... {reduction} shape {access.shape.name}")
    yield line("elements", type_)
    yield line("layout", f"{access.tile(CELL_BITS)} -> lane + {access.shape.lanes}*column")


# Copies


def _copy(shape: TmemCopyShape) -> Listing:
    row = TMEM_COPY
    sources = (None, *row.formats)
    return Listing.of(
        row, (), (), "b8x16",
        ((shape.spelled,), (*row.formats, "cta_group::1", "cta_group::2")),
        (row.mnemonic(shape, group, source) for group in CTA_GROUPS for source in sources),
        lambda _: [row.operands],
        lambda mnemonic, _: _explain_copy(shape, mnemonic),
    )  # fmt: skip


def _explain_copy(shape: TmemCopyShape, mnemonic: str) -> Iterator[str]:
    size = shape.bits // 8
    yield line("computes", f"start to copy {shape.rows} rows of {size} bytes from shared memory")
    source = next((format_ for format_ in TMEM_COPY.formats if mnemonic.endswith(format_)), None)
    if source is not None:
        yield line("", f"{source}: 16 elements and their padding become 16 bytes")
    yield line("operands", "[taddr], s_desc")
    word = shape.spelled.replace("::", "_").replace(".", " ")
    yield line("op", f"cute_nvgpu.{TMEM_COPY.op} ... shape {word}")
    yield line("layout", f"{copy_lanes(shape)} (row, copy) -> lane; {shape.columns} columns")
    yield line("address", _TADDR)
    yield line("threads", "one")
