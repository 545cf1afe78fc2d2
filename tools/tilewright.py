"""`tilewright`: the atom lattice, PTX mnemonics, layouts and kernels on the command line.

Exit status: 0 fine, 1 the input is wrong (the diagnostic is on stderr), 2 wrong usage.
A command is one module, `command_NAME.py`, imported only when it is chosen: it has
`add_arguments(parser)` and `run(options)`.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

WRONG_INPUT = 1
INTERRUPTED = 130
BROKEN_PIPE = 141

COMMANDS = {
    "atoms": "list the atom lattice",
    "explain": "say what a PTX mnemonic is, or why there is none such",
    "check-ptx": "judge PTX mnemonics, one JSON line each",
    "layout": "show which thread holds which element of an operand",
    "desc": "explain or build the shared-memory descriptors of wgmma",
    "bank-conflicts": "predict the bank conflicts of kernels of tiles",
    "select": "list the atoms that compute a tile, best first, and why",
    "run": "execute a kernel on .npy files, on the CPU or on the GPU",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]: closed by the caller
        sys.stdout = io.StringIO()
    try:
        _dispatch(words)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
        sys.exit(BROKEN_PIPE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if "TILEWRIGHT_TRACEBACK" in os.environ:
            raise
        print(_last_words(error), file=sys.stderr)
        sys.exit(WRONG_INPUT)


def _dispatch(words: list[str]) -> None:
    if not words or words[0] not in COMMANDS:
        parser = _top_parser()
        parser.parse_args(words)  # leaves with the help, the version or what is wrong
        parser.error("expected COMMAND as the first word")
    name, *rest = words
    # Importing what every command needs, and no more, is what keeps `--help` quick.
    command = import_module(f"tilewright.tools.commands.{name.replace('-', '_')}")
    from tilewright.tools.commands.input import InputError

    parser = argparse.ArgumentParser(
        f"tilewright {name}",
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    options = parser.parse_intermixed_args(rest)
    try:
        command.run(options)
    except InputError as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        sys.exit(WRONG_INPUT)


def _top_parser() -> argparse.ArgumentParser:
    """What speaks where no command was chosen."""
    commands = "\n".join(f"  {name:<10} {summary}" for name, summary in COMMANDS.items())
    parser = argparse.ArgumentParser(
        "tilewright",
        usage="tilewright [-h] [--version] COMMAND ...",
        description="A compiler back end for tile-level GPU compilers.",
        epilog=f"commands:\n{commands}\n\nexit status: 0 fine, 1 the input is wrong, 2 wrong usage",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, help="print the version and leave")
    parser.add_argument("command", metavar="COMMAND", choices=COMMANDS, help="one of those below")
    return parser


class _Version(argparse.Action):
    """`--version`: the version is looked up only where it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None):
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"tilewright {version('tilewright')}")
        parser.exit()


def _last_words(error: Exception) -> str:
    """What a user reads where no command foresaw the error."""
    if isinstance(error, OSError):
        where = f" '{error.filename}'" if error.filename is not None else ""
        return f"error: cannot read or write{where}: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return "error: out of memory"
    if isinstance(error, RecursionError):
        return "error: the input is nested too deeply"
    kind = type(error).__name__
    return f"error: internal error, {kind}: {error} (TILEWRIGHT_TRACEBACK=1 shows where)"


def _drop_stdout() -> None:
    """Nobody reads stdout any more: keep the interpreter from flushing into it at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())


if __name__ == "__main__":
    main()
