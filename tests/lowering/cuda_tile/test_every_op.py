"""Every op of Tile IR lowers, for every target and every type of elements: compiled, it computes
what the interpreter of Tile IR says, and ptxas takes it as it is.

A sample here; all of it, ptxas included, with TILEWRIGHT_THOROUGH=1.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.universe import Universe

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[2] / "sampling"))
sys.path.append(str(Path(__file__).parents[2] / "sweep"))

from covering import THOROUGH, covering
from every_op import DTYPES, NOT_LOWERED, Case, cases
from points import swept
from tile_ir import entry

import tilewright as tw
from tilewright import ptxas
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.lowering.cuda_tile import convert_cuda_tile_to_cute
from tilewright.lowering.cuda_tile.kernel.kernel import RULES

TARGETS = (
    "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_110a", "sm_120a", "sm_121a",
)  # fmt: skip
CASES = cases()
_NARROW = {"f16": 2.0**-8, "bf16": 2.0**-5, "f32": 2.0**-18, "f64": 2.0**-48}
"""What sums of another order may differ by, of the largest result."""


def numbers(array: Any) -> Any:
    """Elements as float64; of unsigned words as they are."""
    with np.errstate(all="ignore"):
        return array.astype(np.float64)


def differs(case: Case, got: Any, wanted: Any) -> str | None:
    """How a result differs from what is wanted, by more than its case allows."""
    element = case.elements[-1][0]
    a, b = numbers(got), numbers(wanted)
    with np.errstate(all="ignore"):
        same = (a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b))
        if case.ulps is None:
            largest = np.nanmax(np.abs(np.where(np.isfinite(b), b, 0.0)), initial=1.0)
            same |= np.abs(a - b) <= _NARROW[element] * largest
        elif case.ulps and element in _NARROW:
            unit = np.abs(np.spacing(wanted.astype(DTYPES[element]))).astype(np.float64)
            same |= np.abs(a - b) <= case.ulps * unit
            # Around the largest number one of the two may be infinite.
            same |= np.isinf(a) ^ np.isinf(b)
    if same.all():
        return None
    where = np.flatnonzero(~same)[:3]
    return f"{(~same).sum()} of {same.size}: got {got[where]}, wanted {wanted[where]}"


def test_every_op_is_lowered_or_has_a_reason() -> None:
    dialect = Universe.get_multiverse().all_dialects["cuda_tile"]()
    names = {op.name.removeprefix("cuda_tile.") for op in dialect.operations}
    tried = {case.op for case in CASES} | swept().keys()
    assert names == tried | NOT_LOWERED.keys() and not tried & NOT_LOWERED.keys()
    assert convert_cuda_tile_to_cute
    for op in dialect.operations:
        assert op not in RULES or op.name.removeprefix("cuda_tile.") not in NOT_LOWERED


def _differences(pair: tuple[Case, str]) -> tuple[Any, ...]:
    case, arch = pair
    return case.op, arch, case.elements[0][0], "rounding<" + case.name.partition("rounding<")[2]


SAMPLE = covering(
    [(case, arch) for case in CASES for arch in TARGETS if target(arch).number >= case.since],
    _differences,
)


@pytest.mark.parametrize("case, arch", SAMPLE, ids=[f"{case.name}-{arch}" for case, arch in SAMPLE])
def test_compiled_is_interpreted(case: Case, arch: str) -> None:
    text, arguments = entry(case.parameters, case.body, case.globals_), case.arguments()
    options: dict[str, Any] = {"grid": (1,), "args": arguments, "arch": arch}
    # Products of floats of 8 bits are summed up in fewer bits by some chips.
    numerics = "hardware" if case.op.startswith("mma") else "exact"
    wanted = tw.interpret(text, "k", numerics=numerics, **options)
    got = tw.interpret(text, "k", level="ptx", **options)
    assert (why := differs(case, got[-1], wanted[-1])) is None, why
    if THOROUGH:
        report = ptxas.assemble(tw.compile(text, arch).ptx, arch)
        assert report.clean, report.output


@pytest.mark.parametrize(
    "arch, size, words",
    [("sm_80", 32, "expected a target with multicast objects, got sm_80; nearest legal: sm_90"),
     ("sm_90a", 33, "expected f16 of which two lie side by side in one word")],
)  # fmt: skip
def test_multicast_objects_that_no_instruction_accesses(arch: str, size: int, words: str) -> None:
    case = next(case for case in CASES if case.name == "multimem_store_view_tko weak f16")
    body = case.body.replace("24x32", f"24x{size}").replace("[32,1]", f"[{size},1]")
    body = body.replace("[24, 32]", f"[24, {size}]").replace("[32, 1]", f"[{size}, 1]")
    with pytest.raises(tw.CompileError, match=words):
        tw.compile(entry(case.parameters, body), arch)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_scale_factors_as_far_as_they_go(arch: str) -> None:
    """Of 2^-127 to 2^127: one operand's large ones make up for the other's small ones."""
    case = next(case for case in CASES if case.name == "mmaf_scaled f8E4M3FN f8E8M0FNU 64x16x64")
    body = case.body.replace("<i8: 15>", "<i8: -1>").replace("<i8: 48>", "<i8: 0>")
    text, arguments = entry(case.parameters, body), case.arguments()
    words = np.array([0, 1, 60, 127, 128, 200, 253, 254] * 16, np.uint8)
    left, right = arguments[3], arguments[4]
    left[:] = words.view(left.dtype)
    right[:] = (254 - words[: right.size]).view(right.dtype)
    # One sum an element: of two that overflow f32 the whole need not.
    arguments[0].reshape(64, 64)[:, 32:] = 0
    options: dict[str, Any] = {"grid": (1,), "args": arguments, "arch": arch}
    wanted = tw.interpret(text, "k", numerics="exact", **options)[-1].astype(np.float64)
    got = tw.interpret(text, "k", level="ptx", **options)[-1].astype(np.float64)
    finite = np.isfinite(wanted)
    assert finite.any() and not finite.all()
    assert (got[~finite] == wanted[~finite]).all()
    error = np.abs(got[finite] - wanted[finite])
    assert (error <= 2.0**-18 * np.maximum(np.abs(wanted[finite]), 1)).all()
