"""Which bits the functions of floats have: libdevice's, or the more accurate ones of `math`."""

from typing import Literal, TypeAlias

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.math_functions.libdevice import RECORDED

Accuracy: TypeAlias = Literal["libdevice", "exact"]
EXACT = "cuda_tile.exact_functions"
"""The attribute of an entry whose functions are those of `math`."""


def set_accuracy(module: ModuleOp, accuracy: Accuracy) -> None:
    """Let the entries of a module have functions of an accuracy."""
    for op in module.walk() if accuracy == "exact" else ():
        if isinstance(op, EntryOp):
            op.attributes[EXACT] = UnitAttr()


def libdevice_function(op: Operation, *, double: bool) -> str | None:
    """The function of libdevice that an op on f64, or on smaller floats, is; None where it is none,
    or that of `math`."""
    name = f"__nv_{op.name.partition('.')[2]}{'' if double else 'f'}"
    entry = op.parent_op()
    while entry is not None and not isinstance(entry, EntryOp):
        entry = entry.parent_op()
    exact = entry is not None and EXACT in entry.attributes
    return None if exact or name not in RECORDED else name
