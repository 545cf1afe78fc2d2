"""The functions of CUDA's libdevice by name: `__nv_sinf` of f32, `__nv_sin` of f64.

Each is one program. Those of `libdevice_single.py`, `libdevice_double.py` and
`libdevice_inverses.py` have libdevice's bits, those of `libdevice_instructions.py` are one
instruction or a few, or as accurate as they say."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import cache

from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF, SCALARS
from tilewright.dialects.frozen import frozen
from tilewright.dialects.math_functions import libdevice_double as double
from tilewright.dialects.math_functions import libdevice_inverses as inverses
from tilewright.dialects.math_functions import libdevice_single as single
from tilewright.dialects.math_functions.code import Value
from tilewright.dialects.math_functions.libdevice_instructions import ROWS


@frozen
class LibdeviceFunction:
    """A function of libdevice: the types of its operands and of its result, its program, and
    its greatest error in units in the last place of the result, 0 where it is exact."""

    operands: tuple[str, ...]
    result: str
    program: Callable[..., Value]
    ulps: float

    @property
    def type_(self) -> str:
        """The type that it computes on."""
        return self.operands[0]

    @property
    def arity(self) -> int:
        """How many operands it takes."""
        return len(self.operands)


def _of(type_: str, program: Callable[..., Value], ulps: float) -> LibdeviceFunction:
    """A function on floats of one type."""
    arity = program.__code__.co_argcount
    return LibdeviceFunction((type_,) * arity, type_, program, ulps)


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

RECORDED: dict[str, LibdeviceFunction] = {
    f"__nv_{name}{letter}": _of(type_, getattr(programs, name), bound)
    for name, bounds in _ULPS.items()
    for bound, (letter, type_, programs) in zip(bounds, _PROGRAMS, strict=False)
} | {
    f"__nv_{name}f": _of("f32", getattr(inverses, name), bound) for name, bound in _INVERSES.items()
}
"""Those that have libdevice's bits (tests/silicon/record_libdevice.py)."""


def _of_row(signature: str, program: Callable[..., Value], ulps: float) -> LibdeviceFunction:
    operands, _, result = signature.partition(" -> ")
    return LibdeviceFunction((*operands.split(),), result, program, ulps)


LIBDEVICE = {
    **{
        f"__nv_{name}": _of_row(signature, program, ulps) for name, signature, program, ulps in ROWS
    },
    **RECORDED,
    "__nv_erff": _of("f32", inverses.erf, 2),
}
"""All of them."""


_VALUES = {
    "b16": "s16",
    "b32": "s32",
    "b64": "s64",
    **{kind: kind for kind in ("f32", "f64", "pred")},
}
"""The types of values by the kinds of registers."""
_TYPES = {"pred": "i1", "s16": "i16", "s32": "i32", "s64": "i64"}
"""The types of MLIR by those of values."""


@cache
def function_named(name: str) -> LibdeviceFunction | None:
    """A function of libdevice, or an instruction of PTX on single registers: `shl.b32`."""
    mnemonic, _, form = name.partition(".")
    row = SCALARS[mnemonic].forms.get(form) if mnemonic in SCALARS else None
    if row is None:
        return LIBDEVICE.get(name)
    kinds = [_VALUES.get(REGISTER_OF.get(type_, "")) for type_ in (*row.types, row.result)]
    if None in kinds:
        return None

    def program(x: Value, *others: Value) -> Value:
        return x.do(mnemonic, form, *others, type_=result)

    *operands, result = map(str, kinds)
    return LibdeviceFunction((*operands,), result, program, 0)


def signature_fault(name: str, operands: Sequence[str], result: str) -> str | None:
    """The fault of a function's name or of the types of MLIR that it has, None if they are its own.
    A function of f32 alone is one of f16 and of bf16 too."""
    if (row := function_named(name)) is None:
        near = get_close_matches(name, LIBDEVICE, n=1, cutoff=0.0)
        return f"a function of libdevice that is known, got {name}; nearest legal: {near[0]}"
    wanted = [_TYPES.get(type_, type_) for type_ in (*row.operands, row.result)]
    given = [*operands, result]
    narrow = len({*given}) == 1 and result in ("f16", "bf16") and {*wanted} == {"f32"}
    if len(given) == len(wanted) and (given == wanted or narrow):
        return None
    halves = ", or f16 or bf16 alone" if {*wanted} == {"f32"} else ""
    return (
        f"({', '.join(wanted[:-1])}) -> {wanted[-1]}{halves} for {name}, got "
        f"({', '.join(operands)}) -> {result}"
    )
