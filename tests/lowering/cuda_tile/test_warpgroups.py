"""Products of warpgroups, TMA and pipelines: PTX for Hopper equals the program level."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from tile_ir import entry
from xdsl.dialects.builtin import ModuleOp

import tilewright as tw
from tilewright.launch import ptxas

RNG = np.random.default_rng(0)
DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2, "i8": np.int8,
    "i32": np.int32,
}  # fmt: skip


def matrix(name: str, rows: str, columns: str, element: str, tile: str, order: str = "") -> str:
    """IR for %NAME: the tiles of a matrix at %NAME_p whose rows are multiples of 16 bytes; with an
    order its columns are contiguous."""
    step = 16 // np.dtype(DTYPES[element]).itemsize
    strides, view = ("%{0}_s, 1", "?,1") if not order else ("1, %{0}_s", "1,?")
    type_ = f"tensor_view<?x?x{element}, strides=[{view}]>"
    return f"""
    %{name}_a = assume div_by<16>, %{name}_p : tile<ptr<{element}>>
    %{name}_s = assume div_by<{step}>, %{name}_l : tile<i32>
    %{name}_v = make_tensor_view %{name}_a, shape = [{rows}, {columns}],
        strides = [{strides.format(name)}] : tile<i32> -> {type_}
    %{name} = make_partition_view %{name}_v
        : partition_view<tile=({tile}), padding_value = zero, {type_}>
"""


def product(
    types: tuple[str, str], tile: tuple[int, int, int], *, b_order: str = "",
    persistent: bool = False, hints: str = "", convert: str = "", more: bool = False,
    stored: str = "",
) -> str:  # fmt: skip
    """A @k of C = A B, tile after tile of K; with `convert`, elements are converted first, sums to
    what is `stored`, with `more` it is C += A B."""
    (a, c), (m, n, k) = types, tile
    memory, sign = convert or a, " signed signed" if a == "i8" else ""
    op = "mmai" if a == "i8" else "mmaf"
    steps = "1,?" if b_order else "?,1"
    view_a, view_b, view_c = (
        f"partition_view<tile=({rows}x{columns}), padding_value = zero, "
        f"tensor_view<?x?x{element}, strides=[{strides}]>>"
        for rows, columns, element, strides in (
            (m, k, memory, "?,1"),
            (k, n, memory, steps),
            (m, n, stored or c, "?,1"),
        )
    )
    loads = f"""
      %x, %t0 = load_view_tko weak %A[%i, %q]{hints} : {view_a}, tile<i32>
          -> tile<{m}x{k}x{memory}>, token
      %y, %t1 = load_view_tko weak %B[%q, %j]{hints} : {view_b}, tile<i32>
          -> tile<{k}x{n}x{memory}>, token
"""
    x, y = "%x", "%y"
    if convert:
        x, y = "%u", "%w"
        for new, old, shape in ((x, "%x", f"{m}x{k}"), (y, "%y", f"{k}x{n}")):
            loads += f"      {new} = ftof {old} : tile<{shape}x{memory}> -> tile<{shape}x{a}>\n"
    zero = "i32: 0" if c == "i32" else f"{c}: 0.0"
    begin = f"%zero = constant <{zero}> : tile<{m}x{n}x{c}>"
    if more:
        begin = f"""%zero, %t2 = load_view_tko weak %C[%i, %j] : {view_c}, tile<i32>
        -> tile<{m}x{n}x{c}>, token"""
    after = " token = %t2" if more else ""
    narrow, result = "", "%sum"
    if stored:
        result = "%out"
        narrow = f"{result} = ftof %sum : tile<{m}x{n}x{c}> -> tile<{m}x{n}x{stored}>"
    body = f"""
    {begin}
    %sum = for %q in (%o to %steps, step %one) : tile<i32> iter_values(%acc = %zero)
        -> (tile<{m}x{n}x{c}>) {{
{loads}
      %next = {op} {x}, {y}, %acc{sign}
          : tile<{m}x{k}x{a}>, tile<{k}x{n}x{a}>, tile<{m}x{n}x{c}>
      continue %next : tile<{m}x{n}x{c}>
    }}
    {narrow}
    %t = store_view_tko weak {result}, %C[%i, %j]{after} : tile<{m}x{n}x{stored or c}>, {view_c},
        tile<i32> -> token
"""
    if persistent:
        body = f"    for %i in (%bx to %M, step %gx) : tile<i32> {{\n{body}\n    }}\n"
    names = ["%A_p", "%B_p", "%C_p"]
    parameters = ", ".join(
        f"{name}: tile<ptr<{memory if i < 2 else stored or c}>>, {name[:2]}_l: tile<i32>"
        for i, name in enumerate(names)
    )
    start = "%i, %j, %bz" if not persistent else "%bx, %j, %bz"
    setup = f"""
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    {start} = get_tile_block_id : tile<i32>
    %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
"""
    setup += matrix("A", "%m", "%k", memory, f"{m}x{k}")
    setup += matrix("B", "%k", "%n", memory, f"{k}x{n}", b_order)
    setup += matrix("C", "%m", "%n", stored or c, f"{m}x{n}")
    setup += f"    %M, %steps = get_index_space_shape %A : {view_a} -> tile<i32>\n"
    sizes = "%m: tile<i32>, %n: tile<i32>, %k: tile<i32>"
    return entry(f"{parameters}, {sizes}", setup + body)


def whole(text: str) -> str:
    """The product with rows of C of whole 16 bytes, as TMA stores them."""
    wide = "    %wide = assume div_by<16>, %n : tile<i32>\n    %C_a ="
    return text.replace("shape = [%m, %n]", "shape = [%m, %wide]").replace("    %C_a =", wide)


def operand(rows: int, columns: int, element: str, order: str = "") -> NDArray[Any]:
    dtype = DTYPES[element]
    shape = (columns, rows) if order else (rows, columns)
    if dtype is np.int8:
        return RNG.integers(-128, 128, shape, dtype=np.int8)
    return RNG.standard_normal(shape).astype(dtype)


def check(
    text: str | ModuleOp, sizes: tuple[int, int, int], types: tuple[str, str, str],
    grid: tuple[int, int],
    *, b_order: str = "", schedule: int | None = None, arch: str = "sm_90a",
) -> None:  # fmt: skip
    """At the `ptx` level the result is that of the program level, bit for bit."""
    m, n, k = sizes
    a, b = operand(m, k, types[0]), operand(k, n, types[1], b_order)
    c = operand(m, n, types[2]) if types[2] != "i32" else np.ones((m, n), np.int32)
    args = [part for array in (a, b, c) for part in (array, array.shape[1])] + [m, n, k]
    options: dict[str, Any] = {"grid": grid, "args": args, "arch": arch}
    want = tw.interpret(text, "k", **options)[2]
    got = tw.interpret(text, "k", level="ptx", schedule=schedule, **options)[2]
    assert (want != c).any()
    assert (got.view(np.uint8) == want.view(np.uint8)).all()


def test_a_pipeline_of_boxes() -> None:
    """Edges along every dimension, more steps than stages, copies that complete late."""
    text = product(("bf16", "f32"), (128, 64, 16))
    ptx = tw.compile(text, "sm_90a").ptx
    assert "wgmma.mma_async" in ptx and "cp.async.bulk.tensor.2d.shared" in ptx
    assert "wgmma.wait_group.sync.aligned 1" in ptx
    check(text, (136, 56, 216), ("bf16", "bf16", "f32"), (2, 1), schedule=3)


@pytest.mark.parametrize(
    "types, k, order",
    [
        (("f16", "f16"), 32, ""),
        (("f8E4M3FN", "f32"), 64, "columns"),
        (("f8E5M2", "f32"), 32, ""),
        (("i8", "i32"), 32, "columns"),
    ],
)
def test_types_and_orders(types: tuple[str, str], k: int, order: str) -> None:
    """Of elements of 8 bits, rows of B along N are turned on the way."""
    text = product(types, (64, 32, k), b_order=order)
    assert "wgmma.mma_async" in tw.compile(text, "sm_90a").ptx
    check(text, (64, 32, 2 * k + 16), (types[0], *types), (1, 1), b_order=order)


@pytest.mark.parametrize("fast", [True, False])
def test_fp8_is_added_in_f32_unless_the_sums_of_tensor_cores_are_enough(fast: bool) -> None:
    """Those stay in the accumulators, so that the MMAs of two iterations are in flight."""
    text = product(("f8E4M3FN", "f32"), (64, 32, 128), b_order="columns")
    if fast:
        text = text.replace("%acc\n", "%acc fast_acc\n")
    ptx = tw.compile(text, "sm_90a").ptx
    assert ("wgmma.wait_group.sync.aligned 1" in ptx) == fast == ("add.rn.f32" not in ptx)
    check(text, (72, 32, 400), ("f8E4M3FN", "f8E4M3FN", "f32"), (2, 1), b_order="columns")


def test_converted_operands_come_ahead() -> None:
    """tf32: TMA rounds both, B goes anew to shared memory."""
    text = product(("tf32", "f32"), (64, 32, 32), convert="f32")
    assert "cp.async.bulk.tensor.2d.shared" in tw.compile(text, "sm_90a").ptx
    check(text, (64, 32, 72), ("f32", "f32", "f32"), (1, 1))


@pytest.mark.parametrize(
    "tile, order",
    [((64, 64, 32), ""), ((128, 64, 16), ""), ((256, 128, 32), ""), ((128, 64, 32), "columns")],
)
def test_threads_do_nothing_to_tf32(tile: tuple[int, int, int], order: str) -> None:
    """TMA rounds it. Rows of B are read to the registers of A, for the transposed product, which is
    stored in rounds of rows, 128 KiB in four; columns are multiplied where they lie."""
    m, n, k = tile
    text = whole(product(("tf32", "f32"), tile, convert="f32", b_order=order))
    kernel = tw.compile(text, "sm_90a")
    body = kernel.ptx[kernel.ptx.index("scf.for") : kernel.ptx.rindex("wgmma.mma_async")]
    assert "cvt.rn.tf32" not in kernel.ptx and "st.shared" not in body and "bar.sync" not in body
    assert ("ld.shared" in body) is (not order)
    assert not any(remark.kind in ("serialized", "retreat") for remark in kernel.remarks)
    check(text, (m + 8, n - 4, 2 * k + 4), ("f32", "f32", "f32"), (2, 1), b_order=order, schedule=2)


def test_stages_go_on_from_tile_to_tile() -> None:
    text = product(("bf16", "f32"), (64, 32, 32), persistent=True)
    check(text, (192, 32, 136), ("bf16", "bf16", "f32"), (2, 1), schedule=1)


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
def test_nobody_copies_for_blocks_that_return(arch: str) -> None:
    """A warp of its own would wait for ever until somebody reads its stages."""
    text = product(("bf16", "f32"), (64, 32, 32))
    begin = text.index("    %zero = constant")
    early = """    %last = cmpi greater_than %i, %o, signed : tile<i32> -> tile<i1>
    if %last {
      return
    }
"""
    text = text[:begin] + early + text[begin:]
    check(text, (136, 32, 512), ("bf16", "bf16", "f32"), (3, 1), arch=arch)


def test_stages_leave_room_to_change_layouts() -> None:
    """Sums that begin with C come through shared memory."""
    text = product(("bf16", "f32"), (64, 256, 32), more=True)
    assert "cp.async.bulk.tensor.2d.shared" in tw.compile(text, "sm_90a").ptx
    check(text, (64, 256, 40), ("bf16", "bf16", "f32"), (1, 1))


def test_what_is_not_proven_has_no_boxes() -> None:
    text = product(("bf16", "f32"), (64, 32, 32)).replace("div_by<8>", "div_by<4>")
    ptx = tw.compile(text, "sm_90a").ptx
    assert "cp.async.bulk.tensor.2d.shared" not in ptx and "wgmma.mma_async" in ptx
    check(text, (64, 32, 68), ("bf16", "bf16", "f32"), (1, 1))


def test_hints_are_honoured() -> None:
    hints = " optimization_hints = <default = {allow_tma = false}>"
    ptx = tw.compile(product(("bf16", "f32"), (64, 32, 32), hints=hints), "sm_90a").ptx
    assert "cp.async.bulk.tensor.2d.shared::cluster" not in ptx


def test_other_targets_have_none_of_it() -> None:
    for arch in ("sm_80", "sm_90", "sm_120a"):
        assert "wgmma" not in tw.compile(product(("bf16", "f32"), (64, 32, 32)), arch).ptx


@pytest.mark.parametrize("persistent", [False, True])
def test_no_warnings_no_spills(persistent: bool) -> None:
    """Nor an MMA that ptxas lets wait for the one before."""
    text = whole(product(("bf16", "f32"), (128, 256, 64), persistent=persistent))
    kernel = tw.compile(text, "sm_90a", assemble=True)
    assert not {remark.kind for remark in kernel.remarks} & {"spill", "serialized"}
    assert ptxas.assemble(kernel.ptx, "sm_90a").clean
    assert kernel.entry().block == (288, 1, 1)


def test_a_stage_is_released_behind_the_wait() -> None:
    """ptxas, which knows how often the loop runs, let its MMAs wait for one another."""
    view = "partition_view<tile=({}), padding_value = zero, tensor_view<?x?x{}, strides=[?,1]>>"
    a, b, c = (view.format(*of) for of in (("64x32", "bf16"), ("32x16", "bf16"), ("64x16", "f16")))
    body = f"""
    %i, %j, %bz = get_tile_block_id : tile<i32>
    %sums = constant <f32: 0.0> : tile<64x16xf32>
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %four = constant <i32: 4> : tile<i32>
    %sum = for %q in (%o to %four, step %one) : tile<i32> iter_values(%acc = %sums)
        -> (tile<64x16xf32>) {{
      %x, %t0 = load_view_tko weak %A[%i, %q] : {a}, tile<i32> -> tile<64x32xbf16>, token
      %y, %t1 = load_view_tko weak %B[%q, %j] : {b}, tile<i32> -> tile<32x16xbf16>, token
      %w = negf %y : tile<32x16xbf16>
      %next = mmaf %x, %w, %acc : tile<64x32xbf16>, tile<32x16xbf16>, tile<64x16xf32>
      continue %next : tile<64x16xf32>
    }}
    %r = ftof %sum : tile<64x16xf32> -> tile<64x16xf16>
    %t = store_view_tko weak %r, %C[%i, %j] : tile<64x16xf16>, {c}, tile<i32> -> token
"""
    shapes = {"A": ("bf16", "64x32"), "B": ("bf16", "32x16"), "C": ("f16", "64x16")}
    tensors = "".join(matrix(x, "%m", "%n", *shape) for x, shape in shapes.items())
    names = ", ".join(
        f"%{x}_p: tile<ptr<{element}>>, %{x}_l: tile<i32>" for x, (element, _) in shapes.items()
    )
    text = entry(f"{names}, %m: tile<i32>, %n: tile<i32>", tensors + body)
    kernel = tw.compile(text, "sm_90a")
    assert "cp.async.bulk" in kernel.ptx and ptxas.assemble(kernel.ptx, "sm_90a").clean


def test_a_tensor_without_elements_has_a_map() -> None:
    """K = 0: nothing is loaded, the sums are zeros."""
    text = product(("bf16", "f32"), (64, 32, 32))
    args: list[Any] = [np.zeros(8, ml_dtypes.bfloat16), 8] * 2
    c = np.ones((64, 32), np.float32)
    got = tw.interpret(
        text, "k", grid=(1, 1), args=[*args, c, 32, 64, 32, 0], level="ptx", arch="sm_90a"
    )[2]
    assert (got == 0).all()


@pytest.mark.covered
@pytest.mark.parametrize("arch", ["sm_90a", "sm_120a"])
@pytest.mark.parametrize(
    "line, number, leaves",
    [
        ("-> (tile<128x64xf32>) {", "%q", "continue %acc : tile<128x64xf32>"),
        ("for %i in (%bx to %M, step %gx) : tile<i32> {", "%i", "continue"),
        ("for %i in (%bx to %M, step %gx) : tile<i32> {", "%i", "if %first { continue }"),
    ],
)
def test_iterations_that_end_early(line: str, number: str, leaves: str, arch: str) -> None:
    """A stage is waited for as often as it is filled: whatever skips a product has none. Behind a
    branch in a branch stages go on from where those left them that came there."""
    text = product(("bf16", "f32"), (128, 64, 32), persistent=True)
    early = f"""{line}
      %odd = trunci {number} : tile<i32> -> tile<i1>
      %first = cmpi equal {number}, %one, signed : tile<i32> -> tile<i1>
      if %odd {{
        {leaves}
      }}
"""
    assert line in text
    check(text.replace(line, early), (128 * 4, 64, 32 * 5), ("bf16", "bf16", "f32"), (1, 1),
          arch=arch)  # fmt: skip


def test_zeros_of_products_by_warps_and_by_warpgroups() -> None:
    """As many in a thread, which lie otherwise."""
    body = """
    %o = constant <i32: 0> : tile<i32>
    %n = iota : tile<1024xi32>
    %f = itof %n signed : tile<1024xi32> -> tile<1024xf16>
    %a = reshape %f : tile<1024xf16> -> tile<64x16xf16>
    %b = extract %a[%o, %o] : tile<64x16xf16> -> tile<16x8xf16>
    %c = extract %a[%o, %o] : tile<64x16xf16> -> tile<16x16xf16>
    %x = constant <f32: 0.0> : tile<64x8xf32>
    %y = constant <f32: 0.0> : tile<16x8xf32>
    %r = mmaf %c, %b, %y : tile<16x16xf16>, tile<16x8xf16>, tile<16x8xf32>
    %s = mmaf %a, %b, %x : tile<64x16xf16>, tile<16x8xf16>, tile<64x8xf32>
    %part = extract %s[%o, %o] : tile<64x8xf32> -> tile<16x8xf32>
    %d = addf %r, %part : tile<16x8xf32>
    %view = make_tensor_view %p, shape = [16, 8], strides = [8, 1]
        : tensor_view<16x8xf32, strides=[8,1]>
    %tiles = make_partition_view %view
        : partition_view<tile=(16x8), tensor_view<16x8xf32, strides=[8,1]>>
    %t = store_view_tko weak %d, %tiles[%o, %o] : tile<16x8xf32>,
        partition_view<tile=(16x8), tensor_view<16x8xf32, strides=[8,1]>>, tile<i32> -> token
"""
    text, args = entry("%p: tile<ptr<f32>>", body), [np.zeros((16, 8), np.float32)]
    ptx = tw.compile(text, "sm_90a").ptx
    assert "wgmma.mma_async" in ptx and "mma.sync" in ptx
    want, got = (
        tw.interpret(text, "k", grid=(1,), args=args, level=level, arch="sm_90a")[0]
        for level in ("program", "ptx")
    )
    assert want.any() and (want == got).all()


def test_loads_that_have_no_room_side_by_side_come_by_threads() -> None:
    """Of eight matrices of 32 KiB that are multiplied outside of loops."""
    type_ = "partition_view<tile=(128x128), tensor_view<1024x128xf16, strides=[128,1]>>"
    body = f"""
    %pa = assume div_by<16>, %p : tile<ptr<f16>>
    %v = make_tensor_view %pa, shape = [1024, 128], strides = [128, 1]
        : tensor_view<1024x128xf16, strides=[128,1]>
    %w = make_partition_view %v : {type_}
    %o = make_tensor_view %q, shape = [128, 128], strides = [128, 1]
        : tensor_view<128x128xf32, strides=[128,1]>
    %ow = make_partition_view %o
        : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
    %c0 = constant <i32: 0> : tile<i32>
    %s0 = constant <f32: 0.0> : tile<128x128xf32>
"""
    for i in range(8):
        body += f"""
    %i{i} = constant <i32: {i}> : tile<i32>
    %l{i}, %t{i} = load_view_tko weak %w[%i{i}, %c0]
        : {type_}, tile<i32> -> tile<128x128xf16>, token
"""
    for i in range(4):
        body += f"""
    %s{i + 1} = mmaf %l{2 * i}, %l{2 * i + 1}, %s{i}
        : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32>
"""
    body += """
    %u = store_view_tko weak %s4, %ow[%c0, %c0] : tile<128x128xf32>,
        partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32>
        -> token
"""
    text = entry("%p: tile<ptr<f16>>, %q: tile<ptr<f32>>", body)
    text = text.replace(") {\n", ") optimization_hints=<sm_90 = {num_cta_in_cga = 1}> {\n", 1)
    kernel = tw.compile(text, "sm_90a")
    assert "wgmma.mma_async" in kernel.ptx and "cp.async.bulk.tensor" in kernel.ptx
    assert any("no room" in remark.text for remark in kernel.remarks)
    a = RNG.integers(-2, 3, (8, 128, 128)).astype(np.float16)
    out = tw.interpret(
        text, "k", grid=(1,), args=[a, np.zeros((128, 128), np.float32)], level="ptx", arch="sm_90a"
    )[1]
    assert (out == sum(a[2 * i].astype(float) @ a[2 * i + 1].astype(float) for i in range(4))).all()
