"""Clusters that have not begun, whose work another one does. PTX ISA, clusterlaunchcontrol."""

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, result_def

from tilewright.dialects.cute_nvgpu.lattice import launch_control as rows
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import FormOp, OffsetOp, PureOp, RowOp
from tilewright.dialects.ptx.types import B32, RegType, reg


@fields_op(rows.TRY_CANCEL.op, rows.TRY_CANCEL, rows.TRY_CANCEL_MULTICAST)
class TryCancelOp(OffsetOp, RowOp):
    """`clusterlaunchcontrol.try_cancel.async... [addr], [mbar]`: 16 bytes that say which cluster
    will not begin, if any, arrive at an mbarrier; of a `multicast` in each CTA of the cluster.

    ```mlir
    ptx.clusterlaunchcontrol.try_cancel %a, 0, %mbar
    ```
    """

    CHOICE = "multicast"

    address = operand_def(B32)
    barrier = operand_def(B32)
    multicast = opt_prop_def(UnitAttr)

    assembly_format = "$address `,` $offset `,` $barrier (`multicast` $multicast^)?"


@fields_op(rows.IS_CANCELED.op, rows.IS_CANCELED, rows.FIRST_CTAID, rows.FIRST_CTAID_OF_AXIS)
class QueryCancelOp(PureOp, FormOp):
    """`clusterlaunchcontrol.query_cancel.FORM d, response`, of two registers of 64 bits.

    ```mlir
    %p = ptx.clusterlaunchcontrol.query_cancel "query_cancel.is_canceled.pred.b128" %response
    ```
    """

    response = operand_def(reg("b64", 2))
    result = result_def(RegType)
