"""Statements on scalars and vectors of every type, and structured control flow.

What is generated is text and, beside it, steps on NumPy arrays of all threads: a branch runs both
its ways and merges them, a loop as often as it can at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from arithmetic import (
    BOOLEAN_OPS,
    CASTS,
    DIVISIONS,
    DTYPES,
    FLOAT_LAWS,
    FLOAT_PREDICATES,
    FLOATS,
    INTEGER_LAWS,
    INTEGER_PREDICATES,
    INTEGERS,
    THREADS,
    UNARY_LAWS,
    bits,
    compare,
    halves,
)
from draw import Draw

from tilewright.dialects.frozen import entity, factory

ELEMENTS = tuple(DTYPES)
SMALL = ("i8", "i16", "i32", "i64")
Environment = dict[str, np.ndarray]
Step = Callable[[Environment], None]


@dataclass(frozen=True)
class Type:
    """A scalar, or a vector of so many."""

    element: str
    width: int = 0

    def __str__(self) -> str:
        return f"vector<{self.width}x{self.element}>" if self.width else self.element

    def of(self, element: str) -> Type:
        return Type(element, self.width)

    def merged(self, chosen: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """`a` in the threads that are chosen, `b` in the others."""
        return np.where(chosen[:, None] if a.ndim > chosen.ndim else chosen, a, b)


Scope = dict[Type, list[str]]


@entity
class Body:
    """Statements in the making: text and steps. A scope lists the values that are visible."""

    draw: Draw
    widths: tuple[int, ...]
    nests: bool = True
    lines: list[str] = factory(list)
    steps: list[Step] = factory(list)
    _names: int = 0

    # Names, types and values

    def fresh(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def type_(self, elements: Any = ELEMENTS) -> Type:
        """Of one of the elements; xDSL has no vectors of index."""
        element = self.draw.pick(tuple(elements))
        return Type(element, 0 if element == "index" else self.draw.pick(self.widths))

    def value(self, scope: Scope, type_: Type) -> str:
        """A visible value, the latest ones rather; of a vector that is not there, a broadcast."""
        names = scope.setdefault(type_, [])
        if not names:
            scalar = self.value(scope, Type(type_.element))
            width = type_.width
            self.add(
                scope,
                type_,
                f"vector.broadcast {scalar} : {type_.element} to {type_}",
                lambda env: np.repeat(env[scalar][:, None], width, axis=1),
            )
        return names[-1 - min(self.draw.number(0, len(names) - 1), self.draw.number(0, 3))]

    def add(self, scope: Scope, type_: Type, text: str, law: Callable[[Environment], Any]) -> str:
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        dtype = DTYPES[type_.element]

        def step(env: Environment) -> None:
            result = np.asarray(law(env))
            assert result.dtype == dtype, (text, result.dtype, dtype)
            env[name] = result

        self.steps.append(step)
        scope.setdefault(type_, []).append(name)
        return name

    @contextmanager
    def block(self) -> Iterator[list[Step]]:
        """What is added within is a block's."""
        outer, self.steps = self.steps, []
        try:
            yield self.steps
        finally:
            self.steps = outer

    # Statements

    def statements(self, scope: Scope, depth: int, most: int = 5) -> None:
        kinds = [self.arithmetic] * 5 + [self.compare, self.select, self.cast, self.cast]
        kinds += [self.constant, self.unary, self.both_halves]
        kinds += [self.extract, self.insert] if self.widths != (0,) else []
        kinds += [self.branch, self.loop, self.spin] if self.nests and depth < 3 else []
        for _ in range(self.draw.number(1, most)):
            self.draw.pick(kinds)(scope, depth)

    def arithmetic(self, scope: Scope, _: int) -> None:
        type_ = self.type_()
        a, b = self.value(scope, type_), self.value(scope, type_)
        if type_.element in FLOATS:
            op = self.draw.pick(tuple(FLOAT_LAWS))
            law = FLOAT_LAWS[op]
        else:
            op = self.draw.pick(BOOLEAN_OPS if type_.element == "i1" else tuple(INTEGER_LAWS))
            law = INTEGER_LAWS[op]
        if op in DIVISIONS:
            one = self.literal(scope, type_, "1")
            divisor = b
            b = self.add(
                scope, type_, f"arith.ori {b}, {one} : {type_}", lambda env: env[divisor] | env[one]
            )
        self.add(scope, type_, f"arith.{op} {a}, {b} : {type_}", lambda env: law(env[a], env[b]))

    def unary(self, scope: Scope, _: int) -> None:
        type_, op = self.type_(FLOATS), self.draw.pick(tuple(UNARY_LAWS))
        a = self.value(scope, type_)
        self.add(scope, type_, f"{op} {a} : {type_}", lambda env: UNARY_LAWS[op](env[a]))

    def both_halves(self, scope: Scope, _: int) -> None:
        type_ = self.type_(SMALL)
        op = self.draw.pick(("addui_extended", "mului_extended", "mulsi_extended"))
        a, b = self.value(scope, type_), self.value(scope, type_)
        low, high = self.fresh(), self.fresh()
        carries = op == "addui_extended"
        types = f"{type_}, {type_.of('i1')}" if carries else f"{type_}"
        self.lines.append(f"{low}, {high} = arith.{op} {a}, {b} : {types}")

        def step(env: Environment) -> None:
            env[low], env[high] = halves(op, env[a], env[b])

        self.steps.append(step)
        scope.setdefault(type_, []).append(low)
        scope.setdefault(type_.of("i1") if carries else type_, []).append(high)

    def compare(self, scope: Scope, _: int) -> None:
        self.compared(scope, self.type_((*INTEGERS, *FLOATS)))

    def condition(self, scope: Scope) -> str:
        """What a branch asks."""
        return self.compared(scope, Type(self.draw.pick((*INTEGERS, *FLOATS))))

    def compared(self, scope: Scope, type_: Type) -> str:
        a, b = self.value(scope, type_), self.value(scope, type_)
        real = type_.element in FLOATS
        how = self.draw.pick(FLOAT_PREDICATES if real else INTEGER_PREDICATES)
        op = "cmpf" if real else "cmpi"
        return self.add(
            scope,
            type_.of("i1"),
            f"arith.{op} {how}, {a}, {b} : {type_}",
            lambda env: compare(type_.element, how, env[a], env[b]),
        )

    def select(self, scope: Scope, _: int) -> None:
        type_ = self.type_()
        chosen = self.value(scope, self.draw.pick((Type("i1"), type_.of("i1"))))
        a, b = self.value(scope, type_), self.value(scope, type_)
        lanes = chosen in scope.get(Type("i1", type_.width), ()) and type_.width > 0
        types = f"{type_.of('i1')}, {type_}" if lanes else f"{type_}"
        self.add(
            scope,
            type_,
            f"arith.select {chosen}, {a}, {b} : {types}",
            lambda env: type_.merged(env[chosen], env[a], env[b]),
        )

    def cast(self, scope: Scope, _: int) -> None:
        cast, width = self.draw.pick(CASTS), self.draw.pick(self.widths)
        if cast.scalar:
            width = 0
        source, result = Type(cast.source, width), Type(cast.result, width)
        a = self.value(scope, source)
        if cast.guarded:
            a = self._number(scope, source, a, 100.0 if cast.result == "i8" else float("inf"))
        self.add(
            scope,
            result,
            f"arith.{cast.op} {a} : {source} to {result}",
            lambda env: cast.law(env[a]),
        )

    def _number(self, scope: Scope, type_: Type, a: str, below: float) -> str:
        """The value; zero where it is a NaN, or not below a bound."""
        zero = self.literal(scope, type_, "0.0")
        bound = zero if below == float("inf") else self.literal(scope, type_, str(below))
        size = self.add(
            scope, type_, f"math.absf {a} : {type_}", lambda env: UNARY_LAWS["math.absf"](env[a])
        )
        how, right = ("ord", size) if bound == zero else ("olt", bound)
        flag = self.add(
            scope,
            Type("i1"),
            f"arith.cmpf {how}, {size}, {right} : {type_}",
            lambda env: compare(type_.element, how, env[size], env[right]),
        )
        return self.add(
            scope,
            type_,
            f"arith.select {flag}, {a}, {zero} : {type_}",
            lambda env: np.where(env[flag], env[a], env[zero]),
        )

    def constant(self, scope: Scope, _: int) -> None:
        type_ = self.type_([*INTEGERS, *FLOATS])
        if type_.element in FLOATS:
            literal = self.draw.pick(("0.0", "-0.0", "1.5", "-3.0", "65504.0"))
        else:
            info = np.iinfo(DTYPES[type_.element])
            edges = (info.min, info.max, bits(type_.element) - 1)
            literal = str(self.draw.pick((0, 1, -1, 2, 8, 5, 100, *edges)))
        self.literal(scope, type_, literal)

    def literal(self, scope: Scope, type_: Type, text: str) -> str:
        number = (float if type_.element in FLOATS else int)(text)
        shape = (THREADS, type_.width) if type_.width else (THREADS,)
        literal = f"dense<{text}>" if type_.width else text
        return self.add(
            scope,
            type_,
            f"arith.constant {literal} : {type_}",
            lambda env: np.full(shape, number, DTYPES[type_.element]),
        )

    def extract(self, scope: Scope, _: int) -> None:
        type_ = Type(self.draw.pick((*SMALL, *FLOATS)), self.widths[-1])
        vector, place = self.value(scope, type_), self.draw.number(0, type_.width - 1)
        self.add(
            scope,
            Type(type_.element),
            f"vector.extract {vector}[{place}] : {type_.element} from {type_}",
            lambda env: env[vector][:, place],
        )

    def insert(self, scope: Scope, _: int) -> None:
        type_ = Type(self.draw.pick((*SMALL, *FLOATS)), self.widths[-1])
        vector, place = self.value(scope, type_), self.draw.number(0, type_.width - 1)
        scalar = self.value(scope, Type(type_.element))

        def law(env: Environment) -> np.ndarray:
            result = env[vector].copy()
            result[:, place] = env[scalar]
            return result

        text = f"vector.insert {scalar}, {vector} [{place}] : {type_.element} into {type_}"
        self.add(scope, type_, text, law)

    # Structured control flow

    def types(self) -> list[Type]:
        """What a region gives."""
        return [self.type_() for _ in range(self.draw.number(1, 3))]

    def inner(self, scope: Scope, names: list[tuple[str, Type]] | None = None) -> Scope:
        inside = {type_: list(known) for type_, known in scope.items()}
        for name, type_ in names or []:
            inside.setdefault(type_, []).append(name)
        return inside

    def chosen(self, scope: Scope, types: list[Type]) -> list[str]:
        return [self.value(scope, type_) for type_ in types]

    def results(self, scope: Scope, types: list[Type]) -> list[str]:
        names = [self.fresh() for _ in types]
        for name, type_ in zip(names, types, strict=True):
            scope.setdefault(type_, []).append(name)
        return names

    def branch(self, scope: Scope, depth: int) -> None:
        condition, types = self.condition(scope), self.types()
        place = len(self.lines)
        ways: list[tuple[list[Step], list[str]]] = []
        for end in ("} else {", "}"):
            with self.block() as steps:
                inside = self.inner(scope)
                self.statements(inside, depth + 1)
                yielded = self.chosen(inside, types)
            self.lines += [f"scf.yield {', '.join(yielded)} : {listed(types)}", end]
            ways.append((steps, yielded))
        results = self.results(scope, types)
        head = f"{', '.join(results)} = scf.if {condition} -> ({listed(types)}) {{"
        self.lines.insert(place, head)

        def step(env: Environment) -> None:
            outcomes = [run(steps, dict(env), yielded) for steps, yielded in ways]
            for name, type_, a, b in zip(results, types, *outcomes, strict=True):
                env[name] = type_.merged(env[condition], a, b)

        self.steps.append(step)

    def _turns(self, scope: Scope) -> tuple[str, str, str]:
        """A number of turns from 0 to 3, and the constants 0 and 1."""
        i32 = Type("i32")
        three, zero, one = (self.literal(scope, i32, text) for text in ("3", "0", "1"))
        many = self.value(scope, i32)
        count = self.add(
            scope, i32, f"arith.andi {many}, {three} : i32", lambda env: env[many] & env[three]
        )
        return count, zero, one

    def loop(self, scope: Scope, depth: int) -> None:
        count, zero, one = self._turns(scope)
        types = self.types()
        starts = self.chosen(scope, types)
        carried = [(self.fresh(), type_) for type_ in types]
        variable, place = self.fresh(), len(self.lines)
        with self.block() as steps:
            inside = self.inner(scope, [*carried, (variable, Type("i32"))])
            self.statements(inside, depth + 1)
            yielded = self.chosen(inside, types)
        self.lines += [f"scf.yield {', '.join(yielded)} : {listed(types)}", "}"]
        results = self.results(scope, types)
        pairs = zip(carried, starts, strict=True)
        first = ", ".join(f"{name} = {start}" for (name, _), start in pairs)
        self.lines.insert(
            place,
            f"{', '.join(results)} = scf.for {variable} = {zero} to {count} step {one} "
            f"iter_args({first}) -> ({listed(types)}) : i32 {{",
        )

        def step(env: Environment) -> None:
            now = [env[start] for start in starts]
            for turn in range(3):
                within = dict(env) | {variable: np.full(THREADS, turn, np.int32)}
                within |= {name: value for (name, _), value in zip(carried, now, strict=True)}
                after = run(steps, within, yielded)
                going = turn < env[count]
                now = [type_.merged(going, a, b)
                       for type_, a, b in zip(types, after, now, strict=True)]  # fmt: skip
            env.update(zip(results, now, strict=True))

        self.steps.append(step)

    def spin(self, scope: Scope, depth: int) -> None:
        """A while loop that counts down."""
        count, zero, one = self._turns(scope)
        i32, type_ = Type("i32"), self.types()[0]
        start = self.value(scope, type_)
        left, kept, down, again = (self.fresh() for _ in range(4))
        place = len(self.lines)
        with self.block() as before:
            inside = self.inner(scope, [(left, i32), (kept, type_)])
            self.statements(inside, depth + 1)
            passed = self.value(inside, type_)
        go, less = self.fresh(), self.fresh()
        self.lines += [
            f"{go} = arith.cmpi sgt, {left}, {zero} : i32",
            f"scf.condition({go}) {left}, {passed} : i32, {type_}",
            "} do {",
            f"^bb0({down}: i32, {again}: {type_}):",
        ]
        with self.block() as body:
            inside = self.inner(scope, [(down, i32), (again, type_)])
            self.statements(inside, depth + 1)
            returned = self.value(inside, type_)
        self.lines += [f"{less} = arith.subi {down}, {one} : i32",
                       f"scf.yield {less}, {returned} : i32, {type_}", "}"]  # fmt: skip
        results = self.results(scope, [i32, type_])
        self.lines.insert(
            place,
            f"{', '.join(results)} = scf.while ({left} = {count}, {kept} = {start}) "
            f": (i32, {type_}) -> (i32, {type_}) {{",
        )

        def step(env: Environment) -> None:
            number, value = env[count], env[start]
            done = np.zeros(THREADS, bool)
            end = (number, value)
            for _ in range(4):
                (at_end,) = run(before, dict(env) | {left: number, kept: value}, [passed])
                leaves = ~done & (number <= 0)
                end = (np.where(leaves, number, end[0]), type_.merged(leaves, at_end, end[1]))
                done |= leaves
                (value,) = run(body, dict(env) | {down: number, again: at_end}, [returned])
                number = number - np.int32(1)
            env.update(zip(results, end, strict=True))

        self.steps.append(step)


def listed(types: list[Type]) -> str:
    return ", ".join(map(str, types))


def run(steps: list[Step], env: Environment, names: list[str]) -> list[np.ndarray]:
    for step in steps:
        step(env)
    return [env[name] for name in names]
