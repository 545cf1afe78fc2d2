"""Tiles of which nothing determines some elements, and beside each the tile that says which: whence
they come, and how they get back to memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from draw import Draw
from tile_folds import Folds
from tile_writer import DTYPES, INTEGERS, Shape, Value, size_of, tile


@dataclass(frozen=True)
class Tracked:
    """A tile, and which of its elements are determined."""

    value: Value
    known: Value


class Poison(Folds):
    """A kernel whose tiles are tracked, and ways to get them."""

    def __init__(self, draw: Draw, blocks: int) -> None:
        super().__init__(draw, blocks)
        self.tracked: list[Tracked] = []

    def add(self, value: Value, known: Value) -> None:
        self.tracked.append(Tracked(value, known))

    def pick(self, elements: tuple[str, ...]) -> Tracked:
        """A tracked tile of one of these elements."""
        there = [x for x in self.tracked if x.value.element in elements]
        if there and not self.draw.chance(20):
            return self.draw.pick(there)
        return self.poison(self.draw.pick([name for name in elements if name != "i1"] or ["i32"]))

    def beside(self, x: Tracked, element: str | None = None) -> Tracked:
        """Another tracked tile of the same shape."""
        element, shape = element or x.value.element, x.value.shape
        there = [y for y in self.tracked if (y.value.element, y.value.shape) == (element, shape)]
        if there and not self.draw.chance(30):
            return self.draw.pick(there)
        value = self.load(shape, element)
        return Tracked(value, self.constant(1, shape, "i1"))

    # --- which elements are determined ---

    def both(self, *known: Value) -> Value:
        result = known[0]
        for more in known[1:]:
            result = self.same(f"andi {result.name}, {more.name}", result)
        return result

    def compared(self, text: str, x: Value, y: Value, sign: str = "unsigned") -> Value:
        result = tile(x.shape, "i1")
        return self.op(
            f"cmpi {text} {x.name}, {y.name}, {sign} : {x.type} -> {result}", x.shape, "i1"
        )

    def all_along(self, known: Value, dim: int, name: str, back: bool = False) -> Value:
        """The folds, or scans, along a dimension of which all elements are known."""
        words = self.converted(known, "i8", "unsigned")
        shape = words.shape if name == "scan" else (*words.shape[:dim], *words.shape[dim + 1 :])
        more = f" reverse={str(back).lower()}" * (name == "scan")
        a, b, c, result = (self.fresh() for _ in range(4))
        self.emit(f"{result} = {name} {words.name} dim = {dim}{more} identities = [1 : i8] : "
                  f"{words.type} -> {tile(shape, 'i8')}")  # fmt: skip
        self.emit(f"  ({a} : tile<i8>, {b} : tile<i8>) {{")
        self.emit(f"    {c} = andi {a}, {b} : tile<i8>")
        self.emit(f"    yield {c} : tile<i8>")
        self.emit("  }")
        zero = self.constant(0, shape, "i8")
        return self.compared("not_equal", Value(result, shape, "i8"), zero)

    # --- where poison comes from ---

    def poison(self, element: str) -> Tracked:
        """A tile, some elements of which nothing determines."""
        sources: list[Callable[[str], None]] = [self.padded, self.masked]
        if element in INTEGERS:
            sources += [self.divided, self.shifted, self.wrapped]
            sources += [self.from_float] * (element in ("i8", "i16", "i32"))
        self.draw.pick(sources)(element)
        return self.tracked[-1]

    def padded(self, element: str) -> None:
        """From a view whose last tile lies across its end."""
        draw, shape = self.draw, self.shape(8) or (8,)
        sizes = [draw.number(extent, 2 * extent) for extent in shape]
        name = self.parameter(element, size_of(tuple(sizes)))
        strides = [size_of(tuple(sizes[i + 1 :])) for i in range(len(sizes))]
        tensor = (f"tensor_view<{''.join(f'{size}x' for size in sizes)}{element}, "
                  f"strides={strides}>")  # fmt: skip
        extents = "x".join(map(str, shape))
        view = f"partition_view<tile=({extents}), {tensor}>"
        whole, tiles, result, token = (self.fresh() for _ in range(4))
        self.emit(
            f"{whole} = make_tensor_view {name}, shape = {sizes}, strides = {strides} : {tensor}"
        )
        self.emit(f"{tiles} = make_partition_view {whole} : {view}")
        index = [draw.number(0, (n - 1) // extent) for n, extent in zip(sizes, shape, strict=True)]
        names = ", ".join(self.constant(number).name for number in index)
        self.emit(f"{result}, {token} = load_view_tko weak {tiles}[{names}] : {view}, tile<i32> -> "
                  f"{tile(shape, element)}, token")  # fmt: skip
        known = self.constant(1, shape, "i1")
        for axis, (size, extent, number) in enumerate(zip(sizes, shape, index, strict=True)):
            ones = tuple(extent if i == axis else 1 for i in range(len(shape)))
            along = self.numbers_of((extent,))
            along = self.op(
                f"reshape {along.name} : {along.type} -> {tile(ones, 'i32')}", ones, "i32"
            )
            if ones != shape:
                along = self.op(
                    f"broadcast {along.name} : {along.type} -> {tile(shape, 'i32')}", shape, "i32"
                )
            end = self.constant(size - number * extent, shape)
            known = self.both(known, self.compared("less_than", along, end, "signed"))
        self.add(Value(result, shape, element), known)
        if draw.chance(30):
            # What lies beyond the end goes there again.
            self.parameters.append(f"%p{len(self.parameters)}: tile<ptr<{element}>>")
            self.args.append(np.zeros(size_of(tuple(sizes)), DTYPES[element]))
            out = f"%p{len(self.parameters) - 1}"
            whole, tiles = self.fresh(), self.fresh()
            self.emit(f"{whole} = make_tensor_view {out}, shape = {sizes}, strides = {strides} : "
                      f"{tensor}")  # fmt: skip
            self.emit(f"{tiles} = make_partition_view {whole} : {view}")
            self.emit(f"{self.fresh()} = store_view_tko relaxed device {result}, {tiles}[{names}]"
                      f" : {tile(shape, element)}, {view}, tile<i32> -> token")  # fmt: skip

    def masked(self, element: str) -> None:
        """Through pointers, with a mask and no padding."""
        shape = self.shape(8)
        name = self.parameter(element, size_of(shape) * self.blocks)
        at, type_ = self.pointers(name, element, shape)
        mask, result, token = self.mask(shape), self.fresh(), self.fresh()
        self.emit(f"{result}, {token} = load_ptr_tko weak {at}, {mask.name} : {type_}, "
                  f"{mask.type} -> {tile(shape, element)}, token")  # fmt: skip
        self.add(Value(result, shape, element), mask)

    def edges(self, shape: Shape, element: str) -> Value:
        """Numbers at the ends of a type, and of shifts."""
        bits = int(element[1:])
        least = -(1 << bits - 1)
        ends = np.array([0, 1, -1, least, least + 1, -least - 1, 7, bits - 1, bits], np.int64)
        x = self.load(shape, element)
        position = next(
            i for i in reversed(range(len(self.args))) if self.args[i].dtype == DTYPES[element]
        )
        drawn = self.numbers.choice(ends, self.args[position].shape)
        self.args[position] = drawn.astype(DTYPES[element])
        return x

    def divided(self, element: str) -> None:
        shape, draw = self.shape(8), self.draw
        x, y = self.edges(shape, element), self.edges(shape, element)
        sign = draw.pick(("signed", "unsigned"))
        zero = self.constant(0, shape, element)
        known = self.compared("not_equal", y, zero)
        if sign == "signed":
            least = self.constant(-(1 << int(element[1:]) - 1), shape, element)
            minus = self.constant(-1, shape, element)
            fits = [self.compared("not_equal", x, least), self.compared("not_equal", y, minus)]
            either = self.same(f"ori {fits[0].name}, {fits[1].name}", fits[0])
            known = self.both(known, either)
        rounding = " rounding<positive_inf>" if draw.chance(30) else ""
        rounding = " rounding<negative_inf>" if sign == "signed" and draw.chance(30) else rounding
        name = draw.pick(("divi", "remi"))
        text = f"{name} {x.name}, {y.name} {sign}{rounding * (name == 'divi')}"
        self.add(self.same(text, x), known)

    def shifted(self, element: str) -> None:
        shape = self.shape(8)
        x, y = self.edges(shape, element), self.edges(shape, element)
        name = self.draw.pick(("shli", "shri"))
        sign = self.draw.pick((" signed", " unsigned")) * (name == "shri")
        bits = self.constant(int(element[1:]), shape, element)
        known = self.compared("less_than", y, bits)
        self.add(self.same(f"{name} {x.name}, {y.name}{sign}", x), known)

    def wrapped(self, element: str) -> None:
        """A sum or product that is to stay in the type."""
        if element == "i64":
            return self.divided(element)
        shape = self.shape(8)
        x, y = self.edges(shape, element), self.edges(shape, element)
        name = self.draw.pick(("addi", "subi", "muli"))
        sign = self.draw.pick(("signed", "unsigned"))
        value = self.same(f"{name} {x.name}, {y.name} overflow<no_{sign}_wrap>", x)
        wraps = self.same(f"{name} {x.name}, {y.name}", x)
        wide = [self.converted(z, "i64", sign) for z in (x, y, wraps)]
        exact = self.same(f"{name} {wide[0].name}, {wide[1].name}", wide[0])
        self.add(value, self.compared("equal", exact, wide[2]))
        return None

    def from_float(self, element: str) -> None:
        shape, bits = self.shape(8), int(element[1:])
        x = self.load(shape, "f64")
        position = next(i for i in reversed(range(len(self.args)))
                        if self.args[i].dtype == np.float64)  # fmt: skip
        ends = np.array([0, -0.5, 1.75, -(2.0 ** (bits - 1)), 2.0 ** (bits - 1) - 1, 2.0**bits,
                         2.0 ** (bits - 1), -1.0, np.nan, np.inf, -(2.0**bits)])  # fmt: skip
        self.args[position] = self.numbers.choice(ends, self.args[position].shape)
        sign = self.draw.pick(("signed", "unsigned"))
        low, high = (
            (-(2.0 ** (bits - 1)) - 1, 2.0 ** (bits - 1)) if sign == "signed" else (-1, 2.0**bits)
        )
        known = [
            self.op(f"cmpf {relation} ordered {x.name}, {self.constant(end, shape, 'f64').name} : "
                    f"{x.type} -> {tile(shape, 'i1')}", shape, "i1")
            for relation, end in (("greater_than", low), ("less_than", high))
        ]  # fmt: skip
        value = self.op(
            f"ftoi {x.name} {sign} : {x.type} -> {tile(shape, element)}", shape, element
        )
        self.add(value, self.both(*known))

    # --- the end ---

    def take(self, x: Tracked) -> None:
        """The known elements of a tile to memory: by a select, or a mask."""
        zero = self.constant(0, x.value.shape, x.value.element)
        if self.draw.chance(30):
            name = self.parameter(x.value.element, size_of(x.value.shape) * self.blocks)
            at, type_ = self.pointers(name, x.value.element, x.value.shape)
            self.emit(f"{self.fresh()} = store_ptr_tko weak {at}, {x.value.name}, {x.known.name} : "
                      f"{type_}, {x.value.type}, {x.known.type} -> token")  # fmt: skip
            return
        chosen = self.op(f"select {x.known.name}, {x.value.name}, {zero.name} : {x.known.type}, "
                         f"{x.value.type}", x.value.shape, x.value.element)  # fmt: skip
        self.put(chosen)

    def put(self, value: Value) -> None:
        """A whole tile to memory of its own."""
        count = size_of(value.shape) * self.blocks
        name = self.parameter(value.element, count)
        self.args[-1] = np.zeros(count, DTYPES[value.element])
        at, type_ = self.pointers(name, value.element, value.shape)
        self.emit(f"{self.fresh()} = store_ptr_tko weak {at}, {value.name} : {type_}, "
                  f"{value.type} -> token")  # fmt: skip
