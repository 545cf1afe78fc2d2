"""Globals as variables of a module."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnitAttr,
    i8,
)

from tilewright.dialects.ancestors import symbol
from tilewright.dialects.cuda_tile.ops.module import GetGlobalOp, GlobalOp
from tilewright.dialects.cute_nvgpu.ops.address import AddressOp
from tilewright.dialects.integers import integer_of
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.source.diagnostic import file_location

_LEAST_ALIGNMENT = 16
"""The alignment of the widest access."""


def module_variable(op: GlobalOp) -> memref.GlobalOp:
    """The bytes of a global."""
    value: Any = op.value
    octets = np.ascontiguousarray(value.array()).tobytes()
    lowered = memref.GlobalOp.get(
        op.sym_name,
        MemRefType(i8, [len(octets)]),
        DenseIntOrFPElementsAttr(TensorType(i8, [len(octets)]), BytesAttr(octets)),
        StringAttr("private"),
        None if op.constant is None else UnitAttr(),
        max(_LEAST_ALIGNMENT, integer_of(op.alignment)),
    )
    lowered.location = file_location(op.location) or lowered.location
    return lowered


@lowers
def _address(op: GetGlobalOp, kernel: EntryLowering) -> None:
    name = op.name_.string_value()
    global_ = symbol(op, name)
    assert isinstance(global_, GlobalOp)
    type_ = module_variable(global_).type
    variable = kernel.emitter.once(("global", name), lambda: memref.GetGlobalOp(name, type_))
    address = kernel.emitter.once(("address", variable), lambda: AddressOp(variable))
    kernel.place(op.result, kernel.table.scalar, [address])
