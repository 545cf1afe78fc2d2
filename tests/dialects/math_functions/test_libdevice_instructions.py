"""Functions of libdevice on integers and between types, against Python's own numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS
from tilewright.dialects.math_functions.code import Value
from tilewright.dialects.math_functions.libdevice import LIBDEVICE
from tilewright.lowering.interpreter.arithmetic.programs import function_of

DTYPES: dict[str, Any] = {
    "s32": np.int32,
    "s64": np.int64,
    "f32": np.float32,
    "f64": np.float64,
}
_WORD, _LONG = 1 << 32, 1 << 64


def run(name: str, *arguments: Any) -> NDArray[Any]:
    """A function on arrays."""
    row = LIBDEVICE[f"__nv_{name}"]
    result = np.dtype(DTYPES[row.result])
    call = function_of(row.program, row.operands, [np.dtype(f"u{result.itemsize}")])
    arrays = [np.array(x, DTYPES[type_]) for x, type_ in zip(arguments, row.operands, strict=True)]
    return call(*(array.view(f"u{array.itemsize}") for array in arrays))[0].view(result)


def _signed(x: int, bits: int = 32) -> int:
    return (x & (1 << bits) - 1) - ((x >> bits - 1 & 1) << bits)


def _first_bit(x: int) -> int:
    return (x & -x).bit_length()


def _bytes(x: int, y: int, places: int) -> int:
    octets = ((y % _WORD) << 32 | x % _WORD).to_bytes(8, "little")
    chosen = bytes(octets[places >> 4 * i & 7] for i in range(4))
    return int.from_bytes(chosen, "little")


WHOLE: dict[str, Callable[..., int]] = {
    "popc": lambda x: (x % _WORD).bit_count(),
    "popcll": lambda x: (x % _LONG).bit_count(),
    "clz": lambda x: 32 - (x % _WORD).bit_length(),
    "clzll": lambda x: 64 - (x % _LONG).bit_length(),
    "ffs": _first_bit,
    "ffsll": _first_bit,
    "brev": lambda x: int(f"{x % _WORD:032b}"[::-1], 2),
    "abs": abs,
    "llabs": abs,
    "mulhi": lambda x, y: x * y >> 32,
    "umulhi": lambda x, y: (x % _WORD) * (y % _WORD) >> 32,
    "mul64hi": lambda x, y: x * y >> 64,
    "umul64hi": lambda x, y: (x % _LONG) * (y % _LONG) >> 64,
    "mul24": lambda x, y: _signed(x, 24) * _signed(y, 24),
    "umul24": lambda x, y: (x % (1 << 24)) * (y % (1 << 24)),
    "hadd": lambda x, y: x + y >> 1,
    "rhadd": lambda x, y: x + y + 1 >> 1,
    "uhadd": lambda x, y: x % _WORD + y % _WORD >> 1,
    "urhadd": lambda x, y: x % _WORD + y % _WORD + 1 >> 1,
    "sad": lambda x, y, z: abs(x - y) + z,
    "usad": lambda x, y, z: abs(x % _WORD - y % _WORD) + z,
    "byte_perm": _bytes,
}


@pytest.mark.parametrize("name", WHOLE)
def test_integers(name: str):
    row, random = LIBDEVICE[f"__nv_{name}"], np.random.default_rng(len(name))
    bits = int(row.result[1:])
    arguments = [
        [0, -1, 1, *random.integers(-(1 << 31), 1 << 31, 60).tolist()] for _ in row.operands
    ]
    wanted = [_signed(WHOLE[name](*each), bits) for each in zip(*arguments, strict=True)]
    assert run(name, *arguments).tolist() == wanted


INF, NAN = np.inf, np.nan
CASES: list[tuple[str, tuple[Any, ...], list[Any]]] = [
    ("float2int_rd", ([1.5, -1.5, 3e9],), [1, -2, 2**31 - 1]),
    ("float2int_rn", ([0.5, 1.5, -2.5],), [0, 2, -2]),
    ("double2uint_rz", ([2.9, -1.0],), [2, 0]),
    ("double2ll_ru", ([2.1, -2.9],), [3, -2]),
    ("double2float_rn", ([0.1],), [0.10000000149011612]),
    ("int2float_rn", ([16777217],), [16777216.0]),
    ("uint2double_rn", ([-1],), [4294967295.0]),
    ("llrintf", ([2.5, 3.5],), [2, 4]),
    ("llround", ([2.5, -2.5],), [3, -3]),
    ("fadd_ru", ([1.0], [1e-20]), [1.0000001192092896]),
    ("dmul_rz", ([0.1], [3.0]), [0.30000000000000004 - 2.0**-54]),
    ("frcp_rd", ([3.0],), [0.3333333134651184]),
    ("dsqrt_ru", ([2.0],), [1.4142135623730951]),
    ("fmaf_rn", ([2.0], [3.0], [1.0]), [7.0]),
    ("float_as_int", ([1.0],), [0x3F800000]),
    ("longlong_as_double", ([0x3FF << 52],), [1.0]),
    ("hiloint2double", ([0x3FF00000], [-1]), [1.0 + (2.0**32 - 1) * 2.0**-52]),
    ("double2hiint", ([-2.0],), [-(1 << 30)]),
    ("double2loint", ([1.0 + 2.0**-52],), [1]),
    ("isnand", ([NAN, INF, 1.0],), [1, 0, 0]),
    ("isinff", ([NAN, -INF, 1.0],), [0, 1, 0]),
    ("finitef", ([NAN, INF, 1.0],), [0, 0, 1]),
    ("signbitf", ([-0.0, 1.0],), [1, 0]),
    ("saturatef", ([-1.0, 0.5, 2.0, NAN],), [0.0, 0.5, 1.0, 0.0]),
    ("fmaxf", ([NAN, 1.0], [2.0, 3.0]), [2.0, 3.0]),
    ("fdim", ([3.0, 1.0], [1.0, 3.0]), [2.0, 0.0]),
    ("copysign", ([3.0], [-0.0]), [-3.0]),
    ("nextafter", ([0.0, 1.0, 1.0], [-1.0, 2.0, 1.0]), [-5e-324, 1 + 2.0**-52, 1.0]),
    ("ldexpf", ([1.0, 3.0, 1.5, 1.0], [-149, 126, -300, 500]), [2.0**-149, 3 * 2.0**126, 0.0, INF]),
    ("scalbn", ([1.0, 2.0**-1000], [-1074, 2000]), [5e-324, 2.0**1000]),
    ("powi", ([3.0, 2.0], [4, -2]), [81.0, 0.25]),
    ("fast_fdividef", ([1.0], [4.0]), [0.25]),
    ("fast_tanf", ([0.0],), [0.0]),
    ("double2float_ru", ([0.1, -0.1],), [0.10000000149011612, -0.09999999403953552]),
    ("int2float_rz", ([16777219],), [16777218.0]),
    ("ull2double_ru", ([-1],), [2.0**64]),
    ("frsqrt_rn", ([4.0],), [0.5]),
    ("ilogbf", ([0.0, NAN, INF, 2.0**-149, -10.0],), [-(2**31), -(2**31), 2**31 - 1, -149, 3]),
    ("logb", ([0.0, -INF, 0.75, 5e-324],), [-INF, INF, -1.0, -1074.0]),
    ("norm4df", ([INF], [NAN], [1.0], [1.0]), [INF]),
    ("erfcinv", ([0.0, 1.0, 2.0],), [INF, 0.0, -INF]),
    ("normcdff", ([-INF, 0.0, INF],), [0.0, 0.5, 1.0]),
    ("j1", ([0.0, INF],), [0.0, 0.0]),
    ("y1f", ([0.0, INF],), [-INF, 0.0]),
    ("cyl_bessel_i1", ([0.0, -INF],), [0.0, -INF]),
]


@pytest.mark.parametrize(("name", "arguments", "wanted"), CASES, ids=[case[0] for case in CASES])
def test_between_types(name: str, arguments: tuple[Any, ...], wanted: list[Any]):
    assert run(name, *arguments).tolist() == wanted


class _Forms:
    """A leaf that knows the instructions of a program, and computes nothing."""

    def __init__(self) -> None:
        self.used: set[tuple[str, str]] = set()

    def instruction(self, mnemonic: str, form: str, *operands: int) -> int:
        self.used.add((mnemonic, form))
        return 0

    def constant(self, bits: int, type_: str) -> int:
        return 0

    def move(self, value: int, type_: str) -> int:
        return value

    upper_half = lower_half = move

    def remembered(self, key: Any, build: Callable[[], Any]) -> Any:
        return build()

    def rarely(self, condition: Value, then: Callable[[], Any], other: Any) -> Any:
        return [*then(), *other][: len(other)]


@pytest.mark.parametrize("name", LIBDEVICE)
def test_a_program_is_of_forms_that_ptx_has(name: str):
    leaf, row = _Forms(), LIBDEVICE[name]
    result: Any = row.program(*(Value(leaf, 0, type_) for type_ in row.operands))
    assert result.type_ == row.result
    assert [form for form in leaf.used if form[1] not in SCALARS[form[0]].forms] == []
