"""Arrays as arguments of the tile level: which fit, and what each level gets of them."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from driver_stand_in import OnGpu
from numpy.testing import assert_array_equal
from run_levels import at_levels
from without_checks import without_checks

import tilewright as tw
from tilewright.arguments.arrays import ArrayArgument
from tilewright.arguments.binding import ArgumentError, Binding
from tilewright.dialects.cute.values import read_typed
from tilewright.dialects.frozen import entity, factory
from tilewright.execution import kernel_signature

HEAD = """
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %c1 = arith.constant 1 : i32
"""


def doubling(layout: str, element: str = "f32") -> str:
    """Every thread doubles the element (thread, 1) of its argument."""
    tensor = f'!cute.memref<{element}, gmem, "{layout}">'
    return f"""func.func @k(%x: {tensor}, %by: {element}) attributes {{gpu.kernel}} {{{HEAD}
  %at = cute.make_coord(%t, %c1) : (i32, i32) -> !cute.coord<"(?,?)">
  %v = cute.memref.load(%x, %at)
  %w = arith.mulf %v, %by : {element}
  cute.memref.store(%w, %x, %at)
  func.return
}}"""


def launch(text: str, *args: Any, level: Any = "tile", threads: int = 3) -> np.ndarray:
    launch = {"grid": (1,), "block": (threads,), "args": args, "arch": "sm_80"}
    return tw.interpret(text, **launch, level=level)[0]


LEVELS = ("tile", "atom", "ptx")
GRID = np.arange(24, dtype=np.float32).reshape(4, 6)
VIEWS = {
    "rows": (GRID, "(?,?):(?,1)"),
    "known": (GRID, "(4,6):(6,1)"),
    "columns": (np.asfortranarray(GRID), "(?,?):(1,?)"),
    "transposed": (GRID.T, "(?,?):(1,?{i64})"),
    "part": (GRID[1:, 2:5], "(?,3):(?{div=2},1)"),
    "every other": (GRID[:, ::2], "(?,?):(?,?)"),
    "one column": (GRID[:, :2], "(?,?{div=2}):(?{div=6},1)"),
}


@at_levels(*LEVELS)
@pytest.mark.parametrize("view", VIEWS)
def test_views_of_arrays(view: str, level: str):
    array, layout = VIEWS[view]
    before = array.copy()
    found = launch(doubling(layout), array, 2.0, level=level)
    expected = before.copy()
    expected[:3, 1] *= 2
    assert_array_equal(found, expected)
    assert_array_equal(array, before)


@at_levels(*LEVELS)
def test_raw_bits_and_narrow_scalars(level: str):
    array = GRID.astype(ml_dtypes.bfloat16)
    expected = array.copy()
    expected[:3, 1] *= 3
    text = doubling("(?,?):(?,1)", "bf16")
    assert_array_equal(launch(text, array, 3.0, level=level), expected)
    found = launch(text, array.view(np.uint16), 3.0, level=level)
    assert_array_equal(found.view(ml_dtypes.bfloat16), expected)


def test_strides_of_extents_of_1_do_not_matter():
    text = doubling("(1,?):(?{div=64},1)")
    assert launch(text, GRID[:1], 2.0, threads=1)[0, 1] == 2


BAD = [
    (GRID[0], "(?,?):(?,1)", "expected 2 dimensions, got shape (6,)"),
    (GRID, "(?,5):(?,1)", "expected shape (?, 5), got (4, 6) (dimension 1: not 5)"),
    (GRID, "(?{div=8},?):(?,1)",
     "expected shape (?{div=8}, ?), got (4, 6) (dimension 0: no multiple of 8)"),
    (GRID, "(?,?):(?{div=4},1)",
     "expected strides (?{div=4}, 1), got (6, 1) (dimension 0: no multiple of 4)"),
    (GRID.T, "(?,?):(?,1)", "expected strides (?, 1), got (1, 6) (dimension 1: not 1)"),
    (GRID[::-1], "(?,?):(?,1)", "expected an array with strides of whole elements forwards"),
    (GRID.astype(np.float64), "(?,?):(?,1)", "expected dtype float32 (or uint32, raw bits)"),
    (1.0, "(?,?):(?,1)", "expected an array for !cute.memref<f32, gmem"),
]  # fmt: skip


@at_levels(*LEVELS)
@pytest.mark.parametrize("array, layout, words", BAD)
def test_arrays_that_do_not_fit(array: Any, layout: str, words: str, level: str):
    with pytest.raises(tw.ExecutionError) as caught:
        launch(doubling(layout), array, 2.0, level=level)
    assert "argument 'x'" in str(caught.value)
    assert words in str(caught.value)


def test_shared_memory_is_no_argument():
    text = doubling("(4,6):(6,1)").replace("gmem", "smem")
    with pytest.raises(tw.ExecutionError, match="expected a plain layout in gmem"):
        launch(text, GRID, 2.0)


def test_a_width_that_a_leaf_cannot_hold():
    tall = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (1 << 33, 1), (0, 4))
    tensor = read_typed("memref", 'f32, gmem, "(?,?):(?,1)"').value
    found = ArrayArgument.of(tall).why_no_tensor(tensor)
    assert found is not None and "(dimension 0: more than 32 bits)" in found


# What other levels say of it

LOWERED = """func.func @k(%x: memref<?xf32> {cute.from = #cute.argument<0, pointer>},
    %rows: i32 {cute.from = #cute.argument<0, shape<0>>},
    %step: i32 {cute.from = #cute.argument<0, stride<0>>},
    %by: bf16 {cute.from = #cute.argument<1, value>})
    attributes {gpu.kernel, "cute.arguments" = [!cute.memref<f32, gmem, "(?,?):(?,1)">, bf16]} {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n2 = arith.constant 2 : index
  %a = arith.sitofp %rows : i32 to f32
  %b = arith.sitofp %step : i32 to f32
  %c = arith.extf %by : bf16 to f32
  memref.store %a, %x[%n0] : memref<?xf32>
  memref.store %b, %x[%n1] : memref<?xf32>
  memref.store %c, %x[%n2] : memref<?xf32>
  func.return
}"""


@at_levels(*LEVELS)
def test_parts_of_arguments(level: str):
    found = launch(LOWERED, np.zeros((5, 7), np.float32), 1.5, level=level, threads=1)
    assert_array_equal(found[0, :3], [5, 7, 1.5])


def test_a_lowered_kernel_has_the_signature_of_the_tile_level():
    names = [(each.name, each.text, each.element) for each in kernel_signature(LOWERED)]
    assert names == [
        ("x", '!cute.memref<f32, gmem, "(?,?):(?,1)">', "f32"),
        ("by", "bf16", None),
    ]


def test_a_parameter_that_says_nothing():
    text = LOWERED.replace(" {cute.from = #cute.argument<0, shape<0>>}", "")
    with pytest.raises(tw.ExecutionError, match=r"parameter 'rows' expected cute\.from"):
        launch(text, np.zeros((5, 7), np.float32), 1.5)


def test_the_wrong_number_of_arguments():
    with pytest.raises(tw.ExecutionError, match=r"expected 2 arguments .*x: !cute\.memref.*got 1"):
        launch(LOWERED, GRID)


def test_memory_is_arranged_as_the_layout_asks():
    columns = kernel_signature(doubling("(?,?):(1,?)"))[0].arranged(GRID)
    assert columns.strides == (4, 16)
    assert_array_equal(columns, GRID)
    rows = kernel_signature(doubling("(?,?):(?,1)"))[0].arranged(GRID.T)
    assert rows.strides == (16, 4)


# Launches, without a GPU


@entity
class _Memory:
    """Memory of a GPU that keeps no bytes."""

    address: int = 4096
    maps: list[tuple[Any, ...]] = factory(list)

    def place(self, name: str, content: np.ndarray) -> int:
        return self.address

    def add_tensor_map(self, *map_: Any) -> Any:
        self.maps.append(map_)


def values(args: list[Any], address: int = 4096) -> tuple[list[Any], list[ArrayArgument]]:
    """What the driver gets of arguments, and the arrays that are copied to the GPU."""
    (entry,) = tw.compile(LOWERED, "sm_90a").entries
    binding = Binding(entry.arguments, args, _Memory(address), on_gpu=True)
    return entry.values(binding), binding.placed


def test_parameters_of_a_launch():
    whole = np.arange(70, dtype=np.float32).reshape(5, 14)
    found, copied = values([whole[:, 3:7], 1.5])
    assert found == [4096, 5, 14, 0x3FC0]
    assert copied[0].flat is not None
    assert_array_equal(copied[0].flat, whole.ravel()[3:63])
    assert_array_equal(copied[0].seen(copied[0].flat.view(np.uint8)), whole[:, 3:7])


class _Torch(SimpleNamespace):
    """A torch tensor of floats on the GPU."""

    is_cuda = True
    dtype = "torch.float32"

    def element_size(self) -> int:
        return 4


def test_arrays_on_the_gpu_stay_there():
    torch = _Torch(shape=(5, 7), stride=lambda: (8, 1), data_ptr=lambda: 512)
    assert values([torch, 1.5]) == ([512, 5, 8, 0x3FC0], [])
    interface = {"shape": (5, 7), "typestr": "<f4", "strides": None, "data": (768, False)}
    cupy = SimpleNamespace(__cuda_array_interface__=interface)
    assert values([cupy, 1.5]) == ([768, 5, 7, 0x3FC0], [])
    interface["strides"] = (40, 4)
    assert values([cupy, 1.5])[0][2] == 10
    wrong: dict[str, Any]
    for wrong, why in (
        ({"shape": (5, -7)}, "sizes from 0 on, no mask and an address"),
        ({"typestr": "zz"}, "data type 'zz' not understood"),
        ({"data": (0, False)}, "sizes from 0 on, no mask and an address"),
        ({"mask": cupy}, "sizes from 0 on, no mask and an address"),
    ):
        cupy.__cuda_array_interface__ = {**interface, **wrong}
        with pytest.raises(tw.ExecutionError, match=re.escape(why)):
            values([cupy, 1.5])
    with pytest.raises(tw.ExecutionError, match="expected an array of NumPy, got one on the GPU"):
        launch(LOWERED, torch, 1.5)
    torch.is_cuda = False
    with pytest.raises(tw.ExecutionError, match=r"argument 'x' expected an array .*got _Torch"):
        values([torch, 1.5])
    torch.is_cuda, torch.dtype = True, "torch.float16"
    with pytest.raises(tw.ExecutionError, match=r"expected dtype float32 .*got float16"):
        values([torch, 1.5])


@pytest.mark.parametrize(
    "wrong, why",
    [
        ({"typestr": None}, "TypeError"),
        ({"typestr": "<q9"}, "TypeError"),
        ({"shape": 5}, "TypeError"),
        ({"shape": (2.5,)}, "TypeError"),
        ({"data": None}, "TypeError"),
        ({"data": ()}, "IndexError"),
        ({"strides": (40, 3)}, r"strides of whole elements .*\(40, 3\) bytes"),
        ({"strides": (4,)}, r"strides of whole elements .*\(4,\) bytes"),
        ({"strides": 4}, "TypeError"),
    ],
)
def test_an_array_on_the_gpu_says_how_it_lies(wrong: dict[str, Any], why: str):
    interface = {"shape": (5, 7), "typestr": "<f4", "data": (768, False), **wrong}
    with pytest.raises(ArgumentError, match=rf"'x' expected .*{why}"):
        values([SimpleNamespace(__cuda_array_interface__=interface), 1.5])
    if "strides" not in wrong:
        for less in ({key: interface[key] for key in {*interface} - {*wrong}}, 7):
            with pytest.raises(ArgumentError, match=r"'x' expected a __cuda.*(KeyError|TypeError)"):
                values([SimpleNamespace(__cuda_array_interface__=less), 1.5])


COPIED = """
func.func @k(%x: memref<?xf32>, %y: memref<?xf32>, %i: memref<?xi64>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %offset = memref.load %i[%c0] : memref<?xi64>
  %first = arith.index_cast %offset : i64 to index
  scf.for %k = %c0 to %c4 step %c1 {
    %v = memref.load %x[%k] : memref<?xf32>
    %at = arith.addi %first, %k : index
    memref.store %v, %y[%at] : memref<?xf32>
  }
  func.return
}"""
BOXES = """!map = !cute_nvgpu.tma_descriptor<8x16xi32>
!box = memref<8x16xi32, #cute<space smem>>
func.func @k(%m: !map, %n: !map) attributes {gpu.kernel} {
  %zero = arith.constant 0 : index
  %s = memref.alloc() : !box
  cute_nvgpu.tma.store %s[%zero, %zero] to %n[%zero, %zero] : !box to !map
  func.return
}"""


@pytest.mark.parametrize("dlpack", [False, True])
def test_what_is_written_on_the_gpu_is_not_read_only(dlpack: bool):
    """Where it is read, or says where to write, it may be."""
    (entry,) = tw.compile(COPIED, "sm_90a").entries
    assert [entry.parameters[number][0] for number in entry.written] == ["y"]
    x, y, i = np.zeros(4, np.float32), np.zeros(4, np.float32), np.zeros(1, np.int64)
    x.flags.writeable = i.flags.writeable = False

    def bound(*arrays: np.ndarray) -> list[Any]:
        there = [OnGpu(array, dlpack=dlpack) for array in arrays]
        return entry.values(Binding(entry.arguments, there, _Memory(), on_gpu=True))

    assert bound(x, y, i) == [array.ctypes.data for array in (x, y, i)]
    with pytest.raises(ArgumentError, match="'y' expected an array that may be written, as"):
        bound(x, x, i)


def test_a_map_of_what_is_read_only_on_the_gpu():
    with without_checks():
        (entry,) = tw.compile(BOXES, "sm_90a").entries
    array = np.zeros(132, np.int32)
    array = array[-array.ctypes.data % 16 // 4 :][:128].reshape(8, 16)
    array.flags.writeable = False
    fixed = tw.TensorMap(OnGpu(array), box=(8, 16), element="i32", shape=(8, 16))
    free = tw.TensorMap(array.ctypes.data, box=(8, 16), element="i32", shape=(8, 16))
    entry.values(Binding(entry.arguments, [fixed, free], _Memory(), on_gpu=True))
    with pytest.raises(ArgumentError, match="'n' expected an array that may be written"):
        entry.values(Binding(entry.arguments, [fixed, fixed], _Memory(), on_gpu=True))


def test_a_bare_pointer_is_to_a_dense_array():
    text = "func.func @k(%x: memref<?xf32>) attributes {gpu.kernel} { func.return }"
    (entry,) = tw.compile(text, "sm_90a").entries
    torch = _Torch(shape=(5, 7), stride=lambda: (8, 1), data_ptr=lambda: 512)
    with pytest.raises(tw.ExecutionError, match=r"C-contiguous array on the GPU .*got strides \(8"):
        Binding(entry.arguments, [torch], _Memory(), on_gpu=True)
    # NumPy's may be views: what is between their elements is neither read nor seen.
    view = GRID[:, ::2]
    (result,) = tw.interpret(text, grid=(1,), block=(1,), args=[view])
    assert_array_equal(result, view)


COLUMN = """cuda_tile.module @m { entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {
  %i = iota : tile<4xi32>
  %r = reshape %n : tile<i32> -> tile<1xi32>
  %m = broadcast %r : tile<1xi32> -> tile<4xi32>
  %j = muli %i, %m : tile<4xi32>
  %q = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %b = broadcast %q : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %at = offset %b, %j : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %x, %t = load_ptr_tko weak %at : tile<4xptr<f32>> -> tile<4xf32>, token
  %y = addf %x, %x : tile<4xf32>
  %u = store_ptr_tko weak %at, %y token=%t : tile<4xptr<f32>>, tile<4xf32> -> token
  return
}}"""


@pytest.mark.parametrize("level", ["program", *LEVELS])
def test_a_pointer_of_tile_ir_is_to_the_array_as_it_lies(level: Any):
    args = [GRID[:, 2], 6]
    (result,) = tw.interpret(COLUMN, grid=(1,), args=args, level=level, arch="sm_80")
    assert_array_equal(result, 2 * GRID[:, 2])
    with pytest.raises(tw.ExecutionError, match=r"expected an array with strides .*forwards"):
        tw.interpret(COLUMN, grid=(1,), args=[GRID[::-1, 2], 6], level=level, arch="sm_80")


def test_an_address_that_is_not_aligned():
    with pytest.raises(ArgumentError, match=r"expected an address of whole 4 bytes .*got 0x1001"):
        values([GRID, 1.0], address=4097)


def test_tensor_maps_of_a_launch():
    map_ = "!cute_nvgpu.tma_descriptor<64x32xf16, swizzle = 64>"
    text = f"""func.func @k(%m: {map_} {{cute.from = #cute.argument<0, tensor_map<1, 0>, {map_}>}})
    attributes {{gpu.kernel, cute.arguments = [!cute.memref<f16, gmem, "(?,?):(1,?{{div=8}})">]}} {{
  cute_nvgpu.prefetch.tensormap %m : {map_}
  func.return
}}"""
    (found,) = tw.compile(text, "sm_90a").entries
    array = np.zeros((128, 48), np.float16, order="F")
    memory = _Memory(256)
    found.values(Binding(found.arguments, [array], memory))
    ((name, address, shape, strides, box),) = memory.maps
    assert (name, address) == ("m", 256)
    assert (shape, strides) == ((48, 128), (256, 2))
    assert (box.shape, box.swizzle) == ((64, 32), 64)
    for level in LEVELS:
        tw.interpret(text, grid=(1,), block=(32,), args=[array], level=level)


# Elements of less than a byte

HALVES = """func.func @k(%x: !cute.memref<ui4, gmem, align<4>, "LAYOUT">,
                             %y: !cute.memref<ui4, gmem, align<4>, "(8,2):(1,8)">)
    attributes {gpu.kernel} {
  %rows = cute.static : !cute.coord<"(_,0)">
  %from = cute.slice(%x, %rows)
  %to = cute.slice(%y, %rows)
  %held = cute.make_fragment_like(%from)
  cute.copy(%from, %held)
  cute.copy(%held, %to)
  func.return
}"""


@at_levels(*LEVELS)
@pytest.mark.parametrize("layout", ["(8,2):(1,8)", "(?{div=8},?):(1,?{div=8})"])
def test_items_hold_elements_of_less_than_a_byte(layout: str, level: str):
    text = HALVES.replace("LAYOUT", "(8,2):(1,8)") if layout[1] == "8" else HALVES.replace(
        "LAYOUT", "(8,?):(1,?{div=8})"
    )  # fmt: skip
    x = np.arange(8, dtype=np.uint8).reshape(2, 4).T + 0x30
    found = tw.interpret(
        text, grid=(1,), block=(1,), args=[x, np.zeros((4, 2), np.uint8, order="F")],
        arch="sm_80", level=level,
    )[1]  # fmt: skip
    assert_array_equal(found[:, 0], x[:, 0])
    assert not found[:, 1].any()


def test_which_items_hold_elements_of_less_than_a_byte():
    text, y = HALVES.replace("LAYOUT", "(8,2):(1,8)"), np.zeros((4, 2), np.uint8, order="F")
    words = np.zeros((1, 2), np.uint32)
    tw.interpret(text, grid=(1,), block=(1,), args=[words, y], arch="sm_80")
    with pytest.raises(ArgumentError, match="expected dtype uint8, 2 elements in each, for"):
        tw.interpret(text, grid=(1,), block=(1,), args=[y.astype(np.int8), y], arch="sm_80")
    with pytest.raises(ArgumentError, match=r"expected shape \(8, 2\), got \(16, 2\)"):
        wide = np.zeros((8, 2), np.uint8, order="F")
        tw.interpret(text, grid=(1,), block=(1,), args=[wide, y], arch="sm_80")
