"""Predict the bank conflicts of the copies of kernels of tiles: for each copy from or to shared
memory how many ways the slowest access of a warp conflicts, 1 being none, and the swizzle under
which it would conflict least.

  tilewright bank-conflicts FILE
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tilewright.diagnostic import CompileError, at
from tilewright.parsing import parse_module
from tilewright.passes.analysis.bank_conflicts import bank_conflicts
from tilewright.tools.commands.input import InputError
from tilewright.tools.render_table import table
from tilewright.verification import verify


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="IR at the tile level")


def run(options: argparse.Namespace) -> None:
    """Print a row for each access."""
    try:
        text = Path(options.file).read_text()
        module = parse_module(text, options.file)
        verify(module, text)
    except OSError as error:
        raise InputError(str(error)) from None
    except CompileError as error:
        raise InputError(str(error)) from None
    header = ["line", "op", "", "shared memory", "ways", "better"]
    rows = [
        [
            str(at(conflict.op.location, text).line),
            conflict.op.name,
            conflict.verb,
            str(conflict.layout),
            str(conflict.ways),
            f"{conflict.best}: {conflict.best_ways}" if conflict.best_ways < conflict.ways else "-",
        ]
        for conflict in bank_conflicts(module)
    ]
    print("\n".join(table([header, *rows])))
