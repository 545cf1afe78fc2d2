"""Serve an editor: the Language Server Protocol on stdin and stdout, for `.mlir` and Triton's
`.ttir` with tilewright's dialects, and for `.ptx`.

Diagnostics while typing (those of tilewright-opt and check-ptx), hovers (what explain says; layouts
as pictures), definitions of values, symbols and blocks, completion of ops, atoms and mnemonics.
With --arch, IR goes through all stages to PTX for that target, and PTX that has no `.target` is
judged for it. With --python, errors of cuTile and Triton kernels in `.py` files, and remarks on
those that compile, appear at their lines. A text that takes too long is not analysed further: a
warning says so, and all other texts go on being served. Needs the extra `lsp`:
pip install tilewright[lsp].
"""

import argparse
import os
import sys

from tilewright.tools.commands.input import InputError, add_options, read_target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        """
--arch TARGET: the target of all texts: sm_90a
--seconds N: analyse no text for longer (20)
--python: compile the cuTile and Triton kernels of .py files that a comment gives arguments; this
    runs what they import
""",
        seconds={"type": float, "default": 20.0},
    )


def run(options: argparse.Namespace) -> None:
    arch = None if options.arch is None else read_target(options.arch).name
    try:
        from tilewright.tools.language_server.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise InputError(
            f"expected the package '{error.name}'; nearest legal: pip install tilewright[lsp]"
        ) from None
    # The server closes its streams when the editor leaves.
    with (
        os.fdopen(os.dup(sys.stdin.fileno()), "rb") as requests,
        os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers,
    ):
        make_server(arch, options.seconds, python=options.python).start_io(requests, answers)
