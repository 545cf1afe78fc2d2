"""The stack of a thread in its local memory. PTX ISA, stacksave, stackrestore and alloca."""

from collections.abc import Sequence

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    Constant,
    OperandForm,
    Register,
    Result,
    Scalar,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import needs

FRAME_ALIGNMENT = 8
"""The alignment of what is allocated, where nothing more is asked for."""
ALIGNMENTS = tuple(1 << place for place in range(24))
STACK_BYTES = 1024
"""The stack of a thread that the driver gives, unless cudaLimitStackSize says another."""


def _rows(name: str, does: str, *operands: tuple[OperandForm, ...]) -> Sequence[InstructionRow]:
    """The rows of addresses of 64 bits and of 32."""
    return tuple(
        InstructionRow(f"ptx.{name}", does, (f"{name}.{type_}",), needs("sm_70 7.3"), name, forms)
        for type_, forms in zip(("u64", "u32"), operands, strict=True)
    )  # fmt: skip


_KINDS = ("b64", "b32")
STACKSAVE = _rows("stacksave", "the top of the stack", *((Result("d", kind),) for kind in _KINDS))
STACKRESTORE = _rows(
    "stackrestore", "let the top of the stack be where it was",
    *((Register("a", kind),) for kind in _KINDS),
)  # fmt: skip
ALLOCA = _rows(
    "alloca", "memory on the stack, until its top is restored or the function is left",
    *(
        (Result("ptr", kind), Scalar("size", f"u{kind[1:]}"),
         Constant("immAlign", ALIGNMENTS, optional=True))
        for kind in _KINDS
    ),
)  # fmt: skip
