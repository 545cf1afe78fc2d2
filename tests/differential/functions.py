"""Programs of `math` functions, against NumPy within what each function states."""

from __future__ import annotations

from typing import Any

import numpy as np
from arithmetic import DTYPES, FLOATS, THREADS, values
from draw import Draw
from program import Expected, Program

from tilewright.dialects.math_functions.functions import FUNCTIONS

NAMES = {"math.asin": "arcsin", "math.acos": "arccos", "math.atan": "arctan",
         "math.asinh": "arcsinh", "math.acosh": "arccosh", "math.atanh": "arctanh",
         "math.powf": "power", "math.atan2": "arctan2", "math.absf": "abs"}  # fmt: skip
"""What NumPy calls them where it is another name."""
INSTRUCTIONS = ("math.exp2", "math.log2", "math.rsqrt")
"""By `afn` one approximation of the chip's on f32, which knows nothing below 2^-126."""
LEAST = 2.0**-126
BINARY = ("math.powf", "math.atan2", "math.copysign")


def functions(draw: Draw) -> Program:
    """Up to four functions of a value each, and of what another one gave."""
    element, rng = draw.pick(tuple(FLOATS)), draw.generator()
    memref = f"memref<{THREADS}x{element}>"
    lines: list[str] = []
    args: list[Any] = []
    expected: dict[int, Expected] = {}
    for place in range(draw.number(1, 4)):
        name = draw.pick(tuple(FUNCTIONS))
        operands = [_operand(draw, element, rng) for _ in range(2 if name in BINARY else 1)]
        for part, operand in enumerate(operands):
            lines.append(f"%a{place}_{part} = memref.load %x{len(args)}[%t] : {memref}")
            args.append(operand)
        given = ", ".join(f"%a{place}_{part}" for part in range(len(operands)))
        approximated = name in INSTRUCTIONS and element != "f64" and draw.chance(50)
        flags = "fastmath<afn> " if approximated else ""
        lines += [f"%r{place} = {name} {given} {flags}: {element}",
                  f"memref.store %r{place}, %x{len(args)}[%t] : {memref}"]  # fmt: skip
        law = LAWS.get(name) or getattr(np, NAMES.get(name, name[5:]), None)
        if law is not None and element != "f64":
            expected[len(args)] = _expected(name, element, law, operands, approximated)
        args.append(np.zeros(THREADS, DTYPES[element]))
    parameters = ", ".join(f"%x{number}: {memref}" for number in range(len(args)))
    thread = '%t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index'
    body = "\n".join([thread, *lines, "func.return"])
    text = f"func.func @k({parameters}) attributes {{gpu.kernel}} {{\n{body}\n}}"
    return Program(text, args, THREADS, expected, levels=("atom", "ptx"))


def _away(a: np.ndarray) -> np.ndarray:
    """To the nearest integer, halves away from zero."""
    return np.copysign(np.floor(np.abs(a) + 0.5), a)


LAWS = {"math.round": _away, "math.rsqrt": lambda a: 1 / np.sqrt(a)}


def _operand(draw: Draw, element: str, rng: np.random.Generator) -> np.ndarray:
    if draw.chance(40):
        return values(element, (THREADS,), rng)
    scale = draw.pick((1.0, 4.0, 0.01, 100.0, 1e4))
    return (rng.standard_normal(THREADS) * scale).astype(DTYPES[element])


def _expected(
    name: str, element: str, law: Any, operands: list[np.ndarray], approximated: bool
) -> Expected:
    """NumPy's in f64, and the stated units in the last place around it."""
    with np.errstate(all="ignore"):
        wide = [operand.astype(np.float64) for operand in operands]
    if approximated:
        wide = [
            np.where(np.abs(operand) < LEAST, np.copysign(0, operand), operand) for operand in wide
        ]
    with np.errstate(all="ignore"):
        exact = law(*wide)
        near = exact.astype(DTYPES[element])
        # Of what rounds to nothing or infinity, a unit of the neighbour.
        unit = np.abs(np.spacing(np.where(np.isfinite(near), near, 0).astype(np.float32)))
    if element in ("f16", "bf16"):
        digits, least = (10, -24) if element == "f16" else (7, -133)
        with np.errstate(all="ignore"):
            exponent = np.floor(np.log2(np.abs(near.astype(np.float64))))
        exponent = np.where(np.isfinite(exponent), exponent, least)
        unit = 2.0 ** np.maximum(exponent - digits, least)
        ulps = 1.0
    else:
        ulps = max(FUNCTIONS[name].ulps[0], 0.5) + 0.5
    within = ulps * unit.astype(np.float64)
    if approximated:
        around = 2.0**-21 if name == "math.log2" else LEAST
        within = within + np.maximum(np.abs(exact) * 2.0**-22, around)
    return Expected(near, within)
