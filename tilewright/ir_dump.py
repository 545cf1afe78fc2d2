"""The IR after every pass, as numbered files."""

import os
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer


class IRDump:
    """Writes what a pipeline makes of a module into a folder, which is made where there is none:

        00-input.mlir
        01-cute-nvgpu-check-target.mlir
        ...
        05-module.ptx

    Each `.mlir` file is a module that parses. Where a pass fails, those before it are there. Raises
    OSError.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._number = 0

    def __call__(self, pass_name: str | None, module: ModuleOp) -> None:
        text = StringIO()
        Printer(text).print_op(module)
        self._write(f"{pass_name or 'input'}.mlir", text.getvalue() + "\n")

    def output(self, result: str | bytes, suffix: str) -> None:
        """The last file: what the module was printed or encoded as."""
        self._write(f"module.{suffix}", result)

    def _write(self, name: str, data: str | bytes) -> None:
        raw = data.encode() if isinstance(data, str) else data
        (self._folder / f"{self._number:02}-{name}").write_bytes(raw)
        self._number += 1
