"""Tiles whose sums have no room in registers, in turns, and operands that stay in shared memory:
PTX equals the program level."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from attention_kernel import GIVEN, arguments, attention, operands
from test_warpgroups import matrix, operand
from tile_ir import entry, equal_as_ptx

import tilewright as tw
from tilewright.launch import ptxas


@pytest.mark.parametrize("arch", ["sm_80", "sm_89", "sm_120a"])
def test_rows_in_turns(arch: str) -> None:
    """Attention by 256 rows, whose sums and scores are the registers of 256 threads: 128 after the
    other 128, and nothing is spilled."""
    for depth in (64, 128):
        kernel = tw.compile(attention(256, 128, depth, GIVEN), arch)
        report = ptxas.assemble(kernel.ptx, arch)
        assert report.clean and report.kernels["k"].spill_stores == 0
    text = attention(256, 128, 16, GIVEN)
    args = arguments(operands(256, 256, 16, 1), 2)
    options: dict[str, Any] = {"grid": (1, 1), "args": args, "arch": arch}
    equal_as_ptx(text, **options)


def twice() -> str:
    """A @k of C = A (B0 + B1 + ..), by two loops, whose ends are parameters."""
    loops, begin, acc = "", "%o", "%zero"
    tile = "tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>"
    view = "partition_view<tile=(64x64), padding_value = zero, tensor_view<?x?x{}, strides=[?,1]>>"
    for number, end in enumerate(("%n0", "%n1")):
        loops += f"""
    %s{number} = for %q in ({begin} to {end}, step %one) : tile<i32> iter_values(%c = {acc})
        -> (tile<64x64xf32>) {{
      %y, %t = load_view_tko weak %B[%q, %o] : {view.format("f16")}, tile<i32>
          -> tile<64x64xf16>, token
      %d = mmaf %x, %y, %c : {tile}
      continue %d : tile<64x64xf32>
    }}
"""
        begin, acc = end, f"%s{number}"
    body = f"""
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <f32: 0.0> : tile<64x64xf32>
{"".join(matrix(x, "%m", "%n", "f32" if x == "C" else "f16", "64x64") for x in "ABC")}
    %x, %t0 = load_view_tko weak %A[%o, %o] : {view.format("f16")}, tile<i32>
        -> tile<64x64xf16>, token
{loops}
    %t1 = store_view_tko weak %s1, %C[%o, %o] : tile<64x64xf32>, {view.format("f32")}, tile<i32>
        -> token
"""
    names = ", ".join(
        f"%{x}_p: tile<ptr<{'f32' if x == 'C' else 'f16'}>>, %{x}_l: tile<i32>" for x in "ABC"
    )
    return entry(f"{names}, %m: tile<i32>, %n: tile<i32>, %n0: tile<i32>, %n1: tile<i32>", body)


@pytest.mark.covered
@pytest.mark.parametrize("ends", [(1, 3), (0, 2), (2, 2)])
@pytest.mark.parametrize("arch", ["sm_80", "sm_120a"])
def test_an_operand_stays_for_the_next_loop(arch: str, ends: tuple[int, int]) -> None:
    """A of both loops is laid down once, whichever of them runs."""
    text = twice()
    assert tw.compile(text, arch).ptx.count("st.shared") * 128 == 64 * 64
    a, b = operand(64, 64, "f16"), operand(192, 64, "f16")
    c = np.zeros((64, 64), np.float32)
    args = [part for x in (a, b, c) for part in (x, 64)]
    options: dict[str, Any] = {"grid": (1,), "args": [*args, 192, 64, *ends], "arch": arch}
    assert equal_as_ptx(text, place=2, **options).any()


def test_an_operand_that_leaves_no_room_does_not_stay() -> None:
    """32 KiB of Q beside 80 KiB of weights and values, where a CTA has 99 KiB."""
    text, args = attention(64, 128, 256, GIVEN), arguments(operands(64, 128, 256, 1), 1)
    options: dict[str, Any] = {"grid": (1, 1), "args": args, "arch": "sm_120a"}
    want = tw.interpret(text, "k", **options)[-1]
    got = tw.interpret(text, "k", level="ptx", schedule=1, **options)[-1]
    assert np.abs(want).max() > 0 and np.allclose(got, want, rtol=1e-5)


def fused(batch: int, m: int, n: int, k: int) -> str:
    """A @k of C = A B by fused multiply-adds."""
    views, loads = "", ""
    for name, rows, columns in (("a", m, k), ("b", k, n), ("c", m, n)):
        tensor = f"tensor_view<{batch}x{rows}x{columns}xf32, "
        tensor += f"strides=[{rows * columns},{columns},1]>"
        view, tile = f"{batch}x{rows}x{columns}", f"tile<{batch}x{rows}x{columns}xf32>"
        views += f"""
    %{name}t = make_tensor_view %{name}, shape = [{batch}, {rows}, {columns}],
        strides = [{rows * columns}, {columns}, 1] : {tensor}
    %{name}v = make_partition_view %{name}t : partition_view<tile=({view}), {tensor}>
"""
        view = f"partition_view<tile=({view}), {tensor}>"
        if name != "c":
            loads += f"    %{name}x, %{name}y = load_view_tko weak %{name}v[%o, %o, %o] : {view}, "
            loads += f"tile<i32> -> {tile}, token\n"
            continue
        loads += f"""    %z = constant <f32: 0.0> : {tile}
    %s = mmaf %ax, %bx, %z : tile<{batch}x{m}x{k}xf32>, tile<{batch}x{k}x{n}xf32>, {tile}
    %t = store_view_tko weak %s, %cv[%o, %o, %o] : {tile}, {view}, tile<i32> -> token
"""
    return entry(
        "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>",
        f"    %o = constant <i32: 0> : tile<i32>{views}{loads}",
    )


@pytest.mark.parametrize("batch, m, n", [(2, 64, 128), (1, 64, 256)])
def test_tiles_without_registers_are_shared(batch: int, m: int, n: int) -> None:
    """By CTAs, each with a matrix, or some columns: 1024 threads of one have 64 registers each."""
    text, k = fused(batch, m, n, 4), 4
    kernel = tw.compile(text, "sm_80")
    report = ptxas.assemble(kernel.ptx, "sm_80")
    assert report.clean and report.kernels["k"].spill_stores == 0
    assert kernel.entry().ctas == 2 and kernel.entry().block == (256, 1, 1)
    shapes = (batch, m, k), (batch, k, n), (batch, m, n)
    args = [np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 7 for shape in shapes]
    got = tw.interpret(text, "k", level="ptx", grid=(1,), args=args, arch="sm_80")[2]
    assert (got == args[0] @ args[1]).all()


def in_place(extent: int, stored: str) -> str:
    """A @k of A = 2 A by one tile, stored to A or to B, which is where A is."""
    tensor = f"tensor_view<{extent}x{extent}xf32, strides=[{extent},1]>"
    view = f"partition_view<tile=({extent}x{extent}), {tensor}>"
    tile = f"tile<{extent}x{extent}xf32>"
    tensors = "".join(
        f"    %{x} = make_tensor_view %a, shape = [{extent}, {extent}], strides = [{extent}, 1]"
        f" : {tensor}\n    %{x}s = make_partition_view %{x} : {view}\n"
        for x in "AB"
    )
    return entry(
        "%a: tile<ptr<f32>>",
        f"""
    %o = constant <i32: 0> : tile<i32>
{tensors}
    %x, %t = load_view_tko weak %As[%o, %o] : {view}, tile<i32> -> {tile}, token
    %y = addf %x, %x rounding<nearest_even> : {tile}
    %u = store_view_tko weak %y, %{stored}s[%o, %o] token = %t : {tile}, {view}, tile<i32> -> token
""",
    )


@pytest.mark.parametrize("stored", ["A", "B"])
def test_large_tiles_in_turns(stored: str) -> None:
    """Two turns, but not where the first one may store what the second one loads."""
    text, a = in_place(512, stored), np.arange(512 * 512, dtype=np.float32).reshape(512, 512)
    got = tw.interpret(text, "k", level="ptx", grid=(1,), args=[a], arch="sm_80")[0]
    assert (got == 2 * a).all()
    assert ("bra" in tw.compile(text, "sm_80").ptx) == (stored == "A")


@pytest.mark.parametrize("given, arch", [("", "sm_80"), (" token = %t", "sm_86")])
def test_a_large_tile_is_turned(given: str, arch: str) -> None:
    """In turns, to other places than those that are loaded; or as a whole, where it may come to
    these, by threads that write or read a part of what shared memory has room for."""
    tensor = "tensor_view<512x512xf32, strides=[512,1]>"
    view, tile = f"partition_view<tile=(512x512), {tensor}>", "tile<512x512xf32>"
    made = "\n".join(
        f"    %{x} = make_tensor_view %{p}, shape = [512, 512], strides = [512, 1] : {tensor}\n"
        f"    %{x}s = make_partition_view %{x} : {view}"
        for x, p in (("A", "a"), ("B", "a" if given else "b"))
    )
    text = entry(
        "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>",
        f"""
    %o = constant <i32: 0> : tile<i32>
{made}
    %x, %t = load_view_tko weak %As[%o, %o] : {view}, tile<i32> -> {tile}, token
    %y = permute %x [1, 0] : {tile} -> {tile}
    %u = store_view_tko weak %y, %Bs[%o, %o]{given} : {tile}, {view}, tile<i32> -> token
""",
    )
    a = np.arange(512 * 512, dtype=np.float32)
    args = [a, np.zeros(1 if given else a.size, np.float32)]
    got = tw.interpret(text, "k", level="ptx", grid=(1,), args=args, arch=arch)
    assert (got[0 if given else 1].reshape(512, 512) == a.reshape(512, 512).T).all()
    assert ("bra" in tw.compile(text, arch).ptx) == (not given)


def pointed(stored: str) -> str:
    """A @k of 512x512 elements in a row, of which others are stored, or added to others."""
    tile, flat = "tile<512x512xi32>", "tile<262144x{}>"
    many = flat.format("ptr<i32>")
    rows = "\n".join(
        f"""    %{x}1 = reshape %{x} : tile<ptr<i32>> -> tile<1xptr<i32>>
    %{x}2 = broadcast %{x}1 : tile<1xptr<i32>> -> {many}
    %{x}3 = offset %{x}2, %i : {many}, {flat.format("i32")} -> {many}
    %{x}4 = reshape %{x}3 : {many} -> tile<512x512xptr<i32>>"""
        for x in "ab"
    )
    return entry(
        "%a: tile<ptr<i32>>, %b: tile<ptr<i32>>",
        f"""
    %i = iota : {flat.format("i32")}
{rows}
    %x, %t = load_ptr_tko weak %a4 : tile<512x512xptr<i32>> -> {tile}, token
    %y = permute %x [1, 0] : {tile} -> {tile}
    {stored} : tile<512x512xptr<i32>>, {tile} -> """,
    )


def test_pointers_in_turns() -> None:
    """A row has parts along any dimension of the tile that it becomes."""
    text = pointed("%u = store_ptr_tko weak %b4, %y").replace("-> \n", "-> token\n")
    a = np.arange(512 * 512, dtype=np.int32)
    got = tw.interpret(text, "k", level="ptx", grid=(1,), args=[a, 0 * a], arch="sm_86")[1]
    assert (got.reshape(512, 512) == a.reshape(512, 512).T).all()
    added = pointed("%u, %v = atomic_rmw_tko relaxed device %b4, add, %y")
    kernel = tw.compile(added.replace("-> \n", "-> tile<512x512xi32>, token\n"), "sm_86")
    assert "bra" in kernel.ptx and len(re.findall(r"\b(red|atom)\.", kernel.ptx)) == 128


def test_the_largest_tile_of_tile_ir() -> None:
    """A line for each of its registers would be 49,000."""
    assert tw.compile(in_place(4096, "A"), "sm_90a").ptx.count("\n") < 1000
