"""The functions of `math` within the error that they state, against mpmath in 40 digits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from covering import THOROUGH
from mpmath import mp, mpf  # pyright: ignore[reportMissingTypeStubs]
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from tilewright.dialects.math_functions.code import Program
from tilewright.dialects.math_functions.coefficients import TABLES, TWO_OVER_PI
from tilewright.dialects.math_functions.functions import FUNCTIONS
from tilewright.dialects.math_functions.libdevice import LIBDEVICE, RECORDED
from tilewright.lowering.interpreter.arithmetic.programs import function_of

mp.dps = 40
REALS = {"f32": np.float32, "f64": np.float64}
WORDS = {"f32": np.uint32, "f64": np.uint64}


def _cbrt(x: Any) -> Any:
    return mp.sign(x) * mp.cbrt(abs(x))


def _round(x: Any) -> Any:
    return mp.sign(x) * mp.floor(abs(x) + mpf(0.5))


def _erfc(x: Any) -> Any:
    return mp.erfc(x) if abs(x) < 1e6 else 1 - mp.sign(x)


def _erfcx(x: Any) -> Any:
    if x > 1e6:
        return (1 - 1 / (2 * x * x)) / (x * mp.sqrt(mp.pi))
    return mp.erfc(x) * mp.exp(x * x)


def _erfcinv(x: Any) -> Any:
    if not 0 < x < 2:
        raise ValueError
    with mp.workdps(350):
        return mp.erfinv(1 - x)


LAWS: dict[str, Callable[..., Any]] = {
    "exp": mp.exp,
    "exp2": lambda x: mpf(2) ** x,
    "expm1": mp.expm1,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "log": mp.log,
    "log2": lambda x: mp.log(x, 2),
    "log10": mp.log10,
    "log1p": mp.log1p,
    "powf": lambda x, y: x**y,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "asin": mp.asin,
    "acos": mp.acos,
    "atan": mp.atan,
    "atan2": mp.atan2,
    "asinh": mp.asinh,
    "acosh": mp.acosh,
    "atanh": mp.atanh,
    "erf": mp.erf,
    "cbrt": _cbrt,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "floor": mp.floor,
    "ceil": mp.ceil,
    "trunc": lambda x: mp.sign(x) * mp.floor(abs(x)),
    "roundeven": mp.nint,
    "round": _round,
    "rint": mp.nint,
    "nearbyint": mp.nint,
    "fabs": abs,
    "sqrt": mp.sqrt,
    "hypot": mp.hypot,
    "rhypot": lambda x, y: 1 / mp.hypot(x, y),
    "exp10": lambda x: mpf(10) ** x,
    "rcbrt": lambda x: 1 / _cbrt(x),
    "sinpi": mp.sinpi,
    "cospi": mp.cospi,
    "norm3d": lambda x, y, z: mp.sqrt(x * x + y * y + z * z),
    "rnorm4d": lambda x, y, z, w: 1 / mp.sqrt(x * x + y * y + z * z + w * w),
    "erfc": _erfc,
    "erfcx": _erfcx,
    "erfinv": mp.erfinv,
    "erfcinv": _erfcinv,
    "normcdf": lambda x: _erfc(-x / mp.sqrt(2)) / 2,
    "normcdfinv": lambda x: -mp.sqrt(2) * _erfcinv(2 * x),
    **{f"{kind}{order}": partial(law, order)
       for kind, law in (("j", mp.besselj), ("y", mp.bessely), ("cyl_bessel_i", mp.besseli))
       for order in range(2)},
}  # fmt: skip
OPERANDS = {"powf": 2, "atan2": 2, "hypot": 2, "rhypot": 2, "norm3d": 3, "rnorm4d": 4}
OF_ONE = ("j0", "j1", "y0", "y1")
"""Functions whose errors in f64 are in units in the last place of 1 where they are less."""


def run(name: str, type_: str, *arguments: NDArray[Any]) -> NDArray[Any]:
    """The program of a function of `math` on arrays."""
    return computed(FUNCTIONS[f"math.{name}"].program, type_, *arguments)


def computed(program: Program, type_: str, *arguments: NDArray[Any]) -> NDArray[Any]:
    """A program on arrays."""
    words = np.dtype(WORDS[type_])
    values = (x.astype(REALS[type_]).view(words) for x in arguments)
    (bits,) = function_of(program, [type_] * len(arguments), [words])(*values)
    return np.broadcast_to(bits, arguments[0].shape).view(REALS[type_])


def samples(type_: str, rng: np.random.Generator, count: int) -> NDArray[Any]:
    """Numbers of every size, near 0 and 1, and of any bits."""
    real, top = REALS[type_], 750 if type_ == "f64" else 105
    bits = rng.integers(0, np.iinfo(WORDS[type_]).max, count, WORDS[type_], endpoint=True)
    chosen = [
        bits.view(real),
        rng.uniform(-1, 1, count),
        rng.uniform(-12, 12, count),
        rng.uniform(-top, top, count),
        rng.uniform(0.98, 1.02, count),
        10.0 ** rng.uniform(-8, 5, count) * rng.choice([-1, 1], count),
    ]
    with np.errstate(all="ignore"):
        return np.concatenate([part.astype(real) for part in chosen])


def ulp(type_: str, value: Any) -> Any:
    """The unit in the last place of a result of that size."""
    mantissa, least = (23, -149) if type_ == "f32" else (52, -1074)
    if value == 0:
        return mpf(2) ** least
    return mpf(2) ** max(int(mp.floor(mp.log(abs(value), 2))) - mantissa, least)


def programs() -> Iterator[Any]:
    """Each function's law, type, program and bound."""
    for law in LAWS:
        if (row := FUNCTIONS.get(f"math.{law}")) is None:
            continue
        for type_, bound in zip(REALS, row.ulps, strict=True):
            yield pytest.param(law, type_, row.program, bound, id=f"{law}-{type_}")
    for name, row in LIBDEVICE.items():
        law = name.removeprefix("__nv_").removesuffix("f" if row.type_ == "f32" else "")
        law = "powf" if law == "pow" else law
        if law not in LAWS and name not in RECORDED:
            continue
        yield pytest.param(law, row.type_, row.program, row.ulps, id=name)


@pytest.mark.parametrize("name, type_, program, bound", list(programs()))
def test_error(name: str, type_: str, program: Program, bound: float):
    rng = np.random.default_rng(len(name))
    arguments = [samples(type_, rng, 12)]
    for _ in range(OPERANDS.get(name, 1) - 1):
        arguments.append(rng.permutation(samples(type_, rng, 12)))
    largest, judged = mpf(float(np.finfo(REALS[type_]).max)), 0
    for *given, result in zip(*arguments, computed(program, type_, *arguments), strict=True):
        if not all(map(np.isfinite, given)):
            continue
        try:
            wanted = LAWS[name](*(mpf(float(x)) for x in given))
        except (ValueError, ZeroDivisionError):
            continue
        if not isinstance(wanted, mpf) or not mp.isfinite(wanted):
            continue
        judged += 1
        if abs(wanted) > largest:
            assert np.isinf(result) or abs(mpf(float(result))) == largest, (given, result)
        else:
            assert np.isfinite(result), (given, result, wanted)
            least = 1 if name in OF_ONE and type_ == "f64" else 0
            unit = ulp(type_, max(abs(wanted), least))
            assert abs(mpf(float(result)) - wanted) <= max(bound, 0.5) * unit, given
    assert judged > 10


INF, NAN = np.inf, np.nan


@pytest.mark.parametrize("type_", REALS)
@pytest.mark.parametrize(
    "name, given, wanted",
    [
        ("exp", (INF, -INF, NAN, -0.0), (INF, 0.0, NAN, 1.0)),
        ("expm1", (INF, -INF, NAN, -0.0), (INF, -1.0, NAN, -0.0)),
        ("log", (INF, 0.0, -1.0, NAN, 1.0), (INF, -INF, NAN, NAN, 0.0)),
        ("log1p", (INF, -1.0, -2.0, -0.0), (INF, -INF, NAN, -0.0)),
        ("sin", (INF, -INF, NAN, -0.0), (NAN, NAN, NAN, -0.0)),
        ("cos", (INF, 0.0), (NAN, 1.0)),
        ("tan", (INF, -0.0), (NAN, -0.0)),
        ("tanh", (INF, -INF, -0.0, NAN), (1.0, -1.0, -0.0, NAN)),
        ("sinh", (INF, -INF, -0.0), (INF, -INF, -0.0)),
        ("cosh", (INF, -INF, 0.0), (INF, INF, 1.0)),
        ("asin", (1.0, -1.0, 2.0, -0.0), (np.pi / 2, -np.pi / 2, NAN, -0.0)),
        ("acos", (1.0, -1.0, 2.0), (0.0, np.pi, NAN)),
        ("atan", (INF, -INF, -0.0, NAN), (np.pi / 2, -np.pi / 2, -0.0, NAN)),
        ("erf", (INF, -INF, -0.0, NAN), (1.0, -1.0, -0.0, NAN)),
        ("cbrt", (INF, -INF, -0.0, NAN, 27.0), (INF, -INF, -0.0, NAN, 3.0)),
        ("acosh", (1.0, 0.5, -3.0, -1e30, INF), (0.0, NAN, NAN, NAN, INF)),
        ("atanh", (1.0, -1.0, 2.0, -0.0), (INF, -INF, NAN, -0.0)),
        ("asinh", (INF, -INF, -0.0), (INF, -INF, -0.0)),
        ("floor", (-0.5, -0.0, INF), (-1.0, -0.0, INF)),
        ("round", (0.5, -0.5, 2.5, -0.2, 0.49999997), (1.0, -1.0, 3.0, -0.0, 0.0)),
        ("roundeven", (0.5, 1.5, -2.5), (0.0, 2.0, -2.0)),
    ],
)
def test_edges(name: str, given: tuple[float, ...], wanted: tuple[float, ...], type_: str):
    real = REALS[type_]
    assert_array_equal(
        run(name, type_, np.array(given, real)), np.array(wanted, real), strict=False
    )
    signs = np.signbit(run(name, type_, np.array(given, real)))
    zero = np.array(wanted) == 0
    assert_array_equal(signs[zero], np.signbit(np.array(wanted))[zero])


@pytest.mark.parametrize("type_", REALS)
@pytest.mark.parametrize("name", ["powf", "atan2"])
def test_edges_of_two(name: str, type_: str):
    edges = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, INF, -INF, NAN]
    x, y = (side.ravel().astype(REALS[type_]) for side in np.meshgrid(edges, edges))
    with np.errstate(all="ignore"):
        wanted = np.power(x, y) if name == "powf" else np.arctan2(x, y)
    assert_allclose(run(name, type_, x, y), wanted, rtol=3e-7 if type_ == "f32" else 1e-15)
    assert_array_equal(
        np.signbit(run(name, type_, x, y))[~np.isnan(wanted)], np.signbit(wanted)[~np.isnan(wanted)]
    )


def test_coefficients_are_the_fits():
    import fit  # pyright: ignore[reportMissingImports]

    some = fit.tables(1 if THOROUGH else 7)
    assert some == {name: TABLES[name] for name in (TABLES if THOROUGH else some)}
    assert fit.two_over_pi() == TWO_OVER_PI
