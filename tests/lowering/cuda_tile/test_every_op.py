"""The ops of Tile IR that the sweep makes no points of: on every target they compute what the
interpreter of Tile IR says, and ptxas takes them as they are.

A sample here; all of it, ptxas included, with TILEWRIGHT_THOROUGH=1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from covering import THOROUGH, covering
from every_op import Case, cases, scaled
from judge import TARGETS, differs
from swept_shapes import BY_HAND
from tile_ir import entry

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.launch import ptxas

CASES = cases()


def test_every_op_has_points_or_kernels() -> None:
    assert {case.op for case in CASES} == set(BY_HAND)


def _differences(pair: tuple[Case, str]) -> tuple[Any, ...]:
    case, arch = pair
    return case.op, arch, case.elements[0][0]


SAMPLE = covering(
    [(case, arch) for case in CASES for arch in TARGETS if target(arch).number >= case.since],
    _differences,
)


@pytest.mark.parametrize("case, arch", SAMPLE, ids=[f"{case.name}-{arch}" for case, arch in SAMPLE])
def test_compiled_is_interpreted(case: Case, arch: str) -> None:
    text, arguments = entry(case.parameters, case.body, case.globals_), case.arguments()
    options: dict[str, Any] = {"grid": (1,), "args": arguments, "arch": arch}
    wanted = tw.interpret(text, "k", **options)
    got = tw.interpret(text, "k", level="ptx", **options)
    assert (why := differs(got[-1], wanted[-1], 0)) is None, why
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
    case = scaled("f8E4M3FN", "f8E8M0FNU", 32, 64, 16, 64)
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
