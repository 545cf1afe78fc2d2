"""Rules of ops: the types that they are of."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.arith import AddiOp, MuliOp, SubiOp

from tilewright.dialects.op_rules import OpRules


def test_the_first_parameter_says_the_types():
    rules = OpRules[Any]()

    @rules.of
    def one(op: AddiOp) -> str:
        return op.name

    @rules.of
    def several(op: MuliOp | SubiOp) -> str:
        return op.name

    assert rules == {AddiOp: one, MuliOp: several, SubiOp: several}

    @rules.of(AddiOp, SubiOp)
    def named(op: Any) -> str:
        return op.name

    assert rules == {AddiOp: named, MuliOp: several, SubiOp: named}
