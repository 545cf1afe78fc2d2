"""The bases of the ops: every op says what it needs of its target."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.irdl import IRDLOperation

from tilewright.dialects.cute_nvgpu.lattice.targets import (
    BASELINE,
    InstructionFacts,
    Requirement,
)


class NvgpuOp(IRDLOperation):
    """An op that is one instruction, a row of the lattice: that of its class or its own `row`."""

    ROW: ClassVar[Any]

    @property
    def row(self) -> InstructionFacts:
        """The row of its instruction."""
        return self.ROW

    def spelled(self) -> str:
        """Its name in diagnostics of its target."""
        return f"'{self.name}'"

    def requirement(self) -> Requirement:
        """The lowest target and PTX version that run the instruction."""
        return Requirement.of(self.row)


class PlainOp(NvgpuOp):
    """An op that says all by its name."""

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


class BaselineOp(NvgpuOp):
    """An op that every target runs: registers renamed, addresses, plain loads and stores."""

    def requirement(self) -> Requirement:
        return BASELINE
