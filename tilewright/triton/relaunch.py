"""Launches of Triton kernels like one before, found by what is read of their arguments in place of
all that Triton asks of them.

For a launch that Triton specializes like one before there is the kernel that it has compiled; of
the same numbers where they decide, wherever its arrays lie, a template, while what is written is
apart from other arrays where that was assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from importlib import import_module
from typing import Any

from tilewright.dialects.frozen import frozen
from tilewright.launch.known_launches import MOST, Items, kept
from tilewright.launch.plan import LaunchTemplate
from tilewright.source.diagnostic import ArgumentError
from tilewright.triton.gpu import DeviceKernel
from tilewright.triton.items import are_apart, is_word, items_of, reached

_Template = tuple[LaunchTemplate, Any, Sequence[int]]
"""A template, its compiled kernel, and the numbers of the words that are addresses of what is apart
from others."""


@frozen
class _Alike:
    """Launches that are alike but for words that are read of arguments: kernels that are `compiled`
    by those of `constants`, with the numbers of words by those of its launcher's that are the same;
    and templates that are `known` by the grid and by the words that are `exact`, None where there
    was one such launch."""

    constants: Sequence[int]
    exact: Sequence[int]
    compiled: dict[Items, tuple[Any, Mapping[int, int]]] = field(default_factory=dict[Any, Any])
    known: dict[Items, _Template | None] = field(default_factory=dict[Any, Any])


_ALIKE: dict[Any, _Alike] = {}


def relaunching(run: Callable[..., Any]) -> Callable[..., Any]:
    """Triton's `JITFunction.run`, which lets a launch that is like one before go without checks."""
    driver: Any = import_module("triton.runtime.driver").driver
    knobs: Any = import_module("triton").knobs

    def launch(function: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        read: list[Any] = []
        active, key, device = driver.active, None, 0
        if not (warmup or function.pre_run_hooks or _is_watched(knobs.runtime)):
            looked_up = knobs.runtime.debug, knobs.compilation.instrumentation_mode
            device = active.get_current_device()
            caches = function.device_caches.get(device)
            if caches and caches[0]:  # Triton's own is emptied where kernels are to be made anew
                key = _key(function, (device, looked_up), args, options, read)
        alike, known = None if key is None else _ALIKE.get(key), None
        words: Sequence[int] = read[::2]
        if alike is not None:
            if callable(grid):
                grid = grid(_bound(function, args, options))
            known_by = (*grid, 1, 1)[:3], *[words[i] for i in alike.exact]
            known = alike.known.get(known_by)
            if known is None or (known[2] and not are_apart(known[2], map(reached, read[1::2]))):
                bound = _bound(function, args, options)
                known = _made(key, alike, known_by, words, [*bound.values()])
                words = known[2] if known else words
        if known is None:
            compiled = run(function, *args, grid=grid, warmup=warmup, **options)
            if key is not None and isinstance(getattr(compiled, "function", None), DeviceKernel):
                constants, own = _words(function, compiled.run, args, options)
                alike = alike or kept(_ALIKE, key, _Alike(constants, constants))
                kept(alike.compiled, tuple([words[i] for i in constants]), (compiled, own))
            return compiled
        template, compiled, _ = known
        active.launches += 1
        template.start(words, active.get_current_stream(device))
        return compiled

    return launch


def _is_watched(runtime: Any) -> bool:
    """True where hooks are to be told of launches."""
    enter, leave = runtime.launch_enter_hook, runtime.launch_exit_hook
    return bool(getattr(enter, "calls", enter) or getattr(leave, "calls", leave))


def _key(
    function: Any, where: Items, args: Items, options: Mapping[str, Any], read: list[Any]
) -> Items | None:
    """The function as it is, where it runs, the names of options, and the items, whose words and
    arrays are added to those `read`; None where they are no key, or where a global that the
    function reads has changed."""
    if function.hash is None:  # its text is another one since it was compiled
        return None
    for (name, _), (value, scope) in function.used_global_vals.items():
        if name not in scope or scope[name] != value:
            return None
    if (items := items_of((*args, *options.values()), read)) is None:
        return None
    # a method is known by its object, where the object asks for its text
    return function.__getitem__, function.hash, where, tuple(options), items


def _bound(function: Any, args: Items, options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of all parameters."""
    given = *args, *options.values()
    return {
        name: default if place is None else given[place]
        for name, place, default in _parameters(function, len(args), tuple(options))
    }


@lru_cache(MOST)
def _parameters(
    function: Any, count: int, options: tuple[str, ...]
) -> list[tuple[str, int | None, Any]]:
    """The names of parameters, their places among so many arguments and options, and what they are
    where they have none."""
    places = {name: i for i, name in enumerate(_names(function, range(count), options))}
    rows = function.signature.parameters.items()
    return [(name, places.get(name), parameter.default) for name, parameter in rows]


def _made(
    key: Any, alike: _Alike, known_by: Items, words: Sequence[int], given: Sequence[Any]
) -> tuple[LaunchTemplate, Any, Sequence[int]] | None:
    """A template for the arguments of all parameters, its compiled kernel, and the words that it is
    given; None where there is none, or where the arguments do not fit: what checks all of them says
    why. What comes a second time has a template of its own from then on."""
    known, grid = alike.compiled.get(tuple([words[i] for i in alike.constants])), known_by[0]
    if 0 in grid or known is None:
        return None
    compiled, number_of = known
    try:
        (made, apart), own = compiled.run.launch(compiled.function, grid, given)
    except ArgumentError:
        return None
    if compiled.run.plain:
        decide = compiled.function.deciding
        number_of = {place: number for place, number in number_of.items() if place not in decide}
    exact = {*range(len(words))}.difference(number_of.values()).union(alike.exact)
    if len(exact) > len(alike.exact):
        kept(_ALIKE, key, replace(alike, exact=sorted(exact), known={}))
    elif known_by not in alike.known:
        kept(alike.known, known_by, None)
    elif apart is not None:
        template = made.on(own, number_of), compiled, [number_of[i] for i in apart]
        kept(alike.known, known_by, template)
    return made, compiled, own


def _words(
    function: Any, launcher: Any, args: Items, options: Mapping[str, Any]
) -> tuple[list[int], dict[int, int]]:
    """The numbers of the words of constants, and of others that are read by those of a launcher's
    that are the same."""
    variable = {name for i, name in enumerate(function.arg_names) if i not in function.constexprs}
    numbers, constants, read = dict[str, range](), list[int](), list[Any]()
    given = zip(_names(function, args, options), (*args, *options.values()), strict=True)
    for name, value in given:
        first = len(read) // 2
        items_of((value,), read)
        own = range(first, len(read) // 2)
        if name in variable:
            numbers[name] = own
        else:
            constants += own
    of_arrays = {number for number, array in enumerate(read[1::2]) if array is not None}
    if not launcher.plain:
        rows = [number for name in function.arg_names for number in numbers.get(name, ())]
        arrays = [number for number in rows if number in of_arrays]
        return constants, dict(enumerate(arrays))
    return constants, {
        place: number
        for place, (_, name, type_) in enumerate(launcher.plain)
        for number in numbers.get(name, ())
        if number in of_arrays or is_word(type_, read[2 * number])
    }


def _names(function: Any, args: Sequence[Any], options: Iterable[str]) -> list[str]:
    """The names of arguments that are given, and of options."""
    return [*function.arg_names[: len(args)], *options]
