"""The kernels of the tests: texts beside this file, and the lowest version that holds each."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from tilewright.dialects.cuda_tile.debug_info import (
    DICompileUnitAttr,
    DIFileAttr,
    DILexicalBlockAttr,
    DILocAttr,
    DISubprogramAttr,
)
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.versions import V13_1, V13_3, V13_4
from tilewright.source.parsing import parse_module

FOLDER = Path(__file__).parent
LOWEST = {
    "control_flow.mlir": V13_1,
    "memory.mlir": V13_1,
    "later_types.mlir": V13_3,
    "newest_ops.mlir": V13_4,
}


def kernel(file: str) -> ModuleOp:
    """The module of a text."""
    return parse_module((FOLDER / file).read_text(), file)


def call(callee: Attribute, caller: Attribute) -> Attribute:
    """A place in a function that was inlined at another."""
    attribute = object.__new__(CallSiteLoc)
    attribute.__dict__.update(callee=callee, caller=caller)
    return attribute


def located(module: ModuleOp) -> ModuleOp:
    """The module with debug info of every kind: files, units, functions, blocks, calls."""
    for entry in module.walk():
        if isinstance(entry, EntryOp):
            file = DIFileAttr(StringAttr("k.py"), StringAttr("/home/me"))
            unit = DICompileUnitAttr(file)
            name = entry.sym_name
            function = DISubprogramAttr(file, IntAttr(1), name, name, unit, IntAttr(2))
            block = DILexicalBlockAttr(function, file, IntAttr(3), IntAttr(0))
            for line, op in enumerate(entry.walk()):
                source = FileLineColLoc(StringAttr("k.py"), IntAttr(line + 1), IntAttr(300))
                place = DILocAttr(source, function if line % 2 else block)
                if line == 0:
                    place = DILocAttr(source, function)
                if line % 5 == 4:
                    place = call(place, place)
                if line % 7 != 6:
                    op.location = place  # pyright: ignore
    return module
