"""Threads of a warp that look at each other's values. PTX ISA 9.7.9.6 and 9.7.13.7 to 9.7.13.11."""

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import operand_def, opt_result_def, prop_def, result_def

from tilewright.dialects.cute_nvgpu.lattice import warp as rows
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Result, Scalar
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import FormOp, RowOp
from tilewright.dialects.ptx.types import B32, PRED, RegType, reg


class WarpOp(FormOp):
    """`NAME.FORM d, a, membermask`, of the threads whose bits the mask has."""

    WORDS = None

    a = operand_def(RegType)
    members = operand_def(B32)
    result = result_def(RegType)

    assembly_format = "$form $a `,` $members"

    def verify_(self) -> None:
        super().verify_()
        result, a, _ = self.row.operands
        assert isinstance(result, Result) and isinstance(a, Scalar)
        legal_types = reg(a.type_), reg(result.register)
        if (self.a.type, self.result.type) != legal_types:
            raise self.fail(
                f"{legal_types[0]} to {legal_types[1]}, got {self.a.type} to {self.result.type}"
            )


@fields_op("ptx.vote.sync", rows.VOTE, rows.BALLOT)
class VoteOp(WarpOp):
    """`vote.sync.MODE d, a, membermask`. PTX ISA 9.7.13.9.

    ```mlir
    %d = ptx.vote.sync "ballot.b32" %p, %all : !ptx.reg<pred>, !ptx.reg<b32> -> !ptx.reg<b32>
    ```
    """


@fields_op("ptx.match", rows.MATCH_WORD, rows.MATCH_DOUBLE)
class MatchOp(WarpOp):
    """`match.any.sync.TYPE d, a, membermask`. PTX ISA 9.7.13.10."""


@fields_op("ptx.match.all", rows.MATCH_ALL_WORD, rows.MATCH_ALL_DOUBLE)
class MatchAllOp(WarpOp):
    """`match.all.sync.TYPE d|p, a, membermask`. PTX ISA 9.7.13.10.

    ```mlir
    %d, %p = ptx.match.all "sync.b32" %a, %all alike !ptx.reg<pred>
    ```
    """

    OPERANDS: ClassVar = {"d": "result + alike"}

    # xDSL puts a subclass's results before those of its base.
    result = result_def(RegType)
    alike = opt_result_def(PRED)

    assembly_format = "$form $a `,` $members (`alike` type($alike)^)?"


@fields_op("ptx.redux.sync", rows.REDUX, rows.REDUX_FLOAT)
class ReduxOp(WarpOp):
    """`redux.sync.OP.TYPE d, a, membermask`. PTX ISA 9.7.13.12."""


@fields_op("ptx.activemask", rows.ACTIVE_MASK)
class ActivemaskOp(RowOp):
    """`activemask.b32 d`. PTX ISA 9.7.13.11."""

    result = result_def(B32)


@fields_op("ptx.shfl", rows.SHUFFLE)
class ShuffleOp(RowOp):
    """`shfl.sync.MODE.b32 d|p, a, b, c, membermask`: the value of the thread that b says within the
    part of the warp that c says, the own one where that has none such. PTX ISA 9.7.9.6.

    ```mlir
    %d, %inside = ptx.shfl "up" %a, %b, %c, %all inside !ptx.reg<pred>
    ```
    """

    OPERANDS: ClassVar = {"d": "result + inside"}

    mode = prop_def(StringAttr)
    a = operand_def(B32)
    lane = operand_def(B32)
    clamp = operand_def(B32)
    members = operand_def(B32)
    result = result_def(B32)
    inside = opt_result_def(PRED)

    assembly_format = "$mode $a `,` $lane `,` $clamp `,` $members (`inside` type($inside)^)?"

    @property
    def mnemonic(self) -> str:
        return f"shfl.sync.{self.mode.data}.b32"

    def verify_(self) -> None:
        self.expect_word(self.mode.data, ("up", "down", "bfly", "idx"), "a mode of ")
