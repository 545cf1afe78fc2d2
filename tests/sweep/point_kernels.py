"""The kernel of a point: every operand from memory, every result to memory."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from point import Point
from point_values import APART, DTYPES, OperandValues, drawn, sizes_of, tolerance
from surroundings import VIEWS
from swept_shapes import PITCH, Shape
from xdsl.dialects.builtin import IntegerType

from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.ops.aggregate import Aggregate
from tilewright.dialects.cuda_tile.ops.matrix_multiply import Mma
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    PartitionViewType,
    PointerType,
    TensorViewType,
    TileType,
    TileView,
    TokenType,
)

Drawn = Callable[[int], Any]
"""So many elements for a tensor."""


@dataclass
class PointKernel:
    """The text of a point's kernel on its way, and what it is run on: in a loop what differs from
    one iteration to another, before it what does not, after it the sums of a product."""

    point: Point
    rng: np.random.Generator
    before: list[str] = field(default_factory=list[str])
    within: list[str] = field(default_factory=list[str])
    after: list[str] = field(default_factory=list[str])
    parameters: list[str] = field(default_factory=list[str])
    args: list[Any] = field(default_factory=list[Any])

    def __post_init__(self) -> None:
        point, around = self.point, self.point.around
        self.here, self.count = self.within, 0
        self.numbers = OperandValues(point, self.rng)
        self.carried, self.begin = self._carried() if around.trips else None, ""
        if around.blocks > 1 or around.trips or around.tiles in VIEWS:
            self._count()
        names = [
            self.operand(place.name, number, i, type_)
            for number, (place, types) in enumerate(
                zip(point.op.facts.operands, point.operands, strict=True)
            )
            for i, type_ in enumerate(types)
        ]
        results = [f"%r{i}" for i in range(len(point.results))]
        body = "" if point.combine is None else self._body(point.combine, len(results))
        self.here.append(f"    {_generic(point, results, names, body)}")
        if self.carried:
            self.here, results = self.after, ["%s"]
        for name, type_ in zip(results, point.results, strict=True):
            self.keep(name, type_)

    def _carried(self) -> str | None:
        """The operand that a loop carries: of one type with the only result."""
        point = self.point
        if issubclass(point.op, Mma):
            return "acc"
        overflow: Any = dict(point.properties).get("overflow")
        whole = overflow is None or overflow.data == "none"
        alike = len(point.operands) > 0 and point.operands[0] == point.results
        exact = not tolerance(point) and not issubclass(point.op, Aggregate)
        carried = point.around.carried and alike and whole and exact
        return point.op.facts.operands[0].name if carried else None

    def _count(self) -> None:
        """The numbers of the block, of the iteration and of both."""
        trips, times = self.point.around.trips, "%zero"
        self.before += [
            "    %block, %block_y, %block_z = get_tile_block_id : tile<i32>",
            *(f"    %{n} = constant <i32: {v}> : tile<i32>" for n, v in (("zero", 0), ("one", 1))),
        ]
        if trips:
            times = self.number(trips)
            self.within += [
                f"    %first = muli %block, {times} : tile<i32>",
                "    %both = addi %first, %trip : tile<i32>",
            ]
        self.times = times

    @property
    def text(self) -> str:
        """The module."""
        hints, within, head = self.point.around.hints("cuda_tile.entry"), self.within, ""
        if self.point.around.trips:
            head = f"    for %trip in (%zero to {self.times}, step %one) : tile<i32>"
            back = "    continue"
            if self.carried:
                type_ = shown(self.point.results[0])
                head = head.replace("for", "%s = for")
                head += f" iter_values(%sum = {self.begin}) -> ({type_})"
                back += f" %r0 : {type_}"
            within = [f"{head} {{", *within, back, "    }"]
        lines = "\n".join((*self.before, *within, *self.after))
        said = f" optimization_hints = <{hints}>" if hints else ""
        return (f"cuda_tile.module @m {{\n  entry @k({', '.join(self.parameters)}){said} {{\n"
                f"{lines}\n  }}\n}}\n")  # fmt: skip

    @contextmanager
    def outside(self) -> Generator[None]:
        """What is emitted here comes before the loop."""
        here, self.here = self.here, self.before
        yield
        self.here = here

    def emit(self, text: str, more: str = "") -> str:
        """A new value, and others behind it."""
        self.count += 1
        name = f"%v{self.count}"
        self.here.append(f"    {name}{more.replace('%', name)} = {text}")
        return name

    def parameter(self, element: str, array: Any) -> str:
        """A pointer to an array."""
        type_, name = f"tile<ptr<{element}>>", f"%p{len(self.args)}"
        self.parameters.append(f"{name}: {type_}")
        self.args.append(array)
        with self.outside():
            aligned = self.point.around.aligned
            return self.emit(f"assume div_by<16>, {name} : {type_}") if aligned else name

    def number(self, value: int, divisor: int = 1) -> str:
        """A scalar that the kernel is given."""
        name = f"%p{len(self.args)}"
        self.parameters.append(f"{name}: tile<i32>")
        self.args.append(np.int32(value))
        known = divisor > 1 and self.point.around.aligned
        with self.outside():
            return self.emit(f"assume div_by<{divisor}>, {name} : tile<i32>") if known else name

    # --- which tile ---

    def steps(self, name: str, rank: int) -> dict[int, tuple[str, int]]:
        """The dimensions along which a block or an iteration has its own tile of an operand: which,
        and of how many; of a product M follows from the block and K from the iteration."""
        around = self.point.around
        block, trip = (
            ("%block", around.blocks),
            ("%trip" if around.trips else "%zero", around.trips or 1),
        )
        if not issubclass(self.point.op, Mma):
            if self.carried and name in (self.carried, "result"):
                return {0: block}
            return {0: ("%both" if around.trips else "%block", block[1] * trip[1])}
        if name.startswith("lhs"):
            return {rank - 2: block, rank - 1: trip}
        return {rank - 2: trip if name.startswith("rhs") else block}

    def offset(self, name: str, pointer: str, element: str, count: int) -> str:
        """Where the own one of tiles of so many elements side by side begins."""
        steps = [(which, n) for which, n in self.steps(name, 2).values() if n > 1]
        for which, _ in steps[:1]:
            which = "%both" if len(steps) > 1 else which
            type_ = f"tile<ptr<{element}>>"
            size = self.emit(f"constant <i32: {count}> : tile<i32>")
            start = self.emit(f"muli {which}, {size} : tile<i32>")
            pointer = self.emit(f"offset {pointer}, {start} : {type_}, tile<i32> -> {type_}")
        return pointer

    def tiles(self, name: str) -> int:
        """How many tiles of an operand there are."""
        return int(np.prod([n for _, n in self.steps(name, 2).values()]))

    # --- operands ---

    def operand(self, name: str, place: int, i: int, type_: Any) -> str:
        """A value of a type for an operand."""
        if name == self.carried and not self.begin:
            self.begin = "being made"
            with self.outside():
                self.begin = self.operand(name, place, i, type_)
            return "%sum"
        if isinstance(type_, TokenType):
            return self.emit("make_token : token")
        if isinstance(type_, TileView):
            return self.view(type_)
        if isinstance(type_, TensorViewType):
            sizes = enumerate(type_.shape)
            return self.tensor(type_, [5 + n if size == DYNAMIC else size for n, size in sizes])
        if self.point.op.name.endswith("int_to_ptr"):
            pointer: Any = self.point.results[0]
            at = self.pointers(name, pointer)
            return self.emit(f"ptr_to_int {at} : {shown(pointer)} -> {shown(type_)}")
        if self.point.op.name.endswith("ptr_to_ptr"):
            wide: Any = self.point.results[0]
            at = self.pointers(name, wide)
            return self.emit(f"ptr_to_ptr {at} : {shown(wide)} -> {shown(type_)}")
        if isinstance(type_.element_type, PointerType):
            return self.pointers(name, type_)
        if name == "acc" and self.point.around.zero:
            element = shown(type_.element_type)
            zero = "0" if element[0] == "i" else "0.0"
            return self.emit(f"constant <{element}: {zero}> : {shown(type_)}")

        def numbers(count: int) -> Any:
            return self.numbers.of(name, i, type_, count)

        if place < len(self.point.turned) and self.point.turned[place]:
            if self.point.around.tiles == "viewed":
                return self.loaded(name, type_, numbers, turned=True)
            order = [*range(type_.rank - 2), type_.rank - 1, type_.rank - 2]
            lying = TileType.get(tuple(type_.shape[i] for i in order), type_.element_type)
            source = self.loaded(name, lying, numbers, exchanged=True)
            return self.emit(f"permute {source} {order} : {shown(lying)} -> {shown(type_)}")
        return self.loaded(name, type_, numbers)

    def view(self, view: TileView) -> str:
        """A view of a tensor of its own."""
        whole = self.tensor(view.tensor_view, sizes_of(view))
        with self.outside():
            return self.emit(f"make_{view.name.removeprefix('cuda_tile.')} {whole} : {shown(view)}")

    def tensor(self, tensor: TensorViewType, sizes: list[int], numbers: Drawn | None = None) -> str:
        """A tensor of its own, of so many elements along each dimension."""
        element, rank, given = shown(tensor.element_type), len(sizes), tensor.strides
        rows = rank < 2 or given[-1] == 1
        strides, step = [0] * rank, 1
        for axis in reversed(range(rank)) if rows else range(rank):
            strides[axis] = step = step if given[axis] == DYNAMIC else given[axis]
            step *= sizes[axis]
            if numbers and DYNAMIC in given:
                step = -(-step // PITCH) * PITCH
        half, step = (
            element == "f4E2M1FN",
            max(by * size for by, size in zip(strides, sizes, strict=True)),
        )
        stored, count = "i8" if half else element, -(-step // (1 + half))
        base = self.parameter(stored, numbers(count) if numbers else drawn(self.rng, stored, count))
        with self.outside():
            if half:
                base = self.emit(f"ptr_to_ptr {base} : tile<ptr<i8>> -> tile<ptr<f4E2M1FN>>")
            words: list[str] = []
            known = PITCH if numbers else 1
            for what, extents, actual, by in (
                ("shape", tensor.shape, sizes, 1), ("strides", given, strides, known)
            ):  # fmt: skip
                texts = [self.number(number, by) if extent == DYNAMIC else str(extent)
                         for extent, number in zip(extents, actual, strict=True)]  # fmt: skip
                words.append(f"{what} = [{', '.join(texts)}]")
            dynamic = "tile<i32> -> " if DYNAMIC in (*tensor.shape, *given) else ""
            return self.emit(
                f"make_tensor_view {base}, {', '.join(words)} : {dynamic}{shown(tensor)}"
            )

    def pointers(self, name: str, type_: TileType) -> str:
        """Pointers to elements side by side."""
        pointer: Any = type_.element_type
        element, count = shown(pointer.pointee_type), type_.elements
        stored = "i8" if element == "f4E2M1FN" else element
        base = self.parameter(stored, drawn(self.rng, stored, count * self.tiles(name) + APART))
        if stored != element:
            return self.emit(f"ptr_to_ptr {base} : tile<ptr<i8>> -> {shown(type_)}")
        return self.row(name, base, element, type_)

    def row(self, name: str, pointer: str, element: str, type_: TileType) -> str:
        """Pointers to elements side by side, as a tile of a shape."""
        count, one = type_.elements, f"tile<ptr<{element}>>"
        by_number = type_.rank == 0 or self.point.around.tiles == "numbered"
        shape: Shape = (count,) if by_number else type_.shape
        dims, least = _dims(shape), _dims((1,) * len(shape))
        start = self.offset(name, pointer, element, count)
        first = self.emit(f"reshape {start} : {one} -> tile<{least}ptr<{element}>>")
        wide, total, step = f"tile<{dims}ptr<{element}>>", "", 1
        base = self.emit(f"broadcast {first} : tile<{least}ptr<{element}>> -> {wide}")
        for axis in reversed(range(len(shape))):
            along = self.emit(f"iota : tile<{shape[axis]}xi32>")
            if len(shape) > 1:
                line = _dims(tuple(n if i == axis else 1 for i, n in enumerate(shape)))
                along = self.emit(f"reshape {along} : tile<{shape[axis]}xi32> -> tile<{line}i32>")
                along = self.emit(f"broadcast {along} : tile<{line}i32> -> tile<{dims}i32>")
                by = self.emit(f"constant <i32: {step}> : tile<{dims}i32>")
                along = self.emit(f"muli {along}, {by} : tile<{dims}i32>")
            total = (total and self.emit(f"addi {total}, {along} : tile<{dims}i32>")) or along
            step *= shape[axis]
        at = self.emit(f"offset {base}, {total} : {wide}, tile<{dims}i32> -> {wide}")
        whole = f"tile<{_dims(type_.shape)}ptr<{element}>>"
        return self.emit(f"reshape {at} : {wide} -> {whole}") if by_number else at

    def viewed(
        self, name: str, type_: TileType, numbers: Drawn, turned: bool, exchanged: bool
    ) -> tuple[str, str]:
        """A view in which a block and an iteration have a tile of their own, and its index; the
        view's type."""
        element, rank, names = type_.element_type, type_.rank, ["%zero"] * type_.rank
        ends = self.point.around.tiles == "bounded" and "scale" not in name
        ends = ends and (name == "result" or issubclass(self.point.op, Mma))
        sizes = list(type_.shape)
        for axis, (which, count) in self.steps(name, rank).items():
            axis = 2 * rank - 3 - axis if exchanged else axis
            names[axis], sizes[axis] = which, sizes[axis] * count
        less = 4 if shown(element) == "f4E2M1FN" else 3
        for axis in range(max(rank - 2, 0), rank) if ends else ():
            sizes[axis] -= less * (type_.shape[axis] > less)
        order = [*reversed(range(rank))]
        order = [rank - 2, rank - 1, *order[2:]] if turned else order
        if shown(element) == "f4E2M1FN":  # Two are a byte along the only stride of 1.
            order.sort(key=lambda axis: sizes[axis] == 1)
        strides, step = [0] * rank, 1
        for axis in order:
            strides[axis], step = step, step * sizes[axis]
        shape = tuple(sizes)
        if ends:
            shape, strides = (DYNAMIC,) * rank, [DYNAMIC] * (rank - 1) + [1]
        tensor = TensorViewType.get(element, shape, tuple(strides))
        view = PartitionViewType.get(type_.shape, tensor, None, PaddingValue.ZERO if ends else None)
        whole = self.tensor(tensor, sizes, numbers)
        with self.outside():
            made = self.emit(f"make_partition_view {whole} : {shown(view)}")
        return f"{made}[{', '.join(names)}]", shown(view)

    def loaded(
        self,
        name: str,
        type_: TileType,
        numbers: Drawn,
        turned: bool = False,
        exchanged: bool = False,
    ) -> str:
        """A tile of numbers from memory."""
        element, count = shown(type_.element_type), type_.elements
        if element == "i4":
            source = self.loaded(name, type_.with_element(_I8), numbers, turned, exchanged)
            return self.emit(f"trunci {source} : tile<{_dims(type_.shape)}i8> -> {shown(type_)}")
        if type_.rank and self.point.around.tiles in VIEWS:
            at, view = self.viewed(name, type_, numbers, turned, exchanged)
            said = self.said("cuda_tile.load_view_tko")
            return self.emit(f"load_view_tko weak {at}{said} : {view}, tile<i32> -> "
                             f"{shown(type_)}, token", ", %t")  # fmt: skip
        if element == "f4E2M1FN":
            octets, flat = TileType.get((count // 2,), _I8), f"tile<{count}x{element}>"
            source = self.loaded(name, octets, numbers)
            wide = self.emit(f"unpack {source} : {shown(octets)} -> {flat}")
            return self.emit(f"reshape {wide} : {flat} -> {shown(type_)}")
        base = self.parameter(element, numbers(count * self.tiles(name)))
        return self.load(self.row(name, base, element, type_), type_)

    def load(self, at: str, type_: TileType) -> str:
        """A tile through pointers."""
        pointers = f"tile<{_dims(type_.shape)}ptr<{shown(type_.element_type)}>>"
        said = self.said("cuda_tile.load_ptr_tko")
        return self.emit(
            f"load_ptr_tko weak {at}{said} : {pointers} -> {shown(type_)}, token", ", %t"
        )

    def said(self, op: str) -> str:
        """The hints of an access."""
        hints = self.point.around.hints(op)
        return hints and f" optimization_hints = <{hints}>"

    # --- results ---

    def keep(self, name: str, type_: Any) -> None:
        """Store a result."""
        if isinstance(type_, TokenType):
            return
        if self.point.op.name.endswith("ptr_to_int"):
            given: Any = self.point.operands[0][0]
            name = self.emit(f"int_to_ptr {name} : {shown(type_)} -> {shown(given)}")
            type_ = given
        if isinstance(type_.element_type, PointerType):
            pointee = type_.element_type.pointee_type
            if shown(pointee) == "f4E2M1FN":
                octets = type_.with_element(PointerType.get(_I8))
                name = self.emit(f"ptr_to_ptr {name} : {shown(type_)} -> {shown(octets)}")
                pointee = _I8
            type_ = type_.with_element(pointee)
            name = self.load(name, type_)
        element, count = shown(type_.element_type), type_.elements
        if element == "i4":
            octets = type_.with_element(_I8)
            name = self.emit(f"exti {name} signed : {shown(type_)} -> {shown(octets)}")
            type_ = octets
        by_view = type_.rank and self.point.around.tiles in VIEWS
        if element == "f4E2M1FN" and not by_view:
            flat = self.emit(f"reshape {name} : {shown(type_)} -> tile<{count}x{element}>")
            name = self.emit(f"pack {flat} : tile<{count}x{element}> -> tile<{count // 2}xi8>")
            type_ = TileType.get((count // 2,), _I8)
        element = shown(type_.element_type)
        dtype = DTYPES["i8" if element == "f4E2M1FN" else element]
        if by_view:
            at, view = self.viewed("result", type_, lambda n: np.zeros(n, dtype), False, False)
            said = self.said("cuda_tile.store_view_tko")
            self.emit(
                f"store_view_tko weak {name}, {at}{said} : {shown(type_)}, {view}, tile<i32> "
                "-> token"
            )
            return
        base = self.parameter(element, np.zeros(type_.elements * self.tiles("result"), dtype))
        at = self.row("result", base, element, type_)
        said = self.said("cuda_tile.store_ptr_tko")
        self.emit(
            f"store_ptr_tko weak {at}, {name}{said} : tile<{_dims(type_.shape)}ptr<{element}>>, "
            f"{shown(type_)} -> token"
        )

    @staticmethod
    def _body(combine: Point, count: int) -> str:
        scalar = str(combine.results[0])
        arguments = ", ".join(f"%e{i}: {scalar}, %f{i}: {scalar}" for i in range(count))
        lines = [_generic(combine, [f"%g{i}"], [f"%e{i}", f"%f{i}"], "") for i in range(count)]
        given, types = ", ".join(f"%g{i}" for i in range(count)), ", ".join([scalar] * count)
        return " ({\n    ^bb0(" + arguments + "):\n      " + "\n      ".join(lines) + (
            f'\n      "cuda_tile.yield"({given}) : ({types}) -> ()\n    }})')  # fmt: skip


_I8 = IntegerType(8)


def _dims(shape: Shape) -> str:
    return "".join(f"{extent}x" for extent in shape)


def _generic(point: Point, results: list[str], operands: list[str], body: str) -> str:
    """An op in MLIR's generic form."""
    words = [
        f'"{name}"' if str(value) == "unit" else f'"{name}" = {value}'
        for name, value in point.properties
    ]
    hints = point.around.hints(point.op.name)
    words += [f'"optimization_hints" = #cuda_tile.optimization_hints<{hints}>'] if hints else []
    types = ", ".join(str(type_) for types in point.operands for type_ in types)
    listed = ", ".join(map(str, point.results))
    given = f"{', '.join(results)} = " if results else ""
    return (
        f'{given}"{point.op.name}"({", ".join(operands)}) <{{{", ".join(words)}}}>{body} : '
        f"({types}) -> ({listed})"
    )
