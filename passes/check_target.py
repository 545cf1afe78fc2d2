"""`cute-nvgpu-check-target`: every op of the module runs on the named target."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.diagnostic import OpError
from tilewright.dialects.cute_nvgpu.lattice.targets import (
    BASELINE,
    Minimum,
    TargetError,
    is_requiring_op,
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
        for inner in op.walk():
            asked: object = inner
            if not is_requiring_op(asked):
                continue
            if not arch.supports(required := asked.requirement().target):
                raise OpError(
                    inner, f"{asked.spelled()} requires {required.at_least}, got target {arch}"
                )


def required_targets(module: ModuleOp) -> list[Minimum]:
    """The requirements of the module's ops, the baseline included; upstream's have none."""
    ops = (op for op in module.walk() if is_requiring_op(op))
    return list({BASELINE.target, *(op.requirement().target for op in ops)})
