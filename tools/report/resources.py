"""The resources of a kernel on an SM: registers, shared memory, the CTAs that fit, and the times
below which a run cannot be."""

from math import prod
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import REGISTERS, SMS
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RESERVED
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, target
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.launch.ptxas import PtxasNotFound, assemble
from tilewright.lowering.interpreter.timeline.latencies import multiply_adds
from tilewright.passes.check_target import required_targets

GRANULE = 256
"""How many registers a warp takes at a time."""


def resources(
    ptx: str, arch: str, module: ModuleOp, entry: EntryOp, threads: int | None
) -> list[dict[str, Any]]:
    """A row for each target that runs the kernel: what ptxas gives it, and the CTAs that fit."""
    name = entry.sym_name.data
    declared = None if entry.reqntid is None else prod(entry.reqntid.get_values())
    threads, own = declared or threads, target(arch)
    needed = required_targets(module)
    names = [arch] if own.suffix else [
        other.name for other in TARGETS.values()
        if not other.suffix and other.number in SMS and all(map(other.supports, needed))
    ]  # fmt: skip
    rows: list[dict[str, Any]] = []
    for target_name in names:
        try:
            report = assemble(ptx, target_name)
        except PtxasNotFound:
            return [{"target": arch, "shared": entry.shared.value.data, "threads": threads}]
        if report.ok and name in report.kernels:
            kernel = report.kernels[name]
            row: dict[str, Any] = {
                "target": target_name,
                "registers": kernel.registers,
                "spills": kernel.spill_stores,
                "shared": entry.shared.value.data,
                "threads": threads,
            }
            if threads:
                row |= occupancy(
                    target(target_name).number, kernel.registers, row["shared"], threads
                )
            rows.append(row)
    return rows


def occupancy(number: int, registers: int, shared: int, threads: int) -> dict[str, Any]:
    """The CTAs of an SM, what bounds them, and the part of its warps that they are."""
    sm = SMS[max(chip for chip in SMS if chip <= max(number, 75))]
    warps = -(-threads // 32)
    per_warp = -(-registers * 32 // GRANULE) * GRANULE
    bounds = {
        "threads": sm.threads // (warps * 32),
        "CTAs": sm.ctas,
        "registers": REGISTERS // (per_warp * warps),
        "shared memory": sm.shared * 1024 // (shared + RESERVED),
    }
    bound = min(bounds, key=bounds.__getitem__)
    ctas = bounds[bound]
    return {"ctas": ctas, "bound": bound, "occupancy": ctas * warps * 32 / sm.threads}


def roofline(arch: str, products: dict[int, int], octets: int, cycles: int) -> dict[str, Any]:
    """The least times of a run on a chip, of multiply-adds by the bits of their elements and of
    bytes of global memory, in microseconds; and those of the model's cycles."""
    number = target(arch).number
    sm = SMS[max(chip for chip in SMS if chip <= max(number, 75))]
    if not sm.count:
        return {}
    rate = sm.count * sm.ghz * 1e3
    compute = sum(count / multiply_adds(arch, bits) / rate for bits, count in products.items())
    memory = octets / sm.bandwidth / 1e3
    flops = 2 * sum(products.values())
    return {
        "chip": sm.chip,
        "flops": flops,
        "bytes": octets,
        "intensity": flops / octets if octets else None,
        "ridge": 2 * multiply_adds(arch, min(products, default=16)) * rate / sm.bandwidth / 1e3,
        "compute_us": compute,
        "memory_us": memory,
        "bound": "tensor cores" if compute > memory else "memory",
        "model_us": cycles / sm.ghz / 1e3,
    }
