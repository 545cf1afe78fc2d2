"""Tensor memory of a running kernel: 128 lanes of 512 cells of 32 bits for every CTA.

Every access is checked: it must lie in columns that are allocated, in cells that something has
written, in the lanes that a warp may access; and it must be ordered after what accessed the cells
before (`tcgen05_streams`). Asynchronous operations compute at once: what looks at a result
before it is known to be complete is an error.
"""

from typing import NoReturn

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.tmem import COLUMNS, LANE_STRIDE, LANES, are_pipelined
from tilewright.dialects.frozen import entity, factory, frozen
from tilewright.lowering.interpreter.array_types import Int32Array, Int64Array, UInt32Array
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.clocks import Clocks, Known
from tilewright.lowering.interpreter.machine.shared_memory import SharedMemory
from tilewright.lowering.interpreter.machine.tcgen05_streams import AsyncOperation, Stream
from tilewright.lowering.interpreter.values import Lanes, distinct

CELLS = LANES * COLUMNS

LOAD, STORE, ASYNC = "load", "store", "async"
"""The streams of a warp, and that of a thread."""

Cells = Int64Array
"""Places in a CTA's tensor memory: lane * 512 + column."""


@entity
class CtaCells:
    """The tensor memory of one CTA.

    Of each cell: its bits, which stream wrote it last (0 is nobody), in which epoch, by which op.
    Of each column: the op that allocated it (0 is none), and the op that gave it back last.
    """

    data: UInt32Array = factory(lambda: np.zeros(CELLS, dtype=np.uint32))
    writer: Int32Array = factory(lambda: np.zeros(CELLS, dtype=np.int32))
    written: Int32Array = factory(lambda: np.zeros(CELLS, dtype=np.int32))
    write_op: Int32Array = factory(lambda: np.zeros(CELLS, dtype=np.int32))
    allocated: Int32Array = factory(lambda: np.zeros(COLUMNS, dtype=np.int32))
    freed: Int32Array = factory(lambda: np.zeros(COLUMNS, dtype=np.int32))


@frozen
class TensorAccess:
    """Who accesses cells: a stream, its op, and what its threads know; `operation` where it is
    asynchronous, and `op` a number below 0 of its own. `now` is what the warp knows, `known` what
    it knew at the last fence."""

    stream: Stream
    op: int
    known: Known
    now: Known
    operation: AsyncOperation | None = None

    @property
    def number(self) -> int:
        """The number of the op."""
        return self.op if self.operation is None else self.operation.number

    @property
    def moves(self) -> bool:
        """True of a copy or a shift, behind what MMAs of its thread read."""
        return self.operation is not None and self.operation.kind != "mma"


class TensorMemory:
    """The tensor memory of a wave of CTAs."""

    def __init__(self, clocks: Clocks, shared: SharedMemory, slots: int):
        self.clocks = clocks
        self.shared = shared
        self.op_names = shared.op_names
        self._ctas: dict[int, CtaCells] = {}
        self._streams: dict[tuple[str, int, int], Stream] = {}
        self._by_number: list[Stream] = []
        # Those that a thread takes part in, by the thread (asynchronous) or its warp.
        self._of_thread: dict[int, list[Stream]] = {}
        self._of_warp: dict[int, list[Stream]] = {}
        self._operations: dict[AsyncOperation, int] = {}
        self._by_id: dict[int, AsyncOperation] = {}
        self._after = np.zeros((slots, 0), dtype=np.int32)

    # Streams and fences

    def cta(self, number: int) -> CtaCells:
        """The cells of a CTA of the wave."""
        if number not in self._ctas:
            self._ctas[number] = CtaCells()
        return self._ctas[number]

    def contents(self) -> list[UInt32Array]:
        """The content of the cells of each CTA."""
        return [cells.data for cells in self._ctas.values()]

    def _stream(self, kind: str, lane: int, group: int) -> Stream:
        key = kind, lane, group
        if (stream := self._streams.get(key)) is None:
            wait = None if kind == ASYNC else f"tmem.wait_{kind}"
            stream = self._streams[key] = Stream(len(self._by_number) + 1, lane, wait)
            self._by_number.append(stream)
            owners, owner = (
                (self._of_thread, lane) if kind == ASYNC else (self._of_warp, lane // 32)
            )
            owners.setdefault(owner, []).append(stream)
        return stream

    def fence_before(self, lanes: Lanes) -> None:
        """`tcgen05.fence::before_thread_sync`."""
        if not self._streams:
            return
        now = self.clocks.now(lanes).tolist()
        for lane, when in zip(lanes.tolist(), now, strict=True):
            for streams in (self._of_thread.get(lane, ()), self._of_warp.get(lane // 32, ())):
                for stream in streams:
                    stream.fence(lane, when)

    def fence_after(self, lanes: Lanes) -> None:
        """`tcgen05.fence::after_thread_sync`."""
        self._widen()
        self._after[lanes] = self.clocks.seen[lanes]

    def _widen(self) -> None:
        missing = self.clocks.seen.shape[1] - self._after.shape[1]
        if missing:
            self._after = np.pad(self._after, ((0, 0), (0, missing)))

    def _known(self, lanes: Lanes) -> Known:
        """The clocks that all of these threads knew at their last fences."""
        self._widen()
        known: Known = self._after[lanes].min(axis=0)
        return known

    # Accesses of warps

    def warp_access(self, kind: str, lanes: Lanes, op: int) -> TensorAccess:
        """Loads or stores of the threads of one warp."""
        first = int(lanes[0]) // 32 * 32
        stream = self._stream(kind, first, 0)
        return TensorAccess(stream, op, self._known(lanes), self.clocks.common(lanes)[0])

    def wait(self, kind: str, lanes: Lanes) -> None:
        """`tcgen05.wait::ld` or `wait::st` of a warp."""
        self._stream(kind, int(lanes[0]) // 32 * 32, 0).waits(lanes.tolist())

    # Accesses of asynchronous operations

    def operation(self, lane: int, group: int, operation: AsyncOperation) -> TensorAccess:
        """An asynchronous operation that a thread starts."""
        op = self._operations.setdefault(operation, ~len(self._operations))
        self._by_id[op] = operation
        known, now = self._known(np.array([lane])), self.clocks.seen[lane]
        stream = self._stream(ASYNC, lane, group)
        return TensorAccess(stream, op, known, now, operation)

    def commit(self, lane: int, group: int, phases: list[tuple[int, int]]) -> None:
        """`tcgen05.commit`: phases of mbarriers, (clock, phase), complete what it started."""
        self._stream(ASYNC, lane, group).commit(phases)

    # Cells

    def cells(self, cta: int, addresses: Int64Array, verb: str) -> Cells:
        """The cells at these addresses. Raises Fault where a CTA has none, or they are
        not allocated."""
        lane, column = np.divmod(addresses, LANE_STRIDE)
        outside = (lane >= LANES) | (column >= COLUMNS) | (lane < 0)
        if outside.any():
            at = int(np.argmax(outside))
            raise Fault(
                f"{verb} out of bounds: lane {lane.flat[at]} and column {column.flat[at]} of "
                f"tensor memory, which has {LANES} lanes of {COLUMNS} columns"
            )
        memory = self.cta(cta)
        free = memory.allocated[column] == 0
        if free.any():
            first = int(column.flat[int(np.argmax(free))])
            before = int(memory.freed[first])
            why = f": {self._named(before)} has given it back" if before else ""
            raise Fault(f"{verb} of column {first} of tensor memory, which is not allocated{why}")
        return lane * COLUMNS + column

    def read(self, cta: int, cells: Cells, access: TensorAccess) -> UInt32Array:
        """The words in the cells: uint32, of the shape of `cells`."""
        memory = self.cta(cta)
        self._check_defined(memory, cells)
        self._check_written(memory, cells, access, "read")
        access.stream.read(cta, cells, access.op, CELLS)
        return memory.data[cells]

    def accumulate(self, cta: int, cells: Cells, access: TensorAccess) -> UInt32Array:
        """The words in cells that an operation is about to write: uint32, shaped as `cells`."""
        memory = self.cta(cta)
        self._check_defined(memory, cells)
        self.check_write(cta, cells, access, "write")
        return memory.data[cells]

    def write(self, cta: int, cells: Cells, words: UInt32Array, access: TensorAccess) -> None:
        """Write the cells, each once."""
        memory = self.cta(cta)
        self.check_write(cta, cells, access, "write")
        if access.operation is not None and (reads := access.stream.reads.get(cta)) is not None:
            reads.epochs[cells] = 0
        memory.data[cells] = words
        memory.writer[cells] = access.stream.number
        memory.written[cells] = access.stream.epoch
        memory.write_op[cells] = access.op

    def _check_defined(self, memory: CtaCells, cells: Cells) -> None:
        if (memory.writer[cells] == 0).any():
            at = int(np.argmax(memory.writer[cells] == 0))
            lane, column = divmod(int(cells.flat[at]), COLUMNS)
            raise Fault(
                f"read of tensor memory that nothing has written: lane {lane}, column {column}"
            )

    def forget(self, cta: int, cells: Cells) -> None:
        """The cells are free: nobody has written or read them."""
        self.cta(cta).writer[cells] = 0
        for stream in self._by_number:
            if cta in stream.reads:
                stream.reads[cta].epochs[cells] = 0

    def check_write(self, cta: int, cells: Cells, access: TensorAccess, verb: str) -> None:
        """Raise Fault where an access to the cells is not known to be over. What a
        thread's MMAs have read since is over, for its copies and shifts, where these are."""
        reads = access.stream.reads.get(cta) if access.moves else None
        unread = cells if reads is None else cells[reads.epochs[cells] == 0]
        if unread.size:
            self._check_written(self.cta(cta), unread, access, verb)
        for stream in self._by_number:
            if (read := stream.reads.get(cta)) is not None:
                verbs = verb, "reads"
                self._check(stream, read.epochs, read.ops, cells, access, verbs)

    def _check_written(
        self, memory: CtaCells, cells: Cells, access: TensorAccess, verb: str
    ) -> None:
        writers = memory.writer[cells]
        numbers = distinct(writers)
        for number in numbers:
            if number:
                own = cells[writers == number] if len(numbers) > 1 else cells
                stream, verbs = self._by_number[number - 1], (verb, "writes")
                self._check(stream, memory.written, memory.write_op, own, access, verbs)

    def _check(
        self,
        stream: Stream,
        epochs: Int32Array,
        ops: Int32Array,
        cells: Cells,
        access: TensorAccess,
        verbs: tuple[str, str],
    ) -> None:
        """Raise Fault unless what a stream did at cells, in their epochs by their ops, is over."""
        columns = self.clocks.columns(stream.lane, whole_warp=not stream.asynchronous)
        warp = access.stream.warp
        epochs = epochs[cells]
        late = epochs > stream.complete(warp, access.known, columns)
        if not late.any():
            return
        ops = ops[cells]
        for op in distinct(ops[late]):
            epoch = int(epochs[late & (ops == op)].max())
            if not self._pipelined(stream, epoch, op, access, columns, verbs):
                self._race(stream, epoch, op, access, columns, verbs)

    def _pipelined(
        self, stream: Stream, epoch: int, op: int, access: TensorAccess,
        columns: Int64Array, verbs: tuple[str, str],
    ) -> bool:  # fmt: skip
        """True where the asynchronous operation of an access follows another one without a wait."""
        earlier, later = self._by_id.get(op), access.operation
        if earlier is None or later is None:
            return False
        read = earlier.kind == later.kind == "mma" and verbs[1] == "reads"
        if read or not are_pipelined(earlier.signature, later.signature):
            return False
        return stream is access.stream or epoch <= stream.begun(access.known, columns)

    def _race(
        self, stream: Stream, epoch: int, op: int, access: TensorAccess,
        columns: Int64Array, verbs: tuple[str, str],
    ) -> NoReturn:  # fmt: skip
        warp = access.stream.warp
        why = stream.why_incomplete(epoch, warp, access.known, access.now, columns)
        verb, other = verbs
        raise Fault(f"{verb} of tensor memory that {self._named(op)} {other}, and {why}")

    def _named(self, op: int) -> str:
        operation = self._by_id.get(op)
        return self.op_names[op if operation is None else operation.number]
