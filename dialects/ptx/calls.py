"""`trap`, and what debuggers and profilers see. PTX ISA 9.7.19."""

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import opt_prop_def, prop_def

from tilewright.dialects.cute_nvgpu.lattice.control_flow import BRKPT, PMEVENT, PMEVENT_MASK, TRAP
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Constant
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import RowOp


@fields_op("ptx.trap", TRAP)
class TrapOp(RowOp):
    """`trap`: stop the kernel with an error. PTX ISA 9.7.19.5."""


@fields_op("ptx.brkpt", BRKPT)
class BrkptOp(RowOp):
    """`brkpt`: stop for a debugger. PTX ISA, brkpt."""


@fields_op("ptx.pmevent", PMEVENT, PMEVENT_MASK)
class PmeventOp(RowOp):
    """`pmevent a`, or `pmevent.mask a`: count an event of the performance monitor, or a `mask` of
    several. PTX ISA, pmevent.

    ```mlir
    ptx.pmevent mask 7
    ```
    """

    CHOICE = "mask"

    mask = opt_prop_def(UnitAttr)
    events = prop_def(NUMBER)

    assembly_format = "(`mask` $mask^)? $events attr-dict"

    def verify_(self) -> None:
        [known] = self.row.operands
        assert isinstance(known, Constant) and known.legal is not None
        if (events := self.events.value.data) not in known.legal:
            raise self.fail(f"a number of 0 to {known.legal[-1]}, got {events}")
