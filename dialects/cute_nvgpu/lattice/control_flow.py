"""Where a kernel goes on. PTX ISA 9.7.12 and 9.7.19."""

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    Constant,
    Label,
    ParameterList,
    Scalar,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE

BRANCH = InstructionRow(
    "ptx.bra", "go on at a label", ("bra.uni", "bra"), BASELINE,
    "9.7.12.3", (Label("tgt"),),
)  # fmt: skip
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
RETURN = InstructionRow("ptx.ret", "leave the kernel", ("ret", "ret.uni"), BASELINE, "9.7.12.6")
TRAP = InstructionRow(
    "ptx.trap", "stop the kernel with an error", ("trap",), BASELINE,
    "9.7.19.5",
)  # fmt: skip
BRKPT = InstructionRow("ptx.brkpt", "stop for a debugger", ("brkpt",), BASELINE, "brkpt")
PMEVENT, PMEVENT_MASK = (
    InstructionRow(
        "ptx.pmevent", f"count {does} of the performance monitor", (mnemonic,), BASELINE, "pmevent",
        (Constant("a", range(legal)),),
    )
    for mnemonic, does, legal in (
        ("pmevent", "an event, by its number,", 16),
        ("pmevent.mask", "events, a bit each,", 1 << 16),
    )
)  # fmt: skip
