"""Serve the playground to a browser on this machine: IR with its diagnostics, its levels down to
PTX, runs of its kernels and pictures of its layouts; the layout algebra; instructions explained.
FOLDER's `.mlir`, `.ttir` and `.ptx` files can be opened in it; nothing is written. Nobody else can
reach it: it listens on 127.0.0.1, and answers its own page alone. Ctrl-C ends it.

With --python the page runs scripts of Python that launch kernels of cuTile and of Triton: what
is typed there, or in a file of FOLDER, may then do on this machine whatever you may.
"""

import argparse
from contextlib import suppress
from pathlib import Path

from tilewright.tools.commands.input import InputError, add_options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        """
folder FOLDER: whose files can be opened
--port N: (8765); 0 takes a free one
--python: run the page's Python, as you, on this machine
""",
        folder={"nargs": "?"},
        port={"type": int, "default": 8765},
    )


def run(options: argparse.Namespace) -> None:
    from tilewright.tools.playground.server import PlaygroundServer

    folder = None if options.folder is None else Path(options.folder)
    if folder is not None and not folder.is_dir():
        raise InputError(f"expected a folder, got '{folder}'")
    try:
        server = PlaygroundServer(options.port, folder, python=options.python)
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot listen on port {options.port}: {error}") from None
    with server, suppress(KeyboardInterrupt):
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        server.serve_forever()
