"""Libdevice's functions have the bits that a chip's have, on a million arguments each."""

import json
from pathlib import Path

import numpy as np
import pytest
from covering import THOROUGH
from libdevice_arguments import INSTRUCTIONS, NANS, WORDS, arguments, digest, upper_words

from tilewright.dialects.math_functions.libdevice import RECORDED
from tilewright.lowering.interpreter.arithmetic.programs import function_of
from tilewright.lowering.interpreter.arithmetic.scalar import scalar

DIGESTS = json.loads((Path(__file__).parent / "fixtures" / "libdevice.json").read_text())
_PIECE = 1 << 16
_LONG = {
    "__nv_pow", "__nv_sin", "__nv_cos", "__nv_tan", "__nv_atan2", "__nv_sinh", "__nv_cosh",
    "__nv_tanh", "__nv_exp", "__nv_exp2",
}  # fmt: skip
"""Those that take seconds: `make conformance` runs them."""


@pytest.mark.parametrize("name", [each for each in RECORDED if THOROUGH or each not in _LONG])
def test_a_function_has_the_bits_of_the_chip(name: str):
    row = RECORDED[name]
    word, real = {"f32": (np.uint32, np.float32), "f64": (np.uint64, np.float64)}[row.type_]
    run = function_of(row.program, (row.type_,) * row.arity, [np.dtype(word)])
    words = arguments(row.arity, row.type_, WORDS)
    pieces = [
        run(*(x[start : start + _PIECE] for x in words))[0] for start in range(0, WORDS, _PIECE)
    ]
    result = np.concatenate(pieces).view(word)
    result[np.isnan(result.view(real))] = NANS[row.type_]
    assert digest(result) == DIGESTS[name]


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_an_instruction_has_the_bits_of_the_chip(name: str):
    opcode, qualifiers = name.split(".", 1)
    assert digest(scalar(opcode, qualifiers)(upper_words())) == DIGESTS[name]
