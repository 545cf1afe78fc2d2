"""The `ptx` dialect: one op per PTX instruction, registers as SSA values."""

from xdsl.ir import Dialect

from tilewright.dialects.contents import modules_of, ops_of
from tilewright.dialects.ptx.types import RegType

PTX = Dialect("ptx", ops_of(*modules_of("tilewright.dialects.ptx")), [RegType])
