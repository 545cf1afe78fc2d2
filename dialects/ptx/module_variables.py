"""Variables of a module, in global, constant or shared memory. PTX ISA 5.1.3, 5.1.4, 5.1.7, 5.4."""

import struct

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    UnitAttr,
    i8,
)
from xdsl.ir import Attribute
from xdsl.irdl import opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import SymbolOpInterface
from xdsl.utils.hints import isa

from tilewright.dialects.ancestors import symbol, symbol_table
from tilewright.dialects.cute_nvgpu.lattice.data_movement import MOV
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import STATIC_SHARED_LIMIT, is_alignment
from tilewright.dialects.fields import NUMBER, FieldsOp, fields_op
from tilewright.dialects.ptx.functions import FUNCTIONS, addressed
from tilewright.dialects.ptx.identifiers import why_no_identifier
from tilewright.dialects.ptx.instruction import SharedPlace
from tilewright.dialects.ptx.registers import MoveOp
from tilewright.dialects.ptx.types import B64

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
    {1, 2};`. `names` are variables whose generic addresses are added to words of 64 bits, by the
    number of the word. One in `shared` memory holds nothing, and one larger than the static limit
    has the size that a launch says.

    ```mlir
    ptx.global @g align 16 dense<[1, 2]> : tensor<2xi8>
    ptx.global @p align 8 names {"0" = "g"} dense<0> : tensor<8xi8>
    ptx.global @s shared align 4 dense<0> : tensor<512xi8>
    ```
    """

    sym_name = prop_def(SymbolNameConstraint())
    align = prop_def(NUMBER)
    octets = prop_def(DenseIntOrFPElementsAttr)
    constant = opt_prop_def(UnitAttr)
    shared = opt_prop_def(UnitAttr)
    names = opt_prop_def(DictionaryAttr)

    traits = traits_def(SymbolOpInterface())

    assembly_format = (
        "$sym_name (`constant` $constant^)? (`shared` $shared^)? `align` $align"
        " (`names` $names^)? $octets attr-dict"
    )

    def verify_(self) -> None:
        self.refuse(why_no_identifier(self.sym_name.data, "a name that PTX takes"))
        type_, align = self.octets.type, self.align.value.data
        if not isa(type_, TensorType) or type_.element_type != i8 or not self.octets.data.data:
            raise self.fail(f"bytes as a tensor of i8 with at least one, got {type_}")
        if not is_alignment(align):
            raise self.fail(f"bytes aligned to a power of two of 31 bits, got {align}")
        size = len(self.content)
        if self.shared is not None and any(self.content):
            raise self.fail("no content of a variable in shared memory")
        if self.names is not None and len(self.named) != len(self.names.data):
            raise self.fail(f'names of words by their numbers, as {{"0" = "g"}}, got {self.names}')
        for word, name in self.named.items():
            if size % 8 or align % 8 or not 0 <= word < size // 8:
                raise self.fail(f"names in aligned words of {size} bytes, got one in word {word}")
            if symbol_table(self) is not None and not isinstance(symbol(self, name), GlobalOp):
                raise self.fail(f"names of ptx.global of the module, got '{name}', which none is")

    @property
    def named(self) -> dict[int, str]:
        """The variables whose addresses are added to words, by the number of the word."""
        return _by_word(self.names)

    @property
    def content(self) -> bytes:
        """The bytes."""
        return content_of(self.octets)

    def text(self) -> str:
        """The declaration."""
        content, name = self.content, self.sym_name.data
        space = ".shared" if self.shared else ".const" if self.constant else ".global"
        head = f"{space} .align {self.align.value.data}"
        functions = {
            word: function for word, function in _by_word(self.attributes.get(FUNCTIONS)).items()
            if addressed(self, function)
        }  # fmt: skip
        if (names := self.named) or functions:
            numbers = struct.unpack(f"<{len(content) // 8}Q", content)
            words = (
                f"generic({names[place]})+{number}"
                if place in names
                else functions.get(place, str(number))
                for place, number in enumerate(numbers)
            )
            return f"{head} .u64 {name}[{len(numbers)}] = {{{', '.join(words)}}};\n"
        if self.shared is not None and len(content) > STATIC_SHARED_LIMIT:
            return f".extern {head} .b8 {name}[];\n"
        head = f"{head} .b8 {name}[{len(content)}]"
        if not any(content):
            return f"{head};\n"
        rows = (content[i : i + _ROW_BYTES] for i in range(0, len(content), _ROW_BYTES))
        return f"{head} = {{\n" + ",\n".join(", ".join(map(str, row)) for row in rows) + "};\n"


def _by_word(names: Attribute | None) -> dict[int, str]:
    known = names.data.items() if isinstance(names, DictionaryAttr) else ()
    return {
        int(word): name.data
        for word, name in known
        if word.isdecimal() and isinstance(name, StringAttr)
    }


@fields_op("ptx.global_address", MOV["b64"])
class GlobalAddressOp(MoveOp):
    """The address of a module's variable, or function: `mov.b64 d, g`.

    ```mlir
    %0 = ptx.global_address "g"
    ```
    """

    ASKS_AROUND = True

    variable = prop_def(StringAttr)
    result = result_def(B64)

    @property
    def source(self) -> SharedPlace:
        return SharedPlace(0, variable=self.variable.data)

    def verify_(self) -> None:
        name = self.variable.data
        is_known = isinstance(symbol(self, name), GlobalOp) or addressed(self, name)
        if symbol_table(self) is not None and not is_known:
            raise self.fail(f"a ptx.global of the module, got '{name}', which none is")
