"""Values of a running kernel: one NumPy array for all threads that execute an op.

The first axis counts threads; an array of length 1 there is the same value in every thread.
A register list or a fragment has a second axis. Arrays hold raw bits in unsigned integers, and
predicates in booleans; an instruction looks at them as the type it works on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np

from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, Int64Array, is_array
from tilewright.lowering.interpreter.errors import Fault, Unwritten

Bits: TypeAlias = AnyArray
"""Raw bits of one value in every thread: [threads or 1] or [threads or 1, registers]."""

Lanes: TypeAlias = Int64Array

CONTAINERS: dict[str, type[np.generic]] = {
    "pred": np.bool_,
    "b8": np.uint8,
    "b16": np.uint16,
    "b32": np.uint32,
    "f32": np.uint32,
    "b64": np.uint64,
    "f64": np.uint64,
}
"""The dtype that holds a register of each kind."""


class Undefined:
    """A register that nothing has written: whatever looks at it stops the kernel."""

    __slots__ = ("origin",)

    def __init__(self, origin: str):
        self.origin = origin

    def fault(self) -> NoReturn:
        raise Unwritten(f"use of an undefined register ({self.origin})")

    def take(self, lanes: Lanes) -> Undefined:
        return self

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self.fault()

    def __array_ufunc__(self, *_: Any, **__: Any) -> NoReturn:
        self.fault()

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.fault()

    def __getitem__(self, _: Any) -> NoReturn:
        self.fault()

    def __len__(self) -> NoReturn:
        self.fault()


class PartlyUndefined(Undefined):
    """A register that some threads have written: fine as long as only they look at it."""

    __slots__ = ("missing", "value")

    def __init__(self, origin: str, value: Any, missing: BoolArray):
        super().__init__(origin)
        self.value = value
        self.missing = missing

    def fault(self) -> NoReturn:
        message = f"use of an undefined register ({self.origin})"
        raise Unwritten(message, int(np.argmax(self.missing)))

    def take(self, lanes: Lanes) -> Any:
        missing = self.missing[lanes]
        if missing.all():
            return Undefined(self.origin)
        value = take(self.value, lanes)
        return PartlyUndefined(self.origin, value, missing) if missing.any() else value


class Overwritten(Undefined):
    """The registers of an accumulator that a later wgmma accumulates in."""

    __slots__ = ()

    def fault(self) -> NoReturn:
        raise Fault(f"use of an accumulator that {self.origin} has overwritten")

    def take(self, lanes: Lanes) -> Overwritten:
        return self


class Clobbered(Undefined):
    """Registers; an op has written some since they got their value."""

    __slots__ = ()

    def fault(self) -> NoReturn:
        raise Fault(f"reads a register that {self.origin} has overwritten")

    def take(self, lanes: Lanes) -> Clobbered:
        return self


class Parts(Undefined):
    """Registers of a list, each by itself, where not all may be looked at."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Any]):
        super().__init__("")
        self.parts = parts

    def fault(self) -> NoReturn:
        next(one for one in self.parts if isinstance(one, Undefined)).fault()

    def take(self, lanes: Lanes) -> Parts:
        return Parts([take(one, lanes) for one in self.parts])


def part(value: Any, place: int) -> Any:
    """A register of a list by itself, which may be one that nobody may look at: a name is no
    access, but of what is in flight."""
    if isinstance(value, Parts):
        return value.parts[place]
    if isinstance(value, PartlyUndefined):
        return PartlyUndefined(value.origin, part(value.value, place), value.missing)
    if isinstance(value, Undefined) and not isinstance(value, InFlight):
        return value
    return value[:, place] if value.ndim == 2 else value


NOBODY = -2
"""The group of threads whose registers nothing has written."""


class InFlight(Undefined):
    """Registers that a wgmma writes until its group is complete: nobody may look before.

    `value` is [threads, registers], `group` the number of each thread's group; a thread whose
    registers are no wgmma's has group -1, one whose are `unwritten`, by an op, NOBODY. `shape` is
    what the wgmma shares with those that may accumulate in its registers at once.
    """

    __slots__ = ("group", "shape", "unwritten", "value")

    def __init__(
        self, origin: str, value: Bits, group: Int64Array, shape: object, unwritten: str = ""
    ):
        super().__init__(origin)
        self.value = value
        self.group = group
        self.shape = shape
        self.unwritten = unwritten

    what = "an accumulator of"
    wait = "wgmma.wait_group"

    def fault(self) -> NoReturn:
        self.accessed("reads")

    def accessed(self, verb: str) -> NoReturn:
        """Raise the Fault of an access."""
        raise Fault(
            f"{verb} {self.what} {self.origin}, which no {self.wait} has completed",
            int(np.argmax(self.group >= 0)),
        )

    def take(self, lanes: Lanes) -> Any:
        value, group = self.value[lanes], self.group[lanes]
        part = type(self)(self.origin, value, group, self.shape, self.unwritten)
        return part if (group >= 0).any() else part.settled()

    def settled(self) -> Any:
        """The registers once no group is in flight."""
        missing = self.group == NOBODY
        if missing.all():
            return Undefined(self.unwritten)
        if missing.any():
            return PartlyUndefined(self.unwritten, self.value, missing)
        return self.value


class Loading(InFlight):
    """Registers that a load from tensor memory writes until its thread has waited for it."""

    __slots__ = ()

    what = "registers of"
    wait = "tmem.wait_load"


def take(value: Any, lanes: Lanes) -> Any:
    """The value in some of the threads that have it."""
    if is_array(value):
        return value if len(value) == 1 else value[lanes]
    return None if value is None else value.take(lanes)


def joined(a: Any, b: Any, counts: tuple[int, int], order: Lanes) -> Any:
    """One value of the threads of two groups: a's `counts[0]`, then b's, put in `order`."""
    if a is b or a is None or b is None:
        return a
    if isinstance(a, InFlight) or isinstance(b, InFlight):
        return _in_flight(a, b, counts, order)
    if isinstance(parts := a if isinstance(a, Parts) else b, Parts):
        both = ((part(a, place), part(b, place)) for place in range(len(parts.parts)))
        return Parts([joined(own, other, counts, order) for own, other in both])
    if isinstance(a, Undefined) or isinstance(b, Undefined):
        return _partly_undefined(a, b, counts, order)
    if not is_array(a):
        return a.joined(b, counts, order)
    if len(a) == len(b) == 1 and np.array_equal(a, b):
        return a
    return np.concatenate([spread(a, counts[0]), spread(b, counts[1])])[order]


def _in_flight(a: Any, b: Any, counts: tuple[int, int], order: Lanes) -> Undefined:
    """Registers; a wgmma in flight has those of some threads."""
    first, unwritten = a if isinstance(a, InFlight) else b, ""
    parts = list[tuple[Any, Any]]()
    for register, count in zip((a, b), counts, strict=True):
        if isinstance(register, InFlight):
            parts.append((register.value, register.group))
            unwritten = register.unwritten or unwritten
        elif not isinstance(register, Undefined):
            parts.append((spread(register, count), np.full(count, -1)))
        elif type(first) is not InFlight or type(register) not in (Undefined, PartlyUndefined):
            return Undefined(register.origin)
        else:
            unwritten = register.origin
            if isinstance(register, PartlyUndefined):
                parts.append(
                    (spread(register.value, count), np.where(register.missing, NOBODY, -1))
                )
            else:
                nothing = np.zeros((count, *first.value.shape[1:]), first.value.dtype)
                parts.append((nothing, np.full(count, NOBODY)))
    value, groups = (np.concatenate(column)[order] for column in zip(*parts, strict=True))
    return type(first)(first.origin, value, groups, first.shape, unwritten)


def _partly_undefined(a: Any, b: Any, counts: tuple[int, int], order: Lanes) -> Undefined:
    values = [_defined(register) for register in (a, b)]
    origin = (a if isinstance(a, Undefined) else b).origin
    if values[0] is None and values[1] is None:
        return Undefined(origin)
    for own, other in ((0, 1), (1, 0)):
        if values[own] is None:
            # Nobody can look at it: any value will do.
            values[own] = take(values[other], np.zeros(counts[own], dtype=np.int64))
    missing = [
        register.missing
        if isinstance(register, PartlyUndefined)
        else np.full(count, isinstance(register, Undefined))
        for register, count in zip((a, b), counts, strict=True)
    ]
    value = joined(values[0], values[1], counts, order)
    return PartlyUndefined(origin, value, np.concatenate(missing)[order])


def _defined(value: Any) -> Any:
    """The value that some threads have written, or None where none has."""
    if isinstance(value, PartlyUndefined):
        return value.value
    return None if isinstance(value, Undefined) else value


def spread(value: Bits, count: int) -> Bits:
    """The value with one row for each of `count` threads."""
    return value if len(value) == count else np.broadcast_to(value, (count, *value.shape[1:]))


def distinct(numbers: AnyArray) -> list[int]:
    """The different ones of some integers, which often are all the same."""
    first = numbers.flat[0]
    return [int(first)] if (numbers == first).all() else np.unique(numbers).tolist()


def uniform(bits: int, kind: str) -> Bits:
    """A value that is the same in all threads, from its bits."""
    dtype = np.dtype(CONTAINERS[kind])
    if kind == "pred":
        return np.array([bool(bits & 1)])
    return np.array([bits % (1 << (8 * dtype.itemsize))], dtype=dtype)
