"""Ops made of their fields: what comes in order, what by name, what is left out; their formats."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Block

from tilewright.dialects.cuda_tile.dialect import CUDA_TILE
from tilewright.dialects.cute_nvgpu.dialect import CUTE_NVGPU
from tilewright.dialects.cute_nvgpu.ops.tma import BulkWaitGroupOp
from tilewright.dialects.cute_nvgpu.ops.tmem import RelinquishAllocPermitOp
from tilewright.dialects.fields import FieldsOp, number, text_format
from tilewright.dialects.ptx.bulk_copy import TensorReduceOp
from tilewright.dialects.ptx.data_movement import CpAsyncOp
from tilewright.dialects.ptx.dialect import PTX
from tilewright.dialects.ptx.registers import UnpackOp
from tilewright.dialects.ptx.types import reg

B32, B64 = Block(arg_types=[reg("b32"), reg("b64")]).args


def test_operands_results_and_properties_come_in_order():
    op = CpAsyncOp(B32, B64, "cg", 16)
    assert (op.dest, op.source, op.source_size) == (B32, B64, None)
    assert op.properties["cache"] == StringAttr("cg") and op.properties["size"] == number(16)
    assert str(CpAsyncOp(cache="cg", size=16, source=B64, dest=B32)) == str(op)
    assert CpAsyncOp(B32, B64, "ca", 8, source_size=B32).source_size is B32


def test_a_result_of_one_type_is_not_asked_for():
    block = Block(arg_types=[reg("b32")])
    assert UnpackOp(block.args[0]).result_types == (reg("b16", 2),)


def test_several_values_of_a_name():
    op = TensorReduceOp(B64, [B32, B32], B32, "add")
    assert list(op.coordinates) == [B32, B32] and op.cache_hint is None


def test_what_a_field_says_by_itself_is_left_out():
    assert not RelinquishAllocPermitOp(cta_group=1).properties
    assert RelinquishAllocPermitOp(cta_group=2).group == 2
    assert BulkWaitGroupOp(0, read=True).properties["read"] == UnitAttr()
    assert "read" not in BulkWaitGroupOp(0, read=False).properties


WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "too few": ((B32, B64, "cg"), {}),
    "too many": ((B32, B64, "cg", 16, B32), {}),
    "unknown": ((B32, B64, "cg", 16), {"hint": B64}),
    "twice": ((B32, B64, "cg", 16), {"size": 4}),
}


@pytest.mark.parametrize("case", WRONG)
def test_other_fields_are_refused(case: str):
    ordered, named = WRONG[case]
    with pytest.raises(TypeError, match="expected dest, source, cache, size in this order"):
        CpAsyncOp(*ordered, **named)


def test_every_op_says_its_fields():
    for op in (*PTX.operations, *CUTE_NVGPU.operations):
        assert issubclass(op, FieldsOp)
        if op.__init__ is FieldsOp.__init__:
            with pytest.raises(TypeError, match="in this order"):
                op(nothing=None)


def test_every_format_is_legal():
    """Formats are looked at when an op is first read or written: here all of them are."""
    formats = [
        text_format(op)
        for op in (*PTX.operations, *CUTE_NVGPU.operations, *CUDA_TILE.operations)
        if issubclass(op, FieldsOp) and op.parse.__func__ is FieldsOp.parse.__func__
    ]
    assert len(formats) > 250
