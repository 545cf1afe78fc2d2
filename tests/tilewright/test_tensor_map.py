"""`tilewright.TensorMap`: what it takes, and what is said of what it does not."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from run_levels import at_levels
from xdsl.parser import Parser

import tilewright as tw
from tilewright.arguments.binding import flat_map
from tilewright.arguments.device_memory import DeviceMemory
from tilewright.arguments.parameters import Parameter
from tilewright.dialects.frozen import entity
from tilewright.lowering.interpreter.machine.tensor_map import chunk_addresses
from tilewright.source.parsing import default_context

F32 = np.zeros((40, 64), np.float32)
BF16 = np.zeros((40, 64), ml_dtypes.bfloat16)


def test_of_an_array():
    found = tw.TensorMap(BF16, box=(8, 64), swizzle=128)
    assert (found.shape, found.strides) == ((40, 64), (128, 2))
    assert str(found.box) == "8x64xbf16, swizzle = 128" and found.array is BF16


def test_of_part_of_an_array():
    found = tw.TensorMap(F32, box=(8, 4), shape=(10, 60))
    assert (found.shape, found.strides) == ((10, 60), (256, 4))
    assert tw.TensorMap(F32, box=(4, 8, 4), shape=(2, 20, 60), strides=(1280, 64, 1)).box.rank == 3


def test_of_slices():
    """N, C/8, H, W and 8 channels: the driver is told of the first four."""
    array = np.zeros((2, 3, 6, 16, 8), np.float16)
    found = tw.TensorMap(array, box=(1, 1, 3, 16, 8), swizzle=32, interleaved=True)
    assert (found.box.rank, found.strides) == (4, (4608, 1536, 256, 16, 2))
    called: list[Any] = []
    memory = DeviceMemory(_Driver(), lambda *arguments: called.extend(arguments))
    memory.add_tensor_map("m", 4096, found.shape, found.strides, found.box)
    assert called[2:9] == [
        4, 4096, [16, 6, 3, 2], [256, 1536, 4608], [16, 3, 1, 1], [1] * 4,
        "CU_TENSOR_MAP_INTERLEAVE_16B",
    ]  # fmt: skip
    found = tw.TensorMap(array, box=(50, 8), im2col=tw.Im2col((0, -1), (0, 0), (2, 3)),
                         interleaved=True)  # fmt: skip
    called.clear()
    memory.add_tensor_map("m", 4096, found.shape, found.strides, found.box)
    assert called[4:10] == [[16, 6, 3, 2], [256, 1536, 4608], [-1, 0], [0, 0], 8, 50]
    assert called[10:12] == [[3, 2, 1, 1], "CU_TENSOR_MAP_INTERLEAVE_16B"]


def test_of_an_address():
    found = tw.TensorMap(1 << 20, box=(2, 8, 4), shape=(3, 20, 60), element="f32")
    assert (found.strides, found.array) == ((4800, 240, 4), None)


@pytest.mark.parametrize(("corners", "message"), [
    (((0, 0), (0,)), "expected corners of 1 to 3 dimensions"),
    (((0,) * 4, (0,) * 4), "expected corners of 1 to 3 dimensions"),
    (((0, 128), (0, 0)), "expected corners from -128 to 127 of 2 of them, got 128"),
    (((0,), (0,), (9,)), "expected strides of 1 to 8 pixels, got \\(9,\\)"),
])  # fmt: skip
def test_corners_that_no_tensor_map_has(corners: Any, message: str):
    """As the driver refuses them."""
    with pytest.raises(tw.TensorMapError, match=message):
        tw.Im2col(*corners)


SLICES = np.zeros((2, 3, 6, 16, 8), np.float16)
SLICED: dict[str, Any] = {"tensor": SLICES, "box": (1, 1, 3, 16, 8), "interleaved": True}
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("expected element= for a tensor of", {"tensor": 16, "shape": (8, 8)}),
    ("expected shape= for an address", {"tensor": 16, "element": "f32"}),
    ("expected element= for a tensor of complex64", {"tensor": F32.astype(np.complex64)}),
    ("expected elements of ui8, .* got i3", {"element": "i3"}),
    ("expected floats where NaN is outside, got ", {"nan": True, "element": "i32"}),
    ("expected an array of f16, got float32", {"element": "f16", "box": (8, 8)}),
    ("expected a tensor of 1 dimensions for box 8xf32", {"box": (8,)}),
    ("expected extents of 1 to 256, got 300 in 300x8xf32; nearest legal: 256", {"box": (300, 8)}),
    ("expected whole 16 bytes along the last dimension .* nearest legal: 4", {"box": (8, 5)}),
    ("expected 32 bytes along the last", {"box": (8, 16), "swizzle": 32}),
    ("expected a swizzle that keeps 16 or 32 bytes together, got 64; nearest legal: 32",
     {"box": (8, 32), "swizzle": 128, "swizzle_atom": 64}),
    ("expected a swizzle that keeps 16 bytes together, got 32; nearest legal: 16",
     {"box": (8, 16), "swizzle": 64, "swizzle_atom": 32}),
    ("expected extents of 1 to 2\\^32, got 0", {"shape": (0, 64)}),
    ("expected a last stride of 1 element, got 2", {"strides": (64, 2)}),
    ("whole 16 bytes, got 33 elements \\(132 bytes\\); nearest legal: 36", {"strides": (33, 1)}),
    ("expected a C-contiguous array; nearest legal: the whole array", {"tensor": F32[:, :32]}),
    ("expected an array of 10496 bytes or more .* got 10240", {"shape": (41, 64)}),
    ("expected an address of whole 16 bytes, got 0x9",
     {"tensor": 9, "shape": (8, 8), "element": "f32"}),
    ("expected a box of pixels and channels, got 8x4x8xf32, Im2col",
     {"box": (8, 4, 8), "im2col": tw.Im2col((0,), (0,))}),
    ("expected extents of 1 to 1024, got 1025",
     {"box": (1025, 8), "im2col": tw.Im2col((0,), (0,))}),
    ("expected a tensor of 3 dimensions for box 8x8xf32, Im2col",
     {"box": (8, 8), "im2col": tw.Im2col((0,), (0,))}),
    ("expected corners with pixels between them, got 3 and -2 of 5",
     {"box": (8, 8), "shape": (2, 5, 64), "strides": (320, 64, 1),
      "im2col": tw.Im2col((3,), (-2,))}),
    ("expected swizzle as an integer, got '128'", {"swizzle": "128"}),
    ("expected swizzle as an integer, got 128.0", {"swizzle": 128.0}),
    ("expected box as a list, each item an integer, got \\(64.5, 64\\)", {"box": (64.5, 64)}),
    ("expected box as a list, each item an integer, got 64", {"box": 64}),
    ("shape as a list, each item an integer, got \\(40, 64.0\\)", {"shape": (40, 64.0)}),
    ("strides as a list, each item an integer, got \\('64', 1\\)", {"strides": ("64", 1)}),
    ("expected element as a string, got 32", {"element": 32}),
    ("expected a box of 3 to 5 dimensions and slices, got 16x8xf16, interleaved",
     SLICED | {"box": (16, 8)}),
    ("expected slices of 16 or 32 bytes in 1x1x3x16x4xf16, interleaved, got 8; nearest legal: 16",
     SLICED | {"box": (1, 1, 3, 16, 4)}),
    ("expected slices of 16 elements, one behind the other, .* got shape \\(2, 3, 6, 16, 8\\)",
     SLICED | {"box": (1, 1, 3, 16, 16)}),
    ("expected 1 along the second dimension of an interleaved box, .* got 2 in 1x2x3x16x8xf16",
     SLICED | {"box": (1, 2, 3, 16, 8)}),
    ("expected a multiple of 8 slices along the innermost dimension, .* nearest legal: 8",
     SLICED | {"box": (1, 1, 3, 9, 8)}),
    ("whole 32 bytes, got 24 elements \\(48 bytes\\); nearest legal: 32",
     {"tensor": 32, "element": "f16", "shape": (2, 6, 16, 16), "strides": (192, 24, 16, 1),
      "box": (1, 1, 8, 16), "interleaved": True}),
    ("expected an address of whole 32 bytes, got 0x10",
     {"tensor": 16, "element": "f16", "shape": (2, 6, 16, 16), "box": (1, 1, 8, 16),
      "interleaved": True}),
    ("expected a tensor that is not interleaved, got 50x8xf16, swizzle = 32",
     SLICED | {"box": (50, 8), "swizzle": 32,
               "im2col": tw.Im2col((0, 0), (0, 0), mode="im2col::w")}),
    ("expected an array or an address, got list",
     {"tensor": [1], "shape": (8, 8), "element": "f32"}),
]  # fmt: skip


@pytest.mark.parametrize("message, given", WRONG)
def test_what_it_does_not_take(message: str, given: dict[str, Any]):
    given = {"tensor": F32, "box": (8, 8)} | given
    with pytest.raises(tw.TensorMapError, match=message):
        tw.TensorMap(given.pop("tensor"), **given)


# As an argument

MAP = "!cute_nvgpu.tma_descriptor<8x64xbf16, swizzle = 128>"
TEXT = f"""func.func @k(%m: {MAP}) attributes {{gpu.kernel}} {{
  cute_nvgpu.prefetch.tensormap %m : {MAP}
  func.return
}}"""
POINTER = "func.func @k(%m: memref<?xbf16>) attributes {gpu.kernel} { func.return }"


@at_levels()
def test_as_an_argument(level: Any):
    args = [tw.TensorMap(BF16, box=(8, 64), swizzle=128)]
    (found,) = tw.interpret(TEXT, grid=(1,), block=(32,), args=args, level=level)
    assert found.shape == BF16.shape


@pytest.mark.parametrize(
    "text, arg, message",
    [
        (TEXT, BF16, "argument 'm' expected a TensorMap for .*tma_descriptor<8x64xbf16, .*ndarray"),
        (TEXT, 3, "argument 'm' expected a TensorMap for .* got int"),
        (TEXT, tw.TensorMap(BF16, box=(8, 64)),
         "expected a TensorMap of box 8x64xbf16, swizzle = 128, got 8x64xbf16$"),
        (TEXT, tw.TensorMap(BF16, box=(16, 64), swizzle=128), "got 16x64xbf16, swizzle = 128"),
        (TEXT, tw.TensorMap(32, box=(8, 64), swizzle=128, shape=(8, 64), element="bf16"),
         "expected a TensorMap of a NumPy array"),
        (POINTER, tw.TensorMap(BF16, box=(8, 64)), "argument 'm' expected memref<\\?xbf16>, got a"),
    ],
)  # fmt: skip
def test_as_the_wrong_argument(text: str, arg: Any, message: str):
    with pytest.raises(tw.ExecutionError, match=message):
        tw.interpret(text, grid=(1,), block=(32,), args=[arg])


def test_the_address_of_no_tensor_map():
    text = """ptx.entry @k(%m: u64) {
  ptx.prefetch.tensormap %m
  ptx.ret
}"""
    with pytest.raises(
        tw.ExecutionError, match="expected the address of a tensor map among the arguments"
    ):
        tw.interpret(text, grid=(1,), block=(32,), args=[64])


# For the driver


class _Driver:
    """The driver's names, as themselves."""

    def __getattr__(self, name: str) -> Any:
        return int if name.startswith("cuuint") else _Names(name)


@entity
class _Names:
    _name: str

    def __getattr__(self, member: str) -> str:
        return member


def test_dimensions_stand_innermost_first_for_the_driver():
    map_ = tw.TensorMap(64, box=(2, 8, 32), shape=(3, 20, 60), strides=(2000, 64, 1),
                        element="bf16", swizzle=64)  # fmt: skip
    called: list[Any] = []
    memory = DeviceMemory(_Driver(), lambda *arguments: called.extend(arguments))
    memory.add_tensor_map("m", 4096, map_.shape, map_.strides, map_.box)
    assert called[:8] == [
        "cuTensorMapEncodeTiled", "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16", 3, 4096, [60, 20, 3],
        [128, 4000], [32, 8, 2], [1, 1, 1],
    ]  # fmt: skip
    assert called[8:10] == ["CU_TENSOR_MAP_INTERLEAVE_NONE", "CU_TENSOR_MAP_SWIZZLE_64B"]


def test_a_swizzle_that_keeps_32_bytes_together():
    map_ = tw.TensorMap(F32, box=(8, 32), swizzle=128, swizzle_atom=32)
    assert str(map_.box) == "8x32xf32, swizzle = 128, swizzle_atom = 32"
    assert str(map_.box.pattern) == "S<2,3,2>"
    # Bits 7 and 8 of the address: chunk 2 of line 1 is where chunk 0 would be, of line 5 again.
    places = chunk_addresses(0, map_.box, 1024).reshape(8, 8) // 16 % 8
    assert places[1].tolist() == places[5].tolist() == [2, 3, 0, 1, 6, 7, 4, 5]
    assert places[3].tolist() == [6, 7, 4, 5, 2, 3, 0, 1]
    called: list[Any] = []
    memory = DeviceMemory(_Driver(), lambda *arguments: called.extend(arguments))
    memory.add_tensor_map("m", 4096, map_.shape, map_.strides, map_.box)
    assert called[9] == "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B"


def test_the_driver_knows_the_names():
    """Those of every element type and swizzle, in the bindings that the test extra installs."""
    from cuda.bindings import driver

    from tilewright.dialects.cute_nvgpu.lattice.tma import SWIZZLE_ATOMS, TENSOR_ELEMENTS

    for element in TENSOR_ELEMENTS.values():
        assert hasattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{element.driver}")
    for swizzle, atoms in list(SWIZZLE_ATOMS.items())[1:]:
        for name in (f"{swizzle}B", *(f"{swizzle}B_ATOM_{atom}B" for atom in atoms[1:])):
            assert hasattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{name}")


def test_dimensions_without_an_end():
    """They have more elements, as the compiler counts them, than a chip takes."""
    text = (
        "#cute.argument<0, flat_map<1, 4294901760, 0, 1, 1, 4294901760, 1, 1>, "
        "!cute_nvgpu.tma_descriptor<64x32xi8, swizzle = 32>>"
    )
    source: Any = Parser(default_context(), text).parse_attribute()
    made = flat_map(Parameter("map0", "", None, source), source, 4096, (4096, 128))
    assert made.shape == (2**31 - 2**16,) * 2 and made.strides == (128, 1)
