"""cuTile Python kernels on the CPU: what a kernel may take, and where its errors point."""

from __future__ import annotations

import math
import re
from collections import namedtuple
from typing import Annotated, Any, get_args
from unittest.mock import Mock

import cuda.tile as ct
import ml_dtypes
import numpy as np
import pytest
from bridge_kernels import add, everywhere_at_once, of_list, of_pair, of_static_shape

import tilewright as tw
from tilewright.cutile import launches
from tilewright.dialects.cuda_tile.accuracy import Accuracy
from tilewright.modelled_time import ModelledTimeWarning, ranked
from tilewright.source.diagnostic import Diagnostic, at

READ_ONLY = np.broadcast_to(0.0, 4)
Point = namedtuple("Point", ["x", "y"])


def test_numbers_and_arrays_of_numpy():
    """Numbers are what Python's are; what is only read may be read-only."""
    a = np.broadcast_to(np.float32(2), 16)
    c = np.zeros(16, np.float32)
    tw.cutile.launch((np.int64(1),), of_pair, ((a, a), c, (np.float32(0.5), np.int64(3))))
    assert (c == 5).all()


def test_arrays_are_written_in_place():
    for dtype in (np.float32, np.int64, np.float16, ml_dtypes.bfloat16):
        a, b, c = np.arange(100).astype(dtype), np.ones(100, dtype), np.zeros(100, dtype)
        tw.cutile.launch((4,), add, (a, b, c, 32))
        assert (c == a + b).all()


def test_launch_as_a_script_has_it():
    a, c = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    with tw.cutile.on_cpu():
        ct.launch(None, (2,), add, (a, a, c, 32))
    assert (c == 2 * a).all()


def test_tuples_are_their_items():
    a, b = np.arange(16, dtype=np.float32), np.ones(16, np.float32)
    c = np.zeros_like(a)
    tw.cutile.launch((1,), of_pair, ((a, b), c, (0.5, 3)))
    assert (c == (a + b) * 0.5 + 3).all()


def test_lists_are_tables_of_arrays():
    arrays = [np.full((4, 8), 2.0**i, np.float32) for i in range(3)]
    arrays[1] = np.asfortranarray(arrays[1])
    total = np.zeros((4, 8), np.float32)
    tw.cutile.launch((1,), of_list, (arrays, total))
    assert (total == 7).all()
    assert [float(array[3, 7]) for array in arrays] == [-1, -2, -4]


def test_static_shapes_and_wide_indices():
    a, c = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    tw.cutile.launch((1,), of_static_shape, (a, c))
    assert (c == a).all()


def test_a_race_is_shown_at_its_line():
    a, c = np.ones(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(tw.ExecutionError) as caught:
        tw.cutile.launch((2,), everywhere_at_once, (a, c, 32))
    head, line, caret = str(caught.value).split("\n")
    assert "bridge_kernels.py:" in head and "'ct.store' expected no other block to access" in head
    assert "c[0] but atomically, got the write of 'ct.store' at " in head
    assert line[len(caret) - 1 :].startswith("ct.store(c, (0,)")
    tw.cutile.launch((2,), everywhere_at_once, (a, c, 32), races="ignore")
    assert (c[:32] == 1).all() and (c[32:] == 0).all()


@pytest.mark.parametrize(
    ("kernel", "args", "message"),
    [
        (add, (1, 2), "'add' expected 4 arguments (a, b, c, T), got 2; missing: c, T (Kernel"),
        (add, ("a", "b", "c", 4), "'a' expected an array, a number, a tuple of them or a list"),
        (add, (np.zeros(2, complex),) * 3 + (2,), "'a' expected an array of a type that cuTile"),
        (add, (np.ones(4),) * 3 + ("x",), "'T' expected a constant that cuTile has, a number"),
        (of_list, ([], np.zeros((4, 8))), "'arrays' expected a NumPy array or a list of"),
        (add, ([1.0],) * 3 + (4,), "'a' expected a NumPy array or a list of them, got a list of f"),
        (of_list, ([np.ones(3), np.ones((3, 3))], np.zeros((4, 8))), "of one dtype and rank"),
        (of_pair, ((np.ones(16),) * 2, np.ones(16), (1.0, 2, 3)), "'scale' expected 2 items"),
        (of_pair, ((np.ones(16),) * 2, np.ones(16), (1 << 31, 2)), "'scale[0]' expected a number"),
        (add, (np.ones(4, ">f4"),) * 3 + (4,), "'a' expected an array of a type that cuTile has, "),
        (add, (np.ones(4)[::-1],) * 3 + (4,), "'a' expected an array with strides of whole"),
        (add, (np.broadcast_to(0.0, 1 << 31),) * 3 + (4,), "'a' expected sizes and strides of 32"),
        (
            add,
            (np.ones(4), np.ones(4), READ_ONLY, 4),
            "expected an array that may be written, got byte 0 of c, which is read-only",
        ),
    ],
)
def test_refused(kernel: Any, args: tuple[Any, ...], message: str):
    with pytest.raises(tw.ExecutionError, match=re.escape(message)):
        tw.cutile.launch((1,), kernel, args)


@ct.kernel
def of_constants(c, pair: ct.Constant[tuple]):
    ct.store(c, (0,), ct.full((4,), pair[0] + pair[1], ct.float64))


@ct.kernel
def of_static_list(
    arrays: Annotated[list, ct.ListAnnotation(element=ct.ArrayAnnotation(static_shape_dims=(-1,)))],
):
    ct.store(arrays[0], (0,), ct.load(arrays[1], (0,), (4,)))


@pytest.mark.parametrize(
    ("kernel", "args", "error", "words"),
    [
        (add, (1,), TypeError, "Kernel expects 4 arguments but 1 was given"),
        (of_pair, ((np.ones(16),) * 2, np.ones(16), (1.0,)), TypeError,
         "Received a tuple of length 1 for a parameter annotated as a tuple of length 2"),
        (of_pair, (Point(np.ones(16), np.ones(16)), np.ones(16), (1.0, 2)), TypeError,
         "Invalid kernel argument #0: 'Point' is a subclass of 'tuple'. Only plain tuples are"),
        (of_pair, ((Point(1, 2), 1), np.ones(16), (1.0, 2)), TypeError,
         "Invalid item #0 of kernel argument #0: 'Point' is a subclass of 'tuple'."),
        (of_constants, (np.ones(4), (1, np.ones(2))), TypeError,
         "Invalid item #1 of kernel argument #1: Could not interpret object of type 'ndarray' as"),
        (of_static_list, ([np.ones(4), np.ones(5)],), ValueError,
         "Arrays in list vary in static shape at axis 0 (4 vs 5)"),
        (add, (np.broadcast_to(0.0, 1 << 31),) * 3 + (4,), OverflowError, "'a' expected sizes"),
    ],
)  # fmt: skip
def test_refused_as_by_cutile(
    kernel: Any, args: tuple[Any, ...], error: type[Exception], words: str
):
    """Programs that catch cuTile's errors of a launch, or read them, catch ours."""
    with pytest.raises(error) as caught:
        tw.cutile.launch((1,), kernel, args)
    assert words in str(caught.value) and isinstance(caught.value, tw.ExecutionError)


def test_a_grid_of_no_extents_is_one_block():
    a, c = np.arange(8.0), np.zeros(8)
    tw.cutile.launch((), add, (a, a, c, 8))
    assert (c == 2 * a).all()


def test_configs_are_ranked_by_the_latency_model():
    a = np.ones(1024)
    with tw.cutile.on_cpu(), pytest.warns(ModelledTimeWarning, match="no measurements"):
        result = ct.tune.exhaustive_search(
            [3, 4, 1024], None, lambda tile: (1024 // tile,), add, lambda tile: (a, a, a, tile),
            quiet=True,
        )  # fmt: skip
        few, many = result.successes
        assert 0 < few.mean_us < 1000 and few.config == 4 and few.mean_us != many.mean_us
        with pytest.raises(ValueError, match="Search space is empty"):
            ct.tune.exhaustive_search([], None, lambda _: (1,), add, lambda tile: (a, a, a, tile))
    assert result.best is min(few, many, key=lambda one: one.mean_us)
    assert [config for config, *_ in result.failures] == [3]
    assert (a == 1).all()


def test_predicted_configs_are_those_of_a_search():
    """In the order of the model's times; with hints that cuTile knows, and what it rejects last."""
    a = np.ones(1024)

    def grid(tile: int) -> tuple[int]:
        return (1024 // tile,)

    def args(tile: int) -> tuple[Any, ...]:
        return a, a, a, tile

    with pytest.warns(ModelledTimeWarning, match="latency model of sm_80"):
        ranked = tw.cutile.predict(
            add, args, "sm_80", search_space=[3, 1024, 4], grid_fn=grid,
            hints_fn=lambda _: {"occupancy": 2},
        )  # fmt: skip
        with tw.cutile.on_cpu(arch="sm_80"):
            result = ct.tune.exhaustive_search([4, 1024], None, grid, add, args, quiet=True)
    searched = sorted((one.mean_us, one.config) for one in result.successes)
    assert ranked == [(config, time) for time, config in searched] + [(3, float("inf"))]
    assert (a == 1).all()


def test_times_that_nobody_tells_apart_are_in_the_order_of_the_search():
    times = [3.0, 1.004, 1.0, 1.006, math.inf, 3.01, math.inf]
    assert ranked(times) == [1, 2, 3, 0, 5, 4, 6]


@pytest.mark.parametrize("settings, message", [
    ({"grid": (1, 1 << 24)}, "Grid[1] exceeds 24-bit limit: max=16777215, got=16777216."),
    ({"grid": 1}, "expected grid as up to three positive integers, got 1"),
    ({"args": 5}, "expected args as a list of arguments, got 5"),
    ({"kernel": len}, "as a @ct.kernel or its bytecode, got <built-in function len>"),
    ({"numerics": "x"}, 'expected numerics as one of "hardware", "exact", "fast", got'),
    ({"races": "x"}, 'expected races as one of "error", "warn", "ignore", got'),
])  # fmt: skip
def test_wrong_launches(settings: dict[str, Any], message: str):
    given = {"grid": (1,), "kernel": add, "args": (np.ones(4),) * 3 + (4,)} | settings
    with pytest.raises(tw.ExecutionError) as caught:
        tw.cutile.launch(**given)
    assert message in str(caught.value)
    with pytest.raises(tw.TargetError, match="unknown target 'sm_1'"):
        tw.cutile.launch((1,), add, (np.ones(4),) * 3 + (4,), arch="sm_1")


@ct.kernel
def halves(a, c):
    ct.store(c, (0,), ct.load(a, (0,), (16,)).astype(ct.float16))


def test_a_method_of_cutile_is_where_it_is_called():
    module = tw.cutile.module(halves, (np.ones(16, np.float32), np.ones(16, np.float16)))
    (op,) = [op for op in module.walk() if op.name == "cuda_tile.ftof"]
    place = at(op.location, "")
    assert place.file == __file__ and place.text and place.column
    assert place.text[place.column - 1 :].startswith("ct.load(a, (0,)")


def test_what_cutile_rejects():
    args = (np.ones(4), np.ones((4, 4)), np.ones(4), 4)
    with pytest.raises(ct.TileTypeError, match="does not match the array rank"):
        tw.cutile.launch((1,), add, args)
    with tw.cutile.on_cpu(), pytest.raises(ct.TileTypeError):
        ct.launch(None, (1,), add, args)


def test_what_tilewright_rejects_is_an_error_of_the_compiler(
    monkeypatch: pytest.MonkeyPatch,
):
    fault = tw.CompileError(Diagnostic("expected less", "k.py", 3, 5))
    monkeypatch.setattr(launches, "compiled", Mock(side_effect=fault))
    with pytest.raises(ct.TileCompilerExecutionError) as caught:
        tw.cutile.compile(halves, (np.ones(16), np.ones(16, np.float16)), "sm_90a")
    assert isinstance(caught.value, tw.CompileError)
    assert str(caught.value) == str(fault)
    assert (caught.value.loc.line, caught.value.loc.col) == (3, 4)


def test_an_error_inside_of_cutile_says_so(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: Any, **__: Any) -> None:
        raise ct.TileInternalError("Internal error: ") from AssertionError()

    monkeypatch.setattr(ct.compilation, "export_kernel", fail)
    with pytest.raises(ct.TileInternalError, match=r"Internal error: AssertionError\(\) in cuTile"):
        tw.cutile.bytecode(halves, (np.ones(16), np.ones(16, np.float16)))


def test_a_kernel_that_cutile_cannot_read():
    with pytest.raises(tw.CompileError, match="<lambda>: error: expected a function of 'def'"):
        tw.cutile.launch((1,), ct.kernel(lambda a: None), (np.ones(4),))


@pytest.mark.parametrize(
    "strides, overlap",
    [((4, 1), False), ((1, 8), False), ((3, 1), True), ((1, 1), True), ((0, 1), True)],
)
def test_elements_that_are_one_in_memory(strides: tuple[int, int], overlap: bool):
    """cuTile is told of windows and broadcasts: accesses to their tiles keep their order."""
    room = np.zeros(64)
    array = np.lib.stride_tricks.as_strided(room, (8, 4), [8 * step for step in strides])
    first, *_ = tw.cutile.signature(add, (array, np.ones(4), np.ones(4), 4)).parameters
    assert first.may_alias_internally is overlap


def test_a_kernel_without_a_source_file():
    names: dict[str, Any] = {"ct": ct}
    exec("@ct.kernel\ndef k(a):\n    pass", names)
    with pytest.raises(tw.CompileError, match="could not get source code"):
        tw.cutile.launch((1,), names["k"], (np.ones(4),))


@ct.kernel
def tangents(a, c):
    ct.store(c, (0,), ct.tan(ct.load(a, (0,), (1024,))))


def test_functions_of_either_accuracy():
    """The bits of libdevice, or those nearer to the true value; in kernels for the GPU, too."""
    a = np.linspace(-4, 4, 1024, dtype=np.float32)
    true, errors, texts = np.tan(a.astype(np.float64)), list[float](), set[str]()
    for accuracy in get_args(Accuracy):
        one, other = np.zeros_like(a), np.zeros_like(a)
        tw.cutile.launch((1,), tangents, (a, one), accuracy=accuracy)
        with tw.cutile.on_cpu(numerics="hardware", accuracy=accuracy):
            ct.launch(None, (1,), tangents, (a, other))
        assert (one == other).all()
        errors.append(float(np.abs(one / true - 1).max()))
        texts.add(tw.cutile.compile(tangents, (a, a), "sm_90a", accuracy=accuracy).ptx)
    assert errors[0] > errors[1] > 0 and len(texts) == 2
