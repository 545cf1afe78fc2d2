"""The commands of `tilewright` by name, and the parser of each one's arguments."""

import argparse
import shlex
from importlib import import_module
from types import ModuleType
from typing import NoReturn

COMMANDS = {
    "examples": "list the examples that the package has, or print one",
    "atoms": "list the atom lattice",
    "compile": "compile IR to PTX, with remarks on what was chosen",
    "explain": "say what a PTX mnemonic is, or why there is none such",
    "explain-layouts": "say where the tiles of Tile IR kernels are, and why",
    "check": "check kernels of PTX, or of IR, without running them",
    "check-ptx": "judge PTX mnemonics, one JSON line each",
    "layout": "show which thread holds which element of an operand",
    "desc": "explain or build the shared-memory descriptors of wgmma",
    "bank-conflicts": "predict the bank conflicts of kernels of tiles",
    "select": "list the atoms that compute a tile, best first, and why",
    "cache": "say what the cache of compiled kernels holds, or empty it",
    "report": "write one HTML page that shows a kernel, and a run of it",
    "run": "execute a kernel on .npy files, on the CPU or on the GPU",
    "conformance": "judge tilewright by ptxas, the PTX ISA and chips",
    "serve": "open the playground in a browser on this machine",
    "lsp": "serve an editor: diagnostics, hovers, definitions, completion",
    "completion": "print the completion script of a shell",
}


def command_module(name: str) -> ModuleType:
    """The module of a command, imported only where it is chosen."""
    return import_module(f"tilewright.tools.commands.{name.replace('-', '_')}")


def command_parser(name: str, command: ModuleType) -> argparse.ArgumentParser:
    """The parser of a command's arguments."""
    parser = argparse.ArgumentParser(
        f"tilewright {name}",
        description=command.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    return parser


class WordsParser(argparse.ArgumentParser):
    """A parser of words within a text: what is wrong is an ArgumentTypeError."""

    def error(self, message: str) -> NoReturn:
        raise argparse.ArgumentTypeError(message)

    def parse_words(self, text: str) -> argparse.Namespace:
        """The words of a text, as a shell has them. Raises ArgumentTypeError."""
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return self.parse_intermixed_args(words)
