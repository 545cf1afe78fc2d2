"""What the PTX ISA lists and ptxas refuses: illegal, with the reason in the ISA's own text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilewright.tools.conformance.instruction_family import Point
from tilewright.tools.conformance.mma_families import FP8


@dataclass(frozen=True, slots=True)
class Refused:
    """Listed points that ptxas takes for no target, and why."""

    form: str
    why: str
    holds: Callable[[Point], bool]


def _differing_sums(point: Point) -> bool:
    shapes = ("m16n8k16", "m16n8k32", "m16n8k64")
    return point.get("shape") in shapes and point.get("d") != point.get("c")


def _plain_sparse_fp8_in_f16(point: Point) -> bool:
    return point.get("sparse") == ".sp" and point["d"] == "f16" and point["a"] in FP8.split()


def _2x_of_ue4m3(point: Point) -> bool:
    return point.get("scale_vec") == ".scale_vec::2X" and point["stype"] == ".ue4m3"


LISTED_AND_REFUSED = (
    Refused(
        "c and d of different types at m16n8k16 and m16n8k32, sparse m16n8k64",
        "the syntax lists .dtype and .ctype apart; other shapes only are said to want them equal",
        _differing_sums,
    ),
    Refused(
        "mma.sp without ::ordered_metadata, e4m3 and e5m2 into f16",
        "named by a target note (sm_120), in no syntax: there .f16 comes with .kind::f8f6f4",
        _plain_sparse_fp8_in_f16,
    ),
    Refused(
        ".kind::mxf4nvf4 with .scale_vec::2X and .ue4m3",
        "in the syntax, not in Table 36",
        _2x_of_ue4m3,
    ),
)
