"""Clusters of the grid that have not begun, whose work one that runs does. PTX ISA,
clusterlaunchcontrol."""

from dataclasses import replace

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Result, Vector, Wide
from tilewright.dialects.cute_nvgpu.lattice.targets import needs

RESPONSE_BYTES = 16
"""The size and alignment of what a request is answered with."""

_REQUEST = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
TRY_CANCEL = InstructionRow(
    "ptx.clusterlaunchcontrol.try_cancel",
    "ask that a cluster which has not begun never does; the answer arrives at an mbarrier",
    (f"{_REQUEST}.b128",), needs("sm_100 8.6"), "clusterlaunchcontrol.try_cancel",
    (Address("addr"), Address("mbar")),
)  # fmt: skip
TRY_CANCEL_MULTICAST = replace(
    TRY_CANCEL, does=f"{TRY_CANCEL.does} in each CTA of the cluster",
    mnemonics=(f"{_REQUEST}.multicast::cluster::all.b128",),
    needs=needs("sm_100f|sm_110f|sm_120f 8.6"),
)  # fmt: skip
_QUERY = "clusterlaunchcontrol.query_cancel"
_RESPONSE = Wide("try_cancel_response")
IS_CANCELED = InstructionRow(
    "ptx.clusterlaunchcontrol.query_cancel", "whether a cluster was cancelled",
    (f"{_QUERY}.is_canceled.pred.b128",), TRY_CANCEL.needs, _QUERY,
    (Result("d", "pred"), _RESPONSE),
)  # fmt: skip
FIRST_CTAID = replace(
    IS_CANCELED, does="the place in the grid of the first CTA of a cluster that was cancelled",
    mnemonics=(f"{_QUERY}.get_first_ctaid.v4.b32.b128",),
    operands=(Vector("d", "b32", 4, written=True, loose=True), _RESPONSE),
)  # fmt: skip
FIRST_CTAID_OF_AXIS = replace(
    FIRST_CTAID, mnemonics=tuple(f"{_QUERY}.get_first_ctaid::{axis}.b32.b128" for axis in "xyz"),
    operands=(Result("d"), _RESPONSE),
)  # fmt: skip
