"""`cuda-tile-synthesize-scopes`: debug info for functions that have none, from places in files.

    %0 = iota : tile<4xi32> loc("kernel.py":12:4)
->  %0 = iota : tile<4xi32> loc(#cuda_tile.di_loc<loc("kernel.py":12:4) in #function>)
"""

from pathlib import PurePosixPath

from xdsl.context import Context
from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    ModuleOp,
    NameLoc,
    StringAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.debug_info import (
    DICompileUnitAttr,
    DIFileAttr,
    DILocAttr,
    DISubprogramAttr,
)
from tilewright.dialects.cuda_tile.ops.control_flow import FUNCTIONS
from tilewright.dialects.cuda_tile.ops.module import ModuleOp as TileModuleOp
from tilewright.dialects.cuda_tile.scopes import scope_of
from tilewright.dialects.frozen import frozen

UNKNOWN = "<unknown>"
"""The file of what has no place in one."""


@frozen
class CudaTileSynthesizeScopesPass(ModulePass):
    """Give every function without debug info a subprogram, and its ops places in it."""

    name = "cuda-tile-synthesize-scopes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for module in descendants(op, TileModuleOp):
            place = file_place(module.location)
            unit = DICompileUnitAttr(_file(UNKNOWN if place is None else place.filename.data))
            for function in module.body.ops:
                if isinstance(function, tuple(FUNCTIONS)):
                    synthesize(function, unit)


def synthesize(function: Operation, unit: DICompileUnitAttr) -> None:
    """Give a function a subprogram, unless it has one."""
    if scope_of(function.location) is not None:
        return
    place = file_place(function.location)
    file = unit.file if place is None else _file(place.filename.data)
    line = IntAttr(1) if place is None else place.line
    name = function.properties["sym_name"]
    assert isinstance(name, StringAttr)
    subprogram = DISubprogramAttr(file, line, name, name, unit, line)
    here = place or FileLineColLoc(file.file_name, IntAttr(1), IntAttr(1))
    for op in function.walk():
        op.location = DILocAttr(file_place(op.location) or here, subprogram)  # pyright: ignore


def file_place(location: Attribute) -> FileLineColLoc | None:
    """The place in a file that a location names, through names, calls and fusion, if any."""
    match location:
        case FileLineColLoc():
            return location
        case NameLoc():
            return file_place(location.location)
        case CallSiteLoc():
            return file_place(location.caller)
        case FusedLoc():
            parts: list[Attribute] = list(location.locations)  # pyright: ignore
            return next((part for part in parts if isinstance(part, FileLineColLoc)), None)
        case _:
            return None


def _file(path: str) -> DIFileAttr:
    folder = str(PurePosixPath(path).parent)
    return DIFileAttr(
        StringAttr(PurePosixPath(path).name), StringAttr("" if folder == "." else folder)
    )
