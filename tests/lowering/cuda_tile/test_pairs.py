"""Products of pairs of CTAs: PTX for Blackwell equals the program level."""

from __future__ import annotations

import re

import pytest
from attention_kernel import GIVEN, arguments, attention, operands, twice
from test_hints import hinted
from test_warpgroups import check, product, whole
from tile_ir import equal_as_ptx

import tilewright as tw
from tilewright.launch import ptxas
from tilewright.lowering.cuda_tile.convert_issuer import Issuer

ARCH = "sm_100a"
TYPES = ("bf16", "f32")


def paired(
    types: tuple[str, str] = TYPES, tile: tuple[int, int, int] = (256, 64, 32), *,
    b_order: str = "", persistent: bool = False, more: bool = False, convert: str = "",
    ctas: int = 2,
) -> str:  # fmt: skip
    """A product whose tile blocks two CTAs share, or more."""
    text = product(types, tile, b_order=b_order, persistent=persistent, more=more,
                   convert=convert)  # fmt: skip
    return hinted(text, f"num_cta_in_cga = {ctas}").replace("<sm_90 =", "<default =")


@pytest.mark.parametrize(
    "types, tile, order, sizes",
    [
        (TYPES, (256, 64, 32), "", (264, 56, 136)),
        (("f16", "f16"), (512, 32, 32), "columns", (512, 32, 40)),
        (TYPES, (128, 128, 32), "", (136, 120, 72)),
        (("f8E5M2", "f32"), (256, 32, 64), "columns", (256, 32, 96)),
        (("i8", "i32"), (256, 64, 64), "", (256, 64, 80)),
        (("tf32", "f32"), (128, 128, 32), "", (136, 120, 72)),
        (("tf32", "f32"), (256, 64, 16), "columns", (264, 56, 40)),
    ],
)
def test_pairs(
    types: tuple[str, str], tile: tuple[int, int, int], order: str, sizes: tuple[int, int, int]
) -> None:
    """Each CTA loads its rows of A and half of the columns of B, whose bytes the leader counts."""
    memory = "f32" if types[0] == "tf32" else types[0]
    text = paired(types, tile, b_order=order, convert="f32" if memory != types[0] else "")
    ptx = tw.compile(text, ARCH).ptx
    assert "tcgen05.mma.cta_group::2" in ptx and ".complete_tx::bytes.multicast" not in ptx
    assert ptx.count("complete_tx::bytes.cta_group::2") >= 2 and "mma.sync" not in ptx
    types = (memory, memory, types[1])
    check(text, sizes, types, (-(-sizes[0] // tile[0]), 1), b_order=order, schedule=3, arch=ARCH)


@pytest.mark.parametrize("loops", [1, 2])
def test_weights_of_pairs_stay_in_tensor_memory(loops: int) -> None:
    """Each CTA makes those of its own rows; queries are read by the products of all loops."""
    text = attention(256, 64, 64, GIVEN)
    if loops > 1:
        text = twice(text, "%sum = %acc, %max = %top")
    text = hinted(text, "num_cta_in_cga = 2").replace("<sm_90 =", "<default =")
    ptx = tw.compile(text, ARCH).ptx
    assert ptx.count("tcgen05.mma.cta_group::2") == loops * (4 + 4)
    of_weights = re.findall(r"tcgen05\.mma\.cta_group::2\S+ \[%r\d+\], \[%r\d+\]", ptx)
    assert len(of_weights) == loops * 4
    args = arguments(operands(256, 192, 64, 1), 3)
    assert equal_as_ptx(text, schedule=3, grid=(1, 1), args=args, arch=ARCH).any()


@pytest.mark.parametrize("ctas, more", [(4, False), (8, True)])
def test_several_pairs(ctas: int, *, more: bool) -> None:
    """A cluster is a pair; sums may begin with C, which threads of both store, tile after tile."""
    text = paired(tile=(64 * ctas, 32, 32), persistent=True, more=more, ctas=ctas)
    kernel = tw.compile(text, ARCH)
    assert "tcgen05.mma.cta_group::2" in kernel.ptx and "tcgen05.mma.cta_group::1" not in kernel.ptx
    launch = kernel.entry()
    assert launch.cluster == (2, 1, 1) and launch.ctas == ctas
    check(text, (64 * ctas * 2 - 8, 32, 72), ("bf16", *TYPES), (1, 1), schedule=3, arch=ARCH)


def test_tiles_of_pairs_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """The leader's MMAs wait for threads of both CTAs."""
    text = paired(persistent=True)
    check(text, (256 * 5 - 8, 64, 72), ("bf16", *TYPES), (1, 1), schedule=1, arch=ARCH)
    monkeypatch.setattr(Issuer, "wait", lambda issuer: issuer.kernel.tensor.next_stage())
    with pytest.raises(tw.ExecutionError, match=r"that 'ptx.tcgen05.ld' at .* reads"):
        check(text, (256 * 5, 64, 32), ("bf16", *TYPES), (1, 1), schedule=1, arch=ARCH)


@pytest.mark.parametrize("arch", ["sm_100a", "sm_103a", "sm_110a"])
def test_no_warnings_no_spills(arch: str) -> None:
    kernel = tw.compile(whole(paired(tile=(256, 256, 64), persistent=True)), arch)
    report = ptxas.assemble(kernel.ptx, arch)
    assert report.clean and "tcgen05.alloc.cta_group::2" in kernel.ptx
    assert report.kernels["k"].spill_stores == 0
    launch = kernel.entry()
    assert launch.block == (320, 1, 1) and launch.cluster == (2, 1, 1) and launch.ctas == 2


@pytest.mark.parametrize(
    "tile, ctas, why",
    [
        ((64, 128, 64), 2, "they have different columns"),
        ((256, 16, 32), 2, "each has 128 rows, of 16 columns"),
        ((128, 256, 32), 4, "they have different columns"),
    ],
)
def test_what_pairs_do_not_multiply_says_so(
    tile: tuple[int, int, int], ctas: int, why: str
) -> None:
    kernel = tw.compile(paired(tile=tile, ctas=ctas), ARCH)
    assert "cta_group::2" not in kernel.ptx and "tcgen05.mma.cta_group::1" in kernel.ptx
    assert [remark.text for remark in kernel.remarks if remark.kind == "tensor-memory"] == [
        f"'cuda_tile.mmaf' is not multiplied by a pair of CTAs: {why}"
    ]
