"""`wgmma.fence`, `commit_group` and `wait_group`, and `fence.proxy.async`."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.lattice import ORDERING, OrderingRow
from tilewright.tools.instructions.listing import Listing
from tilewright.tools.instructions.operand_forms import Number, OperandForm
from tilewright.tools.render_table import line


def listings() -> Iterator[Listing]:
    """One of every row."""
    return map(_listing, ORDERING)


def _listing(row: OrderingRow) -> Listing:
    plain, *others = row.mnemonics
    return Listing(
        row.op,
        (),
        (),
        "-",
        (),
        tuple(each.removeprefix(f"{plain}.") for each in others),
        row.target,
        row.ptx_version,
        row.section,
        row.mnemonics,
        lambda _: _operands(row),
        lambda _: _explain(row),
    )


def _operands(row: OrderingRow) -> tuple[OperandForm, ...]:
    return (Number("N", row.section),) if row.groups else ()


def _explain(row: OrderingRow) -> Iterator[str]:
    yield line("computes", row.orders)
    yield line("operands", "N, an integer of 0 or more" if row.groups else "none")
    yield line("op", f"cute_nvgpu.{row.op}{' N' if row.groups else ''}")
    if row.op.startswith("wgmma."):
        yield line("threads", "all of the warpgroup")
