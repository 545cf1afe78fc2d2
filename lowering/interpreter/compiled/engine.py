"""Gangs in native code: their registers in arrays, the machine's memory, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, Int64Array, is_array
from tilewright.lowering.interpreter.compiled.llvm import LANES
from tilewright.lowering.interpreter.compiled.memory import LOG_ROW, MOST_WORDS, BufferRow, Env
from tilewright.lowering.interpreter.compiled.native import NOWHERE, Native
from tilewright.lowering.interpreter.compiled.stretches import CompiledBlocks
from tilewright.lowering.interpreter.machine.last_accesses import LastAccesses
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.program import CodeBlock
from tilewright.lowering.interpreter.values import PartlyUndefined, Parts, Undefined

LOG_ENTRIES = 1 << 16


class CompiledRunner:
    """Runs the gangs of the waves of programs that have such blocks, in native code as far as it
    goes."""

    def __init__(self, blocks: CompiledBlocks):
        self._blocks = blocks
        self._native = Native(blocks)

    def run(self, machine: Machine, gang: Gang, others: Sequence[Gang]) -> list[Gang]:
        """Run a gang through its block, and through those after it while none of the others is
        further behind: the gangs that go on."""
        step, stopped = 0, -1
        while (turns := machine.spare_turns()) > 0:
            place = self._blocks.point(gang.block, step)
            if place in self._blocks.stretches and place != stopped:
                frame = NativeFrame.of(self._blocks, machine, gang, place)
                if frame is not None:
                    parts = frame.run(self._native, place, others, turns)
                    if len(parts) > 1:
                        return [one for part in parts for one in self._finish(machine, *part)]
                    [(gang, step)] = parts
                    if step == 0:
                        return [gang]
                    stopped = self._blocks.point(gang.block, step)
                    continue
            following = self._following(gang.block, step)
            going = machine.run_steps(gang, step, following)
            if following is None:
                return going
            step = following
        return machine.run_steps(gang, step)

    def _following(self, block: CodeBlock, step: int) -> int | None:
        """The step of a block behind one from which on it has code."""
        steps = range(step + 1, len(block.steps) + 1)
        points = (self._blocks.point(block, one) in self._blocks.stretches for one in steps)
        return next((one for one, has in zip(steps, points, strict=True) if has), None)

    def _finish(self, machine: Machine, gang: Gang, step: int) -> list[Gang]:
        """The rest of a block, where a gang is in the middle of it."""
        return machine.run_steps(gang, step) if step else [gang]


class NativeFrame:
    """The registers of a gang in arrays for native code, [registers, threads], of whole vectors of
    threads, and its environment."""

    def __init__(self, blocks: CompiledBlocks, machine: Machine, gang: Gang):
        self._blocks, self._machine, self._gang = blocks, machine, gang
        self._threads = -(-gang.count // LANES) * LANES
        self._octets = np.zeros((blocks.places[-1], self._threads), np.uint8)
        self._lost: list[Undefined] = []
        self._kept: list[Any] = []

    @classmethod
    def of(
        cls, blocks: CompiledBlocks, machine: Machine, gang: Gang, place: int
    ) -> NativeFrame | None:
        """None where a register that is read holds what native code has no array for."""
        frame = cls(blocks, machine, gang)
        live = blocks.read_from(place)
        return frame if all(frame._take(gang.regs[slot], slot) for slot in live) else None

    def _array(self, slot: int) -> AnyArray:
        """A register of all threads: [registers, threads]."""
        container, place = self._blocks.held[slot], self._blocks.places[slot]
        octets = self._octets[place : place + container.count * container.dtype.itemsize]
        return octets.reshape(-1).view(container.dtype).reshape(container.count, -1)

    def _take(self, given: Any, slot: int) -> bool:
        array, flag = self._array(slot), self._blocks.flags.get(slot)
        if isinstance(given, Parts):
            return False
        if isinstance(given, Undefined) and flag is not None:
            self._lost.append(given)
            missing: Any = True
            if isinstance(given, PartlyUndefined):
                given, missing = given.value, given.missing
            self._array(flag)[0, : self._gang.count] = missing * np.uint8(len(self._lost))
        if is_array(given):
            if given.dtype != array.dtype or given.shape[1:] != (len(array),) * (given.ndim - 1):
                return False
            array[:, : self._gang.count] = given.T
            return len(self._lost) < 255
        return isinstance(given, Undefined) and flag is not None

    def run(
        self, native: Native, place: int, others: Sequence[Gang], turns: int
    ) -> list[tuple[Gang, int]]:
        """Run code from a point on: the gangs, each with the step of its block that comes next."""
        blocks, gang = self._blocks, self._gang
        addresses = self._octets.ctypes.data + blocks.places * self._threads
        points = np.full(self._threads, NOWHERE, np.int32)
        points[: gang.count] = place
        behind = (blocks.point(one.block) for one in others if one.awaited is None)
        env = self._environment(turns, min(behind, default=NOWHERE))
        native.run(self._threads, *(one.ctypes.data for one in (addresses, points, env)))
        self._settle(env)
        points = points[: gang.count]
        return [self._part(points == number, number) for number in np.unique(points).tolist()]

    def _part(self, chosen: BoolArray, number: int) -> tuple[Gang, int]:
        """The threads of the gang that are at a point."""
        gang, (block, step) = self._gang, self._blocks.at(number)
        for slot in self._blocks.read_from(number):
            gang.regs[slot] = self._register(slot)
        # The code may be that of another run.
        gang.block = self._machine.program.blocks[block.number]
        live = [slot for slot in self._blocks.live(block, step) if slot < self._blocks.count]
        return gang if chosen.all() else gang.part(chosen, live), step

    def _register(self, slot: int) -> Any:
        """The value of a register, of which some threads may have no value."""
        rows = self._array(slot)[:, : self._gang.count]
        array = rows[0] if len(rows) == 1 else np.ascontiguousarray(rows.T)
        if (number := self._blocks.flags.get(slot)) is None:
            return array
        flags = self._array(number)[0, : self._gang.count]
        if not flags.any():
            return array
        lost = self._lost[int(flags.max()) - 1]
        if flags.all():
            return Undefined(lost.origin)
        return PartlyUndefined(lost.origin, array, flags != 0)

    # The environment

    def _environment(self, turns: int, limit: int) -> Int64Array:
        machine, lanes, self._turns = self._machine, self._gang.lanes, turns
        clocks, accesses, shared = machine.clocks, machine.accesses, machine.shared
        env = np.zeros(len(Env), np.int64)
        env[Env.LIMIT], env[Env.TURNS] = limit, turns
        env[Env.CLOCKS], env[Env.WARPS] = clocks.seen.strides[0] // 4, clocks.warps
        env[Env.CHECKED] = accesses.are_checked
        env[Env.ROOM] = LOG_ENTRIES + MOST_WORDS * self._threads
        who, now = accesses.stamp(lanes)
        self._log = np.empty((int(env[Env.ROOM]), LOG_ROW), np.int64)
        self._buffers = self._rows()
        env[Env.BUFFER_COUNT] = len(self._buffers)
        arrays: dict[int, AnyArray] = {
            Env.LANES: lanes, Env.WHO: who, Env.NOW: now, Env.SEEN: clocks.seen,
            Env.READ: clocks.columns_of_warps(writes=False),
            Env.WROTE: clocks.columns_of_warps(writes=True),
            Env.BUFFERS: self._buffers, Env.LOG: self._log,
            Env.ADDRESSES: np.empty(self._threads, np.int64),
            Env.PLACES: np.empty(self._threads, np.int64),
            Env.ACTIVE: np.empty(self._threads, np.uint8),
        }  # fmt: skip
        if (shadow := shared.plain_shadow()) is not None and self._warps_know_the_same():
            env[Env.SHARED_SIZE], env[Env.UNIT] = shared.size, shadow.unit.bit_length() - 1
            env[Env.UNITS] = shadow.reads.stamps.shape[1]
            arrays |= {
                Env.SHARED: shared.data, Env.SHARED_FIRST: machine.cta_of(lanes) * shared.stride,
                Env.READ_STAMPS: shadow.reads.stamps, Env.READERS: shadow.reads.readers,
                Env.READ_OPS: shadow.reads.ops, Env.READ_LAST: shadow.reads.last,
                Env.FENCED: shadow.proxy.before, Env.FENCES: shadow.proxy.count,
                **_columns(Env.LAST_WHO, shadow.last),
            }  # fmt: skip
            if shadow.plain is not None:
                arrays |= _columns(Env.PLAIN_WHO, shadow.plain)
        for name, array in arrays.items():
            array = np.ascontiguousarray(array) if name in (Env.WHO, Env.NOW, Env.LANES) else array
            self._kept.append(array)
            env[name] = array.ctypes.data
        return env

    def _warps_know_the_same(self) -> bool:
        """The threads of each warp know the same reads of their warp: so it shows nowhere that they
        read one after the other."""
        lanes, clocks = self._gang.lanes, self._machine.clocks
        warps = lanes // WARP
        known = clocks.seen[lanes, warps % clocks.warps]
        return not ((warps[1:] == warps[:-1]) & (known[1:] != known[:-1])).any()

    def _rows(self) -> Int64Array:
        """The buffers of global memory."""
        accesses = self._machine.accesses
        rows = np.zeros((len(accesses.memory.allocations), len(BufferRow)), np.int64)
        for row, buffer in zip(rows, accesses.memory.allocations, strict=True):
            row[BufferRow.BASE], row[BufferRow.DATA] = buffer.base, buffer.data.ctypes.data
            # Native code does not know what is unwritten: it finds no byte there.
            row[BufferRow.SIZE] = buffer.size if buffer.unwritten is None else 0
            row[BufferRow.WRITABLE] = buffer.read_only is None
            row[BufferRow.UNIT] = -1
            shadow = accesses.plain_shadow(buffer.data)
            if shadow is None or shadow.unit & shadow.unit - 1:
                continue
            row[BufferRow.UNIT] = shadow.unit.bit_length() - 1
            for first, readers in (
                (BufferRow.READS, shadow.reads), (BufferRow.STRONG_READS, shadow.strong_reads),
            ):  # fmt: skip
                lasts = _columns(first, readers.latest) | _columns(first + 3, readers.elsewhere)
                for number, column in lasts.items():
                    row[number] = column.ctypes.data
            row[BufferRow.LOGGED_READS] = shadow.reads.logged.ctypes.data
            row[BufferRow.STRONG_LOGGED_READS] = shadow.strong_reads.logged.ctypes.data
            for number, column in _columns(BufferRow.WRITES, shadow.writes).items():
                row[number] = column.ctypes.data
        return rows

    def _settle(self, env: Int64Array) -> None:
        """Let the machine know what native code counted and noted."""
        machine = self._machine
        machine.took(self._turns - int(env[Env.TURNS]), int(env[Env.EXECUTED]))
        log = self._log[: int(env[Env.LOGGED])]
        for number, (row, buffer) in enumerate(
            zip(self._buffers, machine.accesses.memory.allocations, strict=True)
        ):
            shadow = machine.accesses.plain_shadow(buffer.data)
            if shadow is None:
                continue
            shadow.generic |= bool(row[BufferRow.WRITTEN])
            if len(log) and len(mine := log[log[:, 0] == number]):
                who, when, op = mine[:, 2].copy(), *mine[:, 3:].T.astype(np.int32)
                shadow.reads.add_to_log(mine[:, 1].copy(), (who, when, op))


def _columns(first: int, last: LastAccesses) -> dict[int, AnyArray]:
    """The arrays of last accesses, by their places behind one another."""
    return {first + n: one for n, one in enumerate((last.who, last.when, last.op))}
