"""Ops of warps that do different work: one thread of a warp, and how many registers each has."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, i1
from xdsl.irdl import prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from tilewright.dialects.cute_nvgpu.lattice.mbarrier import ELECT_SYNC, SETMAXNREG
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp
from tilewright.dialects.fields import NUMBER, fields_op


@fields_op("cute_nvgpu.elect.sync", ELECT_SYNC)
class ElectSyncOp(NvgpuOp):
    """True in one thread of the warp, the same one each time.

    ```mlir
    %leader = cute_nvgpu.elect.sync
    ```

    All threads of the warp execute it together. PTX ISA, elect.sync.
    """

    leader = result_def(i1)


@fields_op("cute_nvgpu.setmaxnreg", SETMAXNREG)
class SetmaxnregOp(NvgpuOp):
    """Let each thread of the warpgroup have that many registers from here on.

    ```mlir
    cute_nvgpu.setmaxnreg dec 40
    cute_nvgpu.setmaxnreg inc 232
    ```

    All threads of the warpgroup execute it together; the kernel needs `gpu.known_block_size`. PTX
    ISA, setmaxnreg.
    """

    action = prop_def(StringAttr)
    registers = prop_def(NUMBER)

    @classmethod
    def parse(cls, parser: Parser) -> SetmaxnregOp:
        start = parser.pos
        action = parser.parse_identifier()
        if action not in SETMAXNREG.actions:
            parser.raise_error(
                f"'{cls.name}' expected {' or '.join(SETMAXNREG.actions)}, got {action}",
                start,
                parser.pos,
            )
        op = cls(action, parser.parse_integer(allow_boolean=False))
        op.attributes |= parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.action.data} {self.registers.value.data}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if self.action.data not in SETMAXNREG.actions:
            raise self.fail(f"{' or '.join(SETMAXNREG.actions)}, got {self.action.data}")
        self.refuse(SETMAXNREG.why_illegal(self.registers.value.data))
