"""List the examples that the package has, or print one. Every command takes `example:NAME` in the
place of a file.

  tilewright examples
  tilewright examples mma > mma.mlir
"""

import argparse
from itertools import takewhile

from tilewright.tools.commands.input import example, example_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="the example to print")


def run(options: argparse.Namespace) -> None:
    if options.name is not None:
        print(example(options.name).decode(), end="")
        return
    names = example_names()
    for name in names:
        lines = example(name).decode().splitlines()
        comment = [
            line.removeprefix("// ")
            for line in takewhile(lambda line: line.startswith("// "), lines)
        ]
        # Without a comment the kernel says what it is.
        kernel = next(line for line in lines if line.startswith("func.func"))
        told = " ".join(comment).partition(". ")[0].rstrip(".") or kernel.rstrip(" {")
        print(f"{name:<{max(map(len, names))}}  {told}")
