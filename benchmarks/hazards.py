"""The static check of hazards in one warm process: milliseconds a kernel, and of what it looks at.

python benchmarks/hazards.py [--json]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

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
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        CheckHazardsPass().apply(default_context(), module)
        best = min(best, time.process_time() - start)
    return best * 1e3


def events(module: ModuleOp) -> int:
    """How many events are followed, in all launches."""
    kernel = next(op for op in module.walk() if isinstance(op, func.FuncOp))
    program = Program(kernel)
    followed = (launch[0] for launch in launches(kernel, program.loops, 4, guesses=False))
    return sum(len(program.run(launch).events) for launch in followed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    modules = {name: atoms(name, arch) for name, arch in KERNELS.items()}
    took = {name: milliseconds(module) for name, module in modules.items()}
    if as_json:
        print(json.dumps(took))
        return
    for name, best in took.items():
        print(f"examples/{name}.mlir: {best:.0f} ms, {events(modules[name])} events")


if __name__ == "__main__":
    main()
