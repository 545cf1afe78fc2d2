"""Tensors in registers: memory that every thread has for itself.

Of each element it is known whether anything has written it, whether a wgmma may access it (a
`wgmma.fence` came after the write, or a wgmma wrote it), and which wgmma in flight writes or reads
it, or accumulates in its register though the element of its result is another one. PTX ISA
9.7.15.7.1.
"""

from typing import Any, NoReturn

import numpy as np

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import AnyArray, AnyDType, BoolArray, Int64Array
from tilewright.lowering.interpreter.errors import Fault, first_of
from tilewright.lowering.interpreter.values import Bits, Lanes

Places = Int64Array
"""Elements of a tensor: [threads or 1, count]."""

# What is marked of an element.
UNDEFINED = 1
UNFENCED = 2
RESULT = 4
OPERAND = 8
OVERWRITTEN = 16

PARTS = 1 << 10
"""The registers of a result are fewer."""


class RegisterTensor:
    """One allocation in the registers of every thread of a wave: `data` [threads, elements]."""

    def __init__(self, threads: int, size: int, dtype: AnyDType, op_names: dict[int, str]):
        self.data = np.zeros((threads, size), dtype=dtype)
        self._marks = np.full((threads, size), UNDEFINED, dtype=np.uint8)
        # Marks that no element has any more are left out here: most tensors are read unmarked.
        self._possible = UNDEFINED
        self._group = np.zeros((0, 0), dtype=np.int64)
        self._op = np.zeros((0, 0), dtype=np.int32)
        # Of each element the number of the wgmma that wrote it, and its place in the result.
        self._part = np.zeros((0, 0), dtype=np.int64)
        self._issued = 0
        self._shapes: dict[int, object] = {}
        self._op_names = op_names

    def begin(self, lanes: Lanes) -> None:
        """The threads allocate it: nothing is written."""
        self._check(lanes, None, RESULT | OPERAND)
        self._marks[self._rows(lanes)] = UNDEFINED
        self._possible |= UNDEFINED

    # Accesses of threads

    def read(self, lanes: Lanes, places: Places) -> Bits:
        """Elements in containers: [threads, count]."""
        self._check_bounds(places)
        self._check(lanes, places, UNDEFINED | RESULT | OVERWRITTEN)
        return self.data[self._where(lanes, places)]

    def write(self, lanes: Lanes, places: Places, values: Bits) -> None:
        """The inverse of `read`."""
        self._check_bounds(places)
        self._check(lanes, places, RESULT | OPERAND)
        where = self._where(lanes, places)
        self.data[where] = values
        self._marks[where] = UNFENCED
        self._forget_undefined()

    def write_some(self, lanes: Lanes, places: Places, values: Bits, chosen: BoolArray) -> None:
        """`write` of the elements that are chosen: [threads, count]."""
        wide = np.broadcast_to(places, chosen.shape)
        rows, columns = np.nonzero(chosen)
        if not len(rows):
            return
        picked = wide[rows, columns][:, None]
        self.write(lanes[rows], picked, np.broadcast_to(values, chosen.shape)[chosen][:, None])

    # Accesses of wgmmas

    def check_ordered(self, lanes: Lanes, places: Places, operand: str) -> None:
        """Raise Fault where a thread wrote one of these elements, and no fence came after it."""
        lane = first_of(self._marks[self._where(lanes, places)] & UNFENCED)
        if lane is not None:
            raise Fault(
                f"accesses registers of operand {operand} that were written after the last "
                "wgmma.fence of its warpgroup (PTX ISA 9.7.15.7.1)",
                lane,
            )

    def accumulators(self, lanes: Lanes, places: Places) -> Bits:
        """C of a wgmma, a copy: what those in flight will have written counts."""
        self._check(lanes, places, UNDEFINED | OVERWRITTEN)
        return np.array(self.data[self._where(lanes, places)])

    def take_over(self, lanes: Lanes, places: Places, shape: object, op: int) -> None:
        """The registers of C become those of D, where C is in flight: all of one result, whose
        accumulators have that shape. Nobody may look at C any more."""
        self.check_ordered(lanes, places, "C")
        where = self._where(lanes, places)
        if not self._possible & RESULT:
            return
        flying: BoolArray = self._marks[where] & RESULT != 0
        if not flying.any():
            return
        part: Int64Array = self._part[where]
        others = [op for op in np.unique(self._op[where][flying]) if self._shapes[op] != shape]
        order = np.arange(len(part[0]))
        apart: BoolArray = ~flying | bool(others) | (part % PARTS != order)
        apart |= part // PARTS != part[:, :1] // PARTS
        apart &= flying.any(axis=1, keepdims=True)
        if (lane := first_of(apart)) is not None:
            self._fault_in_flight(int((others or self._op[where][flying])[0]), lane)
        self._mark(where, np.where(flying, OVERWRITTEN, self._marks[where]), op)
        self._possible |= OVERWRITTEN

    def issue(self, lanes: Lanes, places: Places, mark: int, group: Int64Array, op: int) -> None:
        """A wgmma whose groups are `group`, [threads], writes these elements (RESULT) or reads
        them (OPERAND) until it is complete."""
        if not self._group.size:
            self._group, self._part = (np.zeros(self.data.shape, dtype=np.int64) for _ in range(2))
            self._op = np.zeros(self.data.shape, dtype=np.int32)
        where = self._where(lanes, places)
        self._mark(where, mark, op)
        self._possible |= mark
        self._group[where] = group[:, None]
        self._issued += 1
        self._part[where] = self._issued * PARTS + np.arange(places.shape[1])

    def _mark(self, where: Any, marks: Any, op: int) -> None:
        self._marks[where] = marks
        self._op[where] = op

    def write_result(
        self,
        lanes: Lanes,
        places: Places,
        values: Bits,
        group: Int64Array,
        op: int,
        shape: object,
    ) -> None:
        """D of a wgmma, which nobody may look at until its group is complete."""
        self._check(lanes, places, OPERAND)
        self._shapes[op] = shape
        self.data[self._where(lanes, places)] = values
        self.issue(lanes, places, RESULT, group, op)

    def fence(self, lanes: Lanes) -> None:
        """`wgmma.fence`: wgmmas may access what the threads wrote so far."""
        if self._marks.size:
            self._marks[self._rows(lanes)] &= np.uint8(0xFF ^ UNFENCED)

    def settle(self, lanes: Lanes, completed: Int64Array) -> None:
        """`wgmma.wait_group`: of each thread the groups below `completed` are complete."""
        if not self._possible & (RESULT | OPERAND):
            return
        rows = self._rows(lanes)
        marks = self._marks[rows]
        flying = marks & (RESULT | OPERAND) != 0
        done = flying & (self._group[rows] < completed[:, None])
        self._marks[rows] = np.where(done, marks & (UNDEFINED | UNFENCED), marks)
        if not (self._marks & (RESULT | OPERAND | OVERWRITTEN)).any():
            self._possible &= UNDEFINED

    # Where, and what is marked there

    def _rows(self, lanes: Lanes) -> Any:
        return slice(None) if len(lanes) == len(self.data) else lanes

    def _where(self, lanes: Lanes, places: Places) -> Any:
        """The index of elements in `data`, a slice where they lie side by side."""
        if len(places) > 1:
            return lanes[:, None], places
        columns = places[0]
        side_by_side = len(columns) and columns[-1] - columns[0] == len(columns) - 1
        if side_by_side and (np.diff(columns) == 1).all():
            return self._rows(lanes), slice(int(columns[0]), int(columns[-1]) + 1)
        return (slice(None), columns) if len(lanes) == len(self.data) else np.ix_(lanes, columns)

    def _check_bounds(self, places: Places) -> None:
        """Raise Fault where a place is none of the tensor's."""
        size = self.data.shape[1]
        if not places.size or (places.min() >= 0 and places.max() < size):
            return
        row, column = np.argwhere((places < 0) | (places >= size))[0]
        raise Fault(
            f"accesses element {places[row, column]} of a register tensor of {size}", int(row)
        )

    def _check(self, lanes: Lanes, places: Places | None, forbidden: int) -> None:
        """Raise Fault where an element, of all where `places` is None, has a forbidden mark."""
        if not self._possible & forbidden:
            return
        where = self._rows(lanes) if places is None else self._where(lanes, places)
        marked = self._marks[where] & forbidden
        if (lane := first_of(marked)) is None:
            return
        if (marked & UNDEFINED).any():
            raise Fault("reads an element of a register tensor that nothing has written", lane)
        op = int(self._op[where][marked != 0][0])
        if (marked & OVERWRITTEN).any():
            raise Fault(f"use of an accumulator that {self._op_names[op]} has overwritten", lane)
        if (marked & OPERAND).any():
            raise Fault(
                f"overwrites registers of operand A of {self._op_names[op]}, which no "
                "wgmma.wait_group has completed",
                lane,
            )
        self._fault_in_flight(op, lane)

    def _fault_in_flight(self, op: int, lane: int) -> NoReturn:
        raise Fault(
            f"accesses an accumulator of {self._op_names[op]}, which no "
            "wgmma.wait_group has completed",
            lane,
        )

    def _forget_undefined(self) -> None:
        if self._possible & UNDEFINED and not (self._marks & UNDEFINED).any():
            self._possible &= ~UNDEFINED


@entity
class RegisterFile:
    """The register tensors of a wave of CTAs, by the op that allocates them."""

    _threads: int
    _op_names: dict[int, str]
    _tensors: dict[int, RegisterTensor] = factory(dict)

    def tensor(self, number: int, lanes: Lanes, size: int, dtype: AnyDType) -> RegisterTensor:
        """The tensor of an op that some threads execute."""
        tensor = self._tensors.get(number)
        if tensor is None:
            tensor = RegisterTensor(self._threads, size, dtype, self._op_names)
            self._tensors[number] = tensor
        tensor.begin(lanes)
        return tensor

    def fence(self, lanes: Lanes) -> None:
        """`wgmma.fence`."""
        for tensor in self._tensors.values():
            tensor.fence(lanes)

    def settle(self, lanes: Lanes, completed: Int64Array) -> None:
        """`wgmma.wait_group`."""
        for tensor in self._tensors.values():
            tensor.settle(lanes, completed)

    def contents(self) -> list[AnyArray]:
        """The content of each tensor."""
        return [tensor.data for tensor in self._tensors.values()]
