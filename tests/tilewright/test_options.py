"""Arguments of public functions: each is checked, by one rule, before anything runs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
import pytest
from api_calls import ANSWERS, CALLS, SLOW, called, evaluated, options, spelled

import tilewright as tw
from tilewright import builder
from tilewright.launch.launcher import LaunchError
from tilewright.source.checked import Rule, checking, number_from, rules_of

ANYTHING = {
    ("TensorMap", "tensor"), ("CompiledCode.launch", "args"), ("launch", "stream"),
    ("cute", "operands"), ("cute", "properties"),
}  # fmt: skip
"""What checks itself what it is given, or hands it on."""
UNCHECKED = {"AtomError", "MmaAtom", "Quantized", "SparseMatrix", "Kernel"}
"""What is not called, or by us alone."""


def functions() -> Iterator[Callable[..., Any]]:
    """Every public function, and constructors of what users make."""
    values = [getattr(tw, name) for name in tw.__all__ if name not in UNCHECKED]
    values += [getattr(tw.cutile, name) for name in tw.cutile.__all__]
    values += [tw.Kernel.entry, tw.Kernel.launch, tw.Kernel.load, tw.Kernel.report]
    values += [builder.attribute, builder.array_type, builder.coord, builder.cute]
    values += [builder.kernel, builder.leaves, builder.thread_id, builder.block_id]
    values += [builder.for_loop, builder.if_then]
    for value in values:
        if inspect.isfunction(value):
            yield value
        elif inspect.isclass(value) and not issubclass(value, Exception):
            yield value.__init__


FUNCTIONS = list(functions())


def title(function: Callable[..., Any]) -> str:
    return function.__qualname__.removesuffix(".__init__")


@pytest.mark.parametrize("function", FUNCTIONS, ids=title)
def test_every_argument_has_a_rule(function: Callable[..., Any]):
    rules = rules_of(function)
    parameters = inspect.signature(function).parameters
    free = {(title(function), name) for name, parameter in parameters.items()
            if name not in rules and name != "self" and "Unpack" not in str(parameter)}  # fmt: skip
    assert free <= ANYTHING


@pytest.mark.parametrize("function", FUNCTIONS, ids=title)
def test_defaults_are_legal(function: Callable[..., Any]):
    for name, parameter in inspect.signature(function).parameters.items():
        if name in rules_of(function) and parameter.default is not parameter.empty:
            rules_of(function)[name].value(name, parameter.default, (AssertionError,))


RIGHT = {function: right for function, right in CALLS if options(function) and "*" not in right}


@pytest.mark.parametrize("function", RIGHT)
def test_what_no_function_takes_is_refused_by_name(function: str):
    """Whatever the option: a new one is tried by itself."""
    with suppress(LaunchError):  # where no GPU is
        if function not in SLOW:
            evaluated(spelled(function, RIGHT[function]))
    for name, rule in rules_of(called(function)).items():
        if name in options(function):
            with pytest.raises(ANSWERS) as caught:
                evaluated(spelled(function, {**RIGHT[function], name: "object()"}))
            words = "such as 'sm_90a', got" if name == "arch" else f"{name} as {rule.words}, got"
            assert words in str(caught.value)


RUN = "tw.interpret(AXPY, grid=(1,), block=(8,), args=ARGS"
WORDS: list[tuple[str, str]] = [
    (f"{RUN}, races=[1, 2])",
     'expected races as one of "error", "warn", "ignore", got [1, 2]'),
    (f"{RUN}, races='eror')",
     "got 'eror'; nearest legal: \"error\""),
    (f"{RUN}, watchers='x')", "expected watchers as a list"),
    (f"{RUN}, progress='x')",
     "expected progress as a function of two numbers, got 'x'"),
    (f"{RUN}, level=np.zeros(3))",
     '"atom", "ptx", got ndarray of float64 [3]'),
    (f"{RUN}, max_steps=10**5000)",
     "expected max_steps as a number from 1 on, got one of int of 16610 bits"),
    (f"{RUN}, arch=['sm_90a'])",
     "expected the name of a target such as 'sm_90a', got ['sm_90a']"),
    (f"{RUN}, progress=float)", "progress(1, 1) raised TypeError"),
    ("tw.interpret(AXPY, block=(8,), args=ARGS)", "missing a required argument: 'grid'"),
    ("tw.interpret(AXPY, 'axpy', (1,))", "'interpret' expected module_or_text, kernel"),
    (f"{RUN}, racess='warn')", "got racess; nearest legal: races"),
    ("tw.compile(AXPY, 'sm_90a', verify_each=np.zeros(2))",
     "expected verify_each as True or False, got ndarray of float64 [2]"),
    ("tw.compile(AXPY, 'sm_90a', unproven=np.zeros(2))", 'unproven as one of "warn", "error", "ig'),
    ("tw.compile(AXPY, 'sm_90a', verify_by_running='x')",
     "expected verify_by_running as a tilewright.Trial, got 'x'"),
    ("tw.compile(AXPY, 'sm_90a', passes='(4,8):(8,1)')", "passes as a pipeline, got '(4,8)"),
    ("tw.compile(AXPY, 'sm_90a', passes='canonicalize{x=1}')", "expected passes as a pipeline"),
    ("tw.compile(AXPY, 'sm_90a', dump_dir='\\0')", "expected dump_dir as the path of a folder"),
    ("tw.quantize(np.ones((2, 32)), 'mxfp8', axis=None)", "expected axis as an integer, got None"),
    ("tw.dequantize(range(2))", "expected quantized as the result of tilewright.quantize"),
    ("tw.Trial((1,), 8, [])", "expected block as up to three positive integers, got 8"),
    ("tw.atom(Path('x'))", "expected name as a PTX mnemonic or an op of the lattice"),
    ("KERNEL.entry('k')", "expected the name of one kernel, got 'k'; legal: axpy"),
    ("MMA.coords([1])", "'sm80.mma' expected an operand of A, B, C, D, got [1]"),
    ("MMA.check([1])", "such as 'sm_90a', got [1]"),
    ("builder.coord(3, 'x')", "each item an instance of SSAValue or an integer"),
    ("builder.cute('copy', name_=3)", "'cute.copy' expected tiled, source, destination, bounds, "),
    ("builder.cute('copy', 3)", "'cute.copy' expected what its constructor takes"),
]  # fmt: skip


@pytest.mark.parametrize("call, words", WORDS)
def test_words(call: str, words: str):
    with pytest.raises(ANSWERS, match=re.escape(words)):
        evaluated(call)


def test_one_family():
    for call in (
        lambda: tw.interpret("", grid=(1,), args=[], races="x"),  # type: ignore[arg-type]
        lambda: tw.interpret("", grid=(0,), args=[]),
        lambda: tw.atom("x", shape=3),  # type: ignore[arg-type]
        lambda: tw.TensorMap(3, box="x"),
        lambda: tw.quantize([1.0], "x"),  # type: ignore[arg-type]
    ):
        with pytest.raises(tw.ArgumentError) as caught:
            call()
        assert isinstance(caught.value, tw.ExecutionError | ValueError | TypeError)
    assert issubclass(tw.ArgumentError, tw.ExecutionError) and issubclass(
        tw.ArgumentError, TypeError
    )


# Rules


class Words(TypedDict, total=False):
    size: int
    word: Literal["one", "two"] | None


@checking({"seed": number_from(0, "a seed", to=9)})
def anything(
    seed: int, *parts: int | str, pair: tuple[int, int] = (1, 2), names: Sequence[str] = (),
    where: Executor | None = None, **words: Unpack[Words],
) -> Any:  # fmt: skip
    return seed, parts, pair, names, where, words


@pytest.mark.parametrize("given, named, result", [
    ((np.int8(3),), {}, (3, (), (1, 2), (), None, {})),
    ((3, "x", True), {"pair": [3, np.int64(4)]}, (3, ("x", 1), (3, 4), (), None, {})),
    ((3,), {"names": np.array(["a", "b"]), "size": 4, "word": None},
     (3, (), (1, 2), ("a", "b"), None, {"size": 4, "word": None})),
])  # fmt: skip
def test_what_is_legal_is_given_as_it_is_taken(given: Any, named: Any, result: Any):
    assert anything(*given, **named) == result


@pytest.mark.parametrize("given, named, words", [
    ((10,), {}, "expected seed as a seed from 0 to 9, got 10"),
    ((3, 1.5), {}, "expected parts as a list, each item an integer or a string, got (1.5,)"),
    ((3,), {"pair": (1, 2, 3)}, "expected pair as a list of 2, each item an integer, got (1, 2"),
    ((3,), {"names": "ab"}, "expected names as a list, each item a string, got 'ab'"),
    ((3,), {"where": 3}, "expected where as an instance of Executor, got 3"),
    ((3,), {"word": "tow"}, 'as one of "one", "two", got \'tow\'; nearest legal: "two"'),
    ((3,), {"sizes": 3}, "'anything' expected seed, parts, pair, names, where, size, word, got si"),
    ((3,), {"sizes": 3}, "got sizes; nearest legal: size"),
    ((), {}, "missing a required argument: 'seed'"),
])  # fmt: skip
def test_what_is_not(given: Any, named: Any, words: str):
    with pytest.raises(tw.ArgumentError, match=re.escape(words)):
        anything(*given, **named)


def test_a_rule_may_raise_what_passes():
    def read(given: Any) -> Any:
        raise LookupError("by itself")

    function = checking({"x": Rule("", read)}, (tw.ArgumentError, LookupError))(lambda x: x)
    with pytest.raises(LookupError, match="by itself"):
        function(3)
