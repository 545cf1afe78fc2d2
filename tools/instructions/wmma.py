"""`wmma.load` and `wmma.store`; `wmma.mma` is listed with the other MMAs."""

from collections.abc import Iterator
from itertools import product, starmap

from tilewright.dialects.cute_nvgpu.atoms.operands import wmma_access_operands
from tilewright.dialects.cute_nvgpu.atoms.wmma import WmmaAccess, accesses
from tilewright.dialects.cute_nvgpu.lattice import WMMA_ACCESS, WmmaAccessRow
from tilewright.dialects.cute_nvgpu.lattice.wmma import WMMA_SPACES
from tilewright.tools.instructions.listing import HEADING, Listing, operands_line
from tilewright.tools.render_table import LABEL, line, table

_INDEX = {"A": "m + {0}*k", "B": "n + {1}*k", "C": "m + {0}*n", "D": "m + {0}*n"}
"""The axes that the index of each operand's layout counts, by extents."""


def listings() -> Iterator[Listing]:
    """One of every row."""
    return map(_listing, WMMA_ACCESS)


def _listing(row: WmmaAccessRow) -> Listing:
    single = len(row.majors) == 1
    majors = (row.majors, ()) if single else ((), row.majors)
    return Listing.of(
        row,
        row.shape,
        ({row.operand: row.element.name},),
        f"{row.operand.lower()}: {row.element.name}",
        (majors[0], (*majors[1], *WMMA_SPACES)),
        starmap(row.mnemonic, product(row.majors, (None, *WMMA_SPACES))),
        lambda mnemonic: [wmma_access_operands(accesses()[mnemonic][0])],
        lambda mnemonic, _: _explain(accesses()[mnemonic][0]),
    )


def _explain(access: WmmaAccess) -> Iterator[str]:
    row = access.row
    rows, columns = row.extents
    verb, where = ("load", "from") if row.access == "load" else ("store", "to")
    lines, length = access.lines
    matrix = f"{row.operand}, {rows} x {columns} of {row.element.name}"
    yield line("computes", f"{verb} {matrix}, {where} memory")
    yield operands_line(wmma_access_operands(access))
    yield line("op", f"cute_nvgpu.{row.op} ... <{access.parameters}>")
    register, count = row.registers
    elements = f"{row.values} x {row.element.name}"
    layout = f"{row.layout} -> {_INDEX[row.operand].format(*row.extents)}"
    yield from table(
        [HEADING, (row.operand, f"{count} x .{register}", elements, layout)], LABEL - 2, "  "
    )
    yield line("", "the layout is an H200's: the PTX ISA leaves it to the chip")
    apart = f"{length} elements apart, or the stride"
    anywhere, shared = access.alignment(None), access.alignment("shared")
    aligned = f"on {anywhere} bytes each" + (
        f" ({shared} in shared memory)" if shared > anywhere else ""
    )
    yield line("memory", f"{lines} {access.line}s {aligned}, {apart}")
    yield line("threads", "all of the warp, with the same address and stride")
