"""Kernels in CUDA C++ that nvcc compiled, read and executed: every byte is the chip's."""

from __future__ import annotations

import lzma
import pickle
import re
import tarfile
from pathlib import Path
from typing import Any

import pytest
from ptx_modules import executed, machine_code

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.launch.ptxas import assemble
from tilewright.lowering.ptx.text import module_text
from tilewright.passes.check_hazards import UnprovenWarning
from tilewright.source.parsing import parse_module
from tilewright.source.verification import verify
from tilewright.tools.conformance.records import records
from tilewright.tools.tilewright import main

ARCHIVE = Path(__file__).parents[1] / "silicon" / "fixtures" / "cuda_kernels.tar.xz"
CUTILE = dict(records(ARCHIVE.with_name("cuda_tile.tar")))
RACING = {
    "k_atomics",  # a plain read beside an atomicCAS
    "k_print_some",  # all read what one has written
}
FUSED = {
    "k_math_fast": (
        ("div.approx.f32 \t%f12, %f1, %f11;", "fma.rn.f32 \t%f13, %f1, 0f3E8A60DD, %f10;"),
        ("add.f32 \t%f13, %f12, %f10;", ""),
    ),
    "k_half_math": (
        ("mul.f16x2 %r13,%r8,%r8;", "neg.f16x2 %r13,%r8;"),
        ("sub.f16x2 %r16,%r7,%r13;", "fma.rn.f16x2 %r16,%r13,%r8,%r7;"),
    ),
}
"""What ptxas makes of a quotient by a constant or a product, and of the sum behind it."""
PLANTED = {
    "k_lookback_scan": ("membar.gl;", ""),
    "k_split_k": ("st.global.release", "st.global.relaxed"),
    "k_grid_sync": ("ld.acquire.gpu", "ld.relaxed.gpu"),
}
"""What orders the CTAs of kernels, and what does not."""


@pytest.fixture(scope="module")
def members() -> dict[str, bytes]:
    with tarfile.open(ARCHIVE) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # pyright: ignore


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_ptxas_takes_what_is_written_of_them(members: dict[str, bytes], arch: str) -> None:
    module = parse_module(members[f"kernels_{arch}.ptx"].decode())
    verify(module)
    report = assemble(module_text(module, target(arch)), arch)
    assert report.ok, report


@pytest.mark.parametrize("name", ["product_bf16", "softmax", "histogram"])
def test_kernels_of_cutile_become_the_same_machine_code(name: str) -> None:
    text = tw.compile(CUTILE[name]["bytecode"], "sm_90a", name=name).ptx
    code = machine_code(module_text(parse_module(text), target("sm_90a")), "sm_90a")
    assert code and code == machine_code(text, "sm_90a")


def test_they_leave_what_a_chip_left(members: dict[str, bytes]) -> None:
    text = members["kernels_sm_90a.ptx"].decode()
    cases: list[dict[str, Any]] = pickle.loads(lzma.decompress(members["cases.pkl.xz"]))[
        "kernels_sm_90a"
    ]
    found = {case["kernel"]: why for case in cases if (why := executed(text, case)) is not None}
    assert len(cases) == 44 and found.keys() == RACING | FUSED.keys()
    assert {kernel for kernel, why in found.items() if "race on global memory" in why} == RACING
    for one in (one for some in FUSED.values() for one in some):
        assert text.count(one[0]) == 1
        text = text.replace(*one)
    for case in cases:
        if case["kernel"] in found:
            assert executed(text, case, races="ignore") is None


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("kernel", PLANTED)
def test_planted_races_are_found(members: dict[str, bytes], kernel: str, arch: str) -> None:
    head, *kernels = members[f"kernels_{arch}.ptx"].decode().split(".visible .entry ")
    [text] = (one for one in kernels if one.startswith(kernel))
    cases = pickle.loads(lzma.decompress(members["cases.pkl.xz"]))[f"kernels_{arch}"]
    [case] = (case for case in cases if case["kernel"] == kernel)
    before, after = PLANTED[kernel]
    assert before in text
    head, text = head.partition(".visible .func")[0], text.partition(".visible .func")[0]
    changed = f"{head}.visible .entry {text.replace(before, after)}"
    assert "race on global memory" in (executed(changed, case) or "")


def test_kernels_of_numba_leave_what_a_chip_left() -> None:
    with tarfile.open(ARCHIVE.with_name("numba_kernels.tar.xz")) as tar:
        files = {member.name: tar.extractfile(member).read() for member in tar}  # pyright: ignore
    cases = pickle.loads(lzma.decompress(files["cases.pkl.xz"]))
    assert len(cases) == 8
    for name, [case] in cases.items():
        assert executed(files[f"{name}.ptx"].decode(), case, engine="numpy") is None


def test_check_finds_nothing_wrong(members: dict[str, bytes], tmp_path: Path) -> None:
    """Nor is what it cannot prove more than a loop of a sort, and two that wait for other CTAs."""
    path = tmp_path / "kernels.ptx"
    path.write_bytes(members["kernels_sm_90a.ptx"])
    with pytest.warns(UnprovenWarning) as told:
        main(["check", str(path)])
    lines = [re.findall("ptx.cond_bra' at line ([0-9]+)", str(one.message)) for one in told]
    text = members["kernels_sm_90a.ptx"].decode().splitlines()
    kernels = [
        max((line for line in text[: int(number)] if ".entry" in line), key=text.index)
        for (number,) in lines
    ]
    assert [re.sub(r".*\.entry k_|\($", "", one) for one in kernels] == [
        "bitonic_sort", "lookback_scan", "split_k",
    ]  # fmt: skip
