"""Vector accesses: neighbouring elements of memory in one instruction, as a fragment."""

from xdsl.dialects.builtin import IndexType, MemRefType, i1
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_operand_def, result_def, var_operand_def

from tilewright.dialects.cute.types.memref import Space, is_memref, space_of
from tilewright.dialects.cute_nvgpu.lattice.elements import register_bits
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.cute_nvgpu.ops.instruction import BaselineOp, FragmentAccessOp
from tilewright.dialects.cute_nvgpu.ops.memory_operand import verify_contiguous, verify_memref
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.fields import fields_op
from tilewright.dialects.illegal import Illegal

ACCESS_BYTES = (4, 8, 16)
"""The bytes that one access moves: whole registers, at most 16 bytes. PTX ISA 9.7.9.8, 9.7.9.11."""


class _AccessOp(FragmentAccessOp, BaselineOp):
    """An access of one instruction to elements side by side."""

    @property
    def access(self) -> str:
        """The type of the words that it moves: `b32`."""
        return self.fragment_type.element.register

    def verify_(self) -> None:
        memory = self.memory.type
        space = space_of(memory.memory_space) if is_memref(memory) else None
        legal = space if space is not None and space.is_shared else Space.GMEM
        memref = verify_memref("memory", memory, len(self.indices), legal)
        _verify_element(memref.element_type, self.fragment_type)
        if (size := fragment_bytes(self.fragment_type)) not in ACCESS_BYTES:
            raise self.fail(
                f"a fragment of {', '.join(map(str, ACCESS_BYTES))} bytes, got {size} (one "
                f"instruction moves so many); nearest legal: {closest(size, ACCESS_BYTES)}"
            )
        verify_contiguous("memory", memref, size)


@fields_op("cute_nvgpu.fragment.load")
class LoadOp(_AccessOp):
    """The elements from an index on, 4, 8 or 16 bytes of them, in register order.

    ```mlir
    %f = cute_nvgpu.fragment.load %m[%i] : memref<?xbf16> -> !cute_nvgpu.fragment<8xbf16>
    ```

    They lie side by side, and their address is a multiple of their size. PTX ISA 9.7.9.8.
    """

    source = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    fragment = result_def(FragmentType)

    assembly_format = "$source `[` $indices `]`"


@fields_op("cute_nvgpu.fragment.store")
class StoreOp(_AccessOp):
    """Write a fragment of 4, 8 or 16 bytes side by side, from an index on.

    ```mlir
    cute_nvgpu.fragment.store %f, %m[%i] : !cute_nvgpu.fragment<8xbf16>, memref<?xbf16>
    cute_nvgpu.fragment.store %f, %m[%i] if %p : !cute_nvgpu.fragment<8xbf16>, memref<?xbf16>
    ```

    Its address is a multiple of its size. With a predicate only threads where it holds write, and
    the others may name any address. PTX ISA 9.7.9.11.
    """

    fragment = operand_def(FragmentType)
    dest = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    predicate = opt_operand_def(i1)

    assembly_format = "$fragment `,` $dest `[` $indices `]` (`if` $predicate^)?"


def fragment_bytes(fragment: FragmentType) -> int:
    """The bytes that the registers of a fragment hold."""
    return fragment.registers * register_bits(fragment.element.register) // 8


_STORED_AS = {"s8": "i8", "u8": "i8"}
"""The other type that a memref may have for elements of these."""


def _verify_element(memory: Attribute, fragment: FragmentType) -> None:
    element = fragment.element
    if element.bits < 8:
        raise Illegal(
            f"expected elements of whole bytes, got {fragment}; nearest legal: "
            "cute_nvgpu.fragment.cast from elements of i32"
        )
    if memory != fragment.element_type and str(memory) != _STORED_AS.get(element.name):
        raise Illegal(f"expected a fragment of the memory's element type {memory}, got {fragment}")
