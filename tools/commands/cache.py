"""Say what the cache of compiled kernels holds, or empty it.

  tilewright cache info
  tilewright cache clear

TILEWRIGHT_CACHE_DIR names its folder, TILEWRIGHT_CACHE_MIB its size at most (512; 0: none).
"""

import argparse

from tilewright.launch.compile_cache import entries, folder, limit, trim
from tilewright.tools.commands.input import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("info", "clear"))


def run(options: argparse.Namespace) -> None:
    """Print one line."""
    try:
        most, known = limit(), entries()
    except ValueError as error:
        raise InputError(str(error)) from None
    if options.action == "clear":
        print(f"{folder()}: {trim(0)} kernels deleted")
        return
    size = sum(size for _, size, _ in known) / (1 << 20)
    print(f"{folder()}: {len(known)} kernels, {size:.1f} of {most >> 20} MiB")
