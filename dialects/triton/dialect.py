"""The `tt` dialect, and what TTIR has of `ttg`."""

from xdsl.ir import Dialect

from tilewright.dialects.contents import attributes_of, modules_of, ops_of
from tilewright.dialects.triton import types

_OPS = ops_of(*modules_of("tilewright.dialects.triton.ops"))
TRITON = Dialect("tt", [op for op in _OPS if op.name.startswith("tt.")], attributes_of(types))
TRITON_GPU = Dialect("ttg", [op for op in _OPS if op.name.startswith("ttg.")])
