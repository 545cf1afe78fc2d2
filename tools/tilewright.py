"""`tilewright`: the atom lattice, PTX mnemonics, layouts and kernels on the command line.

Exit status: 0 fine, 1 the input is wrong (the diagnostic is on stderr), 2 wrong usage.
A command is one module, `command_NAME.py`, imported only when it is chosen: it has
`add_arguments(parser)` and `run(options)`.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from tilewright.tools.commands.parsers import COMMANDS, command_module, command_parser
from tilewright.tools.output import (
    BROKEN_PIPE,
    INTERRUPTED,
    drop_stdout,
    last_words,
    replace_closed_stdout,
)

WRONG_INPUT = 1


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    replace_closed_stdout()
    try:
        _dispatch(words)
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
        sys.exit(BROKEN_PIPE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        if "TILEWRIGHT_TRACEBACK" in os.environ:
            raise
        print(last_words(error), file=sys.stderr)
        sys.exit(WRONG_INPUT)


def _dispatch(words: list[str]) -> None:
    if not words or words[0] not in COMMANDS:
        parser = _top_parser()
        parser.parse_args(words)  # leaves with the help, the version or what is wrong
        parser.error("expected COMMAND as the first word")
    name, *rest = words
    # Importing what every command needs, and no more, is what keeps `--help` quick.
    command = command_module(name)
    from tilewright.tools.commands.input import UsageError, said_of_input

    parser = command_parser(name, command)
    options = parser.parse_intermixed_args(rest)
    try:
        command.run(options)
    except UsageError as error:
        parser.error(str(error))
    except Exception as error:
        if (text := said_of_input(error)) is None:
            raise
        sys.stdout.flush()
        print(text, file=sys.stderr)
        sys.exit(WRONG_INPUT)


def _top_parser() -> argparse.ArgumentParser:
    """The usage where no command was chosen."""
    commands = "\n".join(f"  {name:<15} {summary}" for name, summary in COMMANDS.items())
    parser = argparse.ArgumentParser(
        "tilewright",
        usage="tilewright [-h] [--version] COMMAND ...",
        description="A compiler back end for tile-level GPU compilers.",
        epilog=f"commands:\n{commands}\n\nexit status: 0 fine, 1 the input is wrong, 2 wrong usage",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, help="print the versions and leave")
    parser.add_argument("command", metavar="COMMAND", choices=COMMANDS, help="one of those below")
    return parser


class _Version(argparse.Action):
    """`--version`: what is installed is looked up only where it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None):
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"tilewright {version('tilewright')}\nxdsl {version('xdsl')}\n{_assembler()}")
        parser.exit()


def _assembler() -> str:
    """The ptxas that is found here, or why none is."""
    from subprocess import SubprocessError

    from tilewright.launch.ptxas import PtxasNotFound, find_ptxas, ptxas_version

    try:
        path = find_ptxas()
        return f"ptxas {ptxas_version(path)} ({path})"
    except (PtxasNotFound, OSError, SubprocessError) as error:
        return f"no ptxas ({str(error).removeprefix('no ptxas: ')})"


if __name__ == "__main__":
    main()
