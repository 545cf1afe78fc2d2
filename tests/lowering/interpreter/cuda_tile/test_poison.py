"""Elements that Tile IR leaves undefined: whence they come, how they go on, where they matter."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from run_levels import at_levels
from tile_ir import entry, row, run

import tilewright as tw
from tilewright.lowering.interpreter.cuda_tile.blocks import CARRIES, RULES

TENSOR = "tensor_view<5xi32, strides=[1]>"
VIEW = f"partition_view<tile=(8), {TENSOR}>"
T, B = "tile<8xi32>", "tile<8xi1>"
VIEWS = f"""
    %zero = constant <i32: 0> : tile<i32>
    %tensor = make_tensor_view %x, shape = [5], strides = [1] : {TENSOR}
    %view = make_partition_view %tensor : {VIEW}
"""
MASK = f"""
    %i = iota : {T}
    %five = constant <i32: 5> : {T}
    %inside = cmpi less_than %i, %five, signed : {T} -> {B}
    %zeros = constant <i32: 0> : {T}
"""
ORIGINS = {
    "padding": (
        f"""
    %v, %t0 = load_view_tko weak %view[%zero] : {VIEW}, tile<i32> -> {T}, token
""",
        "undetermined padding",
    ),
    "mask": (
        f"""{row("at", "x", "i32", 8)}
    %v, %t0 = load_ptr_tko weak %at, %inside : tile<8xptr<i32>>, {B} -> {T}, token
""",
        "what a mask leaves out",
    ),
    "atomic": (
        f"""{row("at", "x", "i32", 8)}
    %v, %t0 = atomic_rmw_tko relaxed device %at, add, %zeros, %inside : tile<8xptr<i32>>, {T}, {B}
        -> {T}, token
""",
        "what a mask leaves out",
    ),
    "memory": (
        f"""
    %memory = alloca num_elem = 8, alignment = 16 : tile<ptr<i32>>
{row("at", "memory", "i32", 8)}
    %t9 = store_ptr_tko weak %at, %i, %inside : tile<8xptr<i32>>, {T}, {B} -> token
    %v, %t0 = load_ptr_tko weak %at token = %t9 : tile<8xptr<i32>> -> {T}, token
""",
        "memory that nothing has written",
    ),
}
"""Loads of %v, of which the elements from 5 on are undefined, and what they are called."""
LAST = f"""
    %seven = constant <i32: 7> : tile<i32>
    %part = extract %v[%seven] : {T} -> tile<1xi32>
    %one = reshape %part : tile<1xi32> -> tile<i32>
    %odd = trunci %one : tile<i32> -> tile<i1>
"""
ADDRESSES = f"""
    %base = reshape %o : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bases = broadcast %base : tile<1xptr<i32>> -> tile<8xptr<i32>>
    %to = offset %bases, %v : tile<8xptr<i32>>, {T} -> tile<8xptr<i32>>
"""
USES = {
    "values to store": f"""{row("out", "o", "i32", 8)}
    %t1 = store_ptr_tko weak %out, %v : tile<8xptr<i32>>, {T} -> token
""",
    "values to store of a view": f"""
    %whole = make_tensor_view %o, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %tiles = make_partition_view %whole : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %t1 = store_view_tko weak %v, %tiles[%zero] : {T},
        partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
""",
    "a condition": LAST + "    if %odd { %c = constant <i32: 0> : tile<i32> }\n",
    "bounds of a loop": LAST
    + """
    %step = constant <i32: 1> : tile<i32>
    for %k in (%zero to %one, step %step) : tile<i32> { continue }
""",
    "addresses": ADDRESSES
    + f"    %r, %t1 = load_ptr_tko weak %to : tile<8xptr<i32>> -> {T}, token\n",
    "addresses to store to": ADDRESSES
    + f"    %t1 = store_ptr_tko weak %to, %zeros : tile<8xptr<i32>>, {T} -> token\n",
    "a mask": f"""{row("out", "o", "i32", 8)}
    %mask = cmpi equal %v, %zeros, signed : {T} -> {B}
    %t1 = store_ptr_tko weak %out, %zeros, %mask : tile<8xptr<i32>>, {T}, {B} -> token
""",
    "indices": LAST + f"""
    %r, %t1 = load_view_tko weak %view[%one] : {VIEW}, tile<i32> -> {T}, token
""",
    "indices of a part": LAST + f"    %r = extract %i[%one] : {T} -> tile<1xi32>\n",
    "operands of an atomic": f"""{row("out", "o", "i32", 8)}
    %r, %t1 = atomic_rmw_tko relaxed device %out, add, %v : tile<8xptr<i32>>, {T} -> {T}, token
""",
    "operands": LAST + """
    %r = make_tensor_view %x, shape = [%one], strides = [1] : tile<i32>
        -> tensor_view<?xi32, strides=[1]>
""",
    "operands of a check": f"""
    %mask = cmpi greater_than_or_equal %v, %zeros, signed : {T} -> {B}
    assert %mask, "zeros" : {B}
""",
}  # fmt: skip
"""Where it matters, beginning with what the error calls it."""
PARAMETERS = "%x: tile<ptr<i32>>, %o: tile<ptr<i32>>"


def arrays(count: int = 5) -> list[Any]:
    return [np.zeros(count, np.int32), np.full(8, 7, np.int32)]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("origin", ORIGINS)
def test_where_it_takes_effect_it_is_an_error(origin: str, use: str):
    text, words = ORIGINS[origin]
    body = VIEWS + MASK + text + USES[use]
    what = use.partition(" of a ")[0].partition(" to store to")[0]
    with pytest.raises(tw.ExecutionError) as raised:
        run(PARAMETERS, body, arrays())
    first, *_ = said = str(raised.value).splitlines()
    assert f" expected {what}" in first and f" that Tile IR determines, got {words}" in first
    note = next(line for line in said if line.startswith("note: it is from "))
    load = next(line for line in said[said.index(note) :] if "%v, %t0 = " in line)
    number = entry(PARAMETERS, body).splitlines().index(load) + 1
    assert f" at <string>:{number}:" in note
    run(PARAMETERS, body, arrays(), check="integers", races="ignore")


GOOD = {
    "a select that leaves it out": f"    %r = select %inside, %v, %zeros : {B}, {T}\n",
    "a mask that leaves it out, and a select": f"""
    %odd = cmpi not_equal %v, %zeros, signed : {T} -> {B}
    %both = andi %inside, %odd : {B}
    %r = select %both, %v, %zeros : {B}, {T}
""",
    "bits set all the same": f"""
    %all = constant <i32: -1> : {T}
    %rest = select %inside, %zeros, %all : {B}, {T}
    %set = ori %v, %rest : {T}
    %r = xori %set, %rest : {T}
""",
    "a scan": f"""
    %s = scan %v dim = 0 reverse=false identities = [0 : i32] : {T} -> {T}
      (%a: tile<i32>, %b: tile<i32>) {{ %c = addi %a, %b : tile<i32>
      yield %c : tile<i32> }}
    %r = select %inside, %s, %zeros : {B}, {T}
""",
    "a loop": f"""
    %end = constant <i32: 3> : tile<i32>
    %step = constant <i32: 1> : tile<i32>
    %s = for %k in (%zero to %end, step %step) : tile<i32> iter_values(%acc = %zeros) -> ({T}) {{
      %n = addi %acc, %v : {T}
      continue %n : {T}
    }}
    %r = select %inside, %s, %zeros : {B}, {T}
""",
}  # fmt: skip


@pytest.mark.parametrize("way", GOOD)
@pytest.mark.parametrize("origin", ORIGINS)
def test_what_is_left_out_matters_to_nobody(origin: str, way: str):
    body = VIEWS + MASK + ORIGINS[origin][0] + GOOD[way] + row("out", "o", "i32", 8)
    body += f"    %t1 = store_ptr_tko weak %out, %r : tile<8xptr<i32>>, {T} -> token\n"
    got = run(PARAMETERS, body, arrays())[1]
    want = np.array([0, 1, 2, 3, 4] if origin == "memory" else [0] * 5)
    want = {"a loop": 3 * want, "a scan": np.cumsum(want)}.get(way, want)
    assert got.tolist() == [*want, 0, 0, 0]


def test_what_lies_beyond_the_end_goes_there():
    """Of 3 blocks on 20 elements the last has padding, whose results are not stored; in an array of
    24 they would be."""

    def ran(room: int) -> Any:
        body = "    %bx, %by, %bz = get_tile_block_id : tile<i32>"
        for name, size in (("x", 20), ("o", room)):
            tensor = f"tensor_view<{size}xf32, strides=[1]>"
            view = f"partition_view<tile=(8), {tensor}>"
            body += f"""
    %{name}t = make_tensor_view %{name}, shape = [{size}], strides = [1] : {tensor}
    %{name}v = make_partition_view %{name}t : {view}"""
            if name == "x":
                body += f"""
    %v, %t0 = load_view_tko weak %xv[%bx] : {view}, tile<i32> -> tile<8xf32>, token
    %e = exp %v : tile<8xf32>
    %r = addf %e, %v rounding<nearest_even> : tile<8xf32>"""
        body += f"""
    %t1 = store_view_tko weak %r, %ov[%bx] : tile<8xf32>, {view}, tile<i32> -> token
"""
        args = [x, np.zeros(room, np.float32)]
        return run("%x: tile<ptr<f32>>, %o: tile<ptr<f32>>", body, args, grid=(3,))[1]

    x = np.linspace(-1, 1, 20, dtype=np.float32)
    assert_allclose(ran(20), np.exp(x) + x, rtol=1e-6)
    with pytest.raises(tw.ExecutionError, match=r"padding at index \(4\).* \(block \(2, 0, 0\)\)"):
        ran(24)


def test_print_says_what_is_undefined(capsys: pytest.CaptureFixture[str]):
    body = VIEWS + ORIGINS["padding"][0] + '    %t1 = print_tko "%d|", %v : tile<8xi32> -> token\n'
    run(PARAMETERS, body, arrays())
    said = capsys.readouterr().out
    assert said == f"[{', '.join(['0'] * 5 + ['undefined'] * 3)}]|"


def test_a_gather_whose_rows_are_undefined_gives_undefined_ones():
    """Rows of numbers that nothing determines are read nowhere: the result is all that is open."""
    tensor = "tensor_view<5x4xi32, strides=[4,1]>"
    view = f"gather_scatter_view<tile=(8x4), {tensor}, sparse_dim=0>"
    t = "tile<8x4xi32>"
    body = f"""{VIEWS}{MASK}{ORIGINS["padding"][0]}
    %table = make_tensor_view %p, shape = [5, 4], strides = [4, 1] : {tensor}
    %rows = make_gather_scatter_view %table : {view}
    %g, %t1 = load_view_tko weak %rows[%v, %zero] : {view}, {T}, tile<i32> -> {t}, token
    %m = reshape %inside : {B} -> tile<8x1xi1>
    %mask = broadcast %m : tile<8x1xi1> -> tile<8x4xi1>
    %none = constant <i32: 0> : {t}
    %r = select %mask, %g, %none : tile<8x4xi1>, {t}
    %out = make_tensor_view %o, shape = [8, 4], strides = [4, 1]
        : tensor_view<8x4xi32, strides=[4,1]>
    %tiles = make_partition_view %out
        : partition_view<tile=(8x4), tensor_view<8x4xi32, strides=[4,1]>>
    %t2 = store_view_tko weak %r, %tiles[%zero, %zero] : {t},
        partition_view<tile=(8x4), tensor_view<8x4xi32, strides=[4,1]>>, tile<i32> -> token
"""
    parameters = f"{PARAMETERS}, %p: tile<ptr<i32>>"
    rows, table = np.array([4, 0, 3, 3, 1], np.int32), np.arange(20, dtype=np.int32)
    args = [rows, np.zeros(32, np.int32), table]
    got = run(parameters, body, args)[1].reshape(8, 4)
    assert_array_equal(got[:5], table.reshape(5, 4)[rows])
    with pytest.raises(tw.ExecutionError, match=r"padding at index \(5, 0\)"):
        run(parameters, body.replace("weak %r, %tiles", "weak %g, %tiles"), args)


def test_every_op_says_what_it_does_to_poison():
    """Ops without a row take whole values, or none of tiles: views, tokens, what acts."""
    silent = {op.name.removeprefix("cuda_tile.") for op in RULES.keys() - CARRIES.keys()}
    assert silent == {
        *("make_tensor_view", "make_partition_view", "make_strided_view"),
        *("make_gather_scatter_view", "get_tensor_shape", "get_index_space_shape", "get_global"),
        *("get_tile_block_id", "get_num_tile_blocks", "iota", "alloca", "make_token"),
        *("join_tokens", "memory_fence_alias_tko", "gdc_wait_tko", "gdc_launch_dependents_tko"),
        *("if", "for", "loop", "assert", "print_tko", "scan"),
        *("load_ptr_tko", "store_ptr_tko", "atomic_rmw_tko", "atomic_cas_tko"),
        *("load_view_tko", "store_view_tko", "atomic_red_view_tko", "multimem_store_view_tko"),
        *("multimem_load_reduce_view_tko", "multimem_reduce_view_tko", "special_register_tko"),
    }


def test_a_region_that_takes_from_outside():
    """A fold lane by lane: the sums of rows that have no poison are known."""
    t = "tile<4x2xi32>"
    body = f"""{VIEWS}{MASK}{ORIGINS["padding"][0]}
    %two = constant <i32: 2> : tile<i32>
    %m = reshape %v : {T} -> {t}
    %sums = reduce %m dim = 1 identities = [0 : i32] : {t} -> tile<4xi32>
      (%a: tile<i32>, %b: tile<i32>) {{ %c = muli %b, %two : tile<i32>
      %d = addi %a, %c : tile<i32>
      yield %d : tile<i32> }}
{row("out", "o", "i32", 4)}
    %four = iota : tile<4xi32>
    %end = constant <i32: 2> : tile<4xi32>
    %mask = cmpi less_than %four, %end, signed : tile<4xi32> -> tile<4xi1>
    %t1 = store_ptr_tko weak %out, %sums, %mask : tile<4xptr<i32>>, tile<4xi32>, tile<4xi1> -> token
"""
    args = [np.arange(5, dtype=np.int32), np.zeros(8, np.int32)]
    assert run(PARAMETERS, body, args)[1][:4].tolist() == [2, 8, 0, 0]
    with pytest.raises(tw.ExecutionError, match=r"undetermined padding at index \(2\)"):
        run(PARAMETERS, body.replace("%end = constant <i32: 2>", "%end = constant <i32: 3>"), args)


@pytest.mark.parametrize("wrong", [False, True])
def test_blocks_whose_tensors_are_not_of_one_array(wrong: bool):
    """Block 0 copies 5 elements of one array, block 1 of another; both tiles have padding."""
    p, size = "tile<ptr<i32>>", 8 if wrong else 5
    out = f"tensor_view<{size}xi32, strides=[1]>"
    body = f"""
    %bx, %by, %bz = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %first = cmpi equal %bx, %zero, signed : tile<i32> -> tile<i1>
    %from = select %first, %x, %y : tile<i1>, {p}
    %to = select %first, %o, %q : tile<i1>, {p}
    %tensor = make_tensor_view %from, shape = [5], strides = [1] : {TENSOR}
    %view = make_partition_view %tensor : {VIEW}
    %v, %t0 = load_view_tko weak %view[%zero] : {VIEW}, tile<i32> -> {T}, token
    %whole = make_tensor_view %to, shape = [{size}], strides = [1] : {out}
    %tiles = make_partition_view %whole : partition_view<tile=(8), {out}>
    %t1 = store_view_tko weak %v, %tiles[%zero] : {T}, partition_view<tile=(8), {out}>, tile<i32>
        -> token
"""
    parameters = ", ".join(f"%{name}: {p}" for name in "xyoq")
    args = [np.arange(5, dtype=np.int32), np.arange(5, 10, dtype=np.int32)]
    args += [np.zeros(8, np.int32), np.zeros(8, np.int32)]
    if not wrong:
        *_, one, other = run(parameters, body, args, grid=(2,))
        assert (one[:5].tolist(), other[:5].tolist()) == ([0, 1, 2, 3, 4], [5, 6, 7, 8, 9])
        return
    with pytest.raises(tw.ExecutionError, match=r"at index \(5\);.* \(block \(0, 0, 0\)\)"):
        run(parameters, body, args, grid=(2,))


def test_other_workers_take_the_same_padding():
    body = VIEWS + MASK + ORIGINS["padding"][0] + USES["values to store"]
    with ProcessPoolExecutor(1) as executor:
        got = run(PARAMETERS, body, arrays(), check="integers", executor=executor)[1]
        assert got.tolist() == [0] * 8
        with pytest.raises(tw.ExecutionError, match="undetermined padding"):
            run(PARAMETERS, body, arrays(), executor=executor)


@at_levels("tile", "atom", "ptx")
def test_padding_is_zeros_below_the_program_level(level: Any):
    body = VIEWS + MASK + ORIGINS["padding"][0] + USES["values to store"]
    text = entry(PARAMETERS, body)
    options: Any = {"grid": (1,), "args": arrays(), "level": level}
    for check in (None, "", [], "integers"):
        got = tw.interpret(text, "k", check=check, **options)[1]
        assert got.tolist() == [0] * 8
    with pytest.raises(tw.ExecutionError, match="expected level 'program' for check 'padding', g"):
        tw.interpret(text, "k", check="padding", **options)
    with pytest.raises(tw.ArgumentError, match="check as words of padding, unwritten, nan"):
        tw.interpret(text, "k", grid=(1,), args=arrays(), check="x")
