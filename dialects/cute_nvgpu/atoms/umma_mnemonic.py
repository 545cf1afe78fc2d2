"""Mnemonics of `tcgen05.mma`: what they say of an MMA, and the rows that can be meant.

    tcgen05.mma{.ws}{.sp}.cta_group::1.kind::f16{.block_scale...}{.ashift}{.collector::a::fill}

Shape and types are not in it but in the instruction descriptor.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import get_args

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.lattice import UMMA_ROWS
from tilewright.dialects.cute_nvgpu.lattice.sm100 import Spelling, UmmaKind, UmmaRow
from tilewright.dialects.frozen import frozen

COLLECTOR_OPS = ("fill", "use", "lastuse", "discard")
"""The uses of the collector's buffer: loaded, read, read for the last time, not kept."""

SHIFTED_COLLECTOR_OPS = ("lastuse", "discard")
"""The uses that `.ashift` goes with."""

STATIONARY_BUFFERS = ("b0", "b1", "b2", "b3")

KINDS: tuple[UmmaKind, ...] = get_args(UmmaKind)


def collectors(*, ws: bool, ashift: bool = False) -> tuple[str, ...]:
    """Every collector usage, `a::fill`: of A or, weight-stationary, of B."""
    ops = SHIFTED_COLLECTOR_OPS if ashift else COLLECTOR_OPS
    buffers = STATIONARY_BUFFERS if ws else ("a",)
    return tuple(f"{buffer}::{op}" for buffer, op in product(buffers, ops))


@frozen
class UmmaMnemonic:
    """A legal mnemonic: build it with `parse_mnemonic`, or take it from `mnemonics_of`."""

    rows: tuple[UmmaRow, ...]
    spelling: Spelling
    cta_group: int
    ashift: bool
    collector: str | None

    @property
    def kind(self) -> UmmaKind:
        """PTX's `.kind::`."""
        return self.rows[0].kind

    @property
    def text(self) -> str:
        """The mnemonic."""
        return spelled(self.rows[0], self.spelling, self.cta_group, self.ashift, self.collector)


def spelled(
    row: UmmaRow, spelling: Spelling, cta_group: int, ashift: bool, collector: str | None
) -> str:
    """The mnemonic with its modifiers, legal or not."""
    return (
        f"tcgen05.mma{'.ws' if row.ws else ''}{'.sp' if row.sparse else ''}"
        f".cta_group::{cta_group}.kind::{row.kind}{spelling.words}"
        f"{'.ashift' if ashift else ''}{f'.collector::{collector}' if collector else ''}"
    )


@cache
def spelled_rows(op: str, kind: UmmaKind) -> dict[str, tuple[UmmaRow, ...]]:
    """The rows of an op and kind, by each of their spellings."""
    rows: dict[str, tuple[UmmaRow, ...]] = {}
    for row in UMMA_ROWS:
        if (row.op, row.kind) == (op, kind):
            for spelling in row.spellings:
                rows[spelling.words] = (*rows.get(spelling.words, ()), row)
    return rows


def _spelling(rows: tuple[UmmaRow, ...], words: str) -> Spelling:
    return next(spelling for spelling in rows[0].spellings if spelling.words == words)


def mnemonics_of(op: str, kind: UmmaKind) -> Iterator[UmmaMnemonic]:
    """Every mnemonic of an op and kind, those that its atoms become first."""
    for words, rows in spelled_rows(op, kind).items():
        groups = (1,) if rows[0].ws else (1, 2)
        for group in groups:
            for ashift in (False, True) if _shifts(rows[0]) else (False,):
                usages = collectors(ws=rows[0].ws, ashift=ashift)
                for collector in (None, *usages):
                    yield UmmaMnemonic(rows, _spelling(rows, words), group, ashift, collector)


def _shifts(row: UmmaRow) -> bool:
    """True where the rows of a tensor-memory A can be shifted: `.ashift`."""
    return not row.ws and row.scale is None


_MNEMONIC = re.compile(
    r"tcgen05\.mma(?P<ws>\.ws)?(?P<sp>\.sp)?\.cta_group::(?P<group>\w+)\.kind::(?P<kind>\w+)"
    r"(?P<scale>\.block_scale(?:\.(?!ashift|collector)[\w:]+)?)?(?P<ashift>\.ashift)?"
    r"(?:\.collector::(?P<collector>\w+::\w+))?"
)
_SHAPE = (
    "tcgen05.mma{.ws}{.sp}.cta_group::1|2.kind::KIND{.block_scale{.block16|32}}{.ashift}"
    "{.collector::BUFFER::OP}"
)


def op_of(*, ws: bool, sparse: bool, scaled: bool) -> str:
    """The op that issues such an MMA, without its dialect."""
    if ws:
        return "sm100.mma_ws_sp" if sparse else "sm100.mma_ws"
    return f"sm100.mma{'_bs' if scaled else ''}{'_sp' if sparse else ''}"


@cache
def parse_mnemonic(mnemonic: str) -> UmmaMnemonic:
    """The parts of a mnemonic. Raises AtomError where it is no legal `tcgen05.mma` mnemonic."""
    match = _MNEMONIC.fullmatch(mnemonic)
    if match is None:
        raise AtomError(f"expected {_SHAPE}, got '{mnemonic}'")
    kind, group, words = match["kind"], match["group"], match["scale"] or ""
    if kind not in KINDS:
        raise AtomError(f"expected a kind of {', '.join(KINDS)}, got {kind}")
    ws, sparse = bool(match["ws"]), bool(match["sp"])
    legal_groups = ("1",) if ws else ("1", "2")
    if group not in legal_groups:
        raise AtomError(
            f"expected cta_group::{' or '.join(legal_groups)}, got {group} in '{mnemonic}'"
        )
    rows = _rows(mnemonic, kind, words, ws=ws, sparse=sparse)
    parsed = UmmaMnemonic(
        rows, _spelling(rows, words), int(group), bool(match["ashift"]), match["collector"]
    )
    _check_usage(parsed, mnemonic)
    return parsed


def _rows(
    mnemonic: str, kind: UmmaKind, words: str, *, ws: bool, sparse: bool
) -> tuple[UmmaRow, ...]:
    spelled = spelled_rows(op_of(ws=ws, sparse=sparse, scaled=kind.startswith("mx")), kind)
    if not spelled:
        raise AtomError(f"expected no kind::{kind} for tcgen05.mma.ws, got '{mnemonic}'")
    if words not in spelled:
        legal = " or ".join(spelling or "no block scaling" for spelling in spelled)
        raise AtomError(f"expected {legal} for kind::{kind}, got {words or 'none'}")
    return spelled[words]


def _check_usage(parsed: UmmaMnemonic, mnemonic: str) -> None:
    row = parsed.rows[0]
    if parsed.ashift and not _shifts(row):
        raise AtomError(
            f"expected no .ashift, got one in '{mnemonic}' (neither the weight-stationary form nor "
            "block scaling has it)"
        )
    legal = collectors(ws=row.ws, ashift=parsed.ashift)
    if parsed.collector is not None and parsed.collector not in legal:
        buffers, ops = (tuple(dict.fromkeys(words)) for words in
                        zip(*(usage.split("::") for usage in legal), strict=True))  # fmt: skip
        wanted = parsed.collector.partition("::")[2]
        nearest = f"{buffers[0]}::{wanted if wanted in ops else ops[0]}"
        raise AtomError(
            f"expected a collector of {'|'.join(buffers)}::{'|'.join(ops)}, got {parsed.collector} "
            f"in '{mnemonic}'; nearest legal: {nearest}"
        )
