"""`cute-nvgpu-check-target`: every op of the module runs on the named target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.diagnostic import OpError
from tilewright.dialects.cute_nvgpu.lattice.targets import (
    BASELINE,
    Minimum,
    RequiringOp,
    TargetError,
    target,
)


@dataclass(frozen=True)
class CheckTargetPass(ModulePass):
    """Reject the first op that `arch` cannot execute, naming what it requires."""

    name = "cute-nvgpu-check-target"

    arch: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        try:
            arch = target(self.arch)
        except TargetError as error:
            raise OpError(op, str(error)) from error
        for requiring, required in _requirements(op):
            if not arch.supports(required):
                raise OpError(
                    requiring,
                    f"{requiring.spelled} requires {required.at_least}, got target {arch}",
                )


def required_targets(module: ModuleOp) -> list[Minimum]:
    """What the module's ops require, the baseline included."""
    return list({BASELINE.target, *(required for _, required in _requirements(module))})


def _requirements(module: ModuleOp) -> Iterator[tuple[RequiringOp, Minimum]]:
    """The ops that say what they require; those of upstream dialects do not."""
    for op in module.walk():
        if isinstance(op, RequiringOp):
            yield op, op.requirement().target
