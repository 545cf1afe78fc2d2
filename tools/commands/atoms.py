"""List the atom lattice: every tensor-core instruction, and the copies that feed them. On a
terminal the table is as wide as that; elsewhere a row is one line.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from shutil import get_terminal_size

from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, alternatives
from tilewright.tools.commands.input import InputError, add_options, read_target
from tilewright.tools.instructions.catalogue import lattice
from tilewright.tools.instructions.listing import Listing, version_text
from tilewright.tools.render_table import fitted, table

_HEADING = ("op", "shape", "a,b -> c,d", "qualifiers", "modifiers", "target", "PTX", "section")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        """
--arch TARGET: only what that target runs: sm_90a
--op OP: only rows of that op, or of ops that begin so: sm80, wmma
--types A,B,ACC: only rows that take these element types, of a, b and the accumulators (or of a, b,
    c, d), or as many of them as are given: bf16,bf16,f32
--json: a JSON list, with the mnemonics of every row
""",
    )


def run(options: argparse.Namespace) -> None:
    rows = lattice() if options.op is None else _of_op(options.op)
    if options.arch is not None:
        arch = read_target(options.arch)
        rows = [row for row in rows if arch.supports(row.target)]
    if options.types is not None:
        rows = _of_types(rows, options.types.split(","))
    if options.json:
        print("[\n" + ",\n".join(json.dumps(_json(row)) for row in rows) + "\n]")
    else:
        shown = [_HEADING, *map(cells, rows)]
        lines = fitted(shown, get_terminal_size().columns) if sys.stdout.isatty() else table(shown)
        print("\n".join(lines))


def _of_op(op: str) -> Sequence[Listing]:
    """The rows of an op, or of all those that have the words of `op` first."""
    rows = [row for row in lattice() if f"{row.op}.".startswith(f"{op}.")]
    if not rows:
        legal = ", ".join(dict.fromkeys(row.op for row in lattice()))
        raise InputError(f"expected an op of the lattice, got '{op}'; legal: {legal}")
    return rows


def _of_types(rows: Sequence[Listing], wanted: Sequence[str]) -> Sequence[Listing]:
    """The rows of MMAs that take the types, in the order a, b, c, d; of three the last is the type
    of c and of d. Raises InputError where there is none."""
    asked = [*wanted, *wanted[2:]][:4]
    taking = [row for row in rows if any(_takes(types, asked) for types in row.types)]
    if not taking:
        known = {name for row in rows for types in row.types for name in types.values()}
        raise InputError(
            f"expected --types that an MMA has, got '{','.join(wanted)}';"
            f" types of elements: {', '.join(sorted(known))}"
        )
    return taking


def _takes(types: Mapping[str, str], asked: Sequence[str]) -> bool:
    """A product takes them where it has no c of its own, too."""
    product = types.keys() >= {"A", "B"}
    return product and all(
        types.get(operand, word) == word for operand, word in zip("ABCD", asked, strict=False)
    )


def _json(row: Listing) -> dict[str, object]:
    return {
        "op": row.op,
        "shape": row.shape,
        "types": row.types,
        "qualifiers": row.qualifiers,
        "modifiers": row.modifiers,
        "requires": [target.name for target in alternatives(row.target)],
        "targets": [name for name, target in TARGETS.items() if target.supports(row.target)],
        "ptx": version_text(row.ptx_version),
        "section": row.section,
        "mnemonics": row.mnemonics,
    }


def shape_text(shape: Sequence[int | tuple[int, ...]]) -> str:
    """`16x8x16`; where an extent has many values, `64xNx16, N 8..256 step 8`."""
    named = [
        (name, extent)
        for name, extent in zip("MNK", shape, strict=False)
        if isinstance(extent, tuple)
    ]
    text = "x".join(
        name if isinstance(extent, tuple) else str(extent)
        for name, extent in zip("MNK", shape, strict=False)
    )
    return ", ".join([text, *(f"{name} {_ranges(extent)}" for name, extent in named)])


_FEW = 3


def _ranges(values: tuple[int, ...]) -> str:
    """The values as ranges: `8..32 step 8, 48..256 step 16`."""
    if len(values) <= _FEW:
        return "|".join(map(str, values))
    first, step = values[0], values[1] - values[0]
    run = next((i for i, value in enumerate(values) if value != first + i * step), len(values))
    text = f"{first}..{values[run - 1]} step {step}"
    return text if run == len(values) else f"{text}, {_ranges(values[run:])}"


def _folded(words: Sequence[str]) -> list[str]:
    """Words that differ behind the last `::` alone as one: `cta_group::1|2`."""
    ends: dict[str, list[str]] = {}
    for word in words:
        before, colons, end = word.rpartition("::")
        ends.setdefault(before + colons, []).append(end)
    return [
        word
        for before, endings in ends.items()
        for word in ([before + "|".join(endings)] if before else endings)
    ]


def cells(row: Listing) -> tuple[str, ...]:
    """The cells of a row of the table."""
    return (
        row.op,
        shape_text(row.shape) or "-",
        row.types_text,
        ",".join(row.qualifiers) or "-",
        ",".join(_folded(row.modifiers)) or "-",
        row.target.name,
        version_text(row.ptx_version),
        row.section,
    )
