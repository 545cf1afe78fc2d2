"""One op of the `cute` dialect as a kernel: leaves that the types hide come from memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr, i1
from xdsl.ir import Attribute

import tilewright as tw
from tilewright.dialects.cute import LayoutError
from tilewright.dialects.cute.dialect import OPS
from tilewright.dialects.cute.ops.arithmetic import CompareOp
from tilewright.dialects.cute.ops.operation import CuteOp
from tilewright.dialects.cute.rules.accessors import dynamic_leaves, scalar_leaves
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.scalar import Dynamic, Scalar
from tilewright.dialects.cute.types.algebra import CuteType, type_of
from tilewright.dialects.cute.values import Typed, is_known, with_dynamic_leaves, with_numbers
from tilewright.dialects.op_facts import SEGMENTS
from tilewright.lowering.to_base.cute_expand_ops import CuteExpandOpsPass
from tilewright.source.parsing import parse_module

OP: dict[str, type[CuteOp]] = {each.name: each for each in OPS}  # type: ignore[misc]


class Later(Dynamic):
    """A leaf whose number is there after all, as a Python integer: the rules do not see it."""

    __slots__ = ("number",)

    def __init__(self, number: int, width: int = 32) -> None:
        super().__init__(width)
        object.__setattr__(self, "number", number)

    def result(self, operation: str, operands: tuple[Scalar, ...], width: int) -> Dynamic:
        number = int(OPERATIONS[operation](*map(now, operands)))
        return Later(number, 1 if operation in ("eq", "ne", "lt", "gt") else width)

    def choice(self, then: Callable[[], Scalar], other: Callable[[], Scalar]) -> Scalar:
        a, b = then(), other()
        return Later(now(a if self.number else b), max(map(scalar.width_of, (a, b))))


OPERATIONS: dict[str, Callable[..., int | bool]] = {
    "add": scalar.add,
    "sub": scalar.sub,
    "mul": scalar.mul,
    "div": scalar.div,
    "mod": scalar.mod,
    "ceil_div": scalar.ceil_div,
    "min": min,
    "abs": abs,
    "and": lambda a, b: a & b,
    "xor": lambda a, b: a ^ b,
    "shr": lambda a, b: a >> b,
    "shl": lambda a, b: a << b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "gt": lambda a, b: a > b,
}


def now(leaf: Any) -> Any:
    """A leaf's number."""
    return leaf.number if isinstance(leaf, Later) else leaf


def settled(value: Typed) -> Typed:
    """A value with the numbers of its leaves filled in."""
    return with_dynamic_leaves(value, [now(leaf) for leaf in dynamic_leaves(value)])


MADE = ("static", *(f"make_{kind}" for kind in ("int_tuple", "shape", "stride", "coord", "tile")))
"""Ops by which the operands come about."""

# --- text -----------------------------------------------------------------------------------------


class Writer:
    """The body of a kernel: operands from `%in`, results to `%out`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.inputs = 0
        self.outputs = 0
        self._names = 0

    def add(self, text: str) -> str:
        """A line that defines a value; its name."""
        self._names += 1
        self.lines.append(f"  %v{self._names} = {text}")
        return f"%v{self._names}"

    def leaf(self, width: int) -> str:
        """A number of this thread."""
        place = self.add(f"arith.constant {self.inputs} : index")
        at = self.add(f"arith.addi %from, {place} : index")
        number = self.add(f"memref.load %in[{at}] : memref<?xi64>")
        self.inputs += 1
        return number if width == 64 else self.add(f"arith.trunci {number} : i64 to i{width}")

    def value(self, typed: Typed) -> str:
        """A value made from its parts."""
        type_ = type_of(typed)
        parts: list[Typed] = []
        if not is_known(typed):
            parts = _parts(typed)
        elif typed.kind != "coord":
            return self.add(f"cute.static : {type_}")
        if parts:
            # Inputs come in the order of `get_scalars`: of composed layouts the outer one first.
            order = -1 if typed.kind == "composed_layout" else 1
            names = [self.value(each) for each in parts[::order]][::order]
            types = ", ".join(str(type_of(each)) for each in parts)
            op = f'"cute.make_{typed.kind}"({", ".join(names)})'
            return self.add(f"{op} : ({types}) -> {type_}")
        leaves = dynamic_leaves(typed)
        names = [self.leaf(leaf.width) for leaf in leaves]
        types = ", ".join(f"i{leaf.width}" for leaf in leaves)
        return self.add(f"cute.make_{typed.kind}({', '.join(names)}) : ({types}) -> {type_}")

    def store(self, name: str, type_: Attribute) -> None:
        """Keep a result: all the numbers it has."""
        if isinstance(type_, CuteType):
            widths = [max(32, scalar.width_of(leaf)) for leaf in scalar_leaves(type_.typed)]
            if widths:
                self._names += 1
                many = f"%v{self._names}"
                self.lines.append(f"  {many}:{len(widths)} = cute.get_scalars({name}) : {type_}")
                for i, width in enumerate(widths):
                    self._store_integer(f"{many}#{i}", f"i{width}")
        else:
            self._store_integer(name, str(type_))

    def _store_integer(self, name: str, type_: str) -> None:
        if type_ != "i64":
            name = self.add(f"arith.ext{'u' if type_ == 'i1' else 's'}i {name} : {type_} to i64")
        place = self.add(f"arith.constant {self.outputs} : index")
        at = self.add(f"arith.addi %to, {place} : index")
        self.lines.append(f"  memref.store {name}, %out[{at}] : memref<?xi64>")
        self.outputs += 1

    def module(self) -> str:
        """The kernel."""
        body = "\n".join(self.lines)
        return f"""
func.func @k(%in: memref<?xi64>, %out: memref<?xi64>) attributes {{gpu.kernel}} {{
  %thread = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %ins = arith.constant {self.inputs} : index
  %outs = arith.constant {self.outputs} : index
  %from = arith.muli %thread, %ins : index
  %to = arith.muli %thread, %outs : index
{body}
  func.return
}}
"""


def _parts(typed: Typed) -> list[Typed]:
    match typed.kind:
        case "layout":
            return [Typed("shape", typed.value.shape), Typed("stride", typed.value.stride)]
        case "composed_layout":
            inner = "layout" if hasattr(typed.value.inner, "shape") else "swizzle"
            return [
                Typed(inner, typed.value.inner),
                Typed("int_tuple", typed.value.offset),
                Typed("layout", typed.value.outer),
            ]
        case _:
            return []


def properties_of(op: type[CuteOp], arguments: Sequence[Any]) -> dict[str, Attribute]:
    """What an op's rule is given behind its operands, as properties."""
    names = [name for name in op.definition.properties if name != SEGMENTS]
    properties: dict[str, Attribute] = {}
    for name, value in zip(names, arguments, strict=True):
        constraint: Any = op.definition.properties[name].constr
        if value is True:
            properties[name] = UnitAttr()
        elif value is not False and value != ():
            properties[name] = constraint.attribute_of(value)
    return properties


# --- kernels --------------------------------------------------------------------------------------


class OpKernel:
    """A kernel with one op. Raises VerifyException where the op has no result on these types."""

    def __init__(self, name: str, operands: Sequence[Typed], arguments: Sequence[Any]) -> None:
        writer = Writer()
        names = [writer.value(each) for each in operands]
        types = tuple(type_of(each) for each in operands)
        if name in MADE:
            self.types: tuple[Attribute, ...] = types
            writer.store(names[0], types[0])
        else:
            self._add_op(writer, OP[f"cute.{name}"], names, types, arguments)
        self.text = writer.module()
        self.outputs = writer.outputs

    def _add_op(
        self,
        writer: Writer,
        op: type[CuteOp],
        names: list[str],
        types: tuple[Attribute, ...],
        arguments: Sequence[Any],
    ) -> None:
        properties = properties_of(op, arguments)
        if issubclass(op, CompareOp):
            self.types = (i1,)
        else:
            self.types = tuple(op.inferred(types, properties))
        shown = ", ".join(f"{key} = {value}" for key, value in properties.items())
        line = (
            f'"{op.name}"({", ".join(names)}) <{{{shown}}}> : ({", ".join(map(str, types))}) '
            f"-> ({', '.join(map(str, self.types))})"
        )
        writer.lines.append(f"  %r:{len(self.types)} = {line}" if self.types else f"  {line}")
        for i, type_ in enumerate(self.types):
            writer.store(f"%r#{i}", type_)

    def run(self, lanes: Sequence[Sequence[Typed]], *, expand: bool) -> list[list[Any]]:
        """The results in every thread; `lanes` are the operands of each, hidden leaves `Later`."""
        module = parse_module(self.text, "kernel")
        if expand:
            CuteExpandOpsPass().apply(Context(), module)
            module.verify()
            _check_expanded(module)
        rows = [[now(leaf) for each in row for leaf in dynamic_leaves(each)] for row in lanes]
        given = np.array(rows, dtype=np.int64).reshape(-1)
        out = np.zeros(max(1, len(lanes) * self.outputs), dtype=np.int64)
        _, out = tw.interpret(
            module, "k", grid=(1,), block=(len(lanes),), args=[given if given.size else out, out]
        )
        found = out[: len(lanes) * self.outputs].reshape(len(lanes), -1)
        return [self._results([int(each) for each in row]) for row in found]

    def _results(self, numbers: list[int]) -> list[Any]:
        rest = iter(numbers)
        found: list[Any] = []
        for type_ in self.types:
            if isinstance(type_, CuteType):
                count = len(list(scalar_leaves(type_.typed)))
                found.append(with_numbers(type_.typed, [next(rest) for _ in range(count)]))
            else:
                found.append(next(rest))
        return found


_LEFT = {"cute.static", "cute.get_scalars", "cute.print", "cute.make_layout"} | {
    f"cute.make_{kind}" for kind in ("int_tuple", "shape", "stride", "coord", "tile")
}


def _check_expanded(module: ModuleOp) -> None:
    """Nothing of the algebra is left."""
    for op in module.walk():
        if op.name.startswith("cute."):
            assert op.name in _LEFT | {"cute.make_composed_layout"}, op.name


def evaluated_later(name: str, operands: Sequence[Typed], arguments: Sequence[Any]) -> list[Any]:
    """The op on Python integers. Raises LayoutError for a division by 0."""
    if name in MADE:
        return [settled(operands[0])]
    op = OP[f"cute.{name}"]
    if name == "get_scalars":
        leaves = dynamic_leaves(operands[0]) if arguments[0] else scalar_leaves(operands[0])
        return [now(leaf) for leaf in leaves]
    found = op.RULE(*operands, *arguments)  # type: ignore[attr-defined]
    results = list(found) if isinstance(found, list) else [found]
    return [settled(each) if isinstance(each, Typed) else int(now(each)) for each in results]


__all__ = ["Later", "LayoutError", "OpKernel", "evaluated_later", "now", "settled"]
