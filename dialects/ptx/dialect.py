"""The `ptx` dialect: one op per PTX instruction, registers as SSA values."""

from xdsl.ir import Dialect

from tilewright.dialects.contents import modules_of, ops_of
from tilewright.dialects.ptx.scalars import SCALAR_OPS
from tilewright.dialects.ptx.types import RegType

_OPS = dict.fromkeys([*ops_of(*modules_of("tilewright.dialects.ptx")), *SCALAR_OPS.values()])

PTX = Dialect("ptx", list(_OPS), [RegType])
