"""Hints of a kernel and of its loads: CTAs that share a tile block, warps, stages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_warpgroups import DTYPES, check, matrix, operand, product
from tile_ir import entry, equal_as_ptx, row
from xdsl.context import Context

import tilewright as tw
from tilewright.cutile.tuning import modelled
from tilewright.launch import ptxas
from tilewright.modelled_time import modelled_microseconds
from tilewright.passes.cuda_tile.scheduling.split_blocks import CudaTileShareBlocksPass
from tilewright.source.parsing import parse_module

TYPES = ("bf16", "f32")


def hinted(text: str, hints: str) -> str:
    """A kernel with hints for sm_90."""
    start = text.index(") {", text.index("entry @")) + 1
    return f"{text[:start]} optimization_hints = <sm_90 = {{{hints}}}>{text[start:]}"


def hints_of(kernel: tw.Kernel) -> list[str]:
    return [remark.text for remark in kernel.remarks if remark.kind == "hint"]


@pytest.mark.parametrize(
    "arch, tile, ctas, sizes, grid, persistent",
    [
        # Rows: B is what all need. Its boxes are dealt out, or cut.
        ("sm_90a", (256, 128, 16), 2, (264, 120, 72), (2, 1), False),
        ("sm_100a", (256, 64, 32), 4, (256, 64, 136), (1, 1), False),
        # Columns: A is.
        ("sm_90a", (64, 128, 64), 2, (128, 248, 200), (1, 2), True),
    ],
)
def test_ctas_that_share_a_block(
    arch: str, tile: tuple[int, int, int], ctas: int, sizes: tuple[int, int, int],
    grid: tuple[int, int], *, persistent: bool,
) -> None:  # fmt: skip
    """A cluster computes what one CTA would; no copy or arrival comes too late or too early."""
    text = hinted(product(TYPES, tile, persistent=persistent), f"num_cta_in_cga = {ctas}")
    text = text.replace("<sm_90 =", "<default =")
    kernel = tw.compile(text, arch)
    pairs = ctas > 2 and "cta_group::2" in kernel.ptx
    assert not hints_of(kernel) and (".multicast::cluster" in kernel.ptx or pairs)
    launch = kernel.entry()
    assert launch.cluster == (2 if pairs else ctas, 1, 1) and pairs == (
        ctas > 2 and arch == "sm_100a"
    )
    assert launch.grid((3, 2, 1)) == (3 * ctas, 2, 1)
    check(text, sizes, ("bf16", *TYPES), grid, schedule=ctas, arch=arch)


def test_ctas_that_share_a_block_of_slices() -> None:
    """Slices of what each CTA has a part of are parts: nobody else loads them."""
    text = hinted(product(TYPES, (256, 64, 512)), "num_cta_in_cga = 2")
    kernel = tw.compile(text, "sm_90a")
    assert any("slices of K" in remark.text for remark in kernel.remarks)
    assert kernel.entry().cluster == (2, 1, 1)
    check(text, (256, 64, 520), ("bf16", *TYPES), (1, 1))


def test_ctas_without_loads_ahead_need_no_cluster() -> None:
    text = product(TYPES, (128, 64, 32), hints=" optimization_hints = <default = {allow_tma = 0}>")
    text = hinted(text.replace("allow_tma = 0", "allow_tma = false"), "num_cta_in_cga = 2")
    launch = tw.compile(text, "sm_90a").entry()
    assert launch.cluster is None and launch.ctas == 2
    check(text, (136, 64, 72), ("bf16", *TYPES), (2, 1))


@pytest.mark.parametrize(
    "old, new, why",
    [
        ("weak %sum", "relaxed device %sum", "a store is not weak"),
        ("%o to", "%o to", "is too small"),
        ("    %sum = for", '    %pt = print_tko "x" -> token\n    %sum = for', "is for one CTA"),
    ],
)
def test_blocks_that_one_cta_computes(old: str, new: str, why: str) -> None:
    tile = (64, 64, 16) if "small" in why else (128, 64, 16)
    text = hinted(product(TYPES, tile), "num_cta_in_cga = 2").replace(old, new)
    kernel = tw.compile(text, "sm_90a")
    assert [why in text for text in hints_of(kernel)] == [True]
    assert kernel.entry().ctas == 1 and kernel.entry().cluster is None


def test_a_block_that_is_stored_where_it_was_loaded() -> None:
    """One CTA would store, turned, where the other one has yet to load."""
    tensor = "tensor_view<256x256xf16, strides=[256,1]>"
    view, tile = f"partition_view<tile=(256x256), {tensor}>, tile<i32>", "tile<256x256xf16>"
    text = f"""cuda_tile.module @m {{
  entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>)
      optimization_hints=<sm_90 = {{num_cta_in_cga = 2}}> {{
    %o = constant <i32: 0> : tile<i32>
    %z = constant <f32: 0.0> : tile<256x256xf32>
    %v = make_tensor_view %a, shape = [256, 256], strides = [256, 1] : {tensor}
    %w = make_partition_view %v : {view.removesuffix(", tile<i32>")}
    %x, %t = load_view_tko weak %w[%o, %o] : {view} -> {tile}, token
    %bv = make_tensor_view %b, shape = [256, 256], strides = [256, 1] : {tensor}
    %bw = make_partition_view %bv : {view.removesuffix(", tile<i32>")}
    %y, %s = load_view_tko weak %bw[%o, %o] : {view} -> {tile}, token
    %m = mmaf %x, %y, %z : {tile}, {tile}, tile<256x256xf32>
    %h = ftof %m : tile<256x256xf32> -> {tile}
    %p = permute %h [1, 0] : {tile} -> {tile}
    %u = store_view_tko weak %p, %w[%o, %o] token = %t : {tile}, {view} -> token
    return
  }}
}}"""
    kernel = tw.compile(text, "sm_90a")
    assert ["a load of another part" in text for text in hints_of(kernel)] == [True]
    assert kernel.entry().ctas == 1


def test_other_targets_have_hints_of_their_own() -> None:
    text = hinted(product(TYPES, (256, 64, 16)), "num_cta_in_cga = 2")
    assert tw.compile(text, "sm_80").entry().ctas == 1


@pytest.mark.parametrize("arch", ["sm_100a", "sm_120a"])
def test_blocks_are_shared_on_other_targets(arch: str) -> None:
    text = hinted(product(TYPES, (256, 64, 32)), "num_cta_in_cga = 2").replace("sm_90 ", "default ")
    assert tw.compile(text, arch).entry().ctas == 2
    arrays = [operand(264, 40, "bf16"), operand(40, 64, "bf16"), np.zeros((264, 64), np.float32)]
    args: list[Any] = [x for array in arrays for x in (array, array.shape[1])] + [264, 64, 40]
    want = tw.interpret(text, "k", grid=(2, 1), args=args, arch=arch)[2]
    got = tw.interpret(text, "k", grid=(2, 1), args=args, level="ptx", arch=arch)[2]
    assert np.abs(want).max() > 0 and (got == want).all()


def test_stages_follow_the_latency() -> None:
    for latency, stages in ((1, 2), (3, 4)):
        hints = f" optimization_hints = <sm_90 = {{latency = {latency}}}>"
        ptx = tw.compile(product(TYPES, (64, 64, 32), hints=hints), "sm_90a").ptx
        assert ptx.count("mbarrier.init.shared") == 2 * stages


def test_worker_warps() -> None:
    text = product(TYPES, (128, 64, 32))
    for warps, threads in ((4, 128), (8, 256), (16, 512)):
        own = hinted(text, f"num_worker_warps_per_cta = {warps}")
        block = tw.compile(own, "sm_90a").entry().block
        assert block is not None and block[0] // 64 == threads // 64
    check(own, (128, 64, 40), ("bf16", *TYPES), (1, 1))
    wide = product(TYPES, (128, 256, 32))
    for own, warps, fewest in ((text, 2, 4), (wide, 4, 8)):
        few = tw.compile(hinted(own, f"num_worker_warps_per_cta = {warps}"), "sm_90a")
        assert f"of {fewest} to 16 warps" in hints_of(few)[0]


@pytest.mark.parametrize(("warps", "words", "shuffles"), [(8, 8, 5), (32, 8, 7)])
def test_what_more_warps_fold_than_a_thread_reads_goes_to_lanes(
    warps: int, words: int, shuffles: int
) -> None:
    """One of the negative ones, which the order of the fold says."""
    pointers = (
        row("a", "p", "i32", 2048)
        + """
    %x, %t = load_ptr_tko weak %a : tile<2048xptr<i32>> -> tile<2048xi32>, token
    %f = reduce %x dim=0 identities=[0 : i32] : tile<2048xi32> -> tile<i32>
        (%e : tile<i32>, %l : tile<i32>) {
      %z = constant <i32: 0> : tile<i32>
      %c = cmpi less_than %l, %z, signed : tile<i32> -> tile<i1>
      %s = select %c, %l, %e : tile<i1>, tile<i32>
      yield %s : tile<i32>
    }
    %w = store_ptr_tko weak %q, %f token=%t : tile<ptr<i32>>, tile<i32> -> token
"""
    )
    text = entry("%p: tile<ptr<i32>>, %q: tile<ptr<i32>>", pointers)
    text = hinted(text, f"num_worker_warps_per_cta = {warps}")
    ptx = tw.compile(text, "sm_90a").ptx
    assert 4 * ptx.count("ld.shared.v4") == words and ptx.count("\tshfl.") == shuffles
    numbers = np.arange(2048, dtype=np.int32)
    numbers[[70, 1023, 2000]] *= -1
    options: Any = {"grid": (1,), "args": [numbers, np.zeros(1, np.int32)], "arch": "sm_90a"}
    assert equal_as_ptx(text, **options)[0] == -1023


@pytest.mark.parametrize("ctas", [2, 1])
def test_registers_of_one_cta_are_too_few(ctas: int) -> None:
    """Scores and sums of 256 rows: two CTAs have half of the rows each, or, where there can be but
    one, it computes half of them first."""
    setup = matrix("A", "%m", "%k", "bf16", "256x16") + matrix("B", "%k", "%n", "bf16", "16x128")
    setup += matrix("V", "%n", "%m", "bf16", "128x128") + matrix("C", "%m", "%m", "f32", "256x128")
    view = "partition_view<tile=({}), padding_value = zero, tensor_view<?x?x{}, strides=[?,1]>>"
    a, b, v = (view.format(tile, "bf16") for tile in ("256x16", "16x128", "128x128"))
    c = view.format("256x128", "f32")
    body = f"""
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %x, %tx = load_view_tko weak %A[%o, %o] : {a}, tile<i32> -> tile<256x16xbf16>, token
    %zero = constant <f32: 0.0> : tile<256x128xf32>
    %sum = for %j in (%o to %two, step %one) : tile<i32> iter_values(%acc = %zero)
        -> (tile<256x128xf32>) {{
      %y, %ty = load_view_tko weak %B[%o, %j] : {b}, tile<i32> -> tile<16x128xbf16>, token
      %s = mmaf %x, %y, %zero : tile<256x16xbf16>, tile<16x128xbf16>, tile<256x128xf32>
      %rows = iota : tile<256xi32>
      %column = reshape %rows : tile<256xi32> -> tile<256x1xi32>
      %all = broadcast %column : tile<256x1xi32> -> tile<256x128xi32>
      %numbers = itof %all signed : tile<256x128xi32> -> tile<256x128xf32>
      %more = addf %s, %numbers : tile<256x128xf32>
      %p = ftof %more : tile<256x128xf32> -> tile<256x128xbf16>
      %w, %tw = load_view_tko weak %V[%j, %o] : {v}, tile<i32> -> tile<128x128xbf16>, token
      %next = mmaf %p, %w, %acc : tile<256x128xbf16>, tile<128x128xbf16>, tile<256x128xf32>
      continue %next : tile<256x128xf32>
    }}
    %t = store_view_tko weak %sum, %C[%o, %o] : tile<256x128xf32>, {c}, tile<i32> -> token
"""
    names = ("A", "B", "V")
    parameters = ", ".join(f"%{x}_p: tile<ptr<bf16>>, %{x}_l: tile<i32>" for x in names)
    parameters += ", %C_p: tile<ptr<f32>>, %C_l: tile<i32>, "
    parameters += ", ".join(f"%{x}: tile<i32>" for x in "mnk")
    alone = "" if ctas > 1 else '    %ta = print_tko "" -> token\n'
    text = entry(parameters, setup + alone + body)
    kernel = tw.compile(text, "sm_90a")
    assert kernel.entry().ctas == ctas
    report = ptxas.assemble(kernel.ptx, "sm_90a")
    assert report.ok and report.kernels["k"].spill_stores == 0
    shapes = ((256, 16), (16, 256), (256, 128))
    arrays = [operand(*shape, "bf16") for shape in shapes] + [np.zeros((256, 128), np.float32)]
    args: list[Any] = [x for array in arrays for x in (array, array.shape[1])] + [256, 256, 16]
    want = tw.interpret(text, "k", grid=(1,), args=args)[3]
    got = tw.interpret(text, "k", grid=(1,), args=args, level="ptx", arch="sm_90a")[3]
    assert np.abs(want).max() > 0 and (got == want).all()


@pytest.mark.filterwarnings("ignore::tilewright.modelled_time.ModelledTimeWarning")
def test_blocks_of_a_small_grid_are_modelled_as_they_are_launched() -> None:
    """Two CTAs of an H100 share each of 64 blocks: in each iteration one copies 16 KiB, not 24."""
    code, sizes, grid = product(TYPES, (64, 128, 64)).encode(), (512, 1024, 512), (8, 8)
    (m, n, k), types = sizes, ("bf16", "bf16", TYPES[1])
    shapes = (m, k), (k, n), (m, n)
    arrays = [np.zeros(x, DTYPES[name]) for x, name in zip(shapes, types, strict=True)]
    flat: list[Any] = [x for array in arrays for x in (array, array.shape[1])] + [m, n, k]
    launched = modelled(lambda *_: (code, flat), "sm_90a")(None, grid, None, ())
    alone = modelled_microseconds(code, grid, flat, "sm_90a")
    assert 0.6 < launched / alone < 0.9


@pytest.mark.covered
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
@pytest.mark.parametrize(
    "tile, ctas, sizes, grid, parts",
    [
        # Columns: the rows are no more than one MMA has. Rows: a CTA then loads least.
        ((64, 128, 64), 8, (72, 248, 200), (2, 2), 2),
        ((128, 64, 64), 2, (136, 64, 136), (2, 1), 2),
        ((64, 64, 32), 2, (64, 72, 72), (1, 2), 1),
    ],
)
def test_blocks_of_a_small_grid(
    tile: tuple[int, int, int], ctas: int, sizes: tuple[int, int, int], grid: tuple[int, int],
    parts: int, arch: str,
) -> None:  # fmt: skip
    """As many CTAs as there may be share a block, and load on their own."""
    module = parse_module(product(TYPES, tile), "product")
    CudaTileShareBlocksPass(ctas).apply(Context(), module)
    launch = tw.compile(module, arch).entry()
    assert launch.ctas == parts and launch.cluster is None
    check(module, sizes, ("bf16", *TYPES), grid, schedule=ctas, arch=arch)


@pytest.mark.parametrize("warps", [-1, 0, 3, 64])
def test_warps_that_no_kernel_has(warps: int) -> None:
    text = hinted(
        entry("", "    %i = iota : tile<64xi32>\n"), f"num_worker_warps_per_cta = {warps}"
    )
    kernel = tw.compile(text, "sm_90a")
    assert hints_of(kernel) == [
        f"num_worker_warps_per_cta = {warps} is not honoured: the kernel wants a power of two of 1 "
        "to 32 warps"
    ]
