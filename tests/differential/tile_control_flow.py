"""Branches, loops and early returns of a drawn kernel of Tile IR."""

from __future__ import annotations

from abc import abstractmethod

from tile_writer import FLOATS, INTEGERS, Value, Writer


class ControlFlow(Writer):
    """Ops with regions."""

    left, depth = False, 0

    @abstractmethod
    def inner(self) -> None:
        """Some op of a region."""

    def leave(self) -> None:
        """Some blocks end here."""
        if not self.draw.chance(40):
            return
        self.left = True
        low = self.same(f"andi %bx, {self.constant(1).name}", self.constant(1))
        y = self.constant(self.draw.number(0, 2))
        condition = self.fresh()
        self.emit(f"{condition} = cmpi equal {low.name}, {y.name}, signed : tile<i32> -> tile<i1>")
        self.emit(f"if {condition} {{\n{self.indent}  return\n{self.indent}}}")

    def branch(self) -> None:
        """An if with results, by a scalar."""
        x = self.of((*INTEGERS, *FLOATS))
        one = self.constant(1)
        low = self.same(f"andi %bx, {one.name}", one)
        condition = self.op(
            f"cmpi equal {low.name}, {one.name}, signed : tile<i32> -> tile<i1>", (), "i1"
        )
        wanted = [x]
        while self.draw.chance(30) and len(wanted) < 3:
            wanted.append(self.of((*INTEGERS, *FLOATS)))
        known, results = len(self.values), [Value(self.fresh(), y.shape, y.element) for y in wanted]
        types = ", ".join(y.type for y in wanted)
        self.emit(f"{', '.join(y.name for y in results)} = if {condition.name} -> ({types}) {{")
        for side in range(2):
            yielded = ", ".join(self.nested(y).name for y in wanted)
            self.emit(f"  yield {yielded} : {types}")
            self.emit("} else {" if side == 0 else "}")
            del self.values[known:]
        self.values += results

    def nested(self, x: Value) -> Value:
        """Some ops in a region, the last of which has the type of a tile."""
        self.indent += "  "
        self.depth += 1
        for _ in range(self.draw.number(0, 2)):
            self.inner()
        self.depth -= 1
        y = self.like(x)
        if x.element in FLOATS:
            y = self.same(f"subf {y.name}, {x.name} rounding<nearest_even>", x)
        else:
            y = self.same(f"{self.draw.pick(('addi', 'xori'))} {y.name}, {x.name}", x)
        self.indent = self.indent[:-2]
        return y

    def repeat(self) -> None:
        """A loop that carries tiles, over a range or until a condition."""
        draw = self.draw
        x, y = self.of((*INTEGERS, *FLOATS)), self.of(("i32", "f32", "i1", "f16"))
        known = len(self.values)
        r, s, a, b, k = (self.fresh() for _ in range(5))
        carried = Value(a, x.shape, x.element), Value(b, y.shape, y.element)
        zero, one = self.constant(0), self.constant(1)
        if draw.chance(60):
            most = self.constant(draw.number(0, 4))
            self.emit(f"{r}, {s} = for {k} in ({zero.name} to {most.name}, step {one.name}) : "
                      f"tile<i32> iter_values({a} = {x.name}, {b} = {y.name}) -> "
                      f"({x.type}, {y.type}) {{")  # fmt: skip
            if draw.chance(30):
                odd = self.fresh()
                self.emit(f"  {odd} = trunci {k} : tile<i32> -> tile<i1>")
                on = f"continue {a}, {b} : {x.type}, {y.type}"
                self.emit(f"  if {odd} {{\n{self.indent}    {on}\n{self.indent}  }}")
            new, other = self._turned(*carried, k)
            self.emit(f"  continue {new.name}, {other.name} : {x.type}, {y.type}")
        else:
            n, m = self.fresh(), self.fresh()
            last = self.fresh()
            self.emit(f"{last}, {r}, {s} = loop iter_values({n} = {zero.name}, {a} = {x.name}, "
                      f"{b} = {y.name}) : tile<i32>, {x.type}, {y.type} -> tile<i32>, {x.type}, "
                      f"{y.type} {{")  # fmt: skip
            new, other = self._turned(*carried, n)
            self.emit(f"  {m} = addi {n}, {one.name} : tile<i32>")
            stop = self.fresh()
            self.emit(f"  {stop}_b = constant <i32: {draw.number(1, 3)}> : tile<i32>")
            self.emit(
                f"  {stop} = cmpi greater_than_or_equal {m}, {stop}_b, signed : "
                "tile<i32> -> tile<i1>"
            )
            self.emit(
                f"  if {stop} {{\n      {self.indent}break {m}, {new.name}, {b} : "
                f"tile<i32>, {x.type}, {y.type}\n  {self.indent}}}"
            )
            types = f"tile<i32>, {x.type}, {y.type}"
            if draw.chance(30):
                odd = self.fresh()
                self.emit(f"  {odd} = trunci {m} : tile<i32> -> tile<i1>")
                on = f"continue {m}, {a}, {other.name} : {types}"
                self.emit(f"  if {odd} {{\n{self.indent}    {on}\n{self.indent}  }} else {{")
                stop = self.op(f"cmpi equal {m}, {one.name}, signed : tile<i32> -> tile<i1>",
                               (), "i1")  # fmt: skip
                ended = f"break {m}, {a}, {other.name} : {types}"
                self.emit(f"  if {stop.name} {{\n{self.indent}    {ended}\n{self.indent}  }}")
                self.emit("  }")
            self.emit(f"  continue {m}, {new.name}, {other.name} : {types}")
            self.values.append(Value(last, (), "i32"))
        self.emit("}")
        del self.values[known:]
        self.values += [Value(r, x.shape, x.element), Value(s, y.shape, y.element)]

    def _turned(self, first: Value, second: Value, count: str) -> tuple[Value, Value]:
        """An iteration's values for the next one, of what it carries and its number."""
        self.values += [first, second, Value(count, (), "i32")]
        return self.nested(first), self.like(second)
