"""The functions of CUDA's libdevice by name: `__nv_sinf` of f32, `__nv_sin` of f64.

Each is one program, of `libdevice_single.py` or `libdevice_double.py`, that has libdevice's bits
(tests/silicon/record_libdevice.py)."""

from collections.abc import Callable
from dataclasses import dataclass

from tilewright.dialects.math_functions import libdevice_double as double
from tilewright.dialects.math_functions import libdevice_inverses as inverses
from tilewright.dialects.math_functions import libdevice_single as single
from tilewright.dialects.math_functions.code import Value


@dataclass(frozen=True, slots=True)
class LibdeviceFunction:
    """A function of libdevice: the type it computes on, its program, and its greatest error in
    units in the last place of the result."""

    type_: str
    program: Callable[..., Value]
    ulps: float

    @property
    def arity(self) -> int:
        """How many operands it takes."""
        return self.program.__code__.co_argcount


_ULPS: dict[str, tuple[float, ...]] = {
    "exp": (2, 1),
    "exp2": (2.5, 1),
    "log": (1, 1),
    "log2": (1, 1.5),
    "log10": (2, 1.5),
    "pow": (1, 1.5),
    "rsqrt": (2, 1),
    "sin": (2, 1.5),
    "cos": (2, 1.5),
    "tan": (4, 2),
    "sinh": (3, 1.5),
    "cosh": (2.5, 1.5),
    "tanh": (2, 1.5),
    "atan2": (3, 2),
}
"""The errors of f32, and of f64 where that is here, by the names that f64 has."""

_INVERSES = {"atan": 2, "asin": 2, "acos": 2, "expm1": 1, "log1p": 1}
"""The errors of the others of f32."""

_PROGRAMS = (("f", "f32", single), ("", "f64", double))

LIBDEVICE: dict[str, LibdeviceFunction] = {
    f"__nv_{name}{letter}": LibdeviceFunction(type_, getattr(programs, name), bound)
    for name, bounds in _ULPS.items()
    for bound, (letter, type_, programs) in zip(bounds, _PROGRAMS, strict=False)
} | {
    f"__nv_{name}f": LibdeviceFunction("f32", getattr(inverses, name), bound)
    for name, bound in _INVERSES.items()
}
"""All of them."""
