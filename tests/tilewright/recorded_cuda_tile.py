"""`cuda.tile` as far as `tilewright.cutile` asks for it, from a recording: what NVIDIA's package
made of the kernels of bridge_kernels.py (`record_bridge.py`), by kernel and signature."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

FILE = Path(__file__).with_name("bridge_recorded.json")
DTYPES = ("bool_", "int32", "int64", "float16", "float32", "float64", "bfloat16")


class Told:
    """A constraint or signature: what it was made from."""

    def __init__(self, name: str, args: tuple[Any, ...], named: dict[str, Any]):
        self.name, self.args, self.named = name, args, named

    def __getattr__(self, name: str) -> Any:
        return self.named[name]

    def __repr__(self) -> str:
        named = [f"{name}={value!r}" for name, value in sorted(self.named.items())]
        return f"{self.name}({', '.join([*map(repr, self.args), *named])})"


class Kernel:
    """A `@ct.kernel`: its name, and the names and annotations of its parameters."""

    def __init__(self, name: str, parameters: dict[str, Any]):
        annotations = [annotation(each) for each in parameters.values()]
        self._annotated_function = SimpleNamespace(
            parameter_annotations=annotations,
            pysig=SimpleNamespace(parameters=list(parameters)),
            pyfunc=SimpleNamespace(__name__=name),
        )


def annotation(recorded: Any) -> Any:
    """An annotation from its record: whether it is a constant, or those of a tuple's items."""
    if isinstance(recorded, list):
        return SimpleNamespace(items=[annotation(each) for each in recorded])
    return SimpleNamespace(constant=recorded)


class TileError(Exception):
    """What cuTile raises."""


class TileInternalError(TileError):
    """What it raises for a mistake of its own."""


def _told(name: str) -> Any:
    return lambda *args, **named: Told(name, args, named)


def compilation(bytecode: dict[str, bytes]) -> Any:
    """`cuda.tile.compilation`, which knows only so much bytecode."""

    def export_kernel(kernel: Any, signatures: list[Any], file: Any, **options: Any) -> None:
        assert options["output_format"] == "tileir_bytecode"
        name = kernel._annotated_function.pyfunc.__name__
        (signature,) = signatures
        if f"{name}: {signature!r}" not in bytecode:
            raise TileError(f"{name} was not recorded for {signature!r}")
        file.write(bytecode[f"{name}: {signature!r}"])

    kinds = ("Array", "Constant", "List", "Scalar", "Tuple")
    return SimpleNamespace(
        export_kernel=export_kernel,
        KernelSignature=_told("KernelSignature"),
        CallingConvention=SimpleNamespace(cutile_python_v2=lambda: "cutile_python_v2"),
        **{f"{kind}Constraint": _told(f"{kind}Constraint") for kind in kinds},
    )


@contextmanager
def standing_in(bytecode: dict[str, bytes]) -> Generator[Any]:
    """A context in which `cuda.tile` is this; what else is imported meanwhile stays."""
    errors = {error.__name__: error for error in (TileError, TileInternalError)}
    tile = SimpleNamespace(**errors, **{name: name for name in DTYPES})
    modules: dict[str, Any] = {
        "cuda.tile": tile,
        "cuda.tile.compilation": compilation(bytecode),
    }
    before = {name: sys.modules.pop(name, None) for name in modules}
    sys.modules.update(modules)
    try:
        yield tile
    finally:
        for name, module in before.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module


def recording() -> tuple[dict[str, Kernel], dict[str, bytes]]:
    """The kernels and the bytecode that were recorded."""
    content = json.loads(FILE.read_text())
    kernels = {name: Kernel(name, each) for name, each in content["kernels"].items()}
    return kernels, {key: base64.b64decode(text) for key, text in content["bytecode"].items()}
