"""The `ptx` target of `-t ptx`."""

from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from tilewright.dialects.cute_nvgpu.lattice.targets import TargetError, target
from tilewright.dialects.frozen import frozen
from tilewright.lowering.ptx.text import module_text
from tilewright.source.diagnostic import OpError


@frozen
class PtxTarget(Target):
    """Print a module of `ptx.entry` ops as PTX text, with the lowest `.version` and `.target`
    that its instructions need. With `arch`, the lowest that this target runs: where instructions
    have several minimum targets, only that says which one is meant."""

    name = "ptx"

    arch: str | None = None

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        try:
            arch = None if self.arch is None else target(self.arch)
        except TargetError as error:
            raise OpError(module, str(error)) from error
        output.write(module_text(module, arch))
