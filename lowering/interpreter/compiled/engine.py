"""Gangs in native code: their registers in arrays, the machine's memory, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, Int64Array
from tilewright.lowering.interpreter.compiled.memory import LOG_ROW, BufferRow, Env
from tilewright.lowering.interpreter.compiled.native import LAST, Native
from tilewright.lowering.interpreter.compiled.stretches import (
    DIVERGED,
    STEP_BITS,
    VECTOR,
    CompiledBlocks,
    point,
    stopped,
)
from tilewright.lowering.interpreter.machine.last_accesses import LastAccesses
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.program import CodeBlock
from tilewright.lowering.interpreter.values import PartlyUndefined, Undefined, is_array, spread

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
        block, step, turns = gang.block, 0, machine.spare_turns()
        while True:
            place = point(block, step)
            if turns > 0 and place in self._blocks.stretches:
                frame = NativeFrame.of(self._blocks, machine, gang, place)
                if frame is not None:
                    parts = frame.run(self._native, place, others, turns)
                    if len(parts) > 1:
                        return [one for part in parts for one in self._finish(machine, *part)]
                    [(gang, step)] = parts
                    if gang.block is not block or step == 0:
                        return self._finish(machine, gang, step)
                    block = gang.block
                    if point(block, step) == place:
                        turns = 0
                    continue
            following = self._following(block, step) if turns > 0 else None
            going = machine.run_steps(gang, step, following)
            if following is None:
                return going
            step = following

    def _following(self, block: CodeBlock, step: int) -> int | None:
        """The step of a block behind one from which on it has code."""
        steps = range(step + 1, len(block.steps) + 1)
        return next((one for one in steps if point(block, one) in self._blocks.stretches), None)

    def _finish(self, machine: Machine, gang: Gang, step: int) -> list[Gang]:
        """The rest of a block, where a gang is in the middle of it."""
        return machine.run_steps(gang, step) if step else [gang]


class NativeFrame:
    """The registers of a gang in arrays for native code, and its environment."""

    def __init__(self, blocks: CompiledBlocks, machine: Machine, gang: Gang):
        self._blocks, self._machine, self._gang = blocks, machine, gang
        self._arrays: dict[int, AnyArray] = {}
        self._lost: list[Undefined] = []
        self._kept: list[Any] = []

    @classmethod
    def of(
        cls, blocks: CompiledBlocks, machine: Machine, gang: Gang, place: int
    ) -> NativeFrame | None:
        """None where a register that is read holds what native code has no array for."""
        frame, live = cls(blocks, machine, gang), blocks.live[place]
        for slot, container in blocks.held.items():
            given = gang.regs[slot] if slot in live else None
            if not frame._take(given, slot, container.shape(gang.count), container.dtype):
                return None
        return frame

    def _take(self, given: Any, slot: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
        flag = None
        if isinstance(given, Undefined) and slot in self._blocks.loose:
            flag = np.ones(shape[:1], np.uint8)
            self._lost.append(given)
            if isinstance(given, PartlyUndefined):
                given, flag = given.value, given.missing.astype(np.uint8)
            flag *= np.uint8(len(self._lost))
        if is_array(given) and given.dtype == dtype and given.ndim == len(shape):
            array = np.array(spread(given, shape[0]), order="C")
        elif given is None or flag is not None:
            array = np.zeros(shape, dtype)
        else:
            return False
        self._arrays[slot] = array
        if slot in self._blocks.loose:
            empty = np.zeros(shape[:1], np.uint8)
            self._arrays[slot + self._blocks.count] = empty if flag is None else flag
        return len(self._lost) < 255

    def run(
        self, native: Native, place: int, others: Sequence[Gang], turns: int
    ) -> list[tuple[Gang, int]]:
        """Run code from a point on: the gangs, each with the step of its block that comes next."""
        count = self._gang.count
        addresses = np.zeros(2 * self._blocks.count, np.int64)
        for slot, array in self._arrays.items():
            addresses[slot] = array.ctypes.data
        indices, points = np.empty(count + 1, np.int32), np.full(count, place)
        limit = min((one.block.number for one in others if one.awaited is None), default=None)
        env = self._environment(turns, LAST if limit is None else limit << STEP_BITS)
        pointers = [one.ctypes.data for one in (indices, addresses, points, env)]
        result = native.run(False)(place, count, *pointers)
        while result == DIVERGED or (0 <= result < env[Env.LIMIT] and env[Env.TURNS] > 0):
            apart = result == DIVERGED
            result = native.run(apart)(result, count, *pointers)
            if apart and result == DIVERGED:
                break
        self._settle(env)
        if result == DIVERGED:
            return [self._part(points == number, int(number)) for number in np.unique(points)]
        gang, number = self._gang, result if result >= 0 else stopped(0) - result
        gang.block = self._machine.program.blocks[number >> STEP_BITS]
        for slot in self._blocks.held:
            gang.regs[slot] = self._register(slot)
        return [(gang, number & (1 << STEP_BITS) - 1)]

    def _part(self, chosen: BoolArray, number: int) -> tuple[Gang, int]:
        """The threads of the gang that are at a point."""
        gang, step = self._gang, number & (1 << STEP_BITS) - 1
        program = self._machine.program
        gang.block = program.blocks[number >> STEP_BITS]
        live = range(program.registers) if step else program.live[gang.block]
        for slot in self._blocks.held.keys() & set(live):
            gang.regs[slot] = self._register(slot)
        return gang.part(chosen, live), step

    def _register(self, slot: int) -> Any:
        """The value of a register, of which some threads may have no value."""
        array, flags = self._arrays[slot], self._arrays.get(slot + self._blocks.count)
        if flags is None or not flags.any():
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
        env[Env.ROOM] = LOG_ENTRIES + VECTOR * len(lanes)
        who, now = accesses.stamp(lanes)
        self._log = np.empty((int(env[Env.ROOM]), LOG_ROW), np.int64)
        self._buffers = self._rows()
        env[Env.BUFFER_COUNT] = len(self._buffers)
        arrays: dict[int, AnyArray] = {
            Env.LANES: lanes, Env.WHO: who, Env.NOW: now, Env.SEEN: clocks.seen,
            Env.READ: clocks.columns_of_warps(writes=False),
            Env.WROTE: clocks.columns_of_warps(writes=True),
            Env.BUFFERS: self._buffers, Env.LOG: self._log,
        }  # fmt: skip
        if (shadow := shared.plain_shadow()) is not None:
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

    def _rows(self) -> Int64Array:
        """The buffers of global memory."""
        accesses = self._machine.accesses
        rows = np.zeros((len(accesses.memory.allocations), BufferRow.ROW), np.int64)
        for row, buffer in zip(rows, accesses.memory.allocations, strict=True):
            row[BufferRow.BASE], row[BufferRow.DATA] = buffer.base, buffer.data.ctypes.data
            row[BufferRow.SIZE], row[BufferRow.WRITABLE] = buffer.size, buffer.read_only is None
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
