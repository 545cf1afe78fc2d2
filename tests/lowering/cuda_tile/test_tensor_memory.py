"""Products in tensor memory: PTX for Blackwell equals the program level."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from attention_kernel import GIVEN, arguments, attention, operands, twice
from every_op import scaled
from test_copied_loads import chained
from test_hints import hinted
from test_warpgroups import check, operand, product, whole
from tile_ir import entry, equal_as_ptx

import tilewright as tw
from tilewright.launch import ptxas
from tilewright.lowering.cuda_tile.convert_issuer import Issuer

ARCH = "sm_100a"


def test_accumulators_stay_while_stages_go_by() -> None:
    """Edges along every dimension, more steps than stages, copies that complete late; commits of
    the MMAs release the stages, nobody waits in the loop but the thread that issues."""
    text = product(("bf16", "f32"), (128, 64, 16))
    ptx = tw.compile(text, ARCH).ptx
    assert ptx.count("tcgen05.mma.cta_group::1.kind::f16") == 1 and "mma.sync" not in ptx
    assert "cp.async.bulk.tensor.2d.shared" in ptx and "tcgen05.dealloc" in ptx
    check(text, (136, 56, 216), ("bf16", "bf16", "f32"), (2, 1), schedule=3, arch=ARCH)


def test_sums_of_128_and_of_64_rows_begin_at_the_same_zeros() -> None:
    """They are written by stores of two shapes, whose fragments have two layouts."""
    tensors = {"a": (128, "f16"), "b": (64, "f16"), "p": (128, "f32"), "q": (64, "f32")}
    body, parameters, types = "", list[str](), dict[str, str]()
    for name, (rows, element) in tensors.items():
        columns, step = (64, 32) if element == "f16" else (192 - rows, 192 - rows)
        tensor = f"tensor_view<{rows}x{columns}x{element}, strides=[{columns},1]>"
        types[name] = f"partition_view<tile=({rows}x{step}), {tensor}>"
        parameters.append(f"%{name}: tile<ptr<{element}>>")
        body += f"""
    %{name}_a = assume div_by<16>, %{name} : tile<ptr<{element}>>
    %{name}_v = make_tensor_view %{name}_a, shape = [{rows}, {columns}], strides = [{columns}, 1]
        : {tensor}
    %{name}_t = make_partition_view %{name}_v : {types[name]}
"""
    body += f"""
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %zp = constant <f32: 0.0> : tile<128x64xf32>
    %zq = constant <f32: 0.0> : tile<64x128xf32>
    %sp, %sq = for %k in (%o to %two, step %one) : tile<i32> iter_values(%cp = %zp, %cq = %zq)
        -> (tile<128x64xf32>, tile<64x128xf32>) {{
      %x, %t0 = load_view_tko weak %a_t[%o, %k] : {types["a"]}, tile<i32> -> tile<128x32xf16>, token
      %y, %t1 = load_view_tko weak %b_t[%o, %k] : {types["b"]}, tile<i32> -> tile<64x32xf16>, token
      %xt = permute %x [1, 0] : tile<128x32xf16> -> tile<32x128xf16>
      %yt = permute %y [1, 0] : tile<64x32xf16> -> tile<32x64xf16>
      %np = mmaf %x, %yt, %cp : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
      %nq = mmaf %y, %xt, %cq : tile<64x32xf16>, tile<32x128xf16>, tile<64x128xf32>
      continue %np, %nq : tile<128x64xf32>, tile<64x128xf32>
    }}
    %u = store_view_tko weak %sp, %p_t[%o, %o] : tile<128x64xf32>, {types["p"]}, tile<i32> -> token
    %v = store_view_tko weak %sq, %q_t[%o, %o] : tile<64x128xf32>, {types["q"]}, tile<i32> -> token
"""
    a, b = operand(128, 64, "f16"), operand(64, 64, "f16")
    out = [np.zeros((128, 64), np.float32), np.zeros((64, 128), np.float32)]
    options: dict[str, Any] = {"grid": (1,), "args": [a, b, *out], "arch": ARCH}
    text = entry(", ".join(parameters), body)
    assert "tcgen05.mma" in tw.compile(text, ARCH).ptx
    want = tw.interpret(text, "k", **options)[2:]
    got = tw.interpret(text, "k", level="ptx", schedule=1, **options)[2:]
    assert all((x == y).all() and x.any() for x, y in zip(got, want, strict=True))


@pytest.mark.parametrize(
    "rows, occupancy, mmas, threads", [(256, 8, 4, 256 + 2 * 32), (64, 20, 2, 128)]
)
def test_rows_in_turns_where_columns_are_few(
    rows: int, occupancy: int, mmas: int, threads: int
) -> None:
    """Attention by 256 rows, whose weights have columns where the scores of one half follow those
    of the other, a warp copies and one issues; by 64, whose sums have more than a twentieth of all
    columns."""
    text = hinted(attention(rows, 16, 16, GIVEN), f"occupancy = {occupancy}")
    text = text.replace("sm_90", "default")
    kernel = tw.compile(text, ARCH)
    assert "tensor-memory" not in {remark.kind for remark in kernel.remarks}
    assert kernel.ptx.count("tcgen05.mma") == mmas
    assert kernel.entry().block == (threads, 1, 1)
    options: dict[str, Any] = {
        "grid": (1, 1), "args": arguments(operands(rows, 32, 16, 1), 2), "arch": ARCH,
    }  # fmt: skip
    equal_as_ptx(text, **options)


@pytest.mark.parametrize(
    "rows, depth, occupancy, kept", [(256, 64, 1, 56), (256, 128, 1, 88), (128, 64, 2, 32)]
)
def test_registers_of_who_copies_hold_scores(
    rows: int, depth: int, occupancy: int, kept: int
) -> None:
    """Rows of 128 scores, a thread's: a warpgroup copies and issues, and gives up registers. Two
    CTAs of 128 rows have one that computes, as two leave none for warps of their own."""
    text = hinted(attention(rows, 128, depth, GIVEN), f"occupancy = {occupancy}")
    text = text.replace("sm_90", "default")
    kernel = tw.compile(text, ARCH)
    assert kernel.entry().block == (rows + 128, 1, 1) and "tcgen05.mma" in kernel.ptx
    assert kernel.ptx.count("setmaxnreg.inc") == 1
    assert f"setmaxnreg.dec.sync.aligned.u32 {kept};" in kernel.ptx
    assert f".minnctapersm {occupancy}\n" in kernel.ptx
    report = ptxas.assemble(kernel.ptx, ARCH)
    assert report.clean and report.kernels["k"].spill_stores == 0
    options: dict[str, Any] = {
        "grid": (1, 1), "args": arguments(operands(rows, 256, depth, 1), 2), "arch": ARCH,
    }  # fmt: skip
    equal_as_ptx(text, schedule=1, **options)


@pytest.mark.parametrize(
    "types, tile, order, kind",
    [
        (("f16", "f16"), (64, 32, 32), "", "f16"),
        (("f8E4M3FN", "f32"), (64, 32, 64), "columns", "f8f6f4"),
        (("f8E5M2", "f32"), (128, 32, 32), "", "f8f6f4"),
        (("f8E4M3FN", "f16"), (64, 32, 32), "columns", "f8f6f4"),
        (("i8", "i32"), (64, 8, 32), "columns", "i8"),
        (("bf16", "f32"), (256, 64, 32), "", "f16"),
    ],
)
def test_types_and_orders(
    types: tuple[str, str], tile: tuple[int, int, int], order: str, kind: str
) -> None:
    """Bytes of B may lie along N; of 64 rows a thread has half of one."""
    m, n, k = tile
    text = product(types, tile, b_order=order)
    ptx = tw.compile(text, ARCH).ptx
    assert f"tcgen05.mma.cta_group::1.kind::{kind}" in ptx and "cp.async.bulk.tensor" in ptx
    sizes = m, n, 2 * k + 16
    check(text, sizes, (types[0], *types), (1, 1), b_order=order, arch=ARCH)


def test_converted_operands_come_ahead() -> None:
    text = product(("tf32", "f32"), (64, 32, 32), convert="f32")
    assert "kind::tf32" in tw.compile(text, ARCH).ptx
    check(text, (64, 32, 72), ("f32", "f32", "f32"), (1, 1), arch=ARCH)


@pytest.mark.parametrize(
    "columns, order, turned", [(16, "", True), (64, "", False), (64, "columns", False)]
)
def test_tf32_is_multiplied_where_tma_puts_it(columns: int, order: str, *, turned: bool) -> None:
    """Rows of B, N contiguous, in a swizzle that keeps 32 bytes together, if they have 128 bytes;
    shorter ones threads turn."""
    text = product(("tf32", "f32"), (128, columns, 32), b_order=order, convert="f32")
    ptx = tw.compile(text, ARCH).ptx
    assert ("st.shared" in ptx) == turned and "kind::tf32" in ptx
    check(text, (136, columns + 8, 72), ("f32",) * 3, (2, 2), schedule=3, b_order=order, arch=ARCH)


def test_columns_serve_tile_after_tile() -> None:
    text = product(("bf16", "f32"), (64, 32, 32), persistent=True)
    check(text, (192, 32, 136), ("bf16", "bf16", "f32"), (2, 1), schedule=1, arch=ARCH)


def test_sums_may_begin_with_c() -> None:
    text = product(("bf16", "f32"), (64, 128, 32), more=True)
    assert "tcgen05.st" in tw.compile(text, ARCH).ptx
    check(text, (64, 128, 40), ("bf16", "bf16", "f32"), (1, 1), arch=ARCH)


def square(body: str, rows: int = 64, columns: int = 32) -> str:
    """A @k whose %a is 64x32, %b 32x32 and %c 64x32 of its arguments, and which stores the %d that
    a body computes."""
    tiles = {"a": (rows, 32, "f16"), "b": (32, columns, "f16"), "c": (rows, columns, "f32")}
    text = ""
    for name, (m, n, element) in [*tiles.items(), ("d", tiles["c"])]:
        text += f"""
    %{name}_v = make_tensor_view %{name}_p, shape = [{m}, {n}], strides = [{n}, 1]
        : tensor_view<{m}x{n}x{element}, strides=[{n},1]>
    %{name}_w = make_partition_view %{name}_v
        : partition_view<tile=({m}x{n}), tensor_view<{m}x{n}x{element}, strides=[{n},1]>>
"""
    text += "    %o = constant <i32: 0> : tile<i32>\n"
    for name, (m, n, element) in tiles.items():
        text += f"""    %{name}, %{name}_t = load_view_tko weak %{name}_w[%o, %o]
        : partition_view<tile=({m}x{n}), tensor_view<{m}x{n}x{element}, strides=[{n},1]>>,
          tile<i32> -> tile<{m}x{n}x{element}>, token
"""
    m, n, element = tiles["c"]
    store = f"""
    %t = store_view_tko weak %d, %d_w[%o, %o] : tile<{m}x{n}x{element}>,
        partition_view<tile=({m}x{n}), tensor_view<{m}x{n}x{element}, strides=[{n},1]>>, tile<i32>
        -> token
"""
    names = ", ".join(f"%{x}_p: tile<ptr<{'f32' if x in 'cd' else 'f16'}>>" for x in "abcd")
    return entry(names, text + body + store)


MMA = ": tile<64x32xf16>, tile<32x32xf16>, tile<64x32xf32>"
F32 = ": tile<64x32xf32>"
BODIES = {
    # C is needed again behind the product that writes over its columns.
    "kept": f"""
    %x = mmaf %a, %b, %c {MMA}
    %y = mmaf %a, %b, %x {MMA}
    %d = subf %y, %x {F32}
""",
    # What a loop carries is changed by threads before it is added to, and read behind the product.
    "changed": f"""
    %one = constant <i32: 1> : tile<i32>
    %n = constant <i32: 3> : tile<i32>
    %zero = constant <f32: 0.0> : tile<64x32xf32>
    %half = constant <f32: 0.5> : tile<64x32xf32>
    %s, %r = for %i in (%o to %n, step %one) : tile<i32> iter_values(%acc = %zero, %m = %c)
        -> (tile<64x32xf32>, tile<64x32xf32>) {{
      %less = mulf %acc, %half {F32}
      %next = mmaf %a, %b, %less {MMA}
      %more = addf %m, %acc {F32}
      continue %next, %more : tile<64x32xf32>, tile<64x32xf32>
    }}
    %d = addf %s, %r {F32}
""",
    # One product's result is another one's A, and both are in flight from turn to turn.
    "chained": f"""
    %one = constant <i32: 1> : tile<i32>
    %n = constant <i32: 3> : tile<i32>
    %zero = constant <f32: 0.0> : tile<64x32xf32>
    %d = for %i in (%o to %n, step %one) : tile<i32> iter_values(%acc = %c)
        -> (tile<64x32xf32>) {{
      %s = mmaf %a, %b, %zero {MMA}
      %p = ftof %s : tile<64x32xf32> -> tile<64x32xf16>
      %next = mmaf %p, %b, %acc {MMA}
      continue %next : tile<64x32xf32>
    }}
""",
    # Sums of 64 rows and of 128 begin with as many zeros in a thread, which lie otherwise.
    "forms": f"""
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <f32: 0.0> : tile<64x32xf32>
    %none = constant <f32: 0.0> : tile<128x16xf32>
    %two = cat %a, %a dim = 0 : tile<64x32xf16>, tile<64x32xf16> -> tile<128x32xf16>
    %half = extract %b[%o, %o] : tile<32x32xf16> -> tile<32x16xf16>
    %s, %r = for %i in (%o to %one, step %one) : tile<i32> iter_values(%x = %zero, %y = %none)
        -> (tile<64x32xf32>, tile<128x16xf32>) {{
      %less = subf %x, %x {F32}
      %next = mmaf %a, %b, %less {MMA}
      %last = subf %y, %y : tile<128x16xf32>
      %more = mmaf %two, %half, %last : tile<128x32xf16>, tile<32x16xf16>, tile<128x16xf32>
      continue %next, %more : tile<64x32xf32>, tile<128x16xf32>
    }}
    %e = reshape %r : tile<128x16xf32> -> tile<64x32xf32>
    %d = addf %s, %e {F32}
""",
    # Two values of one loop that come from one product, a loop that does not run, and a branch.
    "twice": f"""
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <f32: 0.0> : tile<64x32xf32>
    %s, %r = for %i in (%o to %one, step %one) : tile<i32> iter_values(%x = %zero, %y = %c)
        -> (tile<64x32xf32>, tile<64x32xf32>) {{
      %sum = addf %x, %y {F32}
      %next = mmaf %a, %b, %sum {MMA}
      continue %next, %next : tile<64x32xf32>, tile<64x32xf32>
    }}
    %e = for %i in (%one to %o, step %one) : tile<i32> iter_values(%x = %s) -> (tile<64x32xf32>) {{
      %next = mmaf %a, %b, %x {MMA}
      continue %next : tile<64x32xf32>
    }}
    %yes = cmpi equal %o, %one, signed : tile<i32> -> tile<i1>
    %d = if %yes -> (tile<64x32xf32>) {{
      yield %e : tile<64x32xf32>
    }} else {{
      %f = addf %e, %r {F32}
      yield %f : tile<64x32xf32>
    }}
""",
}


@pytest.mark.parametrize("name", BODIES)
def test_values_outlive_their_columns(name: str) -> None:
    """Tiles are values: what is read after its columns are written anew is loaded before."""
    text, rng = square(BODIES[name]), np.random.default_rng(0)
    args: list[Any] = [rng.standard_normal(shape).astype(np.float16) for shape in ((64, 32),)]
    args.append(rng.standard_normal((32, 32)).astype(np.float16))
    args.append(rng.standard_normal((64, 32)).astype(np.float32))
    args.append(np.zeros((64, 32), np.float32))
    options: dict[str, Any] = {"grid": (1,), "args": args, "arch": ARCH}
    assert "tcgen05.mma" in tw.compile(text, ARCH).ptx
    assert equal_as_ptx(text, place=3, schedule=2, **options).any()


@pytest.mark.parametrize(
    "element, scale, block, kind, k",
    [
        ("f8E4M3FN", "f8E8M0FNU", 32, "mxf8f6f4.block_scale.block32", 128),
        ("f4E2M1FN", "f8E8M0FNU", 32, "mxf4.block_scale.block32", 64),
        ("f4E2M1FN", "f8E4M3FN", 16, "mxf4nvf4.block_scale.block16", 128),
    ],
)
def test_scale_factors_are_beside_the_sums(
    element: str, scale: str, block: int, kind: str, k: int
) -> None:
    """Twice: the factors are laid down anew once those before have been read."""
    case = scaled(element, scale, block, 128, 32, k)
    begin = case.body.index("%r = mmaf_scaled")
    end = case.body.index("\n", begin)
    once, rest = case.body[begin:end], case.body[end:]
    body = f"""{case.body[:begin]}
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %r = for %i in (%o to %two, step %one) : tile<i32> iter_values(%acc = %c)
        -> (tile<128x32xf32>) {{
      {once.replace("%r", "%next").replace("%c,", "%acc,")}
      continue %next : tile<128x32xf32>
    }}
{rest}"""
    text, args = entry(case.parameters, body), case.arguments()
    kernel = tw.compile(text, ARCH)
    assert f"kind::{kind} " in kernel.ptx and "mma.sync" not in kernel.ptx
    options: dict[str, Any] = {"grid": (1,), "args": args, "arch": ARCH}
    assert equal_as_ptx(text, schedule=2, **options).any()


@pytest.mark.parametrize("result", ["f32", "f16"])
def test_all_columns_leave_registers(result: str) -> None:
    """256x256 sums: a warp copies, one issues, threads load what they store in their turn, and MMAs
    of the next tile wait for the last load."""
    text = whole(product(("f16", result), (256, 256, 16), persistent=True))
    kernel = tw.compile(text, ARCH)
    assert kernel.entry().block == (320, 1, 1)
    report = ptxas.assemble(kernel.ptx, ARCH).kernels["k"]
    assert report.spill_stores == 0 and report.registers <= 160
    _, *loads, last = kernel.ptx.split("tcgen05.ld.")
    assert any("st.shared" in text for text in loads) and "mbarrier.arrive" in last
    assert not any("mbarrier.arrive" in text for text in loads)
    check(text, (504, 256, 24), ("f16", "f16", result), (1, 1), schedule=2, arch=ARCH)


@pytest.mark.parametrize("arch", ["sm_100a", "sm_103a", "sm_110a"])
def test_no_warnings_no_spills(arch: str) -> None:
    kernel = tw.compile(product(("bf16", "f32"), (128, 256, 64)), arch)
    report = ptxas.assemble(kernel.ptx, arch)
    assert report.ok and not report.warnings and "tcgen05.mma" in kernel.ptx
    assert report.kernels["k"].spill_stores == 0
    assert kernel.entry().block == (320, 1, 1)


def test_what_has_no_room_says_so() -> None:
    """Of a kernel that is one's: half of it would print, too."""
    text = product(("bf16", "f32"), (256, 512, 16))
    text = text.replace("    %gx,", '    %p = print_tko "" -> token\n    %gx,')
    kernel = tw.compile(text, ARCH)
    assert "tcgen05" not in kernel.ptx
    assert [remark.text for remark in kernel.remarks if remark.kind == "tensor-memory"] == [
        "'cuda_tile.mmaf' has no accumulators in tensor memory: 1024 columns more than 0 of 512 "
        "are taken"
    ]


def test_a_tensor_without_elements_has_a_map() -> None:
    """K = 0: nothing is multiplied, the sums are zeros."""
    text = product(("bf16", "f32"), (64, 32, 32))
    args: list[Any] = [np.zeros(8, ml_dtypes.bfloat16), 8] * 2
    c = np.ones((64, 32), np.float32)
    args = [*args, c, 32, 64, 32, 0]
    got = tw.interpret(text, "k", grid=(1, 1), args=args, level="ptx", arch=ARCH)[2]
    assert (got == 0).all()


@pytest.mark.parametrize(
    "rows, keys, element", [(128, 32, "f16"), (256, 64, "bf16"), (64, 64, "bf16"), (64, 32, "f16")]
)
def test_weights_stay_in_tensor_memory(rows: int, keys: int, element: str) -> None:
    """O = sum over j of (Q K_j^T) V_j: threads store what they make of the first product to where
    the second one reads its A; one warp copies, one issues."""
    text = chained(rows, keys, element)
    kernel = tw.compile(text, ARCH)
    assert "st.shared" not in kernel.ptx.partition("tcgen05.wait::ld")[0]
    assert kernel.ptx.count("tcgen05.mma") == max(rows // 128, 1) * (2 + keys // 16)
    assert re.search(r"tcgen05\.mma\S+ \[%r\d+\], \[%r\d+\]", kernel.ptx)
    q, k, v = (operand(n, 32, element) for n in (rows, 136, 136))
    args = [part for x in (q, k, v, np.zeros((rows, 32), np.float32)) for part in (x, 32)]
    options: dict[str, Any] = {"grid": (1,), "args": [*args, rows, 136, 32], "arch": ARCH}
    assert equal_as_ptx(text, place=3, **options).any()


@pytest.mark.parametrize("rows", [64, 128])
def test_weights_of_8_bits_stay_in_tensor_memory(rows: int) -> None:
    """Four of them are a word of a lane."""
    text = attention(rows, 64, 64, GIVEN, "f8E4M3FN")
    ptx = tw.compile(text, ARCH).ptx
    assert re.search(r"kind::f8f6f4 \[%r\d+\], \[%r\d+\]", ptx)
    q, k, v = (x.astype(ml_dtypes.float8_e4m3fn) for x in operands(rows, 128, 64, 1))
    args = arguments([q, k, v], 2)
    args[6] = np.ascontiguousarray(v.swapaxes(1, 2))
    assert equal_as_ptx(text, grid=(1, 1), args=args, arch=ARCH).any()


def test_loops_share_columns_of_sums_and_weights() -> None:
    """The second loop's sums begin, with what threads make of them, where the first one's are."""
    double = "%double = addf %acc, %acc : tile<128x64xf32>\n"
    text = twice(attention(128, 128, 64, GIVEN), "%sum = %double, %max = %top", double)
    ptx = tw.compile(text, ARCH).ptx
    assert re.search(r"tcgen05\.alloc\S+ \S+ 256;", ptx) and ptx.count("tcgen05.mma") == 2 * 12
    args = arguments(operands(128, 256, 64, 1), 2)
    assert equal_as_ptx(text, schedule=1, grid=(1, 1), args=args, arch=ARCH).any()


def test_a_warp_issues_while_threads_store() -> None:
    """Of a tile's epilogue the next tile's MMAs wait for the loads of accumulators alone."""
    text = whole(product(("bf16", "f32"), (128, 64, 32), persistent=True))
    kernel = tw.compile(text, ARCH)
    assert kernel.entry().block == (320, 1, 1)
    *_, issuer = kernel.ptx.partition("tcgen05.mma")[0].split("cp.async.bulk.tensor.2d.shared")
    loop = kernel.ptx.partition("tcgen05.ld")[2]
    assert "mbarrier.try_wait" in issuer and "tcgen05.mma" not in loop
    assert loop.index("mbarrier.arrive") < loop.index("st.shared") < loop.index("tcgen05.dealloc")
    check(text, (384, 64, 136), ("bf16", "bf16", "f32"), (2, 1), schedule=1, arch=ARCH)


@pytest.mark.parametrize(
    "types, tile, tiles", [(("f16", "f16"), (64, 32, 32), 5), (("bf16", "f32"), (256, 64, 32), 4)]
)
def test_tiles_take_turns(
    types: tuple[str, str], tile: tuple[int, int, int], tiles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two stages of sums: MMAs of a tile wait for who read the sums of the last but one."""
    text = product(types, tile, persistent=True)
    columns = max(tile[0] // 128, 1) * tile[1]
    assert f"{2 * columns};" in tw.compile(text, ARCH).ptx.partition("tcgen05.alloc")[2][:99]
    sizes = tile[0] * tiles, tile[1], 2 * tile[2] - 8
    check(text, sizes, (types[0], *types), (1, 1), schedule=2, arch=ARCH)
    monkeypatch.setattr(Issuer, "wait", lambda issuer: issuer.kernel.tensor.next_stage())
    with pytest.raises(tw.ExecutionError, match=r"that 'ptx.tcgen05.ld' at .* reads"):
        check(text, sizes, (types[0], *types), (1, 1), schedule=1, arch=ARCH)


def test_sums_without_room_for_two_take_no_turns() -> None:
    """Two CTAs have half of the columns each."""
    text, counts = product(("bf16", "f32"), (128, 256, 16), persistent=True), list[int]()
    for hint in ("occupancy = 1", "occupancy = 2"):
        kernel = tw.compile(hinted(text, hint).replace("sm_90 =", "default ="), ARCH)
        counts.append(kernel.ptx.partition("fence.mbarrier_init")[0].count("mbarrier.init.s"))
    assert counts == [4, 2]
