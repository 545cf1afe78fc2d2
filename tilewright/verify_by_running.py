"""Which pass changed a result: the kernel is interpreted before and after each of them.

    trial = Trial(grid=(2, 2), block=(128,), args=[(256, 64), (64, 256), (256, 256), 256])
    tw.compile(text, arch="sm_90a", verify_by_running=trial)

Every array that the kernel gets starts with random elements, those that it writes included, so
that a store which is left out shows, too. Results are compared bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.arguments.dtypes import DTYPES, random_array
from tilewright.arguments.options import checked
from tilewright.arguments.parameters import Parameter, wrong_count
from tilewright.arguments.shipped import ShippedArguments
from tilewright.arguments.tensor_map import TensorMap
from tilewright.dialects.cute_nvgpu.lattice.targets import lowest
from tilewright.dialects.frozen import frozen
from tilewright.execution import ExecutionError, find_kernel, interpret, kernel_signature
from tilewright.passes.check_target import required_targets
from tilewright.result_difference import bits, first_difference
from tilewright.schedules import under_schedules
from tilewright.source.diagnostic import CompileError, Diagnostic, at
from tilewright.tile_kernel import Races


@checked()
@frozen
class Trial:
    """One run of a kernel: its `grid` and `block`, and an argument for each of its parameters.

    An argument is what `tilewright.interpret` takes, or a shape (a tuple), which stands for an
    array of random elements. `arch` is the chip, by default the lowest target that the kernel
    needs. `schedule`, `max_steps` and `races` are those of `tilewright.interpret`; where
    `schedules` is not 0, each run is one in the order of the text, with which as many random ones
    must agree, of the seeds from `schedule` on. The workers of an `executor` make these runs, or
    shares of the one run.
    """

    grid: Sequence[int]
    block: Sequence[int] | None
    args: Sequence[Any]
    kernel: str | None = None
    seed: int = 0
    numerics: Literal["hardware", "exact"] = "hardware"
    arch: str | None = None
    schedule: int | None = None
    schedules: int = 0
    max_steps: int | None = None
    races: Races | None = None
    executor: Executor | None = None


class ResultCheck:
    """Called before a pipeline and after each of its passes, with the pass's name and the module.

    Raises CompileError when the kernel does not run, or its results are not those before the pass:
    naming the pass, and the first element that differs.
    """

    def __init__(self, trial: Trial, name: str, source: str | None):
        self._trial, self._name, self._source = trial, name, source
        self._module = ModuleOp([])

    def __call__(self, pass_name: str | None, module: ModuleOp) -> None:
        if pass_name is None:
            self._begin(module)
            self._results = self._run("the kernel before any pass", module)
        elif not module.is_structurally_equivalent(self._module):
            results = self._run(f"the kernel after '{pass_name}'", module)
            self._compare(pass_name, results)
            self._results = results
        else:
            return
        self._module = module.clone()

    def _begin(self, module: ModuleOp) -> None:
        trial = self._trial
        kernel = find_kernel(module, trial.kernel, self._name)
        self._location = kernel.location
        self._parameters = kernel_signature(module, trial.kernel, self._name)
        if len(trial.args) != len(self._parameters):
            words = wrong_count(self._parameters, len(trial.args))
            raise self._error(f"verify_by_running {words}")
        self._arch = trial.arch or lowest(required_targets(module)).name
        generator = np.random.default_rng(trial.seed)
        pairs = zip(self._parameters, trial.args, strict=True)
        self._args = [self._argument(parameter, arg, generator) for parameter, arg in pairs]
        self._names = [
            parameter.name
            for parameter, arg in zip(self._parameters, self._args, strict=True)
            if isinstance(arg, np.ndarray | TensorMap)
        ]

    def _argument(self, parameter: Parameter, arg: Any, generator: np.random.Generator) -> Any:
        """The argument; where it is a shape, a random array of the parameter's element type."""
        if not isinstance(arg, tuple):
            return arg
        shape = cast(tuple[int, ...], arg)
        if parameter.element not in DTYPES:
            raise self._error(
                f"verify_by_running expected a number for '{parameter}', got the shape {shape}"
            )
        dtype = np.dtype(DTYPES[parameter.element][0])
        array = random_array(shape, dtype, generator)
        box = parameter.box
        if box is None:
            return parameter.arranged(array)
        return TensorMap(
            array,
            box=box.shape,
            swizzle=box.swizzle,
            swizzle_atom=box.swizzle_atom,
            element=parameter.element,
        )

    def _run(self, what: str, module: ModuleOp) -> list[NDArray[Any]]:
        trial = self._trial
        settings: dict[str, Any] = {
            "kernel": trial.kernel,
            "grid": trial.grid,
            "block": trial.block,
            "args": self._spelled(module),
            "numerics": trial.numerics,
            "arch": self._arch,
            "max_steps": trial.max_steps,
            "races": trial.races,
        }
        run = partial(_run_under, module, settings)
        workers, sent = trial.executor, None
        if workers is not None and trial.schedules:
            shipped = {**settings, "args": ShippedArguments(settings["args"])}
            sent = partial(_run_sent, str(module), shipped)
        elif workers is not None:
            run = partial(_run_under, module, {**settings, "executor": workers})
        try:
            return under_schedules(
                run, trial.schedule, trial.schedules, self._names, sent and workers, sent
            )
        except (CompileError, ExecutionError) as error:
            raise self._error(f"{what} does not run: {error}") from None

    def _spelled(self, module: ModuleOp) -> list[Any]:
        """The arguments as the module's level takes them: `ptx` has bits for narrow scalars."""
        parameters = kernel_signature(module, self._trial.kernel)
        now = {parameter.name: parameter for parameter in parameters}
        return [
            _lowered(arg, parameter, now.get(parameter.name, parameter))
            for arg, parameter in zip(self._args, self._parameters, strict=True)
        ]

    def _compare(self, pass_name: str, results: Sequence[NDArray[Any]]) -> None:
        difference = first_difference(self._results, results)
        if difference is not None:
            raise self._error(
                f"'{pass_name}' expected {self._names[difference.array]}[{difference.index}] = "
                f"{difference.before} as before it, got {difference.after} ({difference.extent}; "
                f"seed {self._trial.seed})"
            )

    def _error(self, message: str) -> CompileError:
        diagnostic = at(self._location, message, self._source)
        return CompileError(diagnostic if diagnostic.line else Diagnostic(message, self._name))


def _run_under(
    module: ModuleOp | str, settings: dict[str, Any], schedule: int | None
) -> list[NDArray[Any]]:
    return interpret(module, schedule=schedule, **settings)


def _run_sent(text: str, settings: dict[str, Any], schedule: int | None) -> list[NDArray[Any]]:
    """A run by a worker, which was sent its arguments."""
    return _run_under(text, {**settings, "args": settings["args"].args}, schedule)


def _lowered(arg: Any, parameter: Parameter, now: Parameter) -> Any:
    """The stand-in for an argument where its parameter has become one of the `ptx` level."""
    dtype = DTYPES.get(parameter.text, ("", ""))[0]
    if now.text == parameter.text or dtype in ("", "float32", "float64"):
        return arg
    return int(bits(np.array(arg).astype(dtype))[()])
