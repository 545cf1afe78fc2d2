"""Say in words where the tiles of a Tile IR kernel are: which part of each a thread, a warp and the
CTA hold and why, and what moves to another layout, for whom.

  tilewright explain-layouts FILE [--arch TARGET]
"""

import argparse

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.lowering.cuda_tile.explain_layouts import explained
from tilewright.pipeline import verified
from tilewright.source.guard import guard
from tilewright.tools.commands.input import InputError, read_source, read_target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="Tile IR, text or bytecode")
    parser.add_argument("--arch", metavar="TARGET", help="the target that it is for: sm_90a")


def run(options: argparse.Namespace) -> None:
    """Print the lines of each kernel."""
    arch = None if options.arch is None else read_target(options.arch)
    module, source = verified(read_source(options.file), options.file)
    entries = descendants(module, EntryOp)
    if not entries:
        raise InputError("expected a cuda_tile.entry, got none")
    with guard("explain-layouts", module, source, options.file):
        for entry in entries:
            print("\n".join(explained(entry, arch)))
