"""Tile IR compiled to PTX computes what NumPy does."""

from __future__ import annotations

import re
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from run_levels import at_levels
from tile_ir import elementwise, entry, run

import tilewright as tw

RNG = np.random.default_rng(0)


def compiled(parameters: str, body: str, args: list[Any], **options: Any) -> list[NDArray[Any]]:
    """Run a kernel as PTX."""
    return run(parameters, body, args, level="ptx", **options)


def words(count: int) -> NDArray[Any]:
    """Floats of every kind."""
    return RNG.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32).view(np.float32)


def test_remainders_are_exact() -> None:
    x, y = words(256), words(256)
    x[:6], y[:6] = [5, -4, -0.0, np.inf, 7, 3.4e38], [np.inf, 2, 1, 2, 0, 1e-45]
    parameters, body = elementwise(
        "    %r = remf %x0, %x1 : tile<256xf32>\n", ["f32", "f32"], "f32", 256
    )
    got = compiled(parameters, body, [x, y, np.zeros(256, np.float32)])[2]
    with np.errstate(all="ignore"):
        want = np.fmod(x, y)
    same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
    assert same.all()


@pytest.mark.parametrize(
    "element, dtype",
    [("f16", np.float16), ("bf16", ml_dtypes.bfloat16), ("f32", np.float32), ("f64", np.float64),
     ("f8E4M3FN", ml_dtypes.float8_e4m3fn)],
)  # fmt: skip
@at_levels("program", "ptx")
def test_one_bit_of_a_float_is_its_truth(element: str, dtype: Any, level: str) -> None:
    """As tileiras 13.5 compiles it."""
    x = np.array([0.0, -0.0, 0.25, -3.0, 100.0, -400.0, np.inf, np.nan]).astype(dtype)
    parameters, body = elementwise(
        f"    %r = ftoi %x0 unsigned : tile<8x{element}> -> tile<8xi1>\n", [element], "i1", 8
    )
    got = run(parameters, body, [x, np.zeros(8, np.bool_)], level=level)[1]
    assert got.tolist() == [False, False, *[True] * 6]


@at_levels("program", "atom", "ptx")
def test_an_assertion_fails_in_the_words_of_tileiras(
    level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one thread that has the element says so, wherever the tile lies."""
    body = """
    %n = iota : tile<512xi32>
    %m = constant <i32: 421> : tile<512xi32>
    %c = cmpi not_equal %n, %m, signed : tile<512xi32> -> tile<512xi1>
    %s = reshape %c : tile<512xi1> -> tile<16x32xi1>
    assert %s, "50% of it" : tile<16x32xi1>
"""
    with pytest.raises(tw.ExecutionError):
        run("%p: tile<ptr<i32>>", body, [np.zeros(1, np.int32)], level=level, grid=(2, 1, 1))
    line, *others = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"<\w+>:\d+: tile block: \[0, 0, 0\], position: \[13, 5\]: 50% of it", line)
    assert all(other.replace("[1, 0, 0]", "[0, 0, 0]") == line for other in others)


def view(name: str, pointer: str, shape: tuple[int, int], tile: tuple[int, int]) -> str:
    """IR for %name: the tiles of a row-major tensor."""
    tensor = f"tensor_view<{shape[0]}x{shape[1]}xf32, strides=[{shape[1]},1]>"
    return f"""
    %{name}_v = make_tensor_view %{pointer}, shape = [{shape[0]}, {shape[1]}],
        strides = [{shape[1]}, 1] : {tensor}
    %{name} = make_partition_view %{name}_v
        : partition_view<tile=({tile[0]}x{tile[1]}), padding_value = zero, {tensor}>
"""


@pytest.mark.parametrize("rows, columns", [(64, 32), (50, 30)])
def test_transposed(rows: int, columns: int) -> None:
    """Through shared memory, and over the edges of both tensors."""
    source = f"tensor_view<{rows}x{columns}xf32, strides=[{columns},1]>"
    dest = f"tensor_view<{columns}x{rows}xf32, strides=[{rows},1]>"
    body = view("a", "p", (rows, columns), (32, 16)) + view("b", "q", (columns, rows), (16, 32))
    body += f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    %l, %t = load_view_tko weak %a[%x, %y]
        : partition_view<tile=(32x16), padding_value = zero, {source}>, tile<i32>
        -> tile<32x16xf32>, token
    %m = permute %l [1, 0] : tile<32x16xf32> -> tile<16x32xf32>
    %u = store_view_tko weak %m, %b[%y, %x] : tile<16x32xf32>,
        partition_view<tile=(16x32), padding_value = zero, {dest}>, tile<i32> -> token
"""
    a = RNG.standard_normal((rows, columns)).astype(np.float32)
    pointers = "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>"
    b = np.zeros((columns, rows), np.float32)
    got = compiled(pointers, body, [a, b], grid=(2, 2))[1]
    assert (got == a.T).all()


def test_arrays_lie_as_they_do_on_the_gpu() -> None:
    """A pointer is to the first element, others lie where the array's strides say."""
    parameters, body = elementwise("%r = addf %x0, %x1 : tile<32xf32>\n", ["f32"] * 2, "f32", 32)
    wide = RNG.standard_normal((2, 64)).astype(np.float32)
    skipping = wide[:, ::2]
    a, b, c = compiled(parameters, body, [skipping, wide[1], np.zeros(32, np.float32)])
    assert (c == wide[0, :32] + wide[1, :32]).all()
    assert (a == skipping).all() and (b == wide[1]).all()
    want = wide[0, :32] + wide[0, :32]
    a, b, c = compiled(parameters, body, [skipping, wide[0, :32], wide[0, :32]])
    assert (c == want).all() and (b == want).all() and (a[0, :16] == want[::2]).all()


def test_swizzles_of_both_sides_that_turn_the_same_bits() -> None:
    """The order of a conversion's source turns a bit of addresses that its target's turns too."""
    tile, tensor = "tile<16x256xf32>", "tensor_view<16x256xf32, strides=[256,1]>"
    access = f"partition_view<tile=(16x256), padding_value = zero, {tensor}>, tile<i32>"
    square = "tensor_view<16x16xf32, strides=[16,1]>"
    body = view("a", "p", (16, 16), (16, 16)) + view("b", "q", (16, 256), (16, 256))
    body += f"""
    %o = constant <i32: 0> : tile<i32>
    %zero = constant <f32: 0.0> : {tile}
    %w, %s = load_view_tko weak %a[%o, %o]
        : partition_view<tile=(16x16), padding_value = zero, {square}>, tile<i32>
        -> tile<16x16xf32>, token
    %x, %t = load_view_tko weak %b[%o, %o] : {access} -> {tile}, token
    %l = reshape %x : {tile} -> tile<16x16x16xf32>
    %m = permute %l [0, 2, 1] : tile<16x16x16xf32> -> tile<16x16x16xf32>
    %n = reshape %m : tile<16x16x16xf32> -> {tile}
    %y = mmaf %w, %n, %zero : tile<16x16xf32>, {tile}, {tile}
    %u = store_view_tko weak %y, %b[%o, %o] token=%t : {tile}, {access} -> token
"""
    w, x = (RNG.integers(-4, 5, (16, n)).astype(np.float32) for n in (16, 256))
    want = w @ x.reshape(16, 16, 16).transpose(0, 2, 1).reshape(16, 256)
    pointers = "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>"
    assert (compiled(pointers, body, [w, x])[1] == want).all()


def test_loads_are_one_product_ahead() -> None:
    """What the first of two products does not need is not loaded in front of it."""
    tile, view_type = "tile<16x16xf32>", "tensor_view<16x16xf32, strides=[16,1]>"
    access = f"partition_view<tile=(16x16), padding_value = zero, {view_type}>, tile<i32>"
    body = "".join(view(name, f"{name}_p", (16, 16), (16, 16)) for name in "abc")
    body += "    %o = constant <i32: 0> : tile<i32>\n"
    for name in "abc":
        body += f"    %{name}_x, %{name}_t = load_view_tko weak %{name}[%o, %o] : {access} -> "
        body += f"{tile}, token\n"
    body += f"""
    %y = mmaf %a_x, %b_x, %c_z : {tile}, {tile}, {tile}
    %w = mmaf %y, %b_x, %c_z : {tile}, {tile}, {tile}
    %s = addf %w, %c_x : {tile}
    %u = store_view_tko weak %s, %c[%o, %o] token=%c_t : {tile}, {access} -> token
"""
    body = body.replace("    %y", f"    %c_z = constant <f32: 0.0> : {tile}\n    %y", 1)
    parameters = ", ".join(f"%{name}_p: tile<ptr<f32>>" for name in "abc")
    ptx = tw.compile(entry(parameters, body), "sm_80").ptx
    loaded = [part.count("ld.global") for part in ptx.split("bar.sync")]
    assert 3 * loaded[0] == 2 * sum(loaded) and sum(loaded) > 0
    a, b, c = (RNG.integers(-4, 5, (16, 16)).astype(np.float32) for _ in "abc")
    assert (compiled(parameters, body, [a, b, c.copy()])[2] == a @ b @ b + c).all()


def test_subnormal_numbers_are_flushed_by_the_instruction() -> None:
    text = "    %r = addf %x0, %x1 flush_to_zero : tile<256xf32>\n"
    parameters, body = elementwise(text, ["f32", "f32"], "f32", 256)
    x, y = words(256), words(256)
    x[::4] = (x.view(np.uint32)[::4] & 0x807FFFFF).view(np.float32)
    y[::8] = (y.view(np.uint32)[::8] & 0x807FFFFF).view(np.float32)
    y[1::8] = -x[1::8] * np.float32(1 - 2.0**-20)
    args = [x, y, np.zeros(256, np.float32)]
    assert "add.rn.ftz.f32" in tw.compile(entry(parameters, body), "sm_80").ptx
    got, want = compiled(parameters, body, args)[2], run(parameters, body, args)[2]
    same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
    assert same.all()


def test_a_scan_and_a_fold_of_pairs() -> None:
    """The running maximum, and where the largest of 512 numbers is."""
    body = """
    %i = iota : tile<512xi32>
    %r = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %b = broadcast %r : tile<1xptr<i32>> -> tile<512xptr<i32>>
    %at = offset %b, %i : tile<512xptr<i32>>, tile<512xi32> -> tile<512xptr<i32>>
    %x, %t = load_ptr_tko weak %at : tile<512xptr<i32>> -> tile<512xi32>, token
    %s = scan %x dim=0 reverse=false identities=[-2147483648 : i32] : tile<512xi32> -> tile<512xi32>
        (%e : tile<i32>, %a : tile<i32>) {
      %m = maxi %e, %a signed : tile<i32>
      yield %m : tile<i32>
    }
    %v, %k = reduce %x, %i dim=0 identities=[-2147483648 : i32, 0 : i32]
        : tile<512xi32>, tile<512xi32> -> tile<i32>, tile<i32>
        (%e0 : tile<i32>, %a0 : tile<i32>, %e1 : tile<i32>, %a1 : tile<i32>) {
      %c = cmpi greater_than %e0, %a0, signed : tile<i32> -> tile<i1>
      %m0 = select %c, %e0, %a0 : tile<i1>, tile<i32>
      %m1 = select %c, %e1, %a1 : tile<i1>, tile<i32>
      yield %m0, %m1 : tile<i32>, tile<i32>
    }
    %u = store_ptr_tko weak %at, %s token=%t : tile<512xptr<i32>>, tile<512xi32> -> token
    %w = store_ptr_tko weak %q, %k : tile<ptr<i32>>, tile<i32> -> token
"""
    numbers = RNG.permutation(512).astype(np.int32)
    pointers = "%p: tile<ptr<i32>>, %q: tile<ptr<i32>>"
    got, where = compiled(pointers, body, [numbers, np.zeros(1, np.int32)])
    assert (got == np.maximum.accumulate(numbers)).all()
    assert where[0] == np.argmax(numbers)


@at_levels("program", "ptx")
@pytest.mark.parametrize("reverse", [False, True])
def test_what_came_before_is_the_first_argument(reverse: bool, level: str) -> None:
    """h = h a + b, a function that is not commutative, and the first and the last of a fold: as an
    H200 has them of tileiras 13.5."""
    body = f"""
    %s, %h = scan %x0, %x1 dim=0 reverse={str(reverse).lower()} identities=[1 : i32, 0 : i32]
        : tile<256xi32>, tile<256xi32> -> tile<256xi32>, tile<256xi32>
        (%u0 : tile<i32>, %u1 : tile<i32>, %v0 : tile<i32>, %v1 : tile<i32>) {{
      %u = muli %u0, %u1 : tile<i32>
      %w = muli %v0, %u1 : tile<i32>
      %v = addi %w, %v1 : tile<i32>
      yield %u, %v : tile<i32>, tile<i32>
    }}
    %f = reduce %x1 dim=0 identities=[0 : i32] : tile<256xi32> -> tile<i32>
        (%l : tile<i32>, %g : tile<i32>) {{ yield %l : tile<i32> }}
    %f1 = reshape %f : tile<i32> -> tile<1xi32>
    %first = broadcast %f1 : tile<1xi32> -> tile<256xi32>
    %r = xori %h, %first : tile<256xi32>
"""
    parameters, body = elementwise(body, ["i32", "i32"], "i32", 256)
    a, b = RNG.integers(-9, 9, (2, 256), dtype=np.int32)
    got = run(parameters, body, [a, b, b.copy()], level=level)[2]
    state, want = np.int32(0), np.zeros(256, np.int32)
    with np.errstate(over="ignore"):
        for i in reversed(range(256)) if reverse else range(256):
            want[i] = state = state * a[i] + b[i]
    assert (got == want ^ b[0]).all()


FOLDED = """
    %NAME0 = reduce TILE dim=0 identities=[0 : i32] : tile<512xi32> -> tile<i32>
        (%u : tile<i32>, %v : tile<i32>) {
      %s = OP : tile<i32>
      yield %s : tile<i32>
    }
    %NAME1 = reshape %NAME0 : tile<i32> -> tile<1xi32>
    %NAME = broadcast %NAME1 : tile<1xi32> -> tile<512xi32>
"""


@pytest.mark.parametrize(
    "second, third, exchanges",
    [("%x1", "%x0", 2), ("%x1", "%f", 2), ("%f", "%g", 3), ("%f", "%x1", 2)],
)
def test_folds_of_tiles_that_are_known_have_one_exchange(
    second: str, third: str, exchanges: int
) -> None:
    """Whatever each of them folds by; not those of what another one gives."""
    lines = ""
    tiles, ops = ("%x0", second, third), ("addi %u, %v", "maxi %u, %v signed", "xori %u, %v")
    for name, tile, op in zip("fgh", tiles, ops, strict=True):
        lines += FOLDED.replace("NAME", name).replace("TILE", tile).replace("OP", op)
    lines += "    %d = addi %f, %g : tile<512xi32>\n    %r = addi %h, %d : tile<512xi32>\n"
    parameters, body = elementwise(lines, ["i32", "i32"], "i32", 512)
    x, y = RNG.integers(-99, 99, (2, 512), dtype=np.int32)
    got = compiled(parameters, body, [x, y, np.zeros(512, np.int32)])[2]
    known = {"%x0": x, "%x1": y, "%f": np.full(512, x.sum(), np.int32)}
    known["%g"] = np.full(512, known[second].max())
    want = known["%f"] + known["%g"] + np.bitwise_xor.reduce(known[third])
    ptx = tw.compile(entry(parameters, body), "sm_90a").ptx
    assert (got == want).all()
    assert ptx.count("bar.sync") == 2 * exchanges - 1


def test_nothing_is_left_unproven() -> None:
    """A barrier under a condition that memory gives, which all threads share."""
    body = """
    %one = constant <i32: 1> : tile<i32>
    %l, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
    %c = cmpi equal %l, %one, signed : tile<i32> -> tile<i1>
    if %c {
      %old, %u = atomic_rmw_tko relaxed device %p, add, %one token=%t
          : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %n = addi %old, %one : tile<i32>
      %v = store_ptr_tko weak %p, %n token=%u : tile<ptr<i32>>, tile<i32> -> token
      yield
    }
"""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (got,) = compiled("%p: tile<ptr<i32>>", body, [np.ones(1, np.int32)])
    assert got[0] == 2


def test_tiles_are_printed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """As the interpreter of Tile IR prints them: nested, by the block's first thread."""
    body = """
    %i = iota : tile<64xi32>
    %h = reshape %i : tile<64xi32> -> tile<4x16xi32>
    %s = constant <i64: -7> : tile<i64>
    %j = iota : tile<2xi8>
    %f = itof %j signed : tile<2xi8> -> tile<2xf16>
    %t = print_tko "a %d %% %5.2f b %lld\\n", %h, %f, %s
        : tile<4x16xi32>, tile<2xf16>, tile<i64> -> token
"""
    said: list[str] = []
    for level in ("program", "ptx"):
        run("%p: tile<ptr<i32>>", body, [np.zeros(1, np.int32)], level=level)
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    rows = ", ".join(str(list(range(first, first + 16))) for first in range(0, 64, 16))
    assert said[0] == f"a [{rows}] % [ 0.00,  1.00] b -7\n"


def test_a_large_tile_is_printed_by_a_loop(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
    %i = iota : tile<512xi32>
    %h = reshape %i : tile<512xi32> -> tile<2x1x256xi32>
    %t = print_tko "a %d b %3i\\n", %h, %i : tile<2x1x256xi32>, tile<512xi32> -> token
"""
    said: list[str] = []
    for level in ("program", "ptx"):
        run("%p: tile<ptr<i32>>", body, [np.zeros(1, np.int32)], level=level)
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] and "[[[0, 1," in said[0]


def test_unsigned_loops_of_64_bits_count_to_the_end() -> None:
    body = """
    %lower = constant <i64: -20> : tile<i64>
    %upper = constant <i64: -8> : tile<i64>
    %step = constant <i64: 3> : tile<i64>
    %zero = constant <i64: 0> : tile<i64>
    %sum = for unsigned %k in (%lower to %upper, step %step) : tile<i64>
        iter_values(%acc = %zero) -> (tile<i64>) {
      %n = addi %acc, %k : tile<i64>
      continue %n : tile<i64>
    }
    %none = for unsigned %k in (%upper to %lower, step %step) : tile<i64>
        iter_values(%acc = %sum) -> (tile<i64>) {
      continue %zero : tile<i64>
    }
    %t = store_ptr_tko weak %p, %none : tile<ptr<i64>>, tile<i64> -> token
"""
    (got,) = compiled("%p: tile<ptr<i64>>", body, [np.zeros(1, np.int64)])
    assert got[0] == -20 - 17 - 14 - 11


def test_parts_of_a_tile_larger_than_shared_memory() -> None:
    """Taken out, and put in, at places that the kernel is given."""
    tile, part = "tile<512x256xf32>", "tile<64x64xf32>"
    whole, small = (
        f"partition_view<tile=({m}x{n}), padding_value = zero, "
        f"tensor_view<{m}x{n}xf32, strides=[{n},1]>>, tile<i32>"
        for m, n in ((512, 256), (64, 64))
    )
    body = view("a", "p", (512, 256), (512, 256)) + view("b", "q", (64, 64), (64, 64))
    body += f"""
    %o = constant <i32: 0> : tile<i32>
    %x, %t = load_view_tko weak %a[%o, %o] : {whole} -> {tile}, token
    %y = extract %x[%i, %j] : {tile} -> {part}
    %z = insert %y, %x[%j, %i] : {part}, {tile}
    %u = store_view_tko weak %z, %a[%o, %o] token = %t : {tile}, {whole} -> token
    %v = store_view_tko weak %y, %b[%o, %o] : {part}, {small} -> token
"""
    a, b = words(512 * 256).reshape(512, 256), np.zeros((64, 64), np.float32)
    parameters = "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %i: tile<i32>, %j: tile<i32>"
    got = compiled(parameters, body, [a, b, 3, 2], arch="sm_86")
    wanted, bits = a.copy(), np.uint32
    wanted[128:192, 192:256] = want = a[192:256, 128:192]
    assert (got[0].view(bits) == wanted.view(bits)).all()
    assert (got[1].view(bits) == want.view(bits)).all()


@pytest.mark.parametrize(
    ("op", "divisor", "short"),
    [("remi", "%y", True), ("remi", "%six", True), ("divi", "%six", True), ("divi", "%y", False)],
)
def test_extended_numbers_are_divided_as_they_were(op: str, divisor: str, *, short: bool) -> None:
    """By zero what is undefined is the dividend, or all ones; of the lowest number by -1 the
    quotient has no room in 32 bits."""
    rounding = "rounding<zero>" if op == "divi" else ""
    ops = f"""    %x = exti %x0 signed : tile<64xi32> -> tile<64xi64>
    %y = exti %x1 signed : tile<64xi32> -> tile<64xi64>
    %six = constant <i64: 6> : tile<64xi64>
    %r = {op} %x, {divisor} signed {rounding} : tile<64xi64>
"""
    parameters, body = elementwise(ops, ["i32", "i32"], "i64", 64)
    ptx = tw.compile(entry(parameters, body), "sm_80").ptx
    assert (f"{op[:3]}.s32" in ptx) == short
    x, y = RNG.integers(-(1 << 31), 1 << 31, (2, 64)).astype(np.int32)
    y[1::2] >>= 24
    x[:3], y[:3] = [-(1 << 31), 7, -7], [-1, 0, 4]
    got = compiled(parameters, body, [x, y, np.zeros(64, np.int64)])[2]
    by = np.full(64, 6) if divisor == "%six" else y.astype(np.int64)
    rest = np.fmod(x.astype(np.int64), np.where(by, by, 1))
    quotient = np.where(by, (x - rest) // np.where(by, by, 1), -1)
    np.testing.assert_array_equal(got, quotient if op == "divi" else np.where(by, rest, x))


@pytest.mark.parametrize("spread, words", [(False, 8), (True, 32)])
def test_what_is_left_of_columns_is_dealt_to_all_threads(words: int, *, spread: bool) -> None:
    """Of 64 rows eight warps have eight words of a column: a thread adds those of one column, or,
    where each row is to be divided by the sums, of the four columns that it has."""
    tensor = "padding_value = zero, tensor_view<64x128xf32, strides=[128,1]>>"
    type_ = f"partition_view<tile=(64x128), {tensor}"
    row = type_.replace("64x128", "1x128")
    body = "    %p = assume div_by<16>, %x_p : tile<ptr<f32>>\n"
    body += view("a", "p", (64, 128), (64, 128)) + view("b", "q", (64, 128), (64, 128))
    body += view("c", "s", (1, 128), (1, 128))
    body += f"""
    %o = constant <i32: 0> : tile<i32>
    %x, %t = load_view_tko weak %a[%o, %o] : {type_}, tile<i32> -> tile<64x128xf32>, token
    %y = reduce %x dim=0 identities=[0.0 : f32] : tile<64x128xf32> -> tile<128xf32>
        (%l : tile<f32>, %r : tile<f32>) {{
      %z = addf %l, %r : tile<f32>
      yield %z : tile<f32>
    }}
    %y1 = reshape %y : tile<128xf32> -> tile<1x128xf32>
    %u = store_view_tko weak %y1, %c[%o, %o] : tile<1x128xf32>, {row}, tile<i32> -> token
"""
    if spread:
        body += f"""
    %ys = broadcast %y1 : tile<1x128xf32> -> tile<64x128xf32>
    %d = divf %x, %ys : tile<64x128xf32>
    %w = store_view_tko weak %d, %b[%o, %o] : tile<64x128xf32>, {type_}, tile<i32> -> token
"""
    x = RNG.integers(1, 9, (64, 128)).astype(np.float32)
    parameters = "%x_p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %s: tile<ptr<f32>>"
    got = compiled(parameters, body, [x, np.zeros_like(x), np.zeros((1, 128), np.float32)])
    assert (got[2][0] == x.sum(0)).all()
    assert (got[1] == (x / x.sum(0) if spread else 0)).all()
    ptx = tw.compile(entry(parameters, body), "sm_90a").ptx
    loads = re.findall(r"ld\.shared(?:\.v(\d))?\.f32", ptx)
    assert sum(int(width or 1) for width in loads) == words
