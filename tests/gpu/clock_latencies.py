"""The rows of the latency model against `%clock` on the GPU of this machine.

    python tests/gpu/clock_latencies.py [--json]

Each kernel runs a chain of one instruction, every one of which needs the result before, and the
clock before and after it, behind a store of the result, which keeps it there: cycles an
instruction. Prints a line for each: the model's row, what was measured, and their ratio; exit
status 1 where one is off by more than a factor of four.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass

import numpy as np

from tilewright.launch.launcher import call, device_arch, device_name, function, load, synchronize
from tilewright.lowering.interpreter.timeline.latencies import latency, multiply_cycles

REPEATS = 64
SMALL, LARGE = 1024, 1 << 26
"""Words of a chain of pointers: one that the L2 cache has, and one that is mostly in DRAM."""


@dataclass(frozen=True)
class Chain:
    """A chain: the op of the model and its space, the instruction, which reads and writes %r0 (or
    the accumulators), what comes before, and the cycles that the model has beside the result's."""

    op: str
    body: str
    before: str = ""
    space: str = ""
    turn: int = 0
    threads: int = 32
    arch: str = ""
    words: int = SMALL


MMA = (
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0,%f1,%f2,%f3}, {%r1,%r1,%r1,%r1}, "
    "{%r1,%r1}, {%f0,%f1,%f2,%f3};"
)
ACCUMULATORS = ", ".join(f"%f{i}" for i in range(128))
WGMMA = (
    "wgmma.fence.sync.aligned;\n"
    f"wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{{ACCUMULATORS}}}, %rd2, %rd2, 1, 1, "
    "1, 0, 0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
)
ZEROS = "\n".join(f"mov.f32 %f{i}, 0f00000000;" for i in range(128))
SHARED = "mov.u32 %r2, memory; st.shared.u32 [%r2], %r2; mov.u32 %r0, %r2;"
GLOBAL = "ld.global.cv.u64 %rd1, [%rd1];"

CHAINS = {
    "add": Chain("ptx.add", "add.u32 %r0, %r0, %r1;"),
    "fma": Chain("ptx.fma", "fma.rn.f32 %f0, %f0, %f1, %f1;"),
    "ex2": Chain("ptx.ex2", "ex2.approx.f32 %f0, %f0;", "cvt.rn.f32.u32 %f0, %r0;"),
    "shfl.sync": Chain("ptx.shfl.sync", "shfl.sync.bfly.b32 %r0, %r0, 1, 31, -1;"),
    "ld.shared": Chain("ptx.ld", "ld.shared.u32 %r0, [%r0];", SHARED, "shared"),
    "ld.global": Chain("ptx.ld", GLOBAL, space="global", words=LARGE),
    "atom.global": Chain("ptx.atom", "atom.global.add.u64 %rd1, [%rd1], 0;", space="global"),
    "bar.sync": Chain("ptx.bar.sync", "bar.sync 0;", threads=128),
    "mma": Chain("ptx.mma", MMA, arch="sm_80"),
    "wgmma": Chain(
        "ptx.wgmma.mma_async", WGMMA, threads=128, arch="sm_90a",
        turn=multiply_cycles("sm_90a", 64 * 256 * 16, 16, warp=False),
    ),
}  # fmt: skip


def text(chain: Chain, arch: str) -> str:
    """The kernel of a chain."""
    body = "\n".join([chain.body] * REPEATS)
    return f"""
.version 8.0
.target {arch}
.address_size 64
.visible .entry chain(.param .u64 start, .param .u64 out) {{
.reg .b32 %r<8>; .reg .f32 %f<128>; .reg .b64 %rd<4>;
.shared .align 1024 .b8 memory[32768];
ld.param.u64 %rd1, [start];
ld.param.u64 %rd0, [out];
mov.u32 %r1, %laneid;
mov.u32 %r0, %laneid;
mov.u64 %rd2, 0x4000004000010000;
{ZEROS}
{chain.before}
bar.sync 0;
{body}
bar.sync 0;
mov.u32 %r5, %clock;
{body}
st.volatile.shared.f32 [memory], %f0;
mov.u32 %r6, %clock;
sub.u32 %r6, %r6, %r5;
st.global.u32 [%rd0], %r6;
st.global.u32 [%rd0+4], %r0;
st.global.u64 [%rd0+8], %rd1;
st.global.f32 [%rd0+16], %f0;
}}
"""


def measure(chain: Chain, arch: str) -> float:
    """Cycles an instruction, the least of five runs."""
    ring = call("cuMemAlloc", 8 * chain.words)
    places = np.random.default_rng(0).permutation(chain.words // 16) * 16
    words = np.zeros(chain.words, np.uint64)
    words[places] = int(ring) + 8 * np.roll(places, -1).astype(np.uint64)
    call("cuMemcpyHtoD", ring, words, words.nbytes)
    out = call("cuMemAlloc", 64)
    kernel = function(load(text(chain, arch)), "chain", ("u64", "u64"), 0)
    cycles: list[int] = []
    for _ in range(5):
        result = np.zeros(16, np.uint32)
        kernel.start([int(ring), int(out)], (1,), (chain.threads,))
        synchronize()
        call("cuMemcpyDtoH", result, out, result.nbytes)
        cycles.append(int(result[0]))
    for pointer in (ring, out):
        call("cuMemFree", pointer)
    return min(cycles) / REPEATS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    arch, rows = device_arch(), dict[str, tuple[float, float]]()
    for name, chain in CHAINS.items():
        if chain.arch in ("", "sm_80") or chain.arch == arch:
            row = latency(chain.op, chain.space)
            rows[name] = row.result + chain.turn, measure(chain, arch)
    if options.json:
        print(json.dumps({"device": device_name(), "arch": arch, "cycles": rows}))
    else:
        print(f"{device_name()}, {arch}")
        for name, (model, cycles) in rows.items():
            print(f"{name:12} model {model:7.1f}  measured {cycles:7.1f}  {cycles / model:5.2f}")
    return int(any(not 0.25 < cycles / model < 4 for model, cycles in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
