"""cuTile Python kernels on the CPU: `@ct.kernel` functions on NumPy arrays or CPU torch tensors.

    import cuda.tile as ct
    import tilewright as tw

    tw.cutile.launch((8,), kernel, (a, b, c, 128))      # runs here, in place
    tw.cutile.module(kernel, (a, b, c, 128))            # its Tile IR
    with tw.cutile.on_cpu():
        ct.launch(stream, (8,), kernel, (a, b, c, 128)) # as a script has it

Needs the extra `cutile` (PyPI cuda-tile), no GPU and no tileiras: the kernel goes through bytecode.
"""

from __future__ import annotations

import io
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Literal

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.diagnostic import CompileError, Diagnostic
from tilewright.lowering.interpreter.cuda_tile.kernel import run_kernel
from tilewright.lowering.interpreter.cuda_tile.machine import Launch, Races
from tilewright.lowering.interpreter.errors import ExecutionError
from tilewright.pipeline import verified
from tilewright.tile_kernel import DEFAULT_ARCH, find_entry

__all__ = ["bytecode", "launch", "module", "on_cpu", "signature"]

Numerics = Literal["hardware", "exact", "fast"]
_ENTRY = "k"
_VERSION = "13.4"
_MODULES: dict[tuple[Any, str], ModuleOp] = {}
_DTYPES: dict[Any, str] = {
    np.dtype(bool): "bool_",
    np.dtype(ml_dtypes.bfloat16): "bfloat16",
    np.dtype(ml_dtypes.float8_e4m3fn): "float8_e4m3fn",
    np.dtype(ml_dtypes.float8_e5m2): "float8_e5m2",
    np.dtype(ml_dtypes.float8_e8m0fnu): "float8_e8m0fnu",
}
_TORCH_BITS = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}


def launch(
    grid: Sequence[int],
    kernel: Any,
    args: Sequence[Any],
    *,
    numerics: Numerics = "hardware",
    arch: str = DEFAULT_ARCH,
    races: Races = "error",
) -> None:
    """Run a `@ct.kernel` for a grid of up to three extents, on NumPy arrays, arrays of ml_dtypes or
    CPU torch tensors, in place. `numerics`, `arch` and `races` are those of `tilewright.interpret`.

    Raises CompileError where cuTile rejects the kernel, ExecutionError for what no kernel may do,
    at the Python line that does it.
    """
    x, y, z = (*map(int, grid), 1, 1, 1)[:3]
    if not 1 <= len(grid) <= 3 or min(x, y, z) < 1:
        raise ExecutionError(f"expected grid as up to three positive extents, got {tuple(grid)}")
    held = [_held(argument) for argument in args]
    entry = find_entry(_module(kernel, held), _ENTRY)
    flat: list[Any] = []
    names: list[str] = []
    parameters = kernel._annotated_function.pysig.parameters
    for name, constant, argument in zip(parameters, _constants(kernel), held, strict=True):
        if not constant:
            part = _flattened(argument)
            flat += part
            names += [name] * len(part)
    run_kernel(entry, Launch((x, y, z), numerics, arch, races), flat, names).write_back()


def module(kernel: Any, args: Sequence[Any]) -> ModuleOp:
    """The Tile IR of a kernel, as it is compiled for these arguments."""
    return _module(kernel, [_held(argument) for argument in args]).clone()


def bytecode(kernel: Any, args: Sequence[Any]) -> bytes:
    """The Tile IR bytecode of a kernel, as it is compiled for these arguments."""
    return _bytecode(kernel, signature(kernel, args))


@contextmanager
def on_cpu(
    *, numerics: Numerics = "fast", arch: str = DEFAULT_ARCH, races: Races = "error"
) -> Generator[None]:
    """Let `ct.launch` run kernels here, whatever the stream."""
    ct = _cuda_tile()

    def here(
        stream: Any, grid: Sequence[int], kernel: Any, args: Sequence[Any], /, **_: Any
    ) -> None:
        del stream
        launch(grid, kernel, args, numerics=numerics, arch=arch, races=races)

    before = ct.launch
    ct.launch = here
    try:
        yield
    finally:
        ct.launch = before


# Kernels


def _cuda_tile() -> Any:
    return import_module("cuda.tile")


def _compilation() -> Any:
    return import_module("cuda.tile.compilation")


def _module(kernel: Any, args: Sequence[Any]) -> ModuleOp:
    assumed = signature(kernel, args)
    key = (kernel, repr(assumed))
    known = _MODULES.get(key)
    if known is None:
        known = _MODULES[key] = verified(_bytecode(kernel, assumed), _name(kernel))[0]
    return known


def _bytecode(kernel: Any, assumed: Any) -> bytes:
    file = io.BytesIO()
    try:
        _compilation().export_kernel(
            kernel,
            [assumed],
            file,
            gpu_code=None,
            output_format="tileir_bytecode",
            bytecode_version=_VERSION,
        )
    except _cuda_tile().TileError as error:
        raise CompileError(Diagnostic(str(error), _name(kernel))) from None
    return file.getvalue()


def _name(kernel: Any) -> str:
    return str(kernel._annotated_function.pyfunc.__name__)


def _constants(kernel: Any) -> list[bool]:
    """Which parameters are compile-time constants."""
    annotations = kernel._annotated_function.parameter_annotations
    return [getattr(annotation, "constant", False) for annotation in annotations]


def signature(kernel: Any, args: Sequence[Any]) -> Any:
    """What cuTile's launch would assume of these arguments: cuda.tile.compilation's
    KernelSignature."""
    compilation = _compilation()
    args = [_held(argument) for argument in args]
    constants = _constants(kernel)
    if len(args) != len(constants):
        raise ExecutionError(
            f"'{_name(kernel)}' expected {len(constants)} arguments, got {len(args)}"
        )
    arrays: list[NDArray[Any]] = [each for each in args if isinstance(each, np.ndarray)]
    annotations = kernel._annotated_function.parameter_annotations
    constraints: list[Any] = [
        compilation.ConstantConstraint(argument)
        if constant
        else _constraint(kernel, argument, annotation, arrays)
        for argument, annotation, constant in zip(args, annotations, constants, strict=True)
    ]
    convention = compilation.CallingConvention.cutile_python_v2()
    return compilation.KernelSignature(constraints, convention, symbol=_ENTRY)


def _constraint(kernel: Any, argument: Any, annotation: Any, arrays: Sequence[NDArray[Any]]) -> Any:
    ct, compilation = _cuda_tile(), _compilation()

    if _is_array(argument):
        array: NDArray[Any] = argument
        strides = [stride // array.itemsize for stride in array.strides]
        aliased = (
            any(other is not array and np.may_share_memory(array, other) for other in arrays)
            or sum(other is array for other in arrays) > 1
        )
        wide = getattr(annotation, "array", None)
        index: Any = getattr(wide, "index_dtype", None) or ct.int32
        return compilation.ArrayConstraint(
            _dtype(ct, array.dtype),
            array.ndim,
            index_dtype=index,
            stride_lower_bound_incl=0,
            alias_groups=("shared",) if aliased else (),
            may_alias_internally=0 in strides,
            stride_constant=[1 if stride == 1 else None for stride in strides],
        )
    scalar = getattr(getattr(annotation, "scalar", None), "dtype", None)
    if scalar is not None:
        return compilation.ScalarConstraint(scalar)
    for kind, dtype in ((bool, ct.bool_), (int, ct.int32), (float, ct.float32)):
        if isinstance(argument, kind):
            return compilation.ScalarConstraint(dtype)
    raise ExecutionError(
        f"'{_name(kernel)}' expected arrays and numbers, got {type(argument).__name__}"
    )


def _dtype(ct: Any, dtype: np.dtype[Any]) -> Any:
    name = _DTYPES.get(dtype, dtype.name)
    found = getattr(ct, name, None)
    if found is None:
        raise ExecutionError(f"expected an array of a type that cuTile has, got {dtype}")
    return found


# Arguments


def _held(argument: Any) -> Any:
    """A NumPy array in place of a torch tensor, sharing its memory; anything else as it is."""
    if not type(argument).__module__.startswith("torch"):
        return argument
    if argument.device.type != "cpu":
        raise ExecutionError(f"expected tensors on the CPU, got one on {argument.device}")
    torch: Any = import_module("torch")

    name = str(argument.dtype).removeprefix("torch.")
    tensor = argument.detach()
    if name not in _TORCH_BITS:
        return tensor.numpy()
    bits: NDArray[Any] = tensor.view(getattr(torch, _TORCH_BITS[name])).numpy()
    return bits.view(getattr(ml_dtypes, name))


def _is_array(argument: Any) -> bool:
    return isinstance(argument, np.ndarray)


def _flattened(argument: Any) -> list[Any]:
    """An argument as the entry takes it: an array is its pointer, its shape and its strides."""
    return _of_array(argument) if _is_array(argument) else [argument]


def _of_array(array: NDArray[Any]) -> list[Any]:
    strides = [stride // array.itemsize for stride in array.strides]
    return [array, *array.shape, *strides]
