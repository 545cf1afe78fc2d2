"""Exports the kernels of cutile_kernels.py as Tile IR bytecode; no GPU is needed.

python tests/silicon/export_cuda_tile.py tests/lowering/interpreter/cuda_tile/fixtures
"""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from typing import Any

import tilewright as tw

SOURCE = Path(__file__).with_name("cutile_kernels.py")


def cases() -> dict[str, Any]:
    """The kernels, under a file name that does not tell where this checkout lies."""
    text, name = SOURCE.read_text(), f"/{SOURCE.name}"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"__name__": SOURCE.stem}
    exec(compile(text, name, "exec"), names)
    return names["CASES"]


def main(folder: Path) -> None:
    """Write one .tileirbc a kernel."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (kernel, _, arguments) in cases().items():
        (folder / f"{name}.tileirbc").write_bytes(tw.cutile.bytecode(kernel, arguments()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
