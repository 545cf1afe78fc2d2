"""`cute-nvgpu-check-target`: every op of the module runs on the named target."""

from math import prod

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.passes import ModulePass

from tilewright.dialects.cute.types.memref import Space, space_of
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import why_too_much
from tilewright.dialects.cute_nvgpu.lattice.targets import (
    BASELINE,
    Minimum,
    Target,
    TargetError,
    is_requiring_op,
    target,
)
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.scalar_types import element_bytes
from tilewright.source.diagnostic import OpError


@frozen
class CheckTargetPass(ModulePass):
    """Reject the first op that `arch` cannot execute, naming what it requires."""

    name = "cute-nvgpu-check-target"

    arch: str

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        try:
            arch = target(self.arch)
        except TargetError as error:
            raise OpError(op, str(error)) from error
        supported = dict[int, Minimum]()
        for inner in op.walk():
            if type(inner) is memref.AllocOp:
                _check_size(inner, arch)
            asked: object = inner
            if not is_requiring_op(asked):
                continue
            if id(required := asked.requirement().target) in supported:
                continue
            if not arch.supports(required):
                raise OpError(
                    inner, f"{asked.spelled()} requires {required.at_least}, got target {arch}"
                )
            supported[id(required)] = required


def _check_size(op: memref.AllocOp, arch: Target) -> None:
    """Raise OpError for more shared memory than a CTA of the target may have, by one allocation:
    what they take together is known when they are laid out."""
    type_ = op.memref.type
    assert isinstance(type_, MemRefType)
    if space_of(type_.memory_space) is not Space.SMEM:
        return
    why = why_too_much(prod(type_.get_shape()) * (element_bytes(type_.element_type) or 0), arch)
    if why is not None:
        raise OpError(op, f"'{op.name}' {why}")


def required_targets(module: ModuleOp) -> list[Minimum]:
    """The requirements of the module's ops, the baseline included; upstream's have none."""
    ops = (op for op in module.walk() if is_requiring_op(op))
    return list({BASELINE.target, *(op.requirement().target for op in ops)})
