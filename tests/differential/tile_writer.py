"""The text of a kernel of Tile IR on its way: tiles from memory in every way, and back there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from draw import Draw

INTEGERS = ("i8", "i16", "i32", "i64")
SAME_BITS = (("i8", "f8E4M3FN", "f8E5M2"), ("i16", "f16", "bf16"), ("i32", "f32"), ("i64", "f64"))
FLOATS = ("f16", "bf16", "f32", "f64")
STORED = ("f8E4M3FN", "f8E5M2")
NARROW = ("tf32", "i4", "f4E2M1FN", "f8E8M0FNU")
"""What little is done with but to move it."""
ANY = ("i1", *INTEGERS, *FLOATS, *STORED, *NARROW)
DTYPES: dict[str, Any] = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip
Shape = tuple[int, ...]


def tile(shape: Shape, element: str) -> str:
    """`tile<4x8xf32>`."""
    return f"tile<{''.join(f'{extent}x' for extent in shape)}{element}>"


def size_of(shape: Shape) -> int:
    """The elements of a tile."""
    return int(np.prod(shape, dtype=np.int64))


@dataclass(frozen=True)
class Value:
    """A tile of a kernel."""

    name: str
    shape: Shape
    element: str

    @property
    def type(self) -> str:
        return tile(self.shape, self.element)


class Writer:
    """The text of a kernel on its way, and the tiles that it has so far."""

    def __init__(self, draw: Draw, blocks: int) -> None:
        self.draw, self.blocks = draw, blocks
        self.lines: list[str] = []
        self.values: list[Value] = []
        self.parameters: list[str] = []
        self.args: list[Any] = []
        self.indent, self.count = "    ", 0
        self.numbers = draw.generator()

    def emit(self, line: str) -> None:
        self.lines.append(self.indent + line)

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def op(self, text: str, shape: Shape, element: str) -> Value:
        """A value of an op, `addi %a, %b : ...`."""
        name = self.fresh()
        self.emit(f"{name} = {text}")
        value = Value(name, shape, element)
        self.values.append(value)
        return value

    def same(self, text: str, like: Value) -> Value:
        return self.op(f"{text} : {like.type}", like.shape, like.element)

    def of(self, elements: tuple[str, ...]) -> Value:
        """A tile that is there, of one of these elements, or a new one."""
        there = [value for value in self.values if value.element in elements]
        if there and not self.draw.chance(15):
            return self.draw.pick(there)
        return self.source(self.draw.pick([name for name in elements if name not in NARROW]))

    def like(self, value: Value, element: str | None = None) -> Value:
        """Another tile of the same shape."""
        element = element or value.element
        there = [x for x in self.values if x.element == element and x.shape == value.shape]
        return self.draw.pick(there) if there else self.source(element, value.shape)

    def converted(self, x: Value, to: str, sign: str = "signed") -> Value:
        """Numbers of another type."""
        kinds = "".join("i" if element[0] == "i" else "f" for element in (x.element, to))
        wide = int(to[1:]) > int(x.element[1:]) if kinds == "ii" else False
        op = {"ff": "ftof", "if": "itof", "fi": "ftoi", "ii": "exti" if wide else "trunci"}[kinds]
        if "i4" in (x.element, to) and kinds != "ii":
            return x
        word = f" {sign}" if op in ("itof", "ftoi", "exti") else ""
        word += " saturating" * (op == "ftoi")
        word += " rounding<zero>" * (to == "f8E8M0FNU")
        return self.op(f"{op} {x.name}{word} : {x.type} -> {tile(x.shape, to)}", x.shape, to)

    # --- where tiles come from ---

    def shape(self, most: int = 10) -> Shape:
        draw = self.draw
        bits = draw.number(0, most)
        shape: list[int] = []
        for _ in range(draw.pick((0, 1, 1, 2, 2, 3, 4, 5))):
            some = draw.number(0, bits)
            bits -= some
            shape.append(1 << some)
        return tuple(shape)

    def content(self, element: str, count: int) -> Any:
        """Small numbers, of which sums and products are exact in every order."""
        if element == "i1":
            return self.numbers.integers(0, 2, count).astype(np.bool_)
        low = -3 if element[0] != "i" or self.draw.chance(50) else -100
        return self.numbers.integers(low, -low + 1, count).astype(DTYPES[element])

    def parameter(self, element: str, count: int) -> str:
        name = f"%p{len(self.parameters)}"
        self.parameters.append(f"{name}: tile<ptr<{element}>>")
        self.args.append(self.content(element, count))
        return name

    def scalar_parameter(self, number: int) -> str:
        name = f"%p{len(self.parameters)}"
        self.parameters.append(f"{name}: tile<i32>")
        self.args.append(number)
        return name

    def constant(self, number: Any, shape: Shape = (), element: str = "i32") -> Value:
        words = str(number)
        if element[0] != "i":
            words = f"{float(number)}"
        if element == "i1":
            words = "true" if number else "false"
        return self.op(f"constant <{element}: {words}> : {tile(shape, element)}", shape, element)

    def splat(self, value: Value, shape: Shape) -> Value:
        """A scalar broadcast."""
        ones = (1,) * len(shape)
        if shape:
            value = self.op(f"reshape {value.name} : {value.type} -> {tile(ones, value.element)}",
                            ones, value.element)  # fmt: skip
        if shape == ones:
            return value
        return self.op(f"broadcast {value.name} : {value.type} -> {tile(shape, value.element)}",
                       shape, value.element)  # fmt: skip

    def numbers_of(self, shape: Shape) -> Value:
        """The number of each element in row-major order."""
        count = size_of(shape)
        flat = self.op(f"iota : {tile((count,), 'i32')}", (count,), "i32")
        if shape == (count,):
            return flat
        return self.op(f"reshape {flat.name} : {flat.type} -> {tile(shape, 'i32')}", shape, "i32")

    def pointers(self, name: str, element: str, shape: Shape, step: int = 1) -> tuple[str, str]:
        """Pointers to where the block's elements are, and their type."""
        index = self.numbers_of(shape)
        if step > 1:
            by = self.constant(step, shape)
            index = self.same(f"muli {index.name}, {by.name}", index)
        first = self.constant(size_of(shape) * step)
        at = self.same(f"muli %bx, {first.name}", first)
        index = self.same(f"addi {index.name}, {self.splat(at, shape).name}", index)
        return self.moved(name, element, index)

    def moved(self, name: str, element: str, index: Value) -> tuple[str, str]:
        """Pointers to elements of these numbers, and their type."""
        shape = index.shape
        ones, kind = (1,) * len(shape), f"ptr<{element}>"
        base = name
        if shape:
            base = self.fresh()
            self.emit(f"{base} = reshape {name} : tile<{kind}> -> {tile(ones, kind)}")
            if shape != ones:
                wide = self.fresh()
                self.emit(f"{wide} = broadcast {base} : {tile(ones, kind)} -> {tile(shape, kind)}")
                base = wide
        result = self.fresh()
        type_ = tile(shape, kind)
        self.emit(f"{result} = offset {base}, {index.name} : {type_}, {index.type} -> {type_}")
        return result, type_

    def load(self, shape: Shape, element: str) -> Value:
        """A tile through pointers, some of it masked."""
        draw, step = self.draw, self.draw.pick((1, 1, 1, 2, 3))
        name = self.parameter(element, size_of(shape) * step * self.blocks)
        at, type_ = self.pointers(name, element, shape, step)
        order = draw.pick(("weak", "weak", "relaxed device", "acquire sys"))
        mask, types = "", type_
        if draw.chance(40):
            chosen = self.mask(shape)
            mask, types = f", {chosen.name}", f"{type_}, {chosen.type}"
            padding = self.constant(draw.number(0, 1) if element == "i1" else 2, shape, element)
            if element in STORED or draw.chance(50) or element == "i1":
                mask, types = f"{mask}, {padding.name}", f"{types}, {padding.type}"
            else:
                mask = types = ""
                types = type_
        result, token = self.fresh(), self.fresh()
        self.emit(f"{result}, {token} = load_ptr_tko {order} {at}{mask} : {types} -> "
                  f"{tile(shape, element)}, token")  # fmt: skip
        value = Value(result, shape, element)
        self.values.append(value)
        return value

    def mask(self, shape: Shape) -> Value:
        index = self.numbers_of(shape)
        bound = self.constant(self.draw.number(0, size_of(shape)), shape)
        return self.op(
            f"cmpi less_than {index.name}, {bound.name}, signed : {index.type} -> "
            f"{tile(shape, 'i1')}", shape, "i1",
        )  # fmt: skip

    def maybe_masked(self, shape: Shape, percent: int) -> tuple[str, str]:
        """The operand of an access that says which elements, and its type, or neither."""
        if not self.draw.chance(percent):
            return "", ""
        chosen = self.mask(shape)
        return f", {chosen.name}", f", {chosen.type}"

    def view(self, shape: Shape, element: str, *, name: str | None = None) -> tuple[str, str, str]:
        """A view whose tiles have a shape, its type, and the index of a tile of it."""
        draw, rank = self.draw, len(shape)
        sizes = [extent * draw.number(1, 2) + draw.pick((0, 0, 1, 3)) for extent in shape]
        order = list(range(rank))
        if draw.chance(30):
            order.reverse()
        strides, step = [0] * rank, 1
        for axis in reversed(order):
            strides[axis] = step
            step *= sizes[axis] + (draw.number(0, 2) if draw.chance(20) else 0)
        name = name or self.parameter(element, step)
        words: dict[str, list[str]] = {"shape": [], "strides": []}
        texts: dict[str, list[str]] = {"shape": [], "strides": []}
        dynamic = False
        for what, extents in (("shape", sizes), ("strides", strides)):
            for extent in extents:
                if draw.chance(25):
                    words[what].append(self.scalar_parameter(extent))
                    texts[what].append("?")
                    dynamic = True
                else:
                    words[what].append(str(extent))
                    texts[what].append(str(extent))
        tensor = f"tensor_view<{''.join(x + 'x' for x in texts['shape'])}{element}"
        tensor += f", strides=[{','.join(texts['strides'])}]>" if rank else ">"
        whole, result = self.fresh(), self.fresh()
        shown = ", ".join(words["shape"]), ", ".join(words["strides"])
        self.emit(f"{whole} = make_tensor_view {name}, shape = [{shown[0]}], strides = "
                  f"[{shown[1]}] : {'tile<i32> -> ' if dynamic else ''}{tensor}")  # fmt: skip
        extents = "x".join(map(str, shape))
        padding = draw.pick(("", "padding_value = zero, ", ""))
        mapped = ""
        if rank > 1 and draw.chance(20):
            mapped = ", dim_map=[" + ", ".join(str(i) for i in range(rank)) + "]"
        type_ = f"partition_view<tile=({extents}), {padding}{tensor}{mapped}>"
        op, steps = "make_partition_view", shape
        if draw.chance(30):
            steps = tuple(max(1, extent // draw.pick((1, 2, 4))) for extent in shape)
            listed = ",".join(map(str, steps))
            type_ = (
                f"strided_view<tile=({extents}), traversal_strides=[{listed}], {padding}"
                f"{tensor}{mapped}>"
            )
            op = "make_strided_view"
        self.emit(f"{result} = {op} {whole} : {type_}")
        index = [
            self.constant(draw.number(0, (size - 1) // step)).name
            for size, step in zip(sizes, steps, strict=True)
        ]
        return result, type_, ", ".join(index)

    def load_view(self, shape: Shape, element: str) -> Value:
        view, type_, index = self.view(shape, element)
        result, token = self.fresh(), self.fresh()
        order = self.draw.pick(("weak", "weak", "relaxed device"))
        self.emit(f"{result}, {token} = load_view_tko {order} {view}[{index}] : {type_}, tile<i32>"
                  f" -> {tile(shape, element)}, token")  # fmt: skip
        value = Value(result, shape, element)
        if "padding" in type_:
            self.values.append(value)
            return value
        # What is outside is open: of an index within it alone.
        zero = self.constant(0, shape, element)
        return zero

    def source(self, element: str | None = None, shape: Shape | None = None) -> Value:
        """A tile from memory, or of constants."""
        draw = self.draw
        element = element or draw.pick(("i1", *INTEGERS, *FLOATS, *FLOATS, "i32"))
        shape = self.shape() if shape is None else shape
        if shape and draw.chance(40):
            return self.load_view(shape, element)
        if element == "i32" and shape and draw.chance(15):
            flat = self.numbers_of(shape)
            return flat
        return self.load(shape, element)

    # --- the end ---

    def store(self, value: Value) -> None:
        """A tile to memory of its own, and maybe back again by the token, behind it and to more."""
        draw = self.draw
        if value.element in NARROW:
            value = self.converted(value, "i8" if value.element == "i4" else "f32")
        count = size_of(value.shape) * self.blocks
        name = self.parameter(value.element, count)
        self.args[-1] = np.zeros(count, DTYPES[value.element])
        at, type_ = self.pointers(name, value.element, value.shape)
        order = draw.pick(("weak", "weak", "weak", "relaxed device", "release sys"))
        token = self.fresh()
        mask, types = self.maybe_masked(value.shape, 20)
        self.emit(
            f"{token} = store_ptr_tko {order} {at}, {value.name}{mask} : {type_}, "
            f"{value.type}{types} -> token"
        )
        if draw.chance(30) and len(value.shape) > 1:
            # Read by other threads: rows become columns.
            order = list(range(len(value.shape)))[::-1]
            shape = tuple(value.shape[i] for i in order)
            turned = self.fresh()
            kind = f"ptr<{value.element}>"
            self.emit(f"{turned} = permute {at} {order} : {type_} -> {tile(shape, kind)}")
            back, again = self.fresh(), self.fresh()
            self.emit(f"{back}, {again} = load_ptr_tko weak {turned} token = {token} : "
                      f"{tile(shape, kind)} -> {tile(shape, value.element)}, token")  # fmt: skip
            self.store(Value(back, shape, value.element))
