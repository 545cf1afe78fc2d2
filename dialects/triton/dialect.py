"""The `tt` dialect."""

from xdsl.ir import Dialect

from tilewright.dialects.contents import attributes_of, modules_of, ops_of
from tilewright.dialects.triton import types

TRITON = Dialect("tt", ops_of(*modules_of("tilewright.dialects.triton.ops")), attributes_of(types))
