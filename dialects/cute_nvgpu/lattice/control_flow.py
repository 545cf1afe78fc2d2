"""Where a thread goes on that are several ops: tables of labels, calls, ends. PTX ISA 9.7.12."""

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Label, ParameterList, Scalar
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE

BRANCH_INDEX = InstructionRow(
    "ptx.cond_bra", "go on at the label of a table that a number says", ("brx.idx", "brx.idx.uni"),
    BASELINE, "9.7.12.4", (Scalar("index", "u32"), Label("tlist")),
)  # fmt: skip
_CALLED = Label("func"), ParameterList("param-list", optional=True), Label("flist", optional=True)
CALL = InstructionRow(
    "ptx.call", "call a function", ("call", "call.uni"), BASELINE, "9.7.12.5", _CALLED,
    ((ParameterList("ret-param"), *_CALLED),),
)  # fmt: skip
EXIT = InstructionRow(
    "ptx.ret", "leave the kernel, of a function too", ("exit",), BASELINE, "9.7.12.7"
)
