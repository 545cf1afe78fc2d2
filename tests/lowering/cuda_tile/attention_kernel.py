"""Attention as Tile IR, and its operands."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from tile_ir import entry

BF16 = ml_dtypes.bfloat16
GIVEN = "%end = addi %e, %o : tile<i32>"
RISING = "%end = addi %x, %one : tile<i32>"
"""The tiles of keys that a block reads: so many as a parameter says, or one more each."""

ENDS = """
    %two = constant <i32: 2> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %first = remi %x, %three signed : tile<i32>
    %masked = divi %x, %two signed : tile<i32>
    %end = addi %first, %masked : tile<i32>
    %row = iota : tile<128xi32>
    %row1 = reshape %row : tile<128xi32> -> tile<128x1xi32>
    %rows = broadcast %row1 : tile<128x1xi32> -> tile<128x128xi32>
    %column = reshape %row : tile<128xi32> -> tile<1x128xi32>
    %never = constant <f32: 0xFF800000> : tile<128x128xf32>"""
"""Where two loops of a block end, and what the second one masks scores by."""
MASKED = """
    %j1 = reshape %j : tile<i32> -> tile<1x1xi32>
    %j128 = broadcast %j1 : tile<1x1xi32> -> tile<1x128xi32>
    %later = addi %column, %j128 : tile<1x128xi32>
    %columns = broadcast %later : tile<1x128xi32> -> tile<128x128xi32>
    %before = cmpi less_than %rows, %columns, signed : tile<128x128xi32> -> tile<128x128xi1>
    %mask = select %before, %never, %none : tile<128x128xi1>, tile<128x128xf32>
    %s1 = addf %s, %mask : tile<128x128xf32>
    %m0 = reduce %s1"""


def attention(rows: int, columns: int, depth: int, end: str, element: str = "bf16") -> str:
    """Sums of weights times values, not divided: block (x, y) has rows of matrix y, and reads tiles
    of keys and values up to the `end`. Of another element than bf16 keys of values are neighbours,
    as the tensor cores take them."""
    views, setup, align = dict[str, str](), "", 8 if element == "bf16" else 16
    for name, size in (("Q", rows), ("K", columns), ("V", columns)):
        tile = f"1x{depth}x{size}" if name == "K" else f"1x{size}x{depth}"
        lengths, extents, stride = f"%{name}_n, {depth}", f"?x{depth}", f"{depth}"
        if turned := name == "V" and element != "bf16":
            lengths, extents, stride = f"{depth}, %{name}_n", f"{depth}x?", f"%{name}_r"
        known = "?" if turned else stride
        matrix = f"tensor_view<?x{extents}x{element}, strides=[?,{known},1]>"
        order = ", dim_map=[0, 2, 1]" if turned or name == "K" else ""
        views[name] = f"partition_view<tile=({tile}), {matrix}{order}>"
        setup += f"""
    %{name}_a = assume div_by<16>, %{name}_p : tile<ptr<{element}>>
    %{name}_t = assume div_by<{align}>, %{name}_s : tile<i32>
    %{name}_r = assume div_by<{align}>, %{name}_n : tile<i32>
    %{name}_v = make_tensor_view %{name}_a, shape = [%count, {lengths}],
        strides = [%{name}_t, {stride}, 1] : tile<i32> -> {matrix}
    %{name} = make_partition_view %{name}_v : {views[name]}
"""
    out = f"tensor_view<?x?x{depth}xf32, strides=[?,{depth},1]>"
    view = f"partition_view<tile=(1x{rows}x{depth}), {out}>"
    scores, sums, line = (f"tile<{rows}x{n}xf32>" for n in (columns, depth, 1))
    body = f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
{setup}
    %O_a = assume div_by<16>, %O_p : tile<ptr<f32>>
    %O_v = make_tensor_view %O_a, shape = [%count, %Q_n, {depth}], strides = [%Q_t, {depth}, 1]
        : tile<i32> -> {out}
    %O = make_partition_view %O_v : {view}
    %zero = constant <f32: 0.0> : {sums}
    %none = constant <f32: 0.0> : {scores}
    %least = constant <f32: -1000.0> : {line}
    %q0, %t0 = load_view_tko weak %Q[%y, %x, %o] : {views["Q"]}, tile<i32>
        -> tile<1x{rows}x{depth}x{element}>, token
    %q = reshape %q0 : tile<1x{rows}x{depth}x{element}> -> tile<{rows}x{depth}x{element}>
    {end}
    %acc, %top = for %j in (%o to %end, step %one) : tile<i32>
        iter_values(%sum = %zero, %max = %least) -> ({sums}, {line}) {{
      %k0, %t1 = load_view_tko weak %K[%y, %o, %j] : {views["K"]}, tile<i32>
          -> tile<1x{depth}x{columns}x{element}>, token
      %k = reshape %k0 : tile<1x{depth}x{columns}x{element}> -> tile<{depth}x{columns}x{element}>
      %s = mmaf %q, %k, %none
          : tile<{rows}x{depth}x{element}>, tile<{depth}x{columns}x{element}>, {scores}
      %m0 = reduce %s dim=1 identities=[0xff800000 : f32] : {scores} -> tile<{rows}xf32>
      (%a: tile<f32>, %b: tile<f32>) {{
        %c = maxf %a, %b : tile<f32>
        yield %c : tile<f32>
      }}
      %m1 = reshape %m0 : tile<{rows}xf32> -> {line}
      %m = maxf %m1, %max : {line}
      %m2 = broadcast %m : {line} -> {scores}
      %d = subf %s, %m2 : {scores}
      %p0 = exp2 %d flush_to_zero : {scores}
      %f0 = subf %max, %m : {line}
      %f1 = exp2 %f0 flush_to_zero : {line}
      %f = broadcast %f1 : {line} -> {sums}
      %scaled = mulf %sum, %f : {sums}
      %v0, %t2 = load_view_tko weak %V[%y, %j, %o] : {views["V"]}, tile<i32>
          -> tile<1x{columns}x{depth}x{element}>, token
      %v = reshape %v0 : tile<1x{columns}x{depth}x{element}> -> tile<{columns}x{depth}x{element}>
      %p = ftof %p0 : {scores} -> tile<{rows}x{columns}x{element}>
      %next = mmaf %p, %v, %scaled
          : tile<{rows}x{columns}x{element}>, tile<{columns}x{depth}x{element}>, {sums}
      continue %next, %m : {sums}, {line}
    }}
    %r = reshape %acc : {sums} -> tile<1x{rows}x{depth}xf32>
    %t = store_view_tko weak %r, %O[%y, %x, %o] : tile<1x{rows}x{depth}xf32>, {view}, tile<i32>
        -> token
"""
    parameters = ", ".join(
        f"%{name}_p: tile<ptr<{element}>>, %{name}_n: tile<i32>, %{name}_s: tile<i32>"
        for name in "QKV"
    )
    return entry(f"{parameters}, %O_p: tile<ptr<f32>>, %count: tile<i32>, %e: tile<i32>", body)


def twice(text: str, begins: str, between: str = "") -> str:
    """The same loop once more behind it, which begins with such values, of what is `between`."""
    loop = text[text.index("    %acc, %top = for") : text.index("    %r = reshape %acc")]
    again = loop.replace("%acc, %top", "%acc2, %top2").replace(
        "%sum = %zero, %max = %least", begins
    )
    return text.replace(loop, loop + between + again).replace("reshape %acc :", "reshape %acc2 :")


def with_keys_by_fours(text: str, depth: int) -> str:
    """Attention whose keys are known to be a multiple of four."""
    text = text.replace("shape = [%count, %K_n", "shape = [%count, %K_r")
    text = text.replace("%K_r = assume div_by<16>", "%K_r = assume div_by<4>")
    tile = f"tile=(1x{depth}x128), "
    return text.replace(tile, f"{tile}padding_value = zero, ")


def with_sums(text: str) -> str:
    """Attention that adds the sums of a row's weights to it."""
    line, sums = "tile<128x1xf32>", "tile<128x128xf32>"
    for old, new in (
        ("%acc, %top = for", f"%nought = constant <f32: 0.0> : {line} %acc, %top, %all = for"),
        ("%max = %least)", "%max = %least, %part = %nought)"),
        (f"({sums}, {line}) {{", f"({sums}, {line}, {line}) {{"),
        ("%scaled = mulf", f"""%l0 = reduce %p0 dim=1 identities=[0.0 : f32]
          : {sums} -> tile<128xf32>
      (%a: tile<f32>, %b: tile<f32>) {{
        %c = addf %a, %b : tile<f32>
        yield %c : tile<f32>
      }}
      %l1 = reshape %l0 : tile<128xf32> -> {line}
      %l2 = mulf %part, %f1 : {line}
      %l = addf %l1, %l2 : {line}
      %scaled = mulf"""),
        ("continue %next, %m :", "continue %next, %m, %l :"),
        (f"{sums}, {line}\n    }}\n    %r", f"{sums}, {line}, {line}\n    }}\n    %r"),
        ("%r = reshape %acc", f"""%wide = broadcast %all : {line} -> {sums}
    %whole = addf %acc, %wide : {sums}
    %r = reshape %whole"""),
    ):  # fmt: skip
        text = text.replace(old, new)
    return text


def with_masks() -> str:
    """Attention of 8 bits whose last tiles of keys are masked, by a loop of their own."""
    text = with_sums(with_keys_by_fours(attention(128, 128, 128, ENDS, "f8E4M3FN"), 128))
    begin, end = text.index("%acc, %top, %all = for"), text.index("%wide = broadcast %all")
    loop, again = text[begin:end].replace("%o to %end", "%o to %first"), text[begin:end]
    for old, new in (
        ("%acc, %top, %all = for", "%acc2, %top2, %all2 = for"),
        ("%o to %end", "%first to %end"),
        ("%zero, %max = %least, %part = %nought", "%acc, %max = %top, %part = %all"),
        ("%m0 = reduce %s", MASKED),
        ("subf %s,", "subf %s1,"),
    ):
        again = again.replace(old, new)
    rest = text[end:].replace("%all", "%all2").replace("addf %acc", "addf %acc2")
    return text[:begin] + loop + again + rest


def operands(rows: int, keys: int, depth: int, count: int) -> list[NDArray[Any]]:
    """Random queries, keys and values."""
    rng = np.random.default_rng(0)
    lengths = (rows, keys, keys)
    return [rng.standard_normal((count, length, depth)).astype(BF16) for length in lengths]


def arguments(matrices: list[NDArray[Any]], end: int) -> list[Any]:
    """The arguments of the kernel, the result last of the arrays."""
    args = [part for x in matrices for part in (x, x.shape[1], x.shape[1] * x.shape[2])]
    return [*args, np.full(matrices[0].shape, np.nan, np.float32), len(matrices[0]), end]
