"""Tiles of more elements than registers hold, in turns or as parts that are loaded: PTX equals
NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.random import default_rng
from tile_ir import entry, row

import tilewright as tw

COUNT = 1 << 18
X = default_rng(5).integers(-99, 99, COUNT).astype(np.int32)


def run(text: str, loops: int, *args: Any) -> list[Any]:
    """The arguments behind PTX, which has so many loops."""
    assert tw.compile(text, "sm_90a").ptx.count("_body:") == loops
    return tw.interpret(text, "k", level="ptx", grid=(1,), args=list(args), arch="sm_90a")


def loaded(size: int = COUNT, extra: str = "") -> tuple[str, str]:
    """Parameters, and a body that loads %x from %p and has the pointers %b from %q on."""
    body = f"""{row("a", "p", "i32", COUNT)}
    %x, %t = load_ptr_tko weak %a : tile<{COUNT}xptr<i32>> -> tile<{COUNT}xi32>, token
{row("b", "q", "i32", size)}"""
    return f"%p: tile<ptr<i32>>, %q: tile<ptr<i32>>{extra}", body


def test_what_comes_behind_a_fold() -> None:
    """A loop for the fold, one for what is computed of it, and the fold's result once."""
    parameters, body = loaded(extra=", %m: tile<ptr<i32>>")
    tile = f"tile<{COUNT}xi32>"
    body += f"""
    %r = reduce %x dim=0 identities=[-2147483648 : i32] : {tile} -> tile<i32>
      (%c: tile<i32>, %d: tile<i32>) {{
        %e = maxi %c, %d signed : tile<i32>
        yield %e : tile<i32>
      }}
    %r1 = reshape %r : tile<i32> -> tile<1xi32>
    %rn = broadcast %r1 : tile<1xi32> -> {tile}
    %y = subi %x, %rn : {tile}
    %u = store_ptr_tko weak %b, %y : tile<{COUNT}xptr<i32>>, {tile} -> token
    %v = store_ptr_tko weak %m, %r : tile<ptr<i32>>, tile<i32> -> token
"""
    _, got, largest = run(entry(parameters, body), 2, X, 0 * X, np.zeros(1, np.int32))
    assert largest[0] == X.max() and (got == X - X.max()).all()


@pytest.mark.parametrize("reverse", ["false", "true"])
def test_folds_keep_their_order(reverse: str) -> None:
    """A scan by the last of two that is not 0, which does not commute, from either end, and its
    reduction, in the same loop."""
    parameters, body = loaded(extra=", %m: tile<ptr<i32>>")
    tile = f"tile<{COUNT}xi32>"
    region = """(%c: tile<i32>, %d: tile<i32>) {
        %z = constant <i32: 0> : tile<i32>
        %n = cmpi not_equal %d, %z, signed : tile<i32> -> tile<i1>
        %e = select %n, %d, %c : tile<i1>, tile<i32>
        yield %e : tile<i32>
      }"""
    body += f"""
    %s = scan %x dim=0 reverse={reverse} identities=[0 : i32] : {tile} -> {tile} {region}
    %r = reduce %x dim=0 identities=[0 : i32] : {tile} -> tile<i32> {region}
    %u = store_ptr_tko weak %b, %s : tile<{COUNT}xptr<i32>>, {tile} -> token
    %v = store_ptr_tko weak %m, %r : tile<ptr<i32>>, tile<i32> -> token
"""
    x = np.where(np.arange(COUNT) % 40000 == 7, X | 1, 0).astype(np.int32)
    _, got, last = run(entry(parameters, body), 1, x, 0 * x, np.zeros(1, np.int32))
    order = x[::-1] if reverse == "true" else x
    places = np.maximum.accumulate(np.where(order != 0, np.arange(COUNT), 0))
    law = order[places][:: -1 if reverse == "true" else 1]
    assert (got == law).all() and last[0] == x[x != 0][-1]


def test_an_extracted_part_alone_is_loaded() -> None:
    part = COUNT // 8
    parameters, body = loaded(part, ", %i: tile<i32>")
    body += f"""
    %y = addi %x, %x : tile<{COUNT}xi32>
    %e = extract %y[%i] : tile<{COUNT}xi32> -> tile<{part}xi32>
    %u = store_ptr_tko weak %b, %e : tile<{part}xptr<i32>>, tile<{part}xi32> -> token
"""
    memory = X[: 6 * part]
    got = run(entry(parameters, body), 0, memory, 0 * X[:part], np.int32(5))[1]
    assert (got == 2 * X[5 * part :][:part]).all()


def test_operands_by_pointers_are_loaded_in_slices() -> None:
    """Rows times themselves, whose pointers are one row."""
    tile, turned = f"tile<16x{COUNT // 16}xi8>", f"tile<{COUNT // 16}x16xi8>"
    pointers = tile.replace("i8", "ptr<i8>")
    body = f"""{row("a", "p", "i8", COUNT)}{row("b", "q", "i32", 256)}
    %a2 = reshape %a : tile<{COUNT}xptr<i8>> -> {pointers}
    %x, %t = load_ptr_tko weak %a2 : {pointers} -> {tile}, token
    %y = permute %x [1, 0] : {tile} -> {turned}
    %o = constant <i32: 0> : tile<16x16xi32>
    %r = mmai %x, %y, %o signed signed : {tile}, {turned}, tile<16x16xi32>
    %b2 = reshape %b : tile<256xptr<i32>> -> tile<16x16xptr<i32>>
    %u = store_ptr_tko weak %b2, %r : tile<16x16xptr<i32>>, tile<16x16xi32> -> token
"""
    text = entry("%p: tile<ptr<i8>>, %q: tile<ptr<i32>>", body)
    got = run(text, 1, X.astype(np.int8), np.zeros((16, 16), np.int32))[1]
    rows = X.reshape(16, -1).astype(np.int64)
    assert (got == rows @ rows.T).all()


def test_views_in_turns() -> None:
    """Tiles that lie apart, and rows that an index names."""
    rows, columns = 256, 1024
    tensor = "tensor_view<?x1024xi32, strides=[1024,1]>"
    steps, tile = rows + 3, f"tile<{rows}x{columns}xi32>"
    strided = f"strided_view<tile=({rows}x{columns}), traversal_strides=[{steps},512], {tensor}>"
    sparse = f"gather_scatter_view<tile=({rows}x{columns}), {tensor}, sparse_dim=0>"
    made = "".join(
        f"    %{x} = make_tensor_view %{x}p, shape = [%n, {columns}], strides = [{columns}, 1]"
        f" : tile<i32> -> {tensor}\n"
        for x in "AB"
    )
    text = entry(
        "%Ap: tile<ptr<i32>>, %Bp: tile<ptr<i32>>, %n: tile<i32>",
        f"""
{made}
    %As = make_strided_view %A : {strided}
    %Bs = make_gather_scatter_view %B : {sparse}
    %o = constant <i32: 0> : tile<i32>
    %i = constant <i32: 1> : tile<i32>
    %r = iota : tile<{rows}xi32>
    %two = constant <i32: 2> : tile<{rows}xi32>
    %q = muli %r, %two : tile<{rows}xi32>
    %x, %t = load_view_tko weak %As[%i, %o] : {strided}, tile<i32> -> {tile}, token
    %u = store_view_tko weak %x, %Bs[%q, %o] : {tile}, {sparse}, tile<{rows}xi32>, tile<i32>
        -> token
""",
    )
    a = np.arange(600 * columns, dtype=np.int32).reshape(600, columns)
    got = run(text, 1, a, 0 * a, np.int32(600))
    assert (got[1][: 2 * rows : 2] == a[steps : steps + rows]).all()


@pytest.mark.parametrize("token, loops", [("", 1), ("token = %t ", 0)])
def test_atomics_in_turns(token: str, loops: int) -> None:
    """Of views, but where none may come before the last of another tile is loaded."""
    parameters, body = loaded(1)
    tensor = "tensor_view<?xi32, strides=[1]>"
    view = f"strided_view<tile=({COUNT}), traversal_strides=[3], {tensor}>"
    body += f"""
    %n = constant <i32: {COUNT + 9}> : tile<i32>
    %w = make_tensor_view %q, shape = [%n], strides = [1] : tile<i32> -> {tensor}
    %v = make_strided_view %w : {view}
    %i = constant <i32: 2> : tile<i32>
    %u = atomic_red_view_tko relaxed device %v[%i], add, %x {token}: tile<{COUNT}xi32>, {view},
        tile<i32> -> token
"""
    ptx = tw.compile(entry(parameters, body), "sm_90a").ptx
    assert ptx.count("_body:") == loops and ptx.count("red.relaxed") == 256 >> loops


def product(m: int, n: int, k: int) -> str:
    """A kernel of one product of f16 in f32."""
    sizes = {"a": (m, k), "b": (k, n), "c": (m, n)}
    body = "    %o = constant <i32: 0> : tile<i32>\n"
    for name, (rows, columns) in sizes.items():
        element = "f32" if name == "c" else "f16"
        tensor = f"tensor_view<{rows}x{columns}x{element}, strides=[{columns},1]>"
        type_ = f"partition_view<tile=({rows}x{columns}), {tensor}>"
        body += f"""
    %{name}_v = make_tensor_view %{name}, shape = [{rows}, {columns}], strides = [{columns}, 1]
        : {tensor}
    %{name}_w = make_partition_view %{name}_v : {type_}
"""
        access = f"{type_}, tile<i32>"
        tile = f"tile<{rows}x{columns}x{element}>"
        body += (
            f"    %{name}_x, %{name}_t = load_view_tko weak %{name}_w[%o, %o] : {access} -> "
            f"{tile}, token\n"
            if name != "c"
            else f"    %zero = constant <f32: 0.0> : {tile}\n    %r = mmaf %a_x, %b_x, %zero : "
            f"tile<{m}x{k}xf16>, tile<{k}x{n}xf16>, {tile}\n"
            f"    %t = store_view_tko weak %r, %c_w[%o, %o] : {tile}, {access} -> token\n"
        )
    return entry(", ".join(f"%{name}: tile<ptr<{'f32' if name == 'c' else 'f16'}>>"
                           for name in sizes), body)  # fmt: skip


@pytest.mark.parametrize("m, n, k", [(128, 256, 16), (2048, 16, 32)])
def test_a_tile_larger_than_shared_memory(m: int, n: int, k: int) -> None:
    """One changes layout in parts; an operand is multiplied by halves of its rows."""
    text = product(m, n, k)
    a, b = (default_rng(0).integers(-3, 4, k * x).astype(np.float16) for x in (m, n))
    assert tw.compile(text, "sm_120a").shared_bytes < max(m * n * 4, m * k * 2)
    got = tw.interpret(
        text, "k", grid=(1,), args=[a, b, np.zeros(m * n, np.float32)], level="ptx",
        arch="sm_120a",
    )[2]  # fmt: skip
    want = a.reshape(m, k).astype(np.float32) @ b.reshape(k, n).astype(np.float32)
    assert (got.reshape(m, n) == want).all()
