"""Calls of the Python API, right but for an argument or a few, as expressions of Python: each gives
a result, or an error of ours that says what is expected."""

from __future__ import annotations

import inspect
import random
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir, redirect_stdout
from decimal import Decimal
from fractions import Fraction
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import cuda.tile as ct
import ml_dtypes
import numpy as np
from bridge_kernels import add, of_list, of_pair
from xdsl.dialects.builtin import f32, i32
from xdsl.dialects.test import TestOp as AnyOp

import tilewright as tw
from tilewright import builder
from tilewright.launch.launcher import LaunchError
from tilewright.launch.ptxas import PtxasNotFound
from tilewright.lowering.interpreter.numerics import NumericsError
from tilewright.source.checked import rules_of

ANSWERS = (
    tw.ArgumentError, tw.AtomError, tw.CompileError, tw.ExecutionError, tw.TargetError,
    tw.TensorMapError, LaunchError, NumericsError, PtxasNotFound,
)  # fmt: skip
EXAMPLES = Path(__file__).parents[2] / "examples"
TILE_IR = """cuda_tile.module @m {
  entry @k(%p: !cuda_tile.tile<ptr<f32>>, %n: !cuda_tile.tile<i32>, %x: !cuda_tile.tile<bf16>) {
    return
  }
}"""


class Hostile:
    """An object whose every method fails."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return Hostile
        raise AttributeError(name)

    def _fails(self, *_: Any) -> Any:
        raise RuntimeError("called")

    __array__ = __bool__ = __call__ = __contains__ = __eq__ = __float__ = __fspath__ = __hash__ = (
        __index__
    ) = __int__ = __iter__ = __len__ = __getitem__ = __repr__ = __str__ = _fails  # type: ignore[assignment]


def anything(*_: Any, **__: Any) -> None:
    """A function that takes anything."""


def made(shape: tuple[int, ...], dtype: str, form: str) -> Any:
    """An array in one of FORMS."""
    plain = np.zeros(shape, "f4" if dtype in _ML else dtype)
    array: Any = plain.astype(getattr(ml_dtypes, dtype)) if dtype in _ML else plain
    return FORMS[form](array)


def _read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


def _random(array: Any) -> Any:
    if array.dtype.hasobject:
        return array
    octets = np.random.default_rng(0).integers(0, 256, array.nbytes, np.uint8)
    return octets.view(array.dtype).reshape(array.shape)


FORMS: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda array: array,
    "random": _random,
    "transposed": np.transpose,
    "backwards": lambda array: array[tuple(slice(None, None, -1) for _ in array.shape)],
    "strided": lambda array: np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array,
    "fortran": np.asfortranarray,
    "read only": _read_only,
    "broadcast": lambda array: np.broadcast_to(array, (3, *array.shape)),
    "masked": np.ma.masked_array,
    "matrix": lambda array: np.matrix(array) if array.ndim == 2 else array,
    "unaligned": lambda array: np.frombuffer(b"\0" * (array.nbytes + 1), np.uint8)[1:]
    .view(array.dtype if not array.dtype.hasobject else np.uint8)[: array.size],
    "item": lambda array: array.reshape(-1)[0] if array.size else array,
    "list": lambda array: array.tolist(),
}  # fmt: skip
_ML = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn", "int4")
DTYPES = (
    *_ML, "f2", "f4", "f8", "g", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", ">f4",
    ">i4", ">u4", ">f2", "O", "S3", "U3", "V4", "M8[s]", "m8[s]", "f4,i4",
)  # fmt: skip
SHAPES = (
    (), (0,), (1,), (3,), (8,), (16,), (32,), (32, 4), (32, 2), (2, 32), (16, 32), (3, 0, 5),
    (0, 32, 4), (2, 32, 4), (128, 512), (4096,), (1,) * 20,
)  # fmt: skip
PLAIN = (
    "None", "True", "False", "0", "1", "-1", "2", "3", "7", "32", "2**31 - 1", "2**31", "2**63",
    "2**64", "-2**63", "10**5000", "0.0", "-0.0", "1.5", "float('nan')", "float('inf')", "1e308",
    "1j", "''", "'x'", "'sm_90a'", "'sm_100a'", "'error'", "'hardware'", "'exact'", "'fast'",
    "'ptx'", "'atom'", "'tile'", "'program'", "'amax'", "'mxfp8'", "'nvfp4'", "'f32'", "'bf16'",
    "'é'", "'\\0'", "'\\ud800'", "'a' * 5000", "'(4,8):(8,1)'", "'canonicalize'", "'k'", "b''",
    "b'x'", "b'\\x7fTileIR\\0'", "bytearray(b'x')", "memoryview(b'x')", "[]", "[1, 2]", "()",
    "(1,)", "(1, 2, 3)", "(0,)", "(-1,)", "(1.0,)", "('x',)", "(True,)", "(2**40, 1)",
    "[[1], [2, 3]]", "[None]", "{}", "{'a': 1}", "{1, 2}", "range(3)", "range(1, 3)", "iter([1])",
    "(i for i in 'ab')", "object()", "type", "int", "float", "np.float32", "np.int64",
    "np.dtype('f4')", "np", "tw", "anything", "...", "NotImplemented", "slice(1)",
    "Exception('x')", "Decimal(1)", "Fraction(1, 2)", "Path('x')", "Hostile()", "[Hostile()]",
    "np.float32(1)", "np.int64(3)", "np.uint8(255)", "np.bool_(True)", "np.str_('exact')",
    "np.datetime64('now')", "np.float64('nan')", "tw.Timeline()", "MMA", "SPARSE", "WGMMA", "UMMA",
    "KERNEL", "KERNEL.entries[0]", "add", "i32", "value(i32)",
    "SimpleNamespace(shape='ab', dtype='f4')", "SimpleNamespace(__cuda_array_interface__=3)",
    "SimpleNamespace(__cuda_array_interface__={'shape': (4,), 'typestr': '<f4', 'data': (64, 0)})",
    "SimpleNamespace(is_cuda=True)", "SimpleNamespace(__dlpack_device__=3, __dlpack__=3)",
    "tw.TensorMap(made((8, 64), 'f2', 'zeros'), box=(8, 64))", "tw.Trial((1,), (8,), ARGS)",
    "tw.quantize(made((2, 32), 'f4', 'random'), 'mxfp8')",
)  # fmt: skip


def value(type_: Any) -> Any:
    """A value of IR."""
    return AnyOp(result_types=[type_]).results[0]


Arguments = Mapping[str, str | list[str]]
_F32, _BF16 = "made((8,), 'f4', 'zeros')", "('bf16', 'bf16', 'f32')"
_ARGS = [_F32, _F32, "1.0", "8"]
_ADD = [
    "made((16,), 'f4', 'zeros')",
    "made((16,), 'f4', 'zeros')",
    "made((16,), 'f4', 'zeros')",
    "16",
]


def _words(count: int) -> str:
    return f"made((32, {count}), 'u4', 'random')"


_METADATA = "made((32,), 'u4', 'random')"
_RUN: Arguments = {"grid": "(1,)", "block": "(8,)", "args": _ARGS}
_MMA: Arguments = {"a": _words(4), "b": _words(2), "c": _words(4), "arch": "'sm_80'"}
_WGMMA: Arguments = {
    "b_desc": "0x4000004000010040", "smem": "made((65536,), 'u1', 'zeros')",
    "c": "made((128, 32), 'u4', 'random')", "arch": "'sm_90a'",
}  # fmt: skip
_UMMA: Arguments = {
    "a_desc": "0x4000404000010040", "b_desc": "0x4000404000010040", "d_tmem": "8",
    "smem": "made((65536,), 'u1', 'zeros')", "tmem": "made((128, 512), 'u4', 'zeros')",
    "arch": "'sm_100a'",
}  # fmt: skip
CALLS: Sequence[tuple[str, Arguments]] = (
    ("tw.atom", {"name": "'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32'"}),
    ("tw.atom", {"name": "'sm80.mma'", "shape": "(16, 8, 16)", "elem_type": _BF16}),
    ("tw.atom", {"name": "'sm90.mma'", "shape": "(64, 64, 16)", "elem_type": _BF16}),
    ("tw.atom", {"name": "'sm100.mma'", "shape": "(128, 128, 16)", "elem_type": _BF16}),
    ("tw.atom", {"name": "'tcgen05.mma.cta_group::1.kind::f16'", "idesc": "0x08200490"}),
    ("tw.compile", {"module_or_text": "AXPY", "arch": "'sm_90a'"}),
    ("tw.compile", {"module_or_text": "TILE_IR", "arch": "'sm_90a'"}),
    ("tw.compile", {"module_or_text": "AXPY", "arch": "'sm_90a'",
                    "verify_by_running": "tw.Trial((1,), (8,), ARGS)"}),
    ("tw.interpret", {"module_or_text": "AXPY", **_RUN}),
    ("tw.interpret", {"module_or_text": "AXPY", "level": "'ptx'", "watchers": "[tw.Timeline()]",
                      **_RUN}),
    ("tw.interpret", {"module_or_text": "TILE_IR", "grid": "(1,)", "args": [_F32, "1", "2.0"]}),
    ("tw.interpret", {"module_or_text": "TENSORS", "grid": "(1,)", "block": "(32,)", "args": [
        "made((4, 6), 'f4', 'zeros')", "tw.TensorMap(made((8, 64), 'f2', 'zeros'), box=(8, 64))",
        "3"]}),
    ("tw.simulate", {"atom": "MMA", **_MMA}),
    ("tw.simulate", {"atom": "SPARSE", **_MMA, "b": _words(4), "metadata": _METADATA}),
    ("tw.simulate", {"atom": "WGMMA", "a_desc": "0x4000004000010040", **_WGMMA}),
    ("tw.simulate", {"atom": "WGMMA", "a": "made((128, 4), 'u4', 'random')", **_WGMMA}),
    ("tw.simulate", {"atom": "UMMA", **_UMMA}),
    ("tw.sparsify", {"a": "made((16, 32), 'f2', 'zeros')", "atom": "SPARSE"}),
    ("tw.densify", {"values": "tw.sparsify(made((16, 32), 'f2', 'zeros'), SPARSE).values",
                    "metadata": "tw.sparsify(made((16, 32), 'f2', 'zeros'), SPARSE).metadata",
                    "atom": "SPARSE"}),
    ("tw.quantize", {"x": "made((2, 32), 'f4', 'random')", "format": "'mxfp8'"}),
    ("tw.quantize", {"x": "made((2, 32), 'f4', 'random')", "format": "'nvfp4'",
                     "tensor_scale": "'amax'"}),
    ("tw.dequantize", {"quantized": "tw.quantize(made((2, 32), 'f4', 'random'), 'nvfp4')"}),
    ("tw.dequantize", {"quantized": ["made((2, 32), 'float8_e4m3fn', 'random')",
                                     "made((2, 1), 'float8_e8m0fnu', 'random')", "1.0"]}),
    ("tw.TensorMap", {"tensor": "made((8, 64), 'f2', 'zeros')", "box": "(8, 64)"}),
    ("tw.TensorMap", {"tensor": "4096", "box": "(8, 64)", "shape": "(64, 64)", "element": "'f16'"}),
    ("tw.Trial", _RUN),
    ("tw.Timeline", {}),
    ("KERNEL.entry", {}),
    ("KERNEL.launch", {"*": _ARGS, "grid": "(1,)", "block": "(8,)"}),
    ("KERNEL.load", {"entry": "KERNEL.entries[0]"}),
    ("EMPTY.report", {}),
    ("MMA.check_selectors", {"values": "()"}),
    ("SPARSE.check_selectors", {"values": "(0,)"}),
    *((f"{atom}.check", {"arch": "'sm_90a'"}) for atom in ("MMA", "WGMMA", "UMMA")),
    *((f"{atom}.{name}", {"operand": "'A'"})
      for name in ("element", "tv_layout", "extents", "values", "stored_layout", "registers",
                   "coords")
      for atom in ("MMA", "SPARSE", "WGMMA")),
    *((f"UMMA.{name}", {"operand": "'D'"})
      for name in ("element", "extents", "cells", "tmem_layout")),
    ("tw.cutile.launch", {"grid": "(1,)", "kernel": "add", "args": _ADD}),
    ("tw.cutile.launch", {"grid": "(1,)", "kernel": "of_pair", "args": [
        f"({_ADD[0]}, {_ADD[0]})", _ADD[0], "(0.5, 3)"]}),
    ("tw.cutile.launch", {"grid": "(1,)", "kernel": "of_list", "args": [
        "[made((4, 8), 'f4', 'zeros')]", "made((4, 8), 'f4', 'zeros')"]}),
    *((f"tw.cutile.{name}", {"kernel": "add", "args": _ADD})
      for name in ("bytecode", "module", "signature")),
    ("tw.cutile.compile", {"kernel": "add", "args": _ADD, "arch": "'sm_90a'"}),
    ("launched_on_cpu", {"grid": "(1,)", "kernel": "add", "args": f"({', '.join(_ADD)})"}),
    ("tw.cutile.on_cpu", {}),
    ("tw.cutile.on_gpu", {}),
    ("builder.attribute", {"text": "'i32'"}),
    ("builder.array_type", {"element": "'f32'", "rank": "2"}),
    ("builder.kernel", {"name": "'k'", "types": "[i32]", "threads": "32"}),
    ("builder.leaves", {"*": ["'shape'", "'(128,?)'", "value(i32)"]}),
    ("builder.coord", {"*": ["value(i32)", "None", "3"]}),
    ("builder.cute", {"*": ["'memref.alloca'", "'!cute.memref<f32, rmem, \"4:1\">'"]}),
)  # fmt: skip
"""What is called, with arguments that it takes; of `*` by place."""


def launched_on_cpu(grid: Any, kernel: Any, args: Any) -> None:
    """As a script of cuTile launches a kernel."""
    with tw.cutile.on_cpu():
        ct.launch(None, grid, kernel, args)


@cache
def names() -> dict[str, Any]:
    """The names that calls have."""
    axpy = (EXAMPLES / "axpy.mlir").read_text()
    tensors = """func.func @k(%a: !cute.memref<f32, gmem, "(?,?):(?,1)">,
    %b: !cute_nvgpu.tma_descriptor<8x64xf16>, %n: i32) attributes {gpu.kernel} { func.return }"""
    types = ("bf16", "bf16", "f32")
    return {
        "AXPY": axpy, "TENSORS": tensors, "TILE_IR": TILE_IR, "KERNEL": tw.compile(axpy, "sm_90a"),
        "ARGS": [np.zeros(8, np.float32), np.zeros(8, np.float32), 1.0, 8],
        "EMPTY": tw.compile("func.func @k() attributes {gpu.kernel} { func.return }", "sm_80"),
        "MMA": tw.atom("sm80.mma", shape=(16, 8, 16), elem_type=types),
        "SPARSE": tw.atom("sm80.sparse_mma", shape=(16, 8, 32), elem_type=("f16", "f16", "f32"),
                          sparsity="sp"),
        "WGMMA": tw.atom("sm90.mma", shape=(64, 64, 16), elem_type=types),
        "UMMA": tw.atom("sm100.mma", shape=(128, 128, 16), elem_type=types),
        "Decimal": Decimal, "Fraction": Fraction, "Path": Path, "SimpleNamespace": SimpleNamespace,
        "Hostile": Hostile, "anything": anything, "made": made, "np": np, "tw": tw, "i32": i32,
        "f32": f32, "value": value, "builder": builder, "add": add, "of_list": of_list,
        "of_pair": of_pair, "launched_on_cpu": launched_on_cpu,
    }  # fmt: skip


def called(function: str) -> Callable[..., Any]:
    """The function of an expression; of a class its constructor."""
    value = eval(function, names())
    return value.__init__ if inspect.isclass(value) else getattr(value, "__func__", value)


@cache
def options(function: str) -> tuple[str, ...]:
    """The names of what a function takes that says by itself which it takes; of others none."""
    try:
        rules = rules_of(called(function))
    except KeyError:
        return ()
    kinds = inspect.Parameter
    parameters = inspect.signature(called(function)).parameters.values()
    named = [
        p.name for p in parameters if p.kind in (kinds.KEYWORD_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    ]
    return tuple(dict.fromkeys((*named[named[:1] == ["self"] :], *rules)))


SLOW = ("EMPTY.report", "tw.cutile.compile", "KERNEL.load")
"""Those of which there are a tenth as many."""


def any_value(rng: random.Random) -> str:
    if rng.random() < 0.3:
        shape, dtype, form = (rng.choice(choices) for choices in (SHAPES, DTYPES, tuple(FORMS)))
        return f"made({shape}, {dtype!r}, {form!r})"
    chosen = rng.choice(PLAIN)
    return f"[{chosen}]" if rng.random() < 0.05 else chosen


def call(rng: random.Random) -> str:
    """A call: what is right, with up to three arguments changed, left out, misspelled or given
    beside."""
    function, right = rng.choice(CALLS)
    if function in SLOW and rng.random() < 0.9:
        return call(rng)
    arguments = {
        name: [*given] if isinstance(given, list) else given for name, given in right.items()
    }
    known = options(function)
    for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 3))):
        name = rng.choice((*arguments, *known) or ("x",))
        given = arguments.get(name)
        if isinstance(given, list) and given and (name == "*" or rng.random() < 0.7):
            given[rng.randrange(len(given))] = any_value(rng)
        elif known and rng.random() < 0.05:
            arguments.pop(name, None)
        else:
            arguments[name + "_" * (known != () and rng.random() < 0.03)] = any_value(rng)
    return spelled(function, arguments)


def spelled(function: str, arguments: Arguments) -> str:
    """The expression of a call."""
    texts = {name: f"[{', '.join(given)}]" if isinstance(given, list) else given
             for name, given in arguments.items()}  # fmt: skip
    by_place = arguments.get("*", [])
    by_name = [f"{name}={text}" for name, text in texts.items() if name != "*"]
    return f"{function}({', '.join([*by_place, *by_name])})"


def answers(text: str) -> tuple[type[Exception], ...]:
    """The errors that a call documents."""
    others = {"dump_dir": OSError, "cutile": ct.TileError}
    return (*ANSWERS, *(error for word, error in others.items() if word in text))


def evaluated(text: str) -> None:
    """Call. NumPy's warnings, of what it makes of wrong numbers, are errors."""
    scope = names()
    with (
        TemporaryDirectory() as folder,
        chdir(folder),
        redirect_stdout(StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for kind in (RuntimeWarning, DeprecationWarning):
            warnings.simplefilter("error", kind)
        eval(text, dict(scope))
