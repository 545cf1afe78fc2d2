"""Atomics, stores to views, gathers: ops of a drawn kernel of Tile IR that write memory."""

from __future__ import annotations

import numpy as np
from tile_writer import FLOATS, INTEGERS, STORED, Value, Writer, size_of, tile


class Accesses(Writer):
    """Ops that access memory of their own. `left`: some blocks may have ended."""

    left, depth = False, 0

    def atomic(self) -> None:
        """An atomic operation on a place of every element's own."""
        draw, element = self.draw, self.draw.pick(("i32", "i64", "f32", "f16", "f64"))
        x = self.of((element,))
        name = self.parameter(element, size_of(x.shape) * self.blocks)
        at, type_ = self.pointers(name, element, x.shape)
        mode = (
            "addf"
            if element[0] == "f"
            else draw.pick(("add", "and", "or", "xor", "max", "min", "umax", "umin", "xchg"))
        )
        order = draw.pick(("relaxed device", "acq_rel sys", "release device", "acquire device",
                           "acq_rel tl_blk"))  # fmt: skip
        result, token = self.fresh(), self.fresh()
        mask, types = self.maybe_masked(x.shape, 30)
        self.emit(f"{result}, {token} = atomic_rmw_tko {order} {at}, {mode}, {x.name}{mask} : "
                  f"{type_}, {x.type}{types} -> {x.type}, token")  # fmt: skip
        if not mask:
            self.values.append(Value(result, x.shape, element))

    def exchange(self) -> None:
        """What a place holds is replaced where it is what was expected."""
        x = self.of(("i32", "i64", "f32", "f64"))
        y, name = self.like(x), self.parameter(x.element, size_of(x.shape) * self.blocks)
        at, type_ = self.pointers(name, x.element, x.shape)
        order = self.draw.pick(("relaxed device", "acq_rel sys", "release device"))
        result, token = self.fresh(), self.fresh()
        mask, types = self.maybe_masked(x.shape, 30)
        self.emit(
            f"{result}, {token} = atomic_cas_tko {order} {at}, {x.name}, {y.name}{mask} : {type_}, "
            f"{x.type}{types} -> {x.type}, token"
        )
        if not mask:
            self.values.append(Value(result, x.shape, x.element))

    def collide(self) -> None:
        """Elements of all blocks that are added up, or so, in a few places."""
        draw, element = self.draw, self.draw.pick(("i32", "i64", "f32"))
        x = self.of((element,))
        places = 1 << draw.number(0, 4)
        name = self.parameter(element, places)
        index = self.same(
            f"andi {self.numbers_of(x.shape).name}, "
            f"{self.constant(places - 1, x.shape).name}", self.numbers_of(x.shape),
        )  # fmt: skip
        at, type_ = self.moved(name, element, index)
        mode = "addf" if element == "f32" else draw.pick(
            ("add", "and", "or", "xor", "max", "min", "umax", "umin"))  # fmt: skip
        if element == "f32":
            # Whole numbers of few bits.
            few, many = self.constant(-4, x.shape, "f32"), self.constant(4, x.shape, "f32")
            floor = self.same(f"floor {x.name}", x)
            least = self.same(f"maxf {floor.name}, {few.name}", x)
            x = self.same(f"minf {least.name}, {many.name}", x)
        mask, types = self.maybe_masked(x.shape, 30)
        self.emit(
            f"{self.fresh()}, {self.fresh()} = atomic_rmw_tko "
            f"{draw.pick(('relaxed device', 'acq_rel device', 'release sys'))} {at}, {mode}, "
            f"{x.name}{mask} : {type_}, {x.type}{types} -> {x.type}, token"
        )

    def hand_on(self) -> None:
        """A tile of each block to the next one, which waits until all are there."""
        draw = self.draw
        if self.left or self.depth:
            return
        x = self.of((*INTEGERS, *FLOATS))
        name, flag = (
            self.parameter(x.element, size_of(x.shape) * self.blocks),
            self.parameter("i32", 1),
        )
        self.args[-1] = np.zeros(1, np.int32)
        at, type_ = self.pointers(name, x.element, x.shape)
        written, came, known, seen, token, stop, got = (self.fresh() for _ in range(7))
        release = draw.pick(("release device", "acq_rel sys"))
        acquire = draw.pick(("acquire device", "acquire sys"))
        one, all_, zero = self.constant(1), self.constant(self.blocks), self.constant(0)
        self.emit(f"{written} = store_ptr_tko weak {at}, {x.name} : {type_}, {x.type} -> token")
        self.emit(
            f"{came}, {token}a = atomic_rmw_tko {release} {flag}, add, {one.name} token = {written}"
            " : tile<ptr<i32>>, tile<i32> -> tile<i32>, token"
        )
        self.emit(f"{known} = loop iter_values({got} = {token}a) : token -> token {{")
        look = (f"load_ptr_tko {acquire} {flag} token = {got} : tile<ptr<i32>>" if draw.chance(60)
                else f"atomic_rmw_tko {acquire} {flag}, or, {zero.name} token = {got} : "
                "tile<ptr<i32>>, tile<i32>")  # fmt: skip
        self.emit(f"  {seen}, {token} = {look} -> tile<i32>, token")
        self.emit(f"  {stop} = cmpi equal {seen}, {all_.name}, signed : tile<i32> -> tile<i1>")
        self.emit(f"  if {stop} {{\n{self.indent}    break {token} : token\n{self.indent}  }}")
        self.emit(f"  continue {token} : token\n{self.indent}}}")
        last = self.same(f"subi {all_.name}, %bx", all_)
        other = self.same(f"subi {last.name}, {one.name}", one)
        first = self.same(f"muli {other.name}, {self.constant(size_of(x.shape)).name}", other)
        index = self.numbers_of(x.shape)
        index = self.same(f"addi {index.name}, {self.splat(first, x.shape).name}", index)
        at, type_ = self.moved(name, x.element, index)
        value = self.fresh()
        self.emit(f"{value}, {self.fresh()} = load_ptr_tko weak {at} token = {known} : {type_} -> "
                  f"{x.type}, token")  # fmt: skip
        self.values.append(Value(value, x.shape, x.element))

    def store_view(self) -> None:
        """A tile to a view, of which a part is outside, or added to what is there."""
        draw = self.draw
        x = self.of((*INTEGERS, *FLOATS, *STORED))
        if not x.shape:
            return
        view, type_, index = self.view(x.shape, x.element)
        if self.blocks > 1:
            return
        word = draw.pick(("weak", "weak", "relaxed device", "release sys"))
        if x.element in ("i32", "i64") and "padding" not in type_:
            mode = draw.pick(("add", "and", "or", "xor", "max", "min", "umax", "umin"))
            self.emit(f"{self.fresh()} = atomic_red_view_tko relaxed device {view}[{index}], "
                      f"{mode}, {x.name} : {x.type}, {type_}, tile<i32> -> token")  # fmt: skip
            return
        self.emit(f"{self.fresh()} = store_view_tko {word} {x.name}, {view}[{index}] : {x.type}, "
                  f"{type_}, tile<i32> -> token")  # fmt: skip

    def update(self) -> None:
        """A tensor of the block's own changed in place, round after round as tokens say, and read
        by other threads."""
        draw, x = self.draw, self.of((*INTEGERS, *FLOATS))
        rank = len(x.shape)
        if not 0 < rank < 4:
            return
        name = self.parameter(x.element, size_of(x.shape) * self.blocks)
        views: list[tuple[str, str, tuple[int, ...]]] = []
        for order in (list(range(rank)), list(range(rank))[:: draw.pick((1, -1))]):
            shape = tuple(x.shape[axis] for axis in order)
            steps = [size_of(x.shape[axis + 1 :]) for axis in order]
            sizes = ", ".join(map(str, (self.blocks, *shape)))
            strides = ", ".join(map(str, (size_of(shape), *steps)))
            tensor = f"tensor_view<{sizes.replace(', ', 'x')}x{x.element}, strides=[{strides}]>"
            type_ = f"partition_view<tile=({'x'.join(map(str, (1, *shape)))}), {tensor}>"
            whole, view = self.fresh(), self.fresh()
            self.emit(f"{whole} = make_tensor_view {name}, shape = [{sizes}], strides = [{strides}]"
                      f" : {tensor}")  # fmt: skip
            self.emit(f"{view} = make_partition_view {whole} : {type_}")
            views.append((view, type_, shape))
        zero, one, end = self.constant(0), self.constant(1), self.constant(draw.number(0, 3))
        first, token, last, k = (self.fresh() for _ in range(4))
        index = ", ".join(["%bx", *[zero.name] * rank])

        def loaded(place: tuple[str, str, tuple[int, ...]], after: str) -> tuple[Value, str]:
            view, type_, shape = place
            value, done = Value(self.fresh(), (1, *shape), x.element), self.fresh()
            self.emit(f"{value.name}, {done} = load_view_tko weak {view}[{index}] token = {after} :"
                      f" {type_}, tile<i32> -> {value.type}, token")  # fmt: skip
            return self.op(f"reshape {value.name} : {value.type} -> {tile(shape, x.element)}",
                           shape, x.element), done  # fmt: skip

        known = len(self.values)
        self.emit(f"{first} = make_token : token")
        self.emit(f"{last} = for {k} in ({zero.name} to {end.name}, step {one.name}) : tile<i32> "
                  f"iter_values({token} = {first}) -> (token) {{")  # fmt: skip
        old, read = loaded(views[0], token)
        other, again = loaded(views[1], token if draw.chance(50) else read)
        if other.shape != old.shape:
            order = list(range(rank))[::-1]
            other = self.op(f"permute {other.name} {order} : {other.type} -> {old.type}",
                            old.shape, old.element)  # fmt: skip
        add = "xori" if x.element in INTEGERS else "subf"
        rounding = " rounding<nearest_even>" * (add == "subf")
        new = self.same(f"{add} {old.name}, {x.name}{rounding}", old)
        new = self.same(f"{add} {new.name}, {other.name}{rounding}", old)
        ones = (1, *old.shape)
        wide = self.op(f"reshape {new.name} : {new.type} -> {tile(ones, x.element)}", ones,
                       x.element)  # fmt: skip
        both, done = self.fresh(), self.fresh()
        self.emit(f"{both} = join_tokens {read}, {again} : token")
        self.emit(f"{done} = store_view_tko weak {wide.name}, {views[0][0]}[{index}] token = {both}"
                  f" : {wide.type}, {views[0][1]}, tile<i32> -> token")  # fmt: skip
        self.emit(f"continue {done} : token")
        self.emit("}")
        del self.values[known:]
        loaded(views[1], last)

    def gather(self) -> None:
        """Rows or columns of a matrix, in an order of their own; maybe to others of another one."""
        draw = self.draw
        element = draw.pick((*INTEGERS, *FLOATS, *STORED))
        shape = 1 << draw.number(0, 5), 1 << draw.number(0, 6)
        sparse = draw.number(0, 1)
        sizes = tuple(extent + draw.number(0, 5) for extent in shape)
        strides, words = f"{sizes[1]},1", f"[{sizes[1]}, 1]"
        if draw.chance(30):
            strides, words = f"1,{sizes[0]}", f"[1, {sizes[0]}]"
        tensor = f"tensor_view<{sizes[0]}x{sizes[1]}x{element}, strides=[{strides}]>"
        type_ = (
            f"gather_scatter_view<tile=({shape[0]}x{shape[1]}), padding_value = zero, {tensor}, "
            f"sparse_dim={sparse}>"
        )
        views = []
        for _ in range(2):
            name, whole, view = (
                self.parameter(element, sizes[0] * sizes[1]), self.fresh(), self.fresh()
            )  # fmt: skip
            self.emit(f"{whole} = make_tensor_view {name}, shape = [{sizes[0]}, {sizes[1]}], "
                      f"strides = {words} : {tensor}")  # fmt: skip
            self.emit(f"{view} = make_gather_scatter_view {whole} : {type_}")
            views.append(view)
        count = shape[sparse]
        own = self.numbers_of((count,))
        turned = self.same(f"xori {own.name}, {self.constant(count - 1, (count,)).name}", own)
        zero = self.constant(0)
        index, kinds = [zero.name] * 2, ["tile<i32>"] * 2
        index[sparse], kinds[sparse] = turned.name, turned.type
        value, token = self.fresh(), self.fresh()
        self.emit(
            f"{value}, {token} = load_view_tko weak {views[0]}[{', '.join(index)}] : {type_}, "
            f"{', '.join(kinds)} -> {tile(shape, element)}, token"
        )
        self.values.append(Value(value, shape, element))
        if self.blocks == 1:
            self.emit(
                f"{self.fresh()} = store_view_tko weak {value}, {views[1]}[{', '.join(index)}] : "
                f"{tile(shape, element)}, {type_}, {', '.join(kinds)} -> token"
            )
