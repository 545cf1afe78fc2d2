"""Columns of tensor memory: who has which columns, and who waits for some. PTX ISA,
tcgen05.alloc, dealloc and relinquish_alloc_permit.

A warp that asks for more columns than are free waits until others are given back; with cta_group 2
it also waits for a warp of the pair's other CTA, and both get the same columns.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cute_nvgpu.lattice.tmem import COLUMNS, LANES
from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, Int64Array
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.shared_memory import SharedMemory
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.machine.tensor_memory import STORE, TensorMemory
from tilewright.lowering.interpreter.machine.wait import Wait
from tilewright.lowering.interpreter.values import Bits, Lanes


@entity
class AllocatedColumns:
    """Columns that a CTA has; `automatic` ones are given back at the end of the kernel."""

    first: int
    columns: int
    group: int
    op: int
    automatic: bool


@entity
class Request:
    """A request of a warp: columns for its CTA (`ctas` of one) or the pair, and where in shared
    memory it wants their address. `granted` is the first column, once it has them."""

    lane: int
    cta: int
    columns: int
    group: int
    op: int
    address: int
    granted: int | None = None


Requests = AnyArray
"""Those of some threads' warps."""


@entity
class CtaAllocations:
    """The columns that a CTA has allocated, by the first one; the thread, the time and the op of
    every allocation that it ever asked for, the columns of the last one, and the op with which it
    gave up allocating."""

    allocated: dict[int, AllocatedColumns] = factory(dict)
    asked: list[tuple[int, int, int]] = factory(list)
    last: int = COLUMNS
    relinquished: int = 0
    exited: int = 0


@entity
class TensorAllocator:
    """Hands out the columns of a wave's tensor memory."""

    _tensor: TensorMemory
    _shared: SharedMemory
    _slots: int
    _cluster: int
    _ctas: dict[int, CtaAllocations] = factory(dict)
    _waiting: list[Request] = factory(list)
    journal: list[tuple[int, AllocatedColumns, int]] = factory(list)
    """Every allocation and every end of one, by CTA, with the op that did it, in order."""

    def _cta(self, cta: int) -> CtaAllocations:
        return self._ctas.setdefault(cta, CtaAllocations())

    def partner(self, cta: int) -> int:
        """The other CTA of a pair: their ranks in the cluster differ in the lowest bit.

        Raises Fault where it has none.
        """
        if self._cluster % 2:
            raise Fault(
                f"expected a cluster of pairs of CTAs with cta_group 2, got {self._cluster}; "
                "nearest legal: gpu.known_cluster_size of 2"
            )
        return cta ^ 1

    # Allocating

    def request(
        self, op: Operation, lanes: Lanes, address: Bits, columns: int, group: int, number: int
    ) -> Wait:
        """`tcgen05.alloc` by whole warps: [threads]."""
        self._shared.places(lanes, address, 4, "write")
        requests: list[Request] = []
        for start in range(0, len(lanes), 32):
            lane = int(lanes[start])
            cta = lane // self._slots
            at = int(np.broadcast_to(address, len(lanes))[start])
            self._check_request(cta, columns, group)
            request = Request(lane, cta, columns, group, number, at)
            stamp = int(self._shared.clocks.now(np.array([lane]))[0])
            self._cta(cta).asked.append((lane, stamp, number))
            self._waiting.append(request)
            requests += [request] * 32
        self._grant()
        return Wait(self, op, (np.array(requests, dtype=object),))

    def _check_request(self, cta: int, columns: int, group: int) -> None:
        state = self._cta(cta)
        if state.relinquished:
            raise Fault(
                f"allocates tensor memory after {self._named(state.relinquished)} has given up "
                "the right to"
            )
        if columns > state.last:
            raise Fault(
                f"expected at most {state.last} columns, those of the allocation before it, got "
                f"{columns} (PTX ISA, tcgen05.alloc)"
            )
        if group == 2:
            self.partner(cta)
        state.last = columns

    def _grant(self) -> None:
        """Give those who wait what is free, in their order."""
        for request in list(self._waiting):
            together = self._together(request)
            if not together or request.granted is not None:
                continue
            first = self._fitting([member.cta for member in together], request.columns)
            if first is None:
                continue
            for member in together:
                member.granted = first
                self._waiting.remove(member)
                self._hold(member, first)

    def _together(self, request: Request) -> list[Request]:
        """The requests that are granted at once: of a pair none where the other is missing."""
        if request.group == 1:
            return [request]
        partner = self.partner(request.cta)
        for other in self._waiting:
            if other.cta == partner and other.group == 2:
                if other.columns != request.columns:
                    first, second = sorted((request, other), key=self._waiting.index)
                    raise Fault(
                        f"expected {first.columns} columns, as in the pair's other CTA, got "
                        f"{second.columns}"
                    )
                return [request, other]
        return []

    def _fitting(self, ctas: list[int], columns: int) -> int | None:
        """The lowest columns that are free in all of these CTAs."""
        for first in range(0, COLUMNS, columns):
            span = slice(first, first + columns)
            if not any(self._tensor.cta(cta).allocated[span].any() for cta in ctas):
                return first
        return None

    def grant(self, lane: int, columns: int, number: int, *, automatic: bool, group: int) -> None:
        """Columns for the CTA of a thread, which asks for its warp. Raises Fault where it would
        wait for ever."""
        cta = lane // self._slots
        self._check_request(cta, columns, group)
        request = Request(lane, cta, columns, group, number, 0)
        first = self._fitting([cta], columns)
        if first is None:
            raise Fault(self._why_never(request))
        self._hold(request, first, automatic=automatic)

    def columns_of(self, ctas: Lanes, number: int) -> Int64Array:
        """The first columns that an op has allocated in each of these CTAs."""
        first = {
            cta: next(own.first for own in self._cta(cta).allocated.values() if own.op == number)
            for cta in np.unique(ctas).tolist()
        }
        return np.array([first[cta] for cta in ctas.tolist()], dtype=np.int64)

    def _hold(self, request: Request, first: int, *, automatic: bool = False) -> None:
        allocation = AllocatedColumns(first, request.columns, request.group, request.op, automatic)
        self._cta(request.cta).allocated[first] = allocation
        cells = self._tensor.cta(request.cta)
        cells.allocated[first : first + request.columns] = request.op
        self.journal.append((request.cta, allocation, request.op))

    def ready(self, requests: Requests) -> BoolArray:
        """The threads whose warps have their columns: [threads]."""
        return np.array([request.granted is not None for request in requests])

    def resume(self, lanes: Lanes, requests: Requests) -> None:
        """Write each granted address to where its warp wants it."""
        for request in dict.fromkeys(requests):
            raw = np.array([[request.granted]], dtype=np.uint32).view(np.uint8)
            address = np.array([request.address], dtype=np.uint64)
            self._shared.store(np.array([request.lane]), address, raw, request.op)

    def deadlock(self, lanes: Lanes, requests: Requests) -> str:
        """The reason why the request of the first warp will never be granted."""
        return self._why_never(requests[0])

    def _why_never(self, request: Request) -> str:
        cells = self._tensor.cta(request.cta)
        free = int((cells.allocated == 0).sum())
        words = f"deadlock: waits for {request.columns} columns of tensor memory"
        if free < request.columns:
            users = {self._named(int(op)) for op in np.unique(cells.allocated) if op}
            return f"{words}, and {free} are free: {', '.join(sorted(users))} has the others"
        if request.group == 2 and not self._together(request):
            return f"{words}, and no warp of the pair's other CTA asks for them too"
        return f"{words}, and no {request.columns} neighbouring ones are free"

    # Giving back

    def free(self, lanes: Lanes, address: Bits, columns: int, group: int, number: int) -> None:
        """`tcgen05.dealloc` by whole warps."""
        given = np.broadcast_to(address, len(lanes))
        for start in range(0, len(lanes), 32):
            self._free(lanes[start : start + 32], int(given[start]), columns, group, number)
        self._grant()

    def _free(self, lanes: Lanes, address: int, columns: int, group: int, number: int) -> None:
        cta = int(lanes[0]) // self._slots
        state, tensor = self._cta(cta), self._tensor.cta(cta)
        allocated = state.allocated.get(address)
        if allocated is None or (allocated.columns, allocated.group) != (columns, group):
            live = [f"{own.columns} at column {own.first}" for own in state.allocated.values()]
            raise Fault(
                f"gives back {columns} columns at {address:#x}, which no tcgen05.alloc of "
                f"cta_group {group} has given it; allocated: {', '.join(live) or 'none'}"
            )
        span = slice(address, address + columns)
        cells = (np.arange(LANES)[:, None] * COLUMNS + np.arange(COLUMNS)[span]).ravel()
        access = self._tensor.warp_access(STORE, lanes, number)
        self._tensor.check_write(cta, cells, access, "deallocation")
        del state.allocated[address]
        self.journal.append((cta, allocated, number))
        tensor.allocated[span] = 0
        tensor.freed[span] = number
        self._tensor.forget(cta, cells)

    def relinquish(self, lanes: Lanes, number: int) -> None:
        """`tcgen05.relinquish_alloc_permit` by whole warps. Raises Fault where an allocation of
        another warp may still come."""
        for index, lane in enumerate(lanes.tolist()):
            if lane % WARP:
                continue
            state, known = self._cta(lane // self._slots), self._shared.clocks.seen[[lane]]
            for other, stamp, op in state.asked:
                who, when = np.array([[other]], np.int32), np.array([[stamp]], np.int32)
                same = other // WARP == lane // WARP
                if not same and not self._shared.clocks.happened(known, who, when).all():
                    raise Fault(
                        f"gives up the right to allocate tensor memory, and {self._named(op)} may "
                        "come behind it: no barrier orders them",
                        index,
                    )
            state.relinquished = number

    def exit(self, lanes: Lanes, threads: int) -> None:
        """Threads end. Raises Fault where a CTA of so many threads ends with columns allocated."""
        ctas, counts = np.unique(lanes // self._slots, return_counts=True)
        for cta, count in zip(ctas.tolist(), counts.tolist(), strict=True):
            state = self._cta(cta)
            state.exited += count
            left = next((own for own in state.allocated.values() if not own.automatic), None)
            if state.exited == threads and left is not None:
                raise Fault(
                    f"ends the kernel with {left.columns} columns of tensor memory that "
                    f"{self._named(left.op)} has allocated; nearest legal: tmem.dealloc",
                    int(np.argmax(lanes // self._slots == cta)),
                )

    def _named(self, op: int) -> str:
        return self._shared.op_names[op]
