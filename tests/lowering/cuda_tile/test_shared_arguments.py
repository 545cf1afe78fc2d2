"""Arrays that overlap are one memory to a kernel of Tile IR and to what it is compiled to; a store
whose elements meet is an error of both, and so is one to an array that is read-only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run_levels import at_levels

import tilewright as tw

SIZE = 32


def pointers(name: str, base: str, step: int = 1) -> str:
    """Pointers to every `step`th element."""
    return f"""
    %{name}_s = constant <i32: {step}> : tile<{SIZE}xi32>
    %{name}_j = muli %i, %{name}_s : tile<{SIZE}xi32>
    %{name}_r = reshape %{base} : tile<ptr<i32>> -> tile<1xptr<i32>>
    %{name}_b = broadcast %{name}_r : tile<1xptr<i32>> -> tile<{SIZE}xptr<i32>>
    %{name} = offset %{name}_b, %{name}_j : tile<{SIZE}xptr<i32>>, tile<{SIZE}xi32> -> \
tile<{SIZE}xptr<i32>>"""


ACCESS = f"tile<{SIZE}xptr<i32>>"
HEAD = f"""cuda_tile.module @m {{
  entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>) {{
    %i = iota : tile<{SIZE}xi32>"""
# What is written through %p is read through %q, and stored behind it, a number more.
PASSED_ON = f"""{HEAD}{pointers("at", "p")}{pointers("from", "q", 2)}{pointers("to", "q")}
    %t = store_ptr_tko weak %at, %i : {ACCESS}, tile<{SIZE}xi32> -> token
    %x, %u = load_ptr_tko weak %from TOKEN : {ACCESS} -> tile<{SIZE}xi32>, token
    %one = constant <i32: 1> : tile<{SIZE}xi32>
    %y = addi %x, %one : tile<{SIZE}xi32>
    %v = store_ptr_tko weak %to, %y token = %u : {ACCESS}, tile<{SIZE}xi32> -> token
  }}
}}"""


def run(text: str, level: str, args: list[Any], **launch: Any) -> list[np.ndarray]:
    return tw.interpret(text, "k", grid=(1,), args=args, level=level, **launch)  # type: ignore[arg-type]


@at_levels("program", "tile", "atom", "ptx")
@pytest.mark.parametrize("first", [0, 4, 16])
def test_what_is_written_through_one_is_read_through_the_other(level: Any, first: int) -> None:
    whole = np.full(96, 7, np.int32)
    want = whole.copy()
    want[first : first + SIZE] = np.arange(SIZE)
    want[:SIZE] = want[: 2 * SIZE : 2] + 1
    text = PASSED_ON.replace("TOKEN", "token = %t")
    p, q = run(text, level, [whole[first : first + SIZE], whole])
    assert (q == want).all() and (p == want[first : first + SIZE]).all()
    assert (whole == 7).all()
    # Words of other types, and a view that leaves some out.
    p, q = run(text, level, [whole.view(np.int8)[4 * first :: 2], whole])
    assert (q == want).all() and (p == want.view(np.int8)[4 * first :: 2]).all()


def test_tokens_order_what_two_names_access() -> None:
    whole = np.zeros(96, np.int32)
    text = PASSED_ON.replace("TOKEN", "")
    run(text, "program", [whole[64:], whole[:64]])
    with pytest.raises(tw.ExecutionError, match=r"'cuda_tile.load_ptr_tko' expected a token from "):
        run(text, "program", [whole[8:40], whole])


STORED = f"""{HEAD}{pointers("at", "p", 0)}{pointers("to", "q")}
    MORE
    %t = store_ptr_tko weak %at, %x : {ACCESS}, tile<{SIZE}xi32> -> token
  }}
}}"""
VIEWS = """cuda_tile.module @m {
  entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>) {
    %i = iota : tile<32xi32>
    %o = constant <i32: 0> : tile<i32>
    MORE
    %m = reshape %x : tile<32xi32> -> tile<8x4xi32>
    %a = constant <i32: ROWS> : tile<i32>
    %b = constant <i32: COLUMNS> : tile<i32>
    %w = make_tensor_view %p, shape = [8, 4], strides = [%a, %b] : tile<i32> -> TENSOR
    %v = make_partition_view %w : VIEW
    %t = store_view_tko weak %m, %v[%o, %o] : tile<8x4xi32>, VIEW, tile<i32> -> token
  }
}""".replace("VIEW", "partition_view<tile=(8x4), TENSOR>").replace(
    "TENSOR", "tensor_view<8x4xi32, strides=[?,?]>"
)


@at_levels("program", "tile", "atom", "ptx")
@pytest.mark.parametrize(
    "text",
    [STORED, *(VIEWS.replace("ROWS", str(rows)).replace("COLUMNS", str(columns))
               for rows, columns in ((0, 1), (1, 0), (1, 1), (2, 1)))],
    ids=["pointers", "rows", "columns", "diagonals", "overlapping rows"],
)  # fmt: skip
def test_elements_of_one_store_that_meet(text: str, level: Any) -> None:
    """Their values have to be equal; what becomes of others is open."""
    args = [np.zeros(SIZE, np.int32) for _ in range(2)]
    same = text.replace("MORE", "%x = constant <i32: 5> : tile<32xi32>")
    assert run(same, level, args)[0][0] == 5
    apart = text.replace("MORE", "%x = muli %i, %i : tile<32xi32>")
    words = "got several for argument 0" if level == "program" else "two threads of the op write"
    with pytest.raises(tw.ExecutionError, match=words):
        run(apart, level, args)
    run(apart, level, args, races="ignore")


MASKED = f"""{HEAD}{pointers("at", "p", 0)}
    %n = constant <i32: COUNT> : tile<{SIZE}xi32>
    %mask = cmpi less_than %i, %n, signed : tile<{SIZE}xi32> -> tile<{SIZE}xi1>
    %t = store_ptr_tko weak %at, %i, %mask : {ACCESS}, tile<{SIZE}xi32>, tile<{SIZE}xi1> -> token
  }}
}}"""


@at_levels("program", "tile", "atom", "ptx")
def test_what_a_mask_leaves_out_meets_nothing(level: Any) -> None:
    args = [np.full(SIZE, 3, np.int32) for _ in range(2)]
    assert run(MASKED.replace("COUNT", "1"), level, args)[0][0] == 0
    with pytest.raises(tw.ExecutionError):
        run(MASKED.replace("COUNT", "2"), level, args)


def test_elements_of_half_a_byte() -> None:
    text = """cuda_tile.module @m { entry @k(%p: tile<ptr<f4E2M1FN>>, %s: tile<i32>) {
    %o = constant <i32: 0> : tile<i32>
    %x = constant <f4E2M1FN: [[0.0, 0.5, 1.0, 1.5], [2.0, 3.0, 4.0, 6.0]]> : tile<2x4xf4E2M1FN>
    %w = make_tensor_view %p, shape = [2, 4], strides = [%s, 1] : tile<i32> -> TENSOR
    %v = make_partition_view %w : VIEW
    %u = store_view_tko weak %x, %v[%o, %o] : tile<2x4xf4E2M1FN>, VIEW, tile<i32> -> token
  }}""".replace("VIEW", "partition_view<tile=(2x4), TENSOR>").replace(
        "TENSOR", "tensor_view<2x4xf4E2M1FN, strides=[?,1]>"
    )
    packed = np.zeros(8, np.uint8)
    assert run(text, "program", [packed, 4])[0][:4].tolist() == [0x10, 0x32, 0x54, 0x76]
    for step in (2, 0):
        with pytest.raises(tw.ExecutionError, match=rf"got several for argument 0\[{step}\]"):
            run(text, "program", [packed, step])


@at_levels("program", "tile", "atom", "ptx")
def test_an_array_that_is_read_only(level: Any) -> None:
    """It may be read alone, unless an argument that may be written has the same elements."""
    whole = np.zeros(96, np.int32)
    fixed = whole[:64]
    fixed.flags.writeable = False
    text = PASSED_ON.replace("TOKEN", "token = %t")
    assert run(text, level, [whole, fixed])[1][2] == 5
    reading = text.replace("%to, %y", "%at, %y")
    assert run(reading, level, [np.zeros(SIZE, np.int32), fixed])[0].tolist() == [1] * SIZE
    for args in ([fixed, whole[64:].copy()], [np.zeros(SIZE, np.int32), fixed], [whole[:9], fixed]):
        with pytest.raises(tw.ExecutionError, match="expected an array that may be written, got b"):
            run(text, level, args)
