"""Memory that several GPUs hold a copy of each, by its address: all copies are accessed at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import StringAttr, i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    VarOperand,
    VarOpResult,
    operand_def,
    opt_operand_def,
    prop_def,
    var_operand_def,
    var_result_def,
)

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.multimem import MULTIMEM, form_of
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp
from tilewright.dialects.fields import NUMBER, fields_op

TYPES = {"i32": "b32", "i64": "b64", "f16": "f16x2", "bf16": "bf16x2", "f32": "f32", "f64": "f64"}
"""The type in PTX of the words that elements are moved in."""


def elements_per_word(element: Attribute) -> int:
    """How many elements a word of an access has."""
    return 2 if str(element) in ("f16", "bf16") else 1


class MultimemOp(NvgpuOp):
    """An access to elements side by side; `semantics` say how it is ordered, and for whom: `weak`,
    `relaxed.gpu`, `acquire.sys`, `release.sys`."""

    INSTRUCTION: ClassVar[str]

    semantics = prop_def(StringAttr)
    offset = prop_def(NUMBER)
    address = operand_def(i64)

    if TYPE_CHECKING:
        elements: VarOperand | VarOpResult

    @property
    def types(self) -> Sequence[Attribute]:
        """The types of its elements."""
        return self.elements.types

    @property
    def words(self) -> tuple[str, str]:
        """The operation and the type of its words."""
        return "", TYPES.get(str(self.types[0]), "")

    @property
    def form(self) -> str:
        """That of the instruction: `relaxed.sys.global.add.v2.f32`."""
        count = len(self.types) // elements_per_word(self.types[0])
        return form_of(self.semantics.data, *self.words, count)

    @property
    def row(self) -> InstructionRow:
        return MULTIMEM[f"{self.INSTRUCTION}.{self.form}"]

    def verify_(self) -> None:
        types = list(self.types)
        if not types or set(types) != set(types[:1]):
            raise self.fail("elements of one type")
        whole = len(types) % elements_per_word(types[0]) == 0
        if not whole or f"{self.INSTRUCTION}.{self.form}" not in MULTIMEM:
            raise self.fail(
                f"1, 2 or 4 f32, 2, 4 or 8 f16 or bf16, or one i32, i64 or "
                f"f64, in a form of multimem.{self.INSTRUCTION} (PTX ISA 9.7.9.14), got "
                f"{self.semantics.data} {'.'.join(self.words)} of {', '.join(map(str, types))}"
            )


class _CombiningOp(MultimemOp):
    """An access that combines elements by `operation`, `add.u32` or `max.f16x2`."""

    operation = prop_def(StringAttr)

    @property
    def words(self) -> tuple[str, str]:
        operation, _, type_ = self.operation.data.partition(".")
        return operation, type_


@fields_op("cute_nvgpu.multimem.load_reduce")
class MultimemLoadReduceOp(_CombiningOp):
    """Elements of all copies, combined; where a predicate does not hold, others.

    ```mlir
    %a, %b = cute_nvgpu.multimem.load_reduce "weak" "add.f32" %p + 8 -> f32, f32
    ```
    """

    INSTRUCTION = "ld_reduce"

    predicate = opt_operand_def(i1)
    otherwise = var_operand_def()
    elements = var_result_def()

    assembly_format = (
        "$semantics $operation $address `+` $offset (`if` $predicate^)?"
        " (`else` $otherwise^ `:` type($otherwise))? attr-dict `->` type($elements)"
    )

    def verify_(self) -> None:
        super().verify_()
        if list(self.otherwise.types) != (list(self.types) if self.predicate else []):
            raise self.fail("as many elements where the predicate does not hold")


@fields_op("cute_nvgpu.multimem.store")
class MultimemStoreOp(MultimemOp):
    """Write elements to all copies, in threads where a predicate holds.

    ```mlir
    cute_nvgpu.multimem.store "release.sys" %x, %y to %p + 8 if %m : f16, f16
    ```
    """

    INSTRUCTION = "st"

    elements = var_operand_def()
    predicate = opt_operand_def(i1)

    assembly_format = "$semantics $elements `to` $address `+` $offset (`if` $predicate^)?"


@fields_op("cute_nvgpu.multimem.reduce")
class MultimemReduceOp(_CombiningOp):
    """Combine all copies with elements, in threads where a predicate holds.

    ```mlir
    cute_nvgpu.multimem.reduce "relaxed.sys" "add.f32" %x to %p + 8 : f32
    ```
    """

    INSTRUCTION = "red"

    elements = var_operand_def()
    predicate = opt_operand_def(i1)

    assembly_format = (
        "$semantics $operation $elements `to` $address `+` $offset (`if` $predicate^)?"
    )


MultimemAccess = MultimemLoadReduceOp | MultimemStoreOp | MultimemReduceOp
