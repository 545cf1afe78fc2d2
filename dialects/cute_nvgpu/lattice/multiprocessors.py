from tilewright.dialects.frozen import frozen

"""Multiprocessors of chips, by compute capability.

Limits: CUDA C++ Programming Guide, technical specifications by compute capability. Chips: NVIDIA's
data sheets of A100 SXM 80 GB, RTX 4090, H100 SXM, B200 and RTX 5090.
"""


@frozen
class Sm:
    """An SM of a chip: the threads, CTAs and bytes of shared memory that it has at a time; how many
    SMs the chip has, their clock in GHz, and its memory's GB/s; 0 where no chip is named."""

    threads: int
    ctas: int
    shared: int
    chip: str = ""
    count: int = 0
    ghz: float = 0
    bandwidth: int = 0


REGISTERS = 1 << 16
"""The registers of an SM, of any kind."""

SMS = {
    75: Sm(1024, 16, 64),
    80: Sm(2048, 32, 164, "A100", 108, 1.41, 2039),
    86: Sm(1536, 16, 100),
    89: Sm(1536, 24, 100, "RTX 4090", 128, 2.52, 1008),
    90: Sm(2048, 32, 228, "H100", 132, 1.83, 3350),
    100: Sm(2048, 32, 228, "B200", 148, 1.85, 8000),
    103: Sm(2048, 32, 228),
    120: Sm(1536, 24, 100, "RTX 5090", 170, 2.41, 1792),
}


def chip_of(capability: tuple[int, int]) -> Sm:
    """A chip of a compute capability; H100 where the table names none."""
    major, minor = capability
    row = SMS.get(10 * major + minor)
    return row if row is not None and row.chip else SMS[90]
