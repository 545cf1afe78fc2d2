"""Programs that nobody would write, run before and after the lowering: equal bits."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tilewright as tw

THREADS = 64
INTEGERS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
TYPES = {"i1": 8, **INTEGERS, **FLOATS}
INTEGER_OPS = ("addi", "subi", "muli", "andi", "ori", "xori", "shli", "shrsi", "shrui",
               "minsi", "maxui", "divsi", "remui", "floordivsi", "ceildivui")  # fmt: skip
FLOAT_OPS = ("addf", "subf", "mulf", "divf", "maxnumf", "minnumf")
CASTS = (
    ("extsi", "i8", "i32"), ("extui", "i8", "i16"), ("extui", "i1", "i8"), ("extsi", "i16", "i64"),
    ("trunci", "i32", "i8"), ("trunci", "i64", "i16"), ("trunci", "i8", "i1"),
    ("extui", "i32", "i64"), ("trunci", "i64", "i32"), ("sitofp", "i8", "f16"),
    ("uitofp", "i16", "bf16"), ("sitofp", "i32", "f32"), ("uitofp", "i64", "f64"),
    ("fptosi", "f16", "i8"), ("fptoui", "bf16", "i16"), ("fptosi", "f32", "i32"),
    ("fptosi", "f64", "i64"), ("extf", "f16", "f64"), ("extf", "bf16", "f32"),
    ("truncf", "f32", "f16"), ("truncf", "f32", "bf16"), ("truncf", "f64", "f32"),
    ("bitcast", "f32", "i32"), ("bitcast", "i16", "f16"), ("bitcast", "i16", "bf16"),
    ("bitcast", "i64", "f64"),
)  # fmt: skip
Scope = dict[str, list[str]]


class Program:
    """Draws statements into text; a scope lists the values of each type that are visible."""

    def __init__(self, draw: st.DrawFn):
        self._draw = draw
        self._names = 0
        self.lines: list[str] = []

    def pick(self, choices: list[str] | tuple[str, ...]) -> str:
        return self._draw(st.sampled_from(choices))

    def number(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def value(self, scope: Scope, type_: str) -> str:
        return self.pick(scope[type_])

    def fresh(self) -> str:
        self._names += 1
        return f"%v{self._names}"

    def add(self, scope: Scope, type_: str, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        scope[type_].append(name)
        return name

    def statements(self, scope: Scope, depth: int) -> None:
        kinds = [self.arithmetic] * 5 + [self.compare, self.select, self.cast, self.constant]
        kinds += [self.branch, self.loop, self.spin] if depth < 3 else []
        for _ in range(self.number(1, 5)):
            kinds[self.number(0, len(kinds) - 1)](scope, depth)

    def arithmetic(self, scope: Scope, _: int) -> None:
        type_ = self.pick([*INTEGERS, *FLOATS])
        a, b = self.value(scope, type_), self.value(scope, type_)
        op = self.pick(INTEGER_OPS if type_ in INTEGERS else FLOAT_OPS)
        if "div" in op or "rem" in op:
            b = b if type_ in FLOATS else self.add(scope, type_, f"arith.ori {b}, %one_{type_} "
                                                                 f": {type_}")  # fmt: skip
        self.add(scope, type_, f"arith.{op} {a}, {b} : {type_}")

    def compare(self, scope: Scope, _: int) -> str:
        type_ = self.pick([*INTEGERS, *FLOATS])
        a, b = self.value(scope, type_), self.value(scope, type_)
        integer = type_ in INTEGERS
        how = self.pick(("eq", "slt", "uge") if integer else ("oeq", "olt", "uge", "une"))
        op = "cmpi" if integer else "cmpf"
        return self.add(scope, "i1", f"arith.{op} {how}, {a}, {b} : {type_}")

    def select(self, scope: Scope, _: int) -> None:
        type_ = self.pick(list(TYPES))
        chosen = [self.value(scope, each) for each in ("i1", type_, type_)]
        self.add(scope, type_, f"arith.select {', '.join(chosen)} : {type_}")

    def cast(self, scope: Scope, _: int) -> None:
        op, source, result = CASTS[self.number(0, len(CASTS) - 1)]
        value = self.value(scope, source)
        self.add(scope, result, f"arith.{op} {value} : {source} to {result}")

    def constant(self, scope: Scope, _: int) -> None:
        type_ = self.pick([*INTEGERS, *FLOATS])
        bits = INTEGERS.get(type_, 0)
        literal = (
            str(self.number(-(1 << (bits - 1)), (1 << (bits - 1)) - 1))
            if bits
            else self.pick(("0.0", "-0.0", "1.5", "-3.0", "65504.0"))
        )
        self.add(scope, type_, f"arith.constant {literal} : {type_}")

    def types(self) -> list[str]:
        return [self.pick(list(TYPES)) for _ in range(self.number(1, 3))]

    def inner(self, scope: Scope, arguments: list[tuple[str, str]] | None = None) -> Scope:
        inside = {type_: list(names) for type_, names in scope.items()}
        for name, type_ in arguments or []:
            inside[type_].append(name)
        return inside

    def yielded(self, scope: Scope, types: list[str]) -> str:
        return ", ".join(self.value(scope, each) for each in types) + f" : {', '.join(types)}"

    def results(self, scope: Scope, types: list[str]) -> str:
        names = [self.fresh() for _ in types]
        for name, type_ in zip(names, types, strict=True):
            scope[type_].append(name)
        return ", ".join(names)

    def branch(self, scope: Scope, depth: int) -> None:
        condition, types = self.compare(scope, depth), self.types()
        before = self.inner(scope)
        results = self.results(scope, types)
        self.lines.append(f"{results} = scf.if {condition} -> ({', '.join(types)}) {{")
        for end in ("} else {", "}"):
            inside = self.inner(before)
            self.statements(inside, depth + 1)
            self.lines.append(f"scf.yield {self.yielded(inside, types)}")
            self.lines.append(end)

    def loop(self, scope: Scope, depth: int) -> None:
        count = self.add(scope, "i32", f"arith.andi {self.value(scope, 'i32')}, %three : i32")
        before, types = self.inner(scope), self.types()
        carried = [(self.fresh(), each) for each in types]
        starts = ", ".join(f"{name} = {self.value(before, each)}" for name, each in carried)
        variable, results = self.fresh(), self.results(scope, types)
        self.lines.append(
            f"{results} = scf.for {variable} = %zero to {count} step %one_i32 "
            f"iter_args({starts}) -> ({', '.join(types)}) : i32 {{"
        )
        inside = self.inner(before, [*carried, (variable, "i32")])
        self.statements(inside, depth + 1)
        self.lines += [f"scf.yield {self.yielded(inside, types)}", "}"]

    def spin(self, scope: Scope, depth: int) -> None:
        """A while loop that counts down from at most three."""
        start = self.add(scope, "i32", f"arith.andi {self.value(scope, 'i32')}, %three : i32")
        before, type_ = self.inner(scope), self.pick(list(TYPES))
        first = self.value(before, type_)
        left, value, go, down = (self.fresh() for _ in range(4))
        outer, kept, again = (self.fresh() for _ in range(3))
        self.lines.append(
            f"{outer}, {kept} = scf.while ({left} = {start}, {value} = {first}) "
            f": (i32, {type_}) -> (i32, {type_}) {{"
        )
        inside = self.inner(before, [(left, "i32"), (value, type_)])
        self.statements(inside, depth + 1)
        self.lines += [
            f"{go} = arith.cmpi sgt, {left}, %zero : i32",
            f"scf.condition({go}) {left}, {self.value(inside, type_)} : i32, {type_}",
            "} do {",
            f"^bb0({down}: i32, {again}: {type_}):",
        ]
        inside = self.inner(before, [(down, "i32"), (again, type_)])
        self.statements(inside, depth + 1)
        next_ = self.fresh()
        self.lines += [
            f"{next_} = arith.subi {down}, %one_i32 : i32",
            f"scf.yield {next_}, {self.value(inside, type_)} : i32, {type_}",
            "}",
        ]
        scope["i32"].append(outer)
        scope[type_].append(kept)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A kernel that loads a value of every type and stores one of every type."""
    program = Program(draw)
    memrefs = {type_: f"memref<{THREADS}x{type_}>" for type_ in TYPES}
    program.lines += [
        '%t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index',
        *(f"%one_{type_} = arith.constant 1 : {type_}" for type_ in INTEGERS),
        "%zero = arith.constant 0 : i32",
        "%three = arith.constant 3 : i32",
    ]
    scope: Scope = {type_: [] for type_ in TYPES}
    for type_, memref in memrefs.items():
        program.add(scope, type_, f"memref.load %in_{type_}[%t] : {memref}")
    program.statements(scope, 0)
    program.statements(scope, 0)
    for type_, memref in memrefs.items():
        program.lines.append(f"memref.store {scope[type_][-1]}, %out_{type_}[%t] : {memref}")
    arguments = ", ".join(
        f"%in_{type_}: {memref}, %out_{type_}: {memref}" for type_, memref in memrefs.items()
    )
    body = "\n".join(program.lines)
    return f"func.func @k({arguments}) attributes {{gpu.kernel}} {{\n{body}\nfunc.return\n}}"


def inputs() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    arrays: list[np.ndarray] = []
    for type_, bits in TYPES.items():
        values = np.frombuffer(rng.bytes(THREADS * bits // 8), f"u{bits // 8}")
        small = values >> np.array(rng.integers(0, bits, THREADS), values.dtype)
        values = values & 1 if type_ == "i1" else np.where(np.arange(THREADS) % 2, values, small)
        arrays += [values.astype(f"u{bits // 8}"), np.zeros(THREADS, f"u{bits // 8}")]
    return arrays


INPUTS = inputs()


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(programs())
def test_levels_agree_on_any_program(text: str) -> None:
    atom, ptx = (
        tw.interpret(text, grid=(1,), block=(THREADS,), args=INPUTS, arch="sm_90", level=level)
        for level in ("atom", "ptx")
    )
    for before, after in zip(atom, ptx, strict=True):
        np.testing.assert_array_equal(before, after, text)
