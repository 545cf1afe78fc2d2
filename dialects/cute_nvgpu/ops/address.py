"""Memory by its address, an integer: neighbouring elements loaded, stored and copied, atomic
operations.

An address of 64 bits is one in global memory, of 32 bits one in the kernel's shared memory. What a
predicate leaves out is not accessed, and its address may be any.
"""

from typing import TYPE_CHECKING, ClassVar

from xdsl.dialects.builtin import IntegerType, MemRefType, StringAttr, UnitAttr, i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    VarOperand,
    VarOpResult,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)

from tilewright.dialects.cute.types.memref import Space, is_memref, space_of
from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import MatrixCopy, find_row
from tilewright.dialects.cute_nvgpu.lattice import CP_ASYNC
from tilewright.dialects.cute_nvgpu.lattice.atomics import (
    ATOMICS,
    INSTRUCTIONS,
    SUMS,
    operand_count,
)
from tilewright.dialects.cute_nvgpu.lattice.data_movement import (
    L1,
    PREFETCH,
    SEMANTICS,
    WEAK,
    cached,
    needs_of,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.cute_nvgpu.ops.copy import CopiesAsynchronously
from tilewright.dialects.cute_nvgpu.ops.instruction import BaselineOp, NvgpuOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.traits import PURE

_WIDTHS: dict[Space, IntegerType] = {Space.GMEM: i64, Space.SMEM: i32}
_BITS = {
    "i1": 8, "i8": 8, "f8E4M3FN": 8, "f8E5M2": 8, "i16": 16, "f16": 16, "bf16": 16,
    "i32": 32, "f32": 32, "i64": 64, "f64": 64,
}  # fmt: skip
"""The bits that an element takes in memory."""


def bytes_of(element: Attribute) -> int:
    """The bytes that an element takes in memory. Raises KeyError where threads address none."""
    return _BITS[str(element)] // 8


@fields_op("cute_nvgpu.address")
class AddressOp(BaselineOp):
    """The address of a memref's first element.

    ```mlir
    %p = cute_nvgpu.address %m : memref<?xf32> -> i64
    %s = cute_nvgpu.address %t : memref<64xf32, #cute<space smem>> -> i32
    ```
    """

    memref = operand_def(MemRefType)
    result = result_def(IntegerType)

    traits = PURE

    def __init__(self, memref: SSAValue):
        assert is_memref(memref.type)
        space = space_of(memref.type.memory_space)
        super().__init__(memref, i32 if space is Space.SMEM else i64)

    def verify_(self) -> None:
        type_ = self.memref.type
        assert is_memref(type_)
        space = space_of(type_.memory_space)
        if space is None or self.result.type != _WIDTHS.get(space):
            raise self.fail(
                f"i64 of global memory or i32 of shared memory, got {type_} -> {self.result.type}"
            )


@fields_op("cute_nvgpu.address.allocate")
class AllocateOp(BaselineOp):
    """The address of so many bytes of the device's heap, of the thread's own until it frees them: a
    multiple of 16. Where there are none left, a trap.

    ```mlir
    %p = cute_nvgpu.address.allocate 4096
    ```
    """

    size = prop_def(NUMBER)
    result = result_def(i64)


@fields_op("cute_nvgpu.address.free")
class FreeOp(BaselineOp):
    """Give memory of the heap back.

    ```mlir
    cute_nvgpu.address.free %p
    ```
    """

    address = operand_def(i64)


class _AccessOp(BaselineOp):
    """An access at an address plus a constant number of bytes."""

    offset = prop_def(NUMBER)

    @property
    def is_shared(self) -> bool:
        """True where the address is one in shared memory."""
        return self.operands[0].type == i32

    @property
    def space(self) -> str:
        """The space of the address, as PTX calls it."""
        return "shared" if self.is_shared else "global"

    def verify_address(self) -> None:
        """Raise VerifyException where the address is none."""
        if self.operands[0].type not in (i32, i64):
            raise self.fail(f"an address of i64 or i32, got {self.operands[0].type}")

    def verify_elements(self, types: list[Attribute]) -> None:
        """Raise VerifyException where one instruction cannot move elements of these types."""
        self.verify_address()
        bits = _BITS.get(str(types[0]), 0) if types else 0
        if set(types) != set(types[:1]) or bits * len(types) not in (8, 16, 32, 64, 128):
            raise self.fail(
                "elements of one type that fill 1, 2, 4, 8 or 16 bytes, got "
                f"{', '.join(map(str, types)) or 'none'}"
            )


class _ElementsOp(_AccessOp):
    """A load or a store of elements side by side."""

    INSTRUCTION: ClassVar[str]

    semantics = opt_prop_def(StringAttr, StringAttr(WEAK))

    if TYPE_CHECKING:
        elements: VarOperand | VarOpResult

    def verify_(self) -> None:
        self.verify_elements(list(self.elements.types))
        legal = SEMANTICS[self.INSTRUCTION]
        if self.semantics.data not in legal:
            raise self.fail(f"semantics {' or '.join(legal)}, got {self.semantics.data}")

    def requirement(self) -> Requirement:
        return needs_of(self.semantics.data)


@fields_op("cute_nvgpu.address.load")
class LoadOp(_ElementsOp):
    """The elements from an address on, as scalars; where a predicate does not hold, others.

    ```mlir
    %a, %b = cute_nvgpu.address.load %p + 8 : i64 -> f32, f32
    %c = cute_nvgpu.address.load %p + 0 if %m else %x : f32 : i64 -> f32
    ```

    The address is a multiple of their size. What others may write at the same time, in any CTA, is
    loaded by `semantics "relaxed.gpu"`, or `"acquire.sys"`. A `late` load is made where its
    elements are needed: nobody writes them in the meantime. A `cache "L1::no_allocate"` keeps the
    line in the L2 alone. PTX ISA 9.7.9.8.
    """

    INSTRUCTION = "ld"

    address = operand_def(IntegerType)
    predicate = opt_operand_def(i1)
    otherwise = var_operand_def()
    elements = var_result_def()
    late = opt_prop_def(UnitAttr)
    cache = opt_prop_def(StringAttr)

    assembly_format = (
        "(`late` $late^)? (`semantics` $semantics^)? (`cache` $cache^)? $address `+` $offset"
        " (`if` $predicate^)? (`else` $otherwise^ `:` type($otherwise))? attr-dict"
        " `:` type($address) `->` type($elements)"
    )

    def verify_(self) -> None:
        super().verify_()
        wanted = self.elements.types if self.predicate is not None else ()
        if [*self.otherwise.types] != [*wanted]:
            raise self.fail("as many elements where the predicate does not hold")
        if self.cache is not None and (self.cache.data not in L1 or self.is_shared):
            got = f"{self.cache.data} of {self.space}"
            raise self.fail(f"a cache of {', '.join(L1)} of global memory, got {got}")

    def requirement(self) -> Requirement:
        return cached(self.semantics.data, self.cache and self.cache.data)


@fields_op("cute_nvgpu.address.store")
class StoreOp(_ElementsOp):
    """Write elements side by side from an address on, in threads where a predicate holds.

    ```mlir
    cute_nvgpu.address.store %x, %y, %p + 8 if %m : f32, f32, i64
    ```

    The address is a multiple of their size. What others may read at the same time, in any CTA, is
    stored by `semantics "relaxed.gpu"`, or `"release.sys"`. PTX ISA 9.7.9.11.
    """

    INSTRUCTION = "st"

    address = operand_def(IntegerType)
    elements = var_operand_def()
    predicate = opt_operand_def(i1)

    assembly_format = (
        "(`semantics` $semantics^)? $elements `to` $address `+` $offset (`if` $predicate^)?"
        " attr-dict"
        " `:` type($elements) `to` type($address)"
    )


@fields_op("cute_nvgpu.address.atomic")
class AtomicOp(_AccessOp):
    """Combine a word of memory with a value, no thread between; what was there. Of `cas` the second
    value replaces a word that equals the first.

    ```mlir
    %old = cute_nvgpu.address.atomic "add.f32" %p + 0, %x : i64, f32 -> f32
    %was = cute_nvgpu.address.atomic "cas.b32" %p + 0, %x, %y if %m else %x : i64, i32, i32 -> i32
    ```

    It orders what the thread did before and does after it as its `semantics` say, `acq_rel.gpu`
    where nothing else is said: `"relaxed.gpu"` nothing at all. PTX ISA 9.7.13.5.
    """

    form = prop_def(StringAttr)
    semantics = opt_prop_def(StringAttr, StringAttr("acq_rel.gpu"))
    address = operand_def(IntegerType)
    values = var_operand_def()
    predicate = opt_operand_def(i1)
    otherwise = opt_operand_def()
    result = result_def()

    assembly_format = (
        "(`semantics` $semantics^)? $form $address `+` $offset `,` $values (`if` $predicate^)? "
        "(`else` $otherwise^ `:` type($otherwise))?"
    )

    def requirement(self) -> Requirement:
        return Requirement.of(INSTRUCTIONS[f"atom.{self.semantics.data}.global.{self.form.data}"])

    def verify_(self) -> None:
        self.verify_address()
        form, semantics = self.form.data, self.semantics.data
        if form not in ATOMICS or semantics not in SEMANTICS["atom"]:
            raise self.fail(
                f"a form of {', '.join(ATOMICS)} and semantics of {', '.join(SEMANTICS['atom'])}, "
                f"got {form} and {semantics}"
            )
        types = {self.result.type, *self.values.types}
        if self.otherwise is not None:
            types.add(self.otherwise.type)
        bits = int(form.rpartition(".")[2].lstrip("subf"))
        if len(types) > 1 or _BITS.get(str(self.result.type)) != bits:
            raise self.fail(
                f"values of one type of {bits} bits for {form}, got "
                f"{', '.join(sorted(map(str, types)))}"
            )
        if len(self.values) != operand_count(form):
            raise self.fail(f"{operand_count(form)} values for {form}, got {len(self.values)}")
        if (self.predicate is None) is not (self.otherwise is None):
            raise self.fail("a predicate and an alternative, or neither")


@fields_op("cute_nvgpu.address.reduce")
class ReduceOp(_AccessOp):
    """Add floats to those side by side in memory, each as `atomic` does, whose result nobody reads.

    ```mlir
    cute_nvgpu.address.reduce "relaxed.gpu" %x, %y to %p + 8 if %m : i64, f32, f32
    ```

    PTX ISA 9.7.13.6.
    """

    semantics = prop_def(StringAttr)
    address = operand_def(IntegerType)
    elements = var_operand_def()
    predicate = opt_operand_def(i1)

    assembly_format = (
        "$semantics $elements `to` $address `+` $offset (`if` $predicate^)? attr-dict `:` "
        "type($address) `,` type($elements)"
    )

    @property
    def form(self) -> str:
        """That of the instruction: `add.v2.f32`."""
        return SUMS.get((str(self.elements[0].type), len(self.elements)), "")

    @property
    def mnemonic(self) -> str:
        """`red.relaxed.gpu.global.add.v2.f32`."""
        return f"red.{self.semantics.data}.{self.space}.{self.form}"

    def requirement(self) -> Requirement:
        return Requirement.of(INSTRUCTIONS[self.mnemonic])

    def verify_(self) -> None:
        self.verify_elements(list(self.elements.types))
        if self.mnemonic not in INSTRUCTIONS:
            legal = (f"{count} {type_}" for type_, count in SUMS)
            raise self.fail(
                f"elements that one red adds ({', '.join(legal)}; of shared memory no vectors) and "
                f"semantics of {', '.join(SEMANTICS['red'])}, got {len(self.elements)} "
                f"{self.elements[0].type} and {self.semantics.data}"
            )


@fields_op("cute_nvgpu.address.ldmatrix")
class LdmatrixOp(_AccessOp):
    """1, 2 or 4 matrices of 8x8 16-bit elements of shared memory, a word of each in every thread.

    ```mlir
    %f = cute_nvgpu.address.ldmatrix %p + 0 : !cute_nvgpu.fragment<4xi32>
    %t = cute_nvgpu.address.ldmatrix %p + 64 trans : !cute_nvgpu.fragment<2xi32>
    ```

    Thread 8*i + r names row r of matrix i, 16 bytes. PTX ISA 9.7.14.5.15.
    """

    address = operand_def(i32)
    trans = opt_prop_def(UnitAttr)
    fragment = result_def(FragmentType)

    assembly_format = "$address `+` $offset"

    @property
    def matrix_copy(self) -> MatrixCopy:
        """The copy that it issues."""
        number = self.fragment.type.count.data
        return MatrixCopy(find_row("ldmatrix", (8, 8), None), number, self.trans is not None)

    def requirement(self) -> Requirement:
        return Requirement.of(self.matrix_copy.row)

    def verify_(self) -> None:
        fragment = self.fragment.type
        if fragment.element_type != i32 or fragment.count.data not in (1, 2, 4):
            raise self.fail(f"a fragment of 1, 2 or 4 i32, got {fragment}")


@fields_op("cute_nvgpu.address.cp_async")
class CpAsyncOp(CopiesAsynchronously, _AccessOp):
    """Start an asynchronous copy of `size` bytes of global memory to shared memory.

    ```mlir
    cute_nvgpu.address.cp_async %g + 64 to %s + 0 size 16 cache cg
    cute_nvgpu.address.cp_async %g + 0 to %s + 16 size 8 cache ca fill %bytes
    ```

    `fill` gives the bytes that are read; the rest is written as zeros, and with 0 the source's
    address may be any. It is complete as `cute_nvgpu.cp.async` is. PTX ISA 9.7.9.25.3.1.
    """

    dest = operand_def(i32)
    source = operand_def(i64)
    fill = opt_operand_def(i32)
    source_offset = prop_def(NUMBER)

    assembly_format = (
        "$source `+` $source_offset `to` $dest `+` $offset `size` $size `cache` $cache"
    )

    def requirement(self) -> Requirement:
        return Requirement.of(CP_ASYNC)

    def verify_(self) -> None:
        self.verify_size()


@fields_op("cute_nvgpu.address.prefetch", PREFETCH)
class PrefetchOp(NvgpuOp):
    """Bring the line of an address in global memory to the L2: a hint, nothing is read.

    ```mlir
    cute_nvgpu.address.prefetch %p
    ```

    PTX ISA 9.7.9.15.
    """

    address = operand_def(i64)
