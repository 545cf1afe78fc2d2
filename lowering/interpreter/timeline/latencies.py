"""The latency model of timelines: how long each PTX instruction takes, in cycles of an SM.

A warp issues an instruction and goes on after `issue` cycles; what it gives is there `result`
cycles after the issue, and an instruction that reads it waits until then. Instructions of one
`pipe` take turns, each for as long as its work takes at the pipe's rate. Warps do not compete for
issue slots, memory always answers from where the row says, and branches cost nothing: it is a model
of the order of magnitude, which shows what waits for what. `tests/gpu/clock_latencies.py` measures
the rows on a chip.

Sources: [L] Luo et al., Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via
Microbenchmarking and Multiple Level Analysis, arXiv:2402.13499 and 2501.12084, H100 PCIe; [J] Jia
et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, arXiv:1804.06826; [G]
CUDA C++ Programming Guide, throughput of arithmetic instructions, and NVIDIA's figures of peak
rates; [A] assumed, in the order of what is like it.
"""

import re
from functools import cache

from tilewright.dialects.frozen import frozen


@frozen
class Latency:
    """A row: the cycles until the warp goes on and until the result is there, who takes turns with
    it ("": nobody), and where the numbers are from."""

    issue: int
    result: int
    source: str
    pipe: str = ""


ALU = Latency(1, 4, "[J] 4 cycles from one dependent instruction to the next")
_TABLE = """
ptx.div ptx.rem                    20  40   [A] a sequence of instructions
ptx.ex2 ptx.lg2 ptx.rcp ptx.rsqrt  2   18   [G] 16 results a cycle and SM; [J] 14 to 18 cycles
ptx.sqrt ptx.popc ptx.clz          2   18   [G] 16 results a cycle and SM; [J] 14 to 18 cycles
ptx.shfl.sync                      2   23   [J] as a load of shared memory, without its address
ptx.ld.param                       1   8    [A] the constant cache
ptx.ld.shared                      2   29   [L] 29.0
ptx.st.shared                      2   0    [A]
ptx.ldmatrix                       4   33   [A] a load of shared memory, and its turns
ptx.stmatrix                       4   0    [A]
ptx.movmatrix                      2   23   [A] as a shuffle
ptx.wmma.load                      8   33   [A] loads of shared memory
ptx.ld.global                      4   479  [L] 478.8 from DRAM
ptx.st.global                      4   0    [A]
ptx.atom.global                    4   263  [L] the L2 cache, where it is done
ptx.atom.shared                    4   40   [A]
ptx.cp.async                       4   479  [L] as a load from DRAM  cp.async
ptx.cp.async.bulk.tensor.load      4   600  [A] as a load, and the engine's turn  tma
ptx.cp.async.bulk.tensor.store     4   500  [A]  tma
ptx.cp.reduce.async.bulk.tensor    4   500  [A]  tma
ptx.mma                            1   33   [L] 33.0 for m16n8k16 of f16  tensor core of a quarter
ptx.wmma.mma                       1   33   [L] as mma  tensor core of a quarter
ptx.wgmma.mma_async                1   16   [L] 128 for m64n256k16, all but this its turn  wgmma
ptx.tcgen05.mma                    1   16   [A] as wgmma  tcgen05
ptx.tcgen05.cp                     1   32   [A]  tcgen05
ptx.tcgen05.ld                     2   30   [A] as a load of shared memory
ptx.tcgen05.st                     2   30   [A]
ptx.tcgen05.alloc                  1   100  [A]
ptx.mbarrier.try_wait.parity       1   20   [A] from the last arrival to the next op
ptx.mbarrier.arrive                2   20   [A] an atomic of shared memory
ptx.bar.sync                       1   20   [J] 22 on V100, for a CTA of few warps
ptx.bar.warp.sync                  1   4    [A]
ptx.barrier.cluster.wait           1   190  [L] 180 to 213 between SMs of a cluster
ptx.fence.proxy.async              10  0    [A]
ptx.elect.sync                     2   10   [A]
ptx.setmaxnreg                     4   0    [A]
"""
LATENCIES = {
    name: Latency(int(issue), int(result), *source)
    for names, issue, result, *source in (
        re.split("  +", row) for row in _TABLE.strip().splitlines()
    )
    for name in names.split()
}
"""By the op's name, with its state space where it has one; all others are `ALU`."""

COPIES = "tma"
"""The pipe of an SM's copies, and of threads' loads and stores of global memory."""
COPIED_BYTES, COPIED_ROW = 60, 96
"""Bytes a cycle that an SM copies, TMA and threads: its share of the L2 cache's, 98 to 119 a
nanosecond of an H200 where tiles of 64x64 and 64x128 wait for nothing else (cutile_gpu.py --all);
and those that a row of a box takes at least. [A]"""

MULTIPLY_ADDS: dict[int, dict[int, int]] = {
    70: {16: 512},
    75: {16: 512, 8: 1024, 4: 2048},
    80: {16: 1024, 8: 2048, 4: 4096},
    86: {16: 512, 8: 1024, 4: 2048},
    90: {16: 2048, 8: 4096},
    100: {16: 4096, 8: 8192, 4: 16384},
    120: {16: 512, 8: 1024, 4: 2048},
}
"""Multiply-adds a cycle of all tensor cores of an SM, dense, by the first chip of the kind and
the bits of an element. [G]"""

WARP_SHARE = 0.62
"""The part of a Hopper tensor core's rate that `mma.sync` gets. [L] 62.9 %"""


def latency(name: str, space: str = "") -> Latency:
    """The row of an op."""
    return LATENCIES.get(f"{name}.{space}" if space else name) or LATENCIES.get(name, ALU)


_FREE = ("ptx.const", "ptx.mov", "ptx.pack", "ptx.unpack")
"""The ops that ptxas makes nothing of where it can."""


@cache
def slots_of(name: str) -> tuple[tuple[str, int], ...]:
    """The units of a quarter that an op of a warp takes, and for how many cycles: all instructions
    are issued one at a time; of functions there are four results a cycle. [G]"""
    row = LATENCIES.get(name, ALU)
    functions = (("functions", 8),) if "16 results" in row.source else ()
    return () if name in _FREE else (("issue", 1), *functions)


def multiply_adds(arch: str, bits: int) -> int:
    """Multiply-adds a cycle and SM of a chip, of elements of so many bits."""
    rates = MULTIPLY_ADDS[max(chip for chip in MULTIPLY_ADDS if chip <= max(_number(arch), 70))]
    if bits > 16:
        return rates[16] * 16 // bits // (8 if bits == 64 else 1)
    return rates[min(width for width in rates if width >= bits)]


def multiply_cycles(arch: str, products: int, bits: int, *, warp: bool) -> int:
    """The turn of an MMA of so many products on the tensor cores of an SM; of a warp's, on one of
    the four."""
    rate = multiply_adds(arch, bits) / (4 if warp else 1)
    rate *= WARP_SHARE if warp and _number(arch) == 90 else 1
    return max(1, round(products / rate))


def _number(arch: str) -> int:
    return int(arch.removeprefix("sm_").rstrip("af"))
