"""The static check of hazards in one warm process: milliseconds a kernel, and of what it looks at.

python benchmarks/hazards.py [--json]
python benchmarks/hazards.py --cases FOLDER... --arch sm_100a

`--cases`: what the check says of prepared cases of cuTile at the ptx level; exit status 1 where one
is not proven.
"""

import pickle
import sys
import time
from functools import partial
from pathlib import Path

from measured import best_time, parser, show
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tilewright.passes.analysis.functions import functions
from tilewright.passes.analysis.hazards.check import check
from tilewright.passes.analysis.hazards.follow import ProgramSlice
from tilewright.passes.analysis.hazards.launches import launches
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.pipeline import lower_tiles, run_pipeline, verified
from tilewright.source.parsing import default_context

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
    program = ProgramSlice(kernel)
    followed = (launch[0] for launch in launches(kernel, program.loops, 4))
    return sum(len(program.run(launch).events) for launch in followed)


def hazard(path: Path, arch: str) -> str:
    """The words of the check on a case's instructions; none where they are proven."""
    module, source = verified(pickle.loads(path.read_bytes())["bytecode"], path.stem)
    run_pipeline(module, arch, source)
    (kernel,) = functions(module)
    wrong, unproven = check(kernel)
    return str(wrong.error()) if wrong is not None else ", ".join(unproven.values())


def main() -> None:
    words = parser(__doc__)
    words.add_argument("--cases", type=Path, nargs="*", metavar="FOLDER", default=[])
    words.add_argument("--arch", default="sm_90a")
    options = words.parse_args()
    if options.cases:
        paths = [path for folder in options.cases for path in sorted(folder.glob("*.pkl"))]
        said = {str(path): hazard(path, options.arch) for path in paths}
        show(options, said, (f"{name}: {why or 'proven'}" for name, why in said.items()))
        sys.exit(any(said.values()))
    modules = {name: atoms(name, arch) for name, arch in KERNELS.items()}
    took = {name: milliseconds(module) for name, module in modules.items()}
    lines = (
        f"examples/{name}.mlir: {best:.0f} ms, {events(modules[name])} events"
        for name, best in took.items()
    )
    show(options, took, lines)


if __name__ == "__main__":
    main()
