"""Programs of scalars and vectors, with structured control flow or a graph of blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from arithmetic import DTYPES, THREADS, values
from draw import Draw
from program import LEVELS, Expected, Program
from statements import ELEMENTS, Body, Environment, Scope, Type, listed, run


def _kernel(draw: Draw, body: Body, write: Callable[[Scope], None]) -> Program:
    """A value of every element comes in, one of every type that is there goes out."""
    rng = draw.generator()
    scope: Scope = {}
    args: list[Any] = []
    env: Environment = {}
    parameters: list[str] = []
    count = draw.pick((1, 1, 2, 4))
    body.lines += [
        '%own = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index',
        '%block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index',
        f"%size = arith.constant {THREADS // count} : index",
        "%first = arith.muli %block, %size : index",
        "%t = arith.addi %first, %own : index",
    ]
    for element in ELEMENTS:
        memref, data = f"memref<{THREADS}x{element}>", values(element, (THREADS,), rng)
        parameters.append(f"%in_{element}: {memref}")
        args.append(data.view(np.uint8) if element == "i1" else data)
        name = body.add(
            scope,
            Type(element),
            f"memref.load %in_{element}[%t] : {memref}",
            lambda env, data=data: data,
        )
        assert name not in env
    write(scope)
    expected: dict[int, Expected] = {}
    stored: list[tuple[int, str, int]] = []
    for element in ELEMENTS:
        for type_ in (Type(element), *(Type(element, width) for width in body.widths if width)):
            for name in scope.get(type_, [])[-1:]:
                for place in range(max(type_.width, 1)):
                    value = name
                    if type_.width:
                        value = body.fresh()
                        body.lines.append(
                            f"{value} = vector.extract {name}[{place}] : {element} from {type_}"
                        )
                    number = len(args)
                    memref = f"memref<{THREADS}x{element}>"
                    parameters.append(f"%x{number}: {memref}")
                    body.lines.append(f"memref.store {value}, %x{number}[%t] : {memref}")
                    dtype = np.uint8 if element == "i1" else DTYPES[element]
                    args.append(np.zeros(THREADS, dtype))
                    stored.append((number, name, place))
    with np.errstate(all="ignore"):
        run(body.steps, env, [])
    for number, name, place in stored:
        result = env[name]
        expected[number] = Expected(result[:, place] if result.ndim > 1 else result)
    for element in ELEMENTS:
        _share(draw.pick((None, None, "one", "overlapping")), element, body, parameters, args,
               expected)  # fmt: skip
    text = "\n".join(
        [f"func.func @k({', '.join(parameters)}) attributes {{gpu.kernel}} {{", *body.lines,
         "func.return", "}"]
    )  # fmt: skip
    levels = LEVELS if any(body.widths) else LEVELS[1:]
    return Program(text, args, THREADS // count, expected, (count,), levels=levels)


def _share(
    how: str | None, element: str, body: Body, parameters: list[str], args: list[Any],
    expected: dict[int, Expected],
) -> None:  # fmt: skip
    """Let the arrays of an element be one memory: `one` array under several names, in which the
    last store stays, or "overlapping" views, each with what the next one's threads access."""
    type_, wider = (f"memref<{n}x{element}>" for n in (THREADS, 2 * THREADS))
    members = [number for number, text in enumerate(parameters) if text.endswith(f": {type_}")]
    if how is None or len(members) < 2:
        return
    first, last = members[0], expected[members[-1]]
    if how == "one":
        for number in members:
            args[number], expected[number] = args[first], last
        return
    parts = [args[number] for number in members]
    before = np.concatenate([*parts, np.zeros_like(parts[0])])
    after = before.copy()
    for place, number in enumerate(members):
        if number in expected:
            values = expected[number].values
            after[place * THREADS : (place + 1) * THREADS] = values.astype(after.dtype)
    for place, number in enumerate(members):
        own = slice(place * THREADS, (place + 2) * THREADS)
        args[number], expected[number] = before[own], Expected(after[own])
    for lines in (parameters, body.lines):
        lines[:] = [line.replace(type_, wider) for line in lines]


def scalars(draw: Draw) -> Program:
    """Scalars and structured control flow."""
    body = Body(draw, (0,))

    def write(scope: Scope) -> None:
        body.statements(scope, 0)
        body.statements(scope, 0)

    return _kernel(draw, body, write)


def vectors(draw: Draw) -> Program:
    """Vectors among scalars, carried by loops and branches."""
    body = Body(draw, (0, draw.pick((2, 4, 3, 8))))
    if draw.chance(50):
        body.lines.append('%tile = cute.static : !cute.shape<"1">')

    def write(scope: Scope) -> None:
        body.statements(scope, 1, 8)

    return _kernel(draw, body, write)


def blocks(draw: Draw) -> Program:
    """A graph of blocks that pass a state on: forward anywhere, backward while there is fuel."""
    body = Body(draw, (0,), nests=False)

    def write(scope: Scope) -> None:
        _graph(body, scope)

    return _kernel(draw, body, write)


def _graph(body: Body, scope: Scope) -> None:
    draw, i32 = body.draw, Type("i32")
    count, types = draw.number(1, 4), [i32, *body.types()]
    fuel = body.add(scope, i32, "arith.constant 5 : i32", lambda env: np.full(THREADS, 5, np.int32))
    starts = [fuel, *body.chosen(scope, types[1:])]
    ends = [body.fresh() for _ in types]
    inputs = [[body.fresh() for _ in types] for _ in range(count)] + [ends]
    body.lines.append(f"cf.br ^b0({', '.join(starts)} : {listed(types)})")
    plans: list[Any] = []
    for number in range(count):
        names = inputs[number]
        typed = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, types, strict=True))
        body.lines.append(f"^b{number}({typed}):")
        inside = body.inner(scope, list(zip(names, types, strict=True)))
        with body.block() as steps:
            body.statements(inside, 3)
            one = body.literal(inside, i32, "1")
            less = body.add(inside, i32, f"arith.subi {names[0]}, {one} : i32",
                            lambda env, a=names[0], b=one: env[a] - env[b])  # fmt: skip
            condition = body.condition(inside)
            if number and draw.chance(50):
                # Backward: only with fuel left.
                target = draw.number(0, number)
                zero = body.literal(inside, i32, "0")
                left = body.add(inside, Type("i1"), f"arith.cmpi sgt, {less}, {zero} : i32",
                                lambda env, a=less, b=zero: env[a] > env[b])  # fmt: skip
                condition = body.add(
                    inside, Type("i1"), f"arith.andi {condition}, {left} : i1",
                    lambda env, a=condition, b=left: env[a] & env[b])  # fmt: skip
            else:
                target = draw.number(number + 1, count)
            other = draw.number(number + 1, count)
            ways = [(goal, [less, *body.chosen(inside, types[1:])]) for goal in (target, other)]
        text = ", ".join(f"^b{goal}({', '.join(given)} : {listed(types)})" for goal, given in ways)
        body.lines.append(f"cf.cond_br {condition}, {text}")
        plans.append((steps, condition, ways))
    typed = ", ".join(f"{name}: {type_}" for name, type_ in zip(ends, types, strict=True))
    body.lines.append(f"^b{count}({typed}):")
    for name, type_ in zip(ends, types, strict=True):
        scope.setdefault(type_, []).append(name)
    body.steps.append(lambda env: _walk(env, types, inputs, starts, plans))


def _walk(
    env: Environment, types: list[Type], inputs: list[list[str]], starts: list[str], plans: Any
) -> None:
    """Every thread from block to block, the hindmost first."""
    place, state = np.zeros(THREADS, int), [env[name] for name in starts]
    while (place < len(plans)).any():
        number = int(place.min())
        steps, condition, ways = plans[number]
        within = dict(env) | dict(zip(inputs[number], state, strict=True))
        (taken,) = run(steps, within, [condition])
        here = place == number
        for (goal, given), chosen in zip(ways, (here & taken, here & ~taken), strict=True):
            place = np.where(chosen, goal, place)
            state = [type_.merged(chosen, within[name], value)
                     for type_, name, value in zip(types, given, state, strict=True)]  # fmt: skip
    env.update(zip(inputs[-1], state, strict=True))
