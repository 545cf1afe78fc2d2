"""Loads and stores as native code: the checks that `global_accesses` and `shared_memory` make, on
their arrays.

An access is found to be fine, and then done, for all threads of an op. Whatever is not fine at
first sight, as a race, a word that others have read in their turn, or an address that is wrong,
nothing is done of: the first engine does it, and says what is wrong. A store counts as one that
changes the word: that of the value that is there is the first engine's where that matters.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RANK_SHIFT
from tilewright.lowering.interpreter.address_windows import window_of
from tilewright.lowering.interpreter.compiled.code import Code
from tilewright.lowering.interpreter.compiled.llvm import I64, POINTER, ir
from tilewright.lowering.interpreter.compiled.words import LaneWord, numpy
from tilewright.lowering.interpreter.machine.last_accesses import NOBODY
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.machine.word_accesses import COPIES, LOCAL

Env = IntEnum(
    "Env",
    "LIMIT TURNS EXECUTED ADDRESSES ACTIVE PLACES LANES WHO NOW SEEN CLOCKS READ WROTE WARPS "
    "CHECKED BUFFERS BUFFER_COUNT LOG LOGGED ROOM SHARED SHARED_SIZE SHARED_FIRST UNIT LAST_WHO "
    "LAST_WHEN LAST_OP PLAIN_WHO PLAIN_WHEN PLAIN_OP READ_STAMPS READERS READ_OPS READ_LAST UNITS "
    "FENCED FENCES",
    start=0,
)
"""The environment of native code, a table of 64-bit words: numbers, and addresses of arrays. Those
of threads are by their places in the gang.

LIMIT: a turn is the last where one before this point may follow; TURNS: how many it may take;
EXECUTED: thread-steps. ADDRESSES: where the threads that are ACTIVE access memory, in PLACES.
CLOCKS: the clocks that a thread has knowledge of; CHECKED: whether races on global memory are
looked for. SHARED: shared memory, or 0; SHARED_FIRST: where that of a thread's CTA begins; UNIT:
that of its shadow, as a logarithm; PLAIN_WHO: 0 where it is the same as LAST_WHO.
"""

BufferRow = IntEnum(
    "BufferRow",
    "BASE DATA SIZE UNIT WRITABLE WRITTEN LOGGED_READS STRONG_LOGGED_READS WRITES WRITE_TIMES "
    "WRITE_OPS READS READ_TIMES READ_OPS ELSEWHERE ELSEWHERE_TIMES ELSEWHERE_OPS STRONG_READS "
    "STRONG_READ_TIMES STRONG_READ_OPS STRONG_ELSEWHERE STRONG_ELSEWHERE_TIMES "
    "STRONG_ELSEWHERE_OPS",
    start=0,
)
"""A buffer of global memory: a row of Env.BUFFERS. The unit of its shadow is a power of two, its
logarithm here, or -1: the first engine is to access it. WRITTEN is set where threads have."""

WARP_BITS = WARP.bit_length() - 1
CLUSTER_BITS = LOCAL.bit_length()
ROW = (np.int64, np.int32, np.int32)
"""Who accessed a word of global memory, when and by which op."""
READS = (
    BufferRow.READS, BufferRow.ELSEWHERE, BufferRow.STRONG_READS, BufferRow.STRONG_ELSEWHERE,
)  # fmt: skip
MOST_WORDS = 16
"""The most words of a shadow that an access may have."""
LOG_ROW = 5
"""The buffer, the word, who read it, when and by which op."""


ACCESS = ir.FunctionType(I64, [I64, POINTER, I64, I64])
"""`f(threads, env, size, op)`, of the accesses of threads to so many bytes each by an op."""


class AccessCode(Code):
    """Such a function: 0 where an access is not fine."""

    def __init__(self, module: Any, name: str):
        super().__init__(module, name, ACCESS.args)
        self.function.linkage = ""
        self.threads, self.env, *given = self.arguments
        self.size, self.op = map(self.word, given)
        self.lane: Any = None
        self._numbers: dict[Env, LaneWord] = {}

    @contextmanager
    def accesses(self) -> Generator[LaneWord]:
        """Code for each thread, with its address; behind it the function ends."""
        with self.loop(self.threads) as self.lane, self.where(self.of(Env.ACTIVE, bool)):
            yield self.of(Env.ADDRESSES)
        self.builder.ret(ir.Constant(I64, 1))

    def number(self, name: Env) -> LaneWord:
        """One that stays the same."""
        if name not in self._numbers:
            with self.builder.goto_entry_block():
                self._numbers[name] = self.entry(self.env, name)
        return self._numbers[name]

    def array(self, name: Env) -> Any:
        return self.builder.inttoptr(self.number(name).value, POINTER)

    def of(self, name: Env, dtype: Any = np.int64, index: Any = None) -> LaneWord:
        """The thread's element of an array, or that at an index."""
        return self.load(self.array(name), dtype, self.lane if index is None else index)

    def put(self, name: Env, index: Any, word: LaneWord) -> None:
        """Store an element of an array."""
        self.store(self.array(name), index, word)

    def at(self, place: LaneWord) -> None:
        """The access is fine, and there."""
        self.put(Env.PLACES, self.lane, place)

    def require(self, condition: LaneWord) -> None:
        """Where it does not hold the access is not fine."""
        self.leave(~condition, 0)

    def learned(self, warp: LaneWord, stamp: LaneWord, columns: Env | None) -> LaneWord:
        """True where the thread knows of what a warp of its cluster did then."""
        if columns is not None:
            warp = self.of(columns, index=warp)
        row = self.of(Env.LANES) * self.number(Env.CLOCKS)
        return stamp < self.of(Env.SEEN, np.int32, row + warp)


def add_accesses(module: Any) -> None:
    """Add the functions to a module."""
    for name in ACCESSES:
        kind, space, verb = name.split("_")
        _ADDED[kind, space](AccessCode(module, name), verb)


# Global memory


def _located(code: AccessCode, address: Any) -> tuple[LaneWord, Any, LaneWord]:
    """The number of the buffer of an address, its row, and the place there."""
    number: Any = window_of(address)
    code.require((number >= 0) & (number < code.number(Env.BUFFER_COUNT)))
    row = code.place(code.array(Env.BUFFERS), np.int64, number * len(BufferRow))
    return number, row, address - code.entry(row, BufferRow.BASE)


def _check_global(code: AccessCode, verb: str) -> None:
    is_write, size = verb == "write", code.size
    if not is_write:
        logged = code.number(Env.LOGGED) + code.word(code.threads) * MOST_WORDS
        code.require(logged <= code.number(Env.ROOM))
    with code.accesses() as address:
        _, row, first = _located(code, address)
        code.require((first >= 0) & (first + size <= code.entry(row, BufferRow.SIZE)))
        code.require(first & size - 1 == 0)
        if is_write:
            code.require(code.entry(row, BufferRow.WRITABLE) != 0)
        code.at(code.entry(row, BufferRow.DATA) + first)
        with code.where(code.number(Env.CHECKED) != 0):
            unit = code.entry(row, BufferRow.UNIT)
            code.require((unit >= 0) & (size >> unit << unit == size))
            with code.loop(size >> unit) as index:
                _check_word(code, row, (first >> unit) + code.word(index), is_write=is_write)


def _check_word(code: AccessCode, row: Any, place: LaneWord, *, is_write: bool) -> None:
    lasts = [(BufferRow.WRITES, Env.WROTE)]
    if is_write:
        for logged in (BufferRow.LOGGED_READS, BufferRow.STRONG_LOGGED_READS):
            code.require(~code.load(code.pointer(row, logged), bool, place))
        lasts += [(last, Env.READ) for last in READS]
    for last, columns in lasts:
        _require_known(code, row, last, place, columns)


def _require_known(
    code: AccessCode, row: Any, last: BufferRow, place: LaneWord, columns: Env
) -> None:
    """The last access to a word is the thread's own, or it knows of it."""
    who = code.load(code.pointer(row, last), np.int64, place)
    me = code.of(Env.WHO)
    with code.where((who != NOBODY) & (who != me)):
        local = who & LOCAL
        code.require((who >> CLUSTER_BITS == me >> CLUSTER_BITS) & (local < COPIES))
        when = code.load(code.pointer(row, last + 1), np.int32, place)
        code.require(code.learned(local >> WARP_BITS, when, columns))


def _note_global(code: AccessCode, verb: str) -> None:
    code.leave(code.number(Env.CHECKED) == 0, 1)
    with code.accesses() as address:
        number, row, first = _located(code, address)
        unit = code.entry(row, BufferRow.UNIT)
        if verb == "write":
            code.store(row, BufferRow.WRITTEN, code.word(1))
        me, now = code.of(Env.WHO), code.of(Env.NOW, np.int32)
        with code.loop(code.size >> unit) as index:
            place = (first >> unit) + code.word(index)
            if verb == "read":
                _displace(code, row, number, place, me)
            last = BufferRow.WRITES if verb == "write" else BufferRow.READS
            _note(code, row, last, place, (me, now, code.op))


def _note(code: AccessCode, row: Any, last: int, place: LaneWord, access: Any) -> None:
    for column, (word, dtype) in enumerate(zip(access, ROW, strict=True)):
        code.store(code.pointer(row, last + column), place, word.astype(dtype))


def _displace(code: AccessCode, row: Any, number: LaneWord, place: LaneWord, me: LaneWord) -> None:
    """A read of a word that is not the last one any more."""
    before = [
        code.load(code.pointer(row, BufferRow.READS + column), dtype, place)
        for column, dtype in enumerate(ROW)
    ]
    other = before[0]
    apart = other >> CLUSTER_BITS != me >> CLUSTER_BITS
    with code.where((other != NOBODY) & (other != me)):
        with code.where(apart):
            _note(code, row, BufferRow.ELSEWHERE, place, before)
        with code.where(~apart):
            code.store(code.pointer(row, BufferRow.LOGGED_READS), place, code.word(1, bool))
            count = code.entry(code.env, Env.LOGGED)
            entry = code.place(code.array(Env.LOG), np.int64, count * LOG_ROW)
            for column, word in enumerate((number, place, *before)):
                code.store(entry, column, word.astype(np.int64))
            code.add(code.env, Env.LOGGED, 1)


# Shared memory


def _check_shared(code: AccessCode, verb: str) -> None:
    size, unit = code.size, code.number(Env.UNIT)
    code.require((code.number(Env.SHARED) != 0) & (size >> unit << unit == size))
    with code.accesses() as address:
        code.require(address >> RANK_SHIFT == 0)
        code.require(address + size <= code.number(Env.SHARED_SIZE))
        code.require(address & size - 1 == 0)
        code.at(code.number(Env.SHARED) + code.of(Env.SHARED_FIRST) + address)
        with _each_unit(code, address) as place:
            who = code.of(Env.LAST_WHO, np.int32, place)
            code.require(who >= (0 if verb == "read" else NOBODY))
            with code.where((who != NOBODY) & (who.astype(np.int64) != code.of(Env.LANES))):
                when = code.of(Env.LAST_WHEN, np.int32, place)
                warp = numpy.fmod(who.astype(np.int64) >> WARP_BITS, code.number(Env.WARPS))
                code.require(code.learned(warp, when, Env.WROTE))
            (_require_reads_known if verb == "write" else _require_readers_alike)(code, place)


@contextmanager
def _each_unit(code: AccessCode, address: LaneWord) -> Generator[LaneWord]:
    """Code for each unit of an access."""
    unit = code.number(Env.UNIT)
    with code.loop(code.size >> unit) as index:
        yield (code.of(Env.SHARED_FIRST) + address >> unit) + code.word(index)


def _warp(code: AccessCode) -> LaneWord:
    return numpy.fmod(code.of(Env.LANES) >> WARP_BITS, code.number(Env.WARPS))


def _bit(code: AccessCode) -> LaneWord:
    return code.word(1, np.uint32) << (code.of(Env.LANES) & WARP - 1).astype(np.uint32)


def _require_reads_known(code: AccessCode, unit: LaneWord) -> None:
    """The thread knows of all reads of a unit but its own."""
    with code.loop(code.number(Env.WARPS)) as index:
        warp = code.word(index)
        latest = code.of(Env.READ_LAST, np.int32, warp)
        with code.where((latest > 0) & ~code.learned(warp, latest, None)):
            place = warp * code.number(Env.UNITS) + unit
            stamp = code.of(Env.READ_STAMPS, np.int32, place)
            with code.where((stamp > 0) & ~code.learned(warp, stamp, None)):
                readers = code.of(Env.READERS, np.uint32, place)
                code.require((warp == _warp(code)) & (readers == _bit(code)))


def _require_readers_alike(code: AccessCode, unit: LaneWord) -> None:
    """No other thread of the warp read a unit before the warp's time went on, unless the thread
    knows of it by the warp's clock: what it knows by their own clocks the first engine says."""
    place = _warp(code) * code.number(Env.UNITS) + unit
    stamp = code.of(Env.READ_STAMPS, np.int32, place)
    late = (stamp > 0) & (stamp != code.of(Env.NOW, np.int32))
    with code.where(late & ~code.learned(_warp(code), stamp, None)):
        readers = code.of(Env.READERS, np.uint32, place)
        code.require(readers & ~_bit(code) == 0)


def _note_shared(code: AccessCode, verb: str) -> None:
    with code.accesses() as address, _each_unit(code, address) as unit:
        (_note_reader if verb == "read" else _note_writer)(code, unit)


def _note_writer(code: AccessCode, unit: LaneWord) -> None:
    access = code.of(Env.LANES), code.of(Env.NOW, np.int32), code.op
    for column, word in enumerate(access):
        code.put(Env(Env.LAST_WHO + column), unit, word.astype(np.int32))
        plain = Env(Env.PLAIN_WHO + column)
        with code.where(code.number(plain) != 0):
            code.put(plain, unit, word.astype(np.int32))
    fences = code.of(Env.FENCES, np.int32, code.of(Env.LANES))
    code.put(Env.FENCED, unit, fences)


def _note_reader(code: AccessCode, unit: LaneWord) -> None:
    warp, now = _warp(code), code.of(Env.NOW, np.int32)
    place = warp * code.number(Env.UNITS) + unit
    stamp = code.of(Env.READ_STAMPS, np.int32, place)
    readers = code.of(Env.READERS, np.uint32, place)
    kept = numpy.where(code.learned(warp, stamp, None), np.uint32(0), readers)
    code.put(Env.READERS, place, kept | _bit(code))
    code.put(Env.READ_STAMPS, place, now)
    code.put(Env.READ_OPS, place, code.op.astype(np.int32))
    latest = code.of(Env.READ_LAST, np.int32, warp)
    code.put(Env.READ_LAST, warp, numpy.maximum(latest, now))


_ADDED = {
    ("check", "global"): _check_global,
    ("check", "shared"): _check_shared,
    ("note", "global"): _note_global,
    ("note", "shared"): _note_shared,
}
ACCESSES = [f"{kind}_{space}_{verb}" for kind, space in _ADDED for verb in ("read", "write")]
"""The names of the functions."""
