"""Variables of a module, in global memory. PTX ISA 5.1.4 and 5.4."""

from typing import ClassVar

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, StringAttr, SymbolNameConstraint
from xdsl.irdl import prop_def, result_def, traits_def
from xdsl.traits import SymbolOpInterface

from tilewright.dialects.cute_nvgpu.lattice.data_movement import MOV
from tilewright.dialects.fields import NUMBER, FieldsOp, fields_op
from tilewright.dialects.ptx.registers import MoveOp
from tilewright.dialects.ptx.types import reg

BYTES_ALONE = "expected elements of i8 that are given"
"""The rules of a `memref.global`."""
_ROW_BYTES = 64


def content_of(octets: DenseIntOrFPElementsAttr) -> bytes:
    """The bytes of elements of 8 bits."""
    data, (count,) = octets.data.data, octets.get_shape()
    return data * (count // len(data))


@fields_op("ptx.global")
class GlobalOp(FieldsOp):
    """An array of bytes, and what it holds before a kernel runs: `.global .align 16 .b8 g[2] =
    {1, 2};`.

    ```mlir
    ptx.global @g align 16 dense<[1, 2]> : tensor<2xi8>
    ```
    """

    sym_name = prop_def(SymbolNameConstraint())
    align = prop_def(NUMBER)
    octets = prop_def(DenseIntOrFPElementsAttr)

    traits = traits_def(SymbolOpInterface())

    assembly_format = "$sym_name `align` $align $octets"

    @property
    def content(self) -> bytes:
        """The bytes."""
        return content_of(self.octets)

    def text(self) -> str:
        """The declaration."""
        content = self.content
        head = f".global .align {self.align.value.data} .b8 {self.sym_name.data}[{len(content)}]"
        if not any(content):
            return f"{head};\n"
        rows = (content[i : i + _ROW_BYTES] for i in range(0, len(content), _ROW_BYTES))
        return f"{head} = {{\n" + ",\n".join(", ".join(map(str, row)) for row in rows) + "};\n"


@fields_op("ptx.global_address", MOV["b64"])
class GlobalAddressOp(MoveOp):
    """The address of a module's variable: `mov.b64 d, g`.

    ```mlir
    %0 = ptx.global_address "g"
    ```
    """

    OPERANDS: ClassVar = {"d": "result", "a": "variable"}

    variable = prop_def(StringAttr)
    result = result_def(reg("b64"))
