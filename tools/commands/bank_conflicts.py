"""Predict the bank conflicts of the copies of kernels of tiles: for each copy from or to shared
memory how many ways the slowest access of a warp conflicts, 1 being none, and the swizzle under
which it would conflict least. A last line says where none conflicts.

  tilewright bank-conflicts FILE
"""

import argparse

from tilewright.passes.analysis.bank_conflicts import bank_conflicts
from tilewright.pipeline import verified
from tilewright.source.diagnostic import at
from tilewright.tools.commands.input import read_source
from tilewright.tools.render_table import table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="IR at the tile level")


def run(options: argparse.Namespace) -> None:
    """Print a row for each access, and whether none conflicts."""
    module, _ = verified(read_source(options.file), options.file)
    conflicts = list(bank_conflicts(module))
    header = ["line", "op", "", "shared memory", "ways", "better"]
    rows = [
        [
            str(at(conflict.op.location, "").line),
            conflict.op.name,
            conflict.verb,
            str(conflict.layout),
            str(conflict.ways),
            f"{conflict.best}: {conflict.best_ways}" if conflict.best_ways < conflict.ways else "-",
        ]
        for conflict in conflicts
    ]
    if rows:
        print("\n".join(table([header, *rows])))
    if all(conflict.ways == 1 for conflict in conflicts):
        print(
            f"none of {len(rows)} accesses conflicts"
            if rows
            else "none: nothing copies from or to shared memory"
        )
