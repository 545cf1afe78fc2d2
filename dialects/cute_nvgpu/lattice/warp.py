"""Threads of a warp that look at each other's values. PTX ISA 9.7.9.6 and 9.7.13.7 to 9.7.13.11."""

from dataclasses import replace

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Choice, Result, Scalar
from tilewright.dialects.cute_nvgpu.lattice.sync import MEMBERMASK
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Requirement, needs

_MEMBERS = "those of the membermask"


def _row(
    name: str, does: str, forms: tuple[str, ...], source: str, result: str,
    requirement: Requirement = BASELINE, section: str = "9.7.13.9",
) -> InstructionRow:  # fmt: skip
    return InstructionRow(
        f"ptx.{name}", does, tuple(f"{name}.{form}" for form in forms), requirement, section,
        (Result("d", result), Scalar("a", source), MEMBERMASK), threads=_MEMBERS,
    )  # fmt: skip


VOTE = _row(
    "vote.sync", "whether a holds in any thread, in all, or is the same in all",
    ("any.pred", "all.pred", "uni.pred"), "pred", "pred",
)  # fmt: skip
BALLOT = _row("vote.sync", "a bit for each thread in which a holds", ("ballot.b32",), "pred", "b32")
MATCH_WORD = _row(
    "match", "a bit for each thread that has the same a", ("any.sync.b32",), "b32", "b32",
    section="9.7.13.10",
)  # fmt: skip
MATCH_DOUBLE = _row("match", MATCH_WORD.does, ("any.sync.b64",), "b64", "b32", section="9.7.13.10")
MATCH_ALL_WORD = InstructionRow(
    "ptx.match.all", "the membermask where all threads have the same a, else 0; and whether",
    ("match.all.sync.b32",), BASELINE, "9.7.13.10",
    (Result("d", "b32", ("r|r", "r", "r|_")), Scalar("a", "b32"), MEMBERMASK), threads=_MEMBERS,
)  # fmt: skip
MATCH_ALL_DOUBLE = replace(
    MATCH_ALL_WORD, mnemonics=("match.all.sync.b64",),
    operands=(MATCH_ALL_WORD.operands[0], Scalar("a", "b64"), MEMBERMASK),
)  # fmt: skip
REDUX = _row(
    "redux.sync", "the values of the threads, combined",
    (
        *(f"{operation}.{sign}32" for operation in ("add", "min", "max") for sign in "us"),
        *(f"{operation}.b32" for operation in ("and", "or", "xor")),
    ),
    "b32", "b32", needs("sm_80 7.0"), "9.7.13.12",
)  # fmt: skip
REDUX_FLOAT = _row(
    "redux.sync", "the least or the largest value of the threads, or of their magnitudes",
    tuple(
        f"{operation}{magnitude}{nan}.f32"
        for operation in ("min", "max") for magnitude in ("", ".abs") for nan in ("", ".NaN")
    ),
    "f32", "f32", needs("sm_100a|sm_100f 8.6"), "9.7.13.12",
)  # fmt: skip
ACTIVE_MASK = InstructionRow(
    "ptx.activemask", "a bit for each thread of the warp that executes it", ("activemask.b32",),
    needs("sm_70 6.2"), "9.7.13.11", (Result("d"),),
)  # fmt: skip
SHUFFLE = InstructionRow(
    "ptx.shfl", "the value of a thread of the warp so many lanes before or behind",
    ("shfl.sync.up.b32", "shfl.sync.down.b32"), BASELINE, "9.7.9.6",
    (
        Result("d", "b32", ("r", "r|r", "r|_")), Scalar("a", "b32", plain=True),
        Choice("b", type_="u32"), Choice("c", type_="u32"), MEMBERMASK,
    ),
    threads=_MEMBERS,
)  # fmt: skip
