"""The `ptx` target of `-t ptx`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from tilewright.lowering.ptx.text import module_text


@dataclass(frozen=True)
class PtxTarget(Target):
    """Print a module of `ptx.entry` ops as PTX text, with the lowest `.version` and `.target`
    that its instructions need."""

    name = "ptx"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(module_text(module))
