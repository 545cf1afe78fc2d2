"""Launches of Triton kernels like one before, found by what is read of their arguments in place of
all that Triton asks of them.

For a launch that Triton specializes like one before there is the kernel that it has compiled; of
the same numbers where they decide, wherever its arrays lie, a template, while what is written is
apart from other arrays where that was assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from operator import itemgetter
from typing import Any

from tilewright.dialects.frozen import factory, frozen
from tilewright.launch.known_launches import MOST, Items, items_reader, kept
from tilewright.launch.plan import LaunchTemplate
from tilewright.source.diagnostic import ArgumentError
from tilewright.triton.gpu import DeviceKernel
from tilewright.triton.items import DTYPES, are_apart, is_word, items_of, reached

_Template = tuple[LaunchTemplate, Any, Sequence[int]]
"""A template, its compiled kernel, and the numbers of the words that are addresses of what is apart
from others."""


@frozen
class _Alike:
    """Launches that are alike but for words that are read of arguments: the kernel that is
    `compiled` for them, the numbers of words by those of its launcher's that are the same; and
    templates that are `known` by the grid and by the words that are `exact`, None where there was
    one such launch."""

    compiled: Any
    number_of: Mapping[int, int]
    exact: Sequence[int] = ()
    known: dict[Items, _Template | None] = factory(dict)


@frozen
class _Reading:
    """How arguments of some types are read, so many of them and options of some names: what
    parameters are that are not given; the `constants`, which kernels are compiled for, or whose
    types say all that is known of them, `plain` where they are so as they are; the `others`; and
    launches that are `alike`."""

    defaults: Mapping[str, Any]
    constants: Callable[[Items], Items]
    plain: bool
    others: Callable[[Items], Items]
    alike: dict[Items, _Alike] = factory(dict)


_PLAIN = {bool, int, str, type(None)}
_constants = items_reader({}, DTYPES, lambda value, arrays: None)


def relaunching(run: Callable[..., Any]) -> Callable[..., Any]:
    """Triton's `JITFunction.run`, which lets a launch that is like one before go without checks."""
    driver: Any = import_module("triton.runtime.driver").driver
    knobs: Any = import_module("triton").knobs

    def launch(function: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        read: list[Any] = []
        active, reading, key, device = driver.active, None, None, 0
        if not (warmup or function.pre_run_hooks or _is_watched(knobs.runtime)):
            looked_up = knobs.runtime.debug, knobs.compilation.instrumentation_mode
            device = active.get_current_device()
            caches = function.device_caches.get(device)
            if caches and caches[0]:  # Triton's own is emptied where kernels are to be made anew
                given = *args, *options.values()
                kinds = (*map(type, given),)
                # a method is known by its object, where the object asks for its text
                reading = _reading(function.__getitem__, len(args), (*options,), kinds)
                key = _key(function, (device, looked_up), reading, given, read)
        alike, known = reading.alike.get(key) if reading and key else None, None
        words: Sequence[int] = read[::2]
        if reading and key and alike:
            if callable(grid):
                grid = grid(_bound(function, args, options, reading))
            known_by = (*grid, 1, 1)[:3], *[words[i] for i in alike.exact]
            known = alike.known.get(known_by)
            if known is None or (known[2] and not are_apart(known[2], map(reached, read[1::2]))):
                bound = _bound(function, args, options, reading)
                known = _made(reading, key, alike, known_by, words, [*bound.values()])
                words = known[2] if known else words
        if known is None:
            compiled = run(function, *args, grid=grid, warmup=warmup, **options)
            launched = isinstance(getattr(compiled, "function", None), DeviceKernel)
            if reading and key and not alike and launched:
                names = (*_names(function, args, options),)
                numbers = _words(function, compiled.run, reading, names, (*args, *options.values()))
                kept(reading.alike, key, _Alike(compiled, numbers))
            return compiled
        template, compiled, _ = known
        active.launches += 1
        template.start(words, active.get_current_stream(device))
        return compiled

    return launch


def running(of_grid: Callable[..., Any]) -> Callable[..., Any]:
    """Triton's `CompiledKernel.__getitem__`, which lets a kernel of ours go without what only hooks
    are told."""
    knobs: Any = import_module("triton").knobs

    def launcher(compiled: Any, grid: Any) -> Any:
        run = of_grid(compiled, grid)
        kernel, extents = compiled.function, (grid[0], grid[1], grid[2])
        if not isinstance(kernel, DeviceKernel):
            return run
        start = compiled.run.start

        def launch(*args: Any, stream: int | None = None) -> None:
            if _is_watched(knobs.runtime):
                run(*args, stream=stream)
            else:
                start(kernel, extents, args, stream)

        return launch

    return launcher


def _is_watched(runtime: Any) -> bool:
    """True where hooks are to be told of launches."""
    enter, leave = runtime.launch_enter_hook, runtime.launch_exit_hook
    return bool(getattr(enter, "calls", enter) or getattr(leave, "calls", leave))


def _key(
    function: Any, where: Items, reading: _Reading, given: Items, read: list[Any]
) -> Items | None:
    """The function's text, where it runs, and the items of arguments, whose words and arrays are
    added to those `read`; None where they are no key, or where a global that the function reads has
    changed."""
    if function.hash is None:  # its text is another one since it was compiled
        return None
    for (name, _), (value, scope) in function.used_global_vals.items():
        if name not in scope or scope[name] != value:
            return None
    constants: Items | None = reading.constants(given)
    if not reading.plain:
        constants = _constants(constants, [])
    items = items_of(reading.others(given), read)
    if constants is None or items is None:
        return None
    return function.hash, where, constants, items


def _bound(
    function: Any, args: Items, options: Mapping[str, Any], reading: _Reading
) -> dict[str, Any]:
    """The arguments of all parameters."""
    given = dict(zip(function.arg_names, args, strict=False))
    bound = {**reading.defaults, **given, **options}
    while len(bound) > len(reading.defaults):  # behind them are options of the launch
        bound.popitem()
    return bound


@lru_cache(MOST)
def _reading(launch: Any, count: int, options: Sequence[str], kinds: Sequence[type]) -> _Reading:
    """How arguments of some types are read, so many and options, of the function that a method
    launches."""
    function = launch.__self__
    constant = {name for i, name in enumerate(function.arg_names) if i in function.constexprs}
    names = _names(function, range(count), options)
    given = list(enumerate(zip(names, kinds, strict=False)))
    constants = [
        i for i, (name, kind) in given
        if name in constant or name not in function.arg_names or kind in _PLAIN - {int}
    ]  # fmt: skip
    return _Reading(
        {name: one.default for name, one in function.signature.parameters.items()},
        _places(constants),
        all(kinds[i] in _PLAIN for i in constants),
        _places([i for i, _ in given if i not in constants]),
    )


def _places(places: Sequence[int]) -> Callable[[Items], Items]:
    """Takes the elements at places out of a tuple."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda given: tuple([given[i] for i in places])


def _made(
    reading: _Reading, key: Items, alike: _Alike, known_by: Items, words: Sequence[int],
    given: Sequence[Any],
) -> tuple[LaunchTemplate, Any, Sequence[int]] | None:  # fmt: skip
    """A template for the arguments of all parameters, its compiled kernel, and the words that it is
    given; None where there is none, or where the arguments do not fit: what checks all of them says
    why. What comes a second time has a template of its own from then on."""
    compiled, number_of, grid = alike.compiled, alike.number_of, known_by[0]
    if 0 in grid:
        return None
    try:
        (made, apart), own = compiled.run.launch(compiled.function, grid, given)
    except ArgumentError:
        return None
    if compiled.run.plain:
        decide = compiled.function.deciding
        number_of = {place: number for place, number in number_of.items() if place not in decide}
    exact = {*range(len(words))}.difference(number_of.values()).union(alike.exact)
    if len(exact) > len(alike.exact):
        kept(reading.alike, key, replace(alike, exact=sorted(exact), known={}))
    elif known_by not in alike.known:
        kept(alike.known, known_by, None)
    elif apart is not None:
        template = made.on(own, number_of), compiled, [number_of[i] for i in apart]
        kept(alike.known, known_by, template)
    return made, compiled, own


def _words(
    function: Any, launcher: Any, reading: _Reading, names: Items, given: Items
) -> dict[int, int]:
    """The numbers of words that are read of arguments, by those of a launcher's that are the
    same."""
    numbers, read = dict[str, range](), list[Any]()
    for name, value in zip(*map(reading.others, (names, given)), strict=True):
        first = len(read) // 2
        items_of((value,), read)
        numbers[name] = range(first, len(read) // 2)
    of_arrays = {number for number, array in enumerate(read[1::2]) if array is not None}
    if not launcher.plain:
        rows = [number for name in function.arg_names for number in numbers.get(name, ())]
        return dict(enumerate(number for number in rows if number in of_arrays))
    return {
        place: number
        for place, (_, name, type_) in enumerate(launcher.plain)
        for number in numbers.get(name, ())
        if number in of_arrays or is_word(type_, read[2 * number])
    }


def _names(function: Any, args: Sequence[Any], options: Iterable[str]) -> list[str]:
    """The names of arguments that are given, and of options."""
    return [*function.arg_names[: len(args)], *options]
