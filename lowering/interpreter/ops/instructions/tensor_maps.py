"""Tensor maps in memory: kernels make, change, copy and prefetch them."""

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.tma import PREFETCH_TENSORMAP, TENSOR_MAP_BYTES
from tilewright.dialects.ptx.bulk_copy import CpFenceproxyOp, TensormapReplaceOp
from tilewright.dialects.ptx.instruction import content
from tilewright.dialects.ptx.synchronization import ProxyFenceOp
from tilewright.lowering.interpreter.builder import Effect, accesses, effects, executes, nothing
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.machine.tensor_map_bytes import place_of
from tilewright.lowering.interpreter.ops.base.memref import load_words, store_words
from tilewright.lowering.interpreter.ops.instructions.operands import windows
from tilewright.lowering.interpreter.values import Bits, spread


@accesses
def _replace_field(op: TensormapReplaceOp, number: int) -> Effect:
    form = op.form.data
    offset, width = place_of(form.split(".")[1], content(op.place) or 0)
    of_shared, generic = ".shared" in form, ".global." not in form and ".shared" not in form

    def run(machine: Machine, gang: Gang, address: Bits, value: Bits | None) -> None:
        given = np.full(1, content(op.number) or 0) if value is None else value
        words = spread(given, gang.count).astype(f"uint{8 * width}")[:, None]
        at = address + address.dtype.type(offset)
        for shared, place, part in windows(at, None, generic, of_shared):
            store_words(machine, gang, place, words, number=number, shared=shared, chosen=part)

    return run, op.address, op.value


@accesses
def _copy_map(op: CpFenceproxyOp, number: int) -> Effect:
    """The first thread of a warp copies, half by half: each is as far aligned as maps are."""
    mnemonic = op.mnemonic

    def run(machine: Machine, gang: Gang, dest: Bits, source: Bits) -> None:
        gang.warps(mnemonic)
        first, half = gang.lanes % WARP == 0, TENSOR_MAP_BYTES // 2
        for offset in (0, half):
            words = load_words(
                machine, gang, source + np.uint32(offset), width=8, count=half // 8, number=number,
                shared=True, chosen=first, otherwise=np.zeros((gang.count, half // 8), np.uint64),
            )  # fmt: skip
            place = dest + np.uint64(offset)
            store_words(machine, gang, place, words, number=number, shared=False, chosen=first)
        machine.accesses.maps.release(gang.lanes, machine.clocks)

    return run


@effects
def _fence(op: ProxyFenceOp) -> Effect:
    if ".tensormap" not in op.form.data:
        return nothing

    def run(machine: Machine, gang: Gang, address: Bits | None) -> None:
        if address is None:
            machine.accesses.maps.release(gang.lanes, machine.clocks)
        else:
            maps = spread(address, gang.count)
            machine.accesses.maps.acquire(gang.lanes, maps, machine.clocks)

    return run, op.address


@executes(PREFETCH_TENSORMAP)
def _prefetch(machine: Machine, gang: Gang, map_: Bits) -> None:
    for address in np.unique(map_).tolist():
        machine.memory.tensor_map(address)
