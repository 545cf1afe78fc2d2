"""Products whose operands are larger than shared memory equal the program level, slice by slice."""

from __future__ import annotations

from typing import Any

import pytest
from every_op import scaled
from test_warpgroups import check, product
from tile_ir import entry, equal_as_ptx

import tilewright as tw
from tilewright.launch import ptxas

TYPES = ("bf16", "bf16", "f32")
K = {"sm_80": 1024, "sm_86": 512, "sm_90a": 1024, "sm_100a": 1024, "sm_120a": 512}
"""Of 64 rows of A and 64 columns of B, more than shared memory holds."""


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_90a", "sm_100a", "sm_120a"])
def test_slices_are_loaded_ahead(arch: str) -> None:
    """More operands than shared memory: a loop over slices, whose loads come in stages."""
    k = K[arch]
    text = product(("bf16", "f32"), (64, 64, k))
    kernel = tw.compile(text, arch)
    boxes = "cp.async.bulk.tensor" in kernel.ptx
    assert "cp.async.cg" in kernel.ptx if arch in ("sm_80", "sm_86") else boxes
    assert "slices of K" in " ".join(remark.text for remark in kernel.remarks)
    check(text, (64, 64, k + 72), TYPES, (1, 1), arch=arch)


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a", "sm_120a"])
def test_slices_of_what_is_computed(arch: str) -> None:
    """A is no load, but a sum: its slices are parts of what registers hold."""
    k = K[arch]
    text = product(("bf16", "f32"), (64, 64, k)).replace(
        "%next = mmaf %x,", f"%z = addf %x, %x : tile<64x{k}xbf16>\n      %next = mmaf %z,"
    )
    check(text, (64, 64, k), TYPES, (1, 1), arch=arch)


def test_slices_of_scale_factors() -> None:
    """Of 128x2048 bytes of A and their factors."""
    case = scaled("f8E4M3FN", "f8E8M0FNU", 32, 128, 8, 2048)
    text, args = entry(case.parameters, case.body), case.arguments()
    kernel = tw.compile(text, "sm_100a")
    assert "kind::mxf8f6f4" in kernel.ptx and "mma.sync" not in kernel.ptx
    options: dict[str, Any] = {"grid": (1,), "args": args, "arch": "sm_100a"}
    assert equal_as_ptx(text, schedule=None, **options).any()


def test_stages_leave_room_to_lay_operands_down() -> None:
    """Bytes of B that lie along N are laid down anew beside the stages."""
    text = product(("f8E4M3FN", "f32"), (128, 128, 128))
    check(text, (128, 128, 144), ("f8E4M3FN", "f8E4M3FN", "f32"), (1, 1), arch="sm_89")


@pytest.mark.parametrize("arch", ["sm_86", "sm_90a", "sm_100a", "sm_120a"])
def test_no_warnings_no_spills(arch: str) -> None:
    kernel = tw.compile(product(("f16", "f32"), (128, 128, 1024)), arch)
    report = ptxas.assemble(kernel.ptx, arch)
    assert report.ok and not report.warnings and report.kernels["k"].spill_stores == 0
