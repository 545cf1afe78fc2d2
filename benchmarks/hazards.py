"""The static check of hazards in one warm process: milliseconds a kernel, and of what it looks at.

python benchmarks/hazards.py [--json]
"""

import time
from functools import partial
from pathlib import Path

from measured import best_time, parser, show
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tilewright.parsing import default_context
from tilewright.passes.analysis.hazards.follow import Program
from tilewright.passes.analysis.hazards.launches import launches
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.pipeline import lower_tiles, verified

EXAMPLES = Path(__file__).parents[1] / "examples"
KERNELS = {
    "tile_gemm_sm90_persistent": "sm_90a",
    "tile_gemm_sm90": "sm_90a",
    "tile_gemm_sm100": "sm_100a",
    "gemm_sm80": "sm_80",
    "gemm_sm90": "sm_90a",
    "gemm_sm100": "sm_100a",
    "gemm_sm100_2sm": "sm_100a",
}
"""The first one is to take less than 50 ms; the GEMMs of atoms have 32 stores a thread and more."""
ROUNDS = 7


def atoms(name: str, arch: str) -> ModuleOp:
    """An example at the atom level."""
    module, source = verified((EXAMPLES / f"{name}.mlir").read_text(), name)
    lower_tiles(module, arch, source)
    return module


def milliseconds(module: ModuleOp) -> float:
    """The best of ROUNDS checks, of processor time."""
    context = default_context()
    check = partial(CheckHazardsPass().apply, context, module)
    return 1e3 * best_time(ROUNDS, check, time.process_time)


def events(module: ModuleOp) -> int:
    """How many events are followed, in all launches."""
    kernel = next(op for op in module.walk() if isinstance(op, func.FuncOp))
    program = Program(kernel)
    followed = (launch[0] for launch in launches(kernel, program.loops, 4))
    return sum(len(program.run(launch).events) for launch in followed)


def main() -> None:
    options = parser(__doc__).parse_args()
    modules = {name: atoms(name, arch) for name, arch in KERNELS.items()}
    took = {name: milliseconds(module) for name, module in modules.items()}
    lines = (
        f"examples/{name}.mlir: {best:.0f} ms, {events(modules[name])} events"
        for name, best in took.items()
    )
    show(options, took, lines)


if __name__ == "__main__":
    main()
