"""Tile IR bytecode: ops a second read, read and verified, and written, on one core.

    python benchmarks/tileir_bytecode.py [--json] [FILE...]

The module is one kernel of some 12,000 ops in loops: loads and stores through views and pointers,
arithmetic of several types, comparisons, reductions, an MMA. Every op has a place of its own in the
debug info. CPU time, the best of several rounds. FILEs are read instead, together.
"""

import time
from pathlib import Path

from measured import best_time, parser, show
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr

from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode
from tilewright.dialects.cuda_tile.bytecode.write_module import write_bytecode
from tilewright.dialects.cuda_tile.debug_info import (
    DICompileUnitAttr,
    DIFileAttr,
    DILocAttr,
    DISubprogramAttr,
)
from tilewright.source.parsing import parse_module

LOOPS = 400
ROUNDS = 4
GOAL = 30_000
"""Ops a second that are to be read and verified."""

HEAD = """
cuda_tile.module @kernels {
  entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f16>>, %n: tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %t0 = make_token : token
    %va = make_tensor_view %a, shape = [%n, 64], strides = [64, 1]
      : tile<i32> -> tensor_view<?x64xf32, strides=[64,1]>
    %pa = make_partition_view %va
      : partition_view<tile=(16x64), tensor_view<?x64xf32, strides=[64,1]>>
"""
LOOP = """
    %s{i} = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%t = %t0) -> (token) {{
      %x, %t1 = load_view_tko weak %pa[%i, %zero] token = %t
        : partition_view<tile=(16x64), tensor_view<?x64xf32, strides=[64,1]>>, tile<i32>
        -> tile<16x64xf32>, token
      %c = constant <f32: {i}.5> : tile<f32>
      %c2 = reshape %c : tile<f32> -> tile<1x1xf32>
      %c3 = broadcast %c2 : tile<1x1xf32> -> tile<16x64xf32>
      %y = mulf %x, %c3 rounding<nearest_even> : tile<16x64xf32>
      %z = addf %y, %x rounding<nearest_even> : tile<16x64xf32>
      %e = exp2 %z : tile<16x64xf32>
      %less = cmpf less_than ordered %e, %x : tile<16x64xf32> -> tile<16x64xi1>
      %sel = select %less, %e, %x : tile<16x64xi1>, tile<16x64xf32>
      %h = ftof %sel : tile<16x64xf32> -> tile<16x64xf16>
      %ht = permute %h [1, 0] : tile<16x64xf16> -> tile<64x16xf16>
      %acc = constant <f32: 0.0> : tile<16x16xf32>
      %d = mmaf %h, %ht, %acc : tile<16x64xf16>, tile<64x16xf16>, tile<16x16xf32>
      %m = reduce %d dim=1 identities=[0.0 : f32] : tile<16x16xf32> -> tile<16xf32>
        (%p: tile<f32>, %q: tile<f32>) {{
        %r = addf %p, %q rounding<nearest_even> : tile<f32>
        yield %r : tile<f32>
      }}
      %k = muli %i, %n : tile<i32>
      %k1 = addi %k, %one overflow<no_signed_wrap> : tile<i32>
      %k2 = reshape %k1 : tile<i32> -> tile<1xi32>
      %k3 = broadcast %k2 : tile<1xi32> -> tile<16xi32>
      %iota = iota : tile<16xi32>
      %k4 = addi %k3, %iota : tile<16xi32>
      %in = cmpi less_than %k4, %iota, signed : tile<16xi32> -> tile<16xi1>
      %p0 = reshape %b : tile<ptr<f16>> -> tile<1xptr<f16>>
      %p1 = broadcast %p0 : tile<1xptr<f16>> -> tile<16xptr<f16>>
      %p2 = offset %p1, %k4 : tile<16xptr<f16>>, tile<16xi32> -> tile<16xptr<f16>>
      %mh = ftof %m : tile<16xf32> -> tile<16xf16>
      %t2 = store_ptr_tko weak %p2, %mh, %in token = %t1
        : tile<16xptr<f16>>, tile<16xf16>, tile<16xi1> -> token
      %t3 = join_tokens %t1, %t2 : token
      continue %t3 : token
    }}
"""
TAIL = "    return\n  }\n}\n"


def located_module(loops: int = LOOPS) -> ModuleOp:
    """The kernel, a place for every op."""
    module = parse_module(HEAD + "".join(LOOP.format(i=i) for i in range(loops)) + TAIL)
    name = StringAttr("kernel.py")
    file = DIFileAttr(name, StringAttr("/home/me"))
    one = IntAttr(1)
    unit = DICompileUnitAttr(file)
    function = DISubprogramAttr(file, one, StringAttr("k"), StringAttr("k"), unit, one)
    (tiles,) = module.body.block.ops
    for line, op in enumerate(tiles.walk()):
        if op is not tiles:
            source = FileLineColLoc(name, IntAttr(line), IntAttr(line % 80))
            op.location = DILocAttr(source, function)  # pyright: ignore
    return module


def measured(files: list[bytes]) -> dict[str, float]:
    """Ops, bytes, and ops a second."""
    modules = [read_bytecode(data) for data in files]
    ops = sum(sum(1 for _ in module.walk()) for module in modules)
    rates = {
        "read": lambda: [read_bytecode(data, verify=False) for data in files],
        "read and verify": lambda: [read_bytecode(data) for data in files],
        "write": lambda: [write_bytecode(module) for module in modules],
    }
    rows = {name: ops / best_time(ROUNDS, run, time.process_time) for name, run in rates.items()}
    return {"ops": ops, "bytes": sum(map(len, files)), **rows}


def main() -> None:
    words = parser(__doc__)
    words.add_argument("files", nargs="*", type=Path, metavar="FILE", help="bytecode to read")
    options = words.parse_args()
    files = [path.read_bytes() for path in options.files] or [write_bytecode(located_module())]
    speeds = measured(files)
    lines = [f"{speeds['ops']:.0f} ops in {speeds['bytes']:.0f} bytes"]
    for name in ("read", "read and verify", "write"):
        share = f"{speeds[name] / GOAL:>8.2f} of the goal"
        lines.append(f"{name:<16}{speeds[name]:>10.0f} ops/s{share}")
    show(options, speeds, lines)


if __name__ == "__main__":
    main()
