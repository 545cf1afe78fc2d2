"""Launches of Triton kernels like one before, found by what is read of their arguments in place of
all that Triton asks of them.

A launch of the same arguments, numbers included, wherever its arrays lie, has a template, while
what is written is apart from other arrays where that was assumed. For others that Triton
specializes alike there is the kernel that it has compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from tilewright.launch.known_launches import MOST, Items, kept
from tilewright.launch.plan import LaunchTemplate
from tilewright.source.diagnostic import ArgumentError
from tilewright.triton.gpu import DeviceKernel
from tilewright.triton.items import DESCRIPTOR, are_apart, items_of, reached, size_of

_Template = tuple[LaunchTemplate, Any, Sequence[int]]
"""A template, its compiled kernel, and the numbers of the arrays that are apart from others."""
_TEMPLATES: dict[Any, _Template] = {}
_SEEN: dict[int, None] = {}
"""Hashes of the keys of launches of which there was one, as numbers are no garbage collector's."""
_COMPILED: dict[Any, tuple[Any, Mapping[int, int]]] = {}
"""A compiled kernel, and which of the arrays that are read the words that it is given are."""


def relaunching(run: Callable[..., Any]) -> Callable[..., Any]:
    """Triton's `JITFunction.run`, which lets a launch that is like one before go without checks."""
    driver: Any = import_module("triton.runtime.driver").driver
    knobs: Any = import_module("triton").knobs

    def launch(function: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        arrays: list[Any] = []
        active, key, device = driver.active, None, 0
        if not (warmup or function.pre_run_hooks or _is_watched(knobs.runtime)):
            looked_up = knobs.runtime.debug, knobs.compilation.instrumentation_mode
            device = active.get_current_device()
            caches = function.device_caches.get(device)
            if caches and caches[0]:  # Triton's own is emptied where kernels are to be made anew
                key = _key(function, (device, looked_up), args, grid, options, arrays)
        if key is None:
            return run(function, *args, grid=grid, warmup=warmup, **options)
        known = _TEMPLATES.get(key)
        if known is None or (known[2] and not are_apart(known[2], map(reached, arrays[1::2]))):
            known = _made(function, key, args, options)
        else:
            known = *known[:2], arrays[::2]
        if known is None:
            compiled = run(function, *args, grid=grid, warmup=warmup, **options)
            if isinstance(getattr(compiled, "function", None), DeviceKernel):
                words = compiled.run.array_words([*_bound(function, args, options).values()])
                numbers = _numbers(function, args, options)
                number_of = dict(zip(words.values(), numbers, strict=True))
                kept(_COMPILED, _assumed(function, key, args), (compiled, number_of))
            return compiled
        template, compiled, words = known
        active.launches += 1
        template.start(words, active.get_current_stream(device))
        return compiled

    return launch


def _is_watched(runtime: Any) -> bool:
    """True where hooks are to be told of launches."""
    enter, leave = runtime.launch_enter_hook, runtime.launch_exit_hook
    return bool(getattr(enter, "calls", enter) or getattr(leave, "calls", leave))


def _key(
    function: Any, where: Items, args: Items, grid: Any, options: Mapping[str, Any],
    arrays: list[Any],
) -> Items | None:  # fmt: skip
    """The function as it is, where it runs, the grid, the names of options, and the items, whose
    arrays are added to others; None where they are no key, or where a global that the function
    reads has changed."""
    if function.hash is None:  # its text is another one since it was compiled
        return None
    for (name, _), (value, scope) in function.used_global_vals.items():
        if name not in scope or scope[name] != value:
            return None
    if callable(grid):
        grid = grid(_bound(function, args, options))
    items = items_of((*args, *options.values()), arrays)
    if items is None:
        return None
    # a method is known by its object, where the object asks for its text
    own = function.__getitem__, function.hash, where
    return own, (*grid, 1, 1)[:3], tuple(options), items


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
    function: Any, key: Any, args: Items, options: Mapping[str, Any]
) -> tuple[LaunchTemplate, Any, Sequence[int]] | None:
    """A template, its compiled kernel, and the words that it is given; None where there is none, or
    where the arguments do not fit: what checks all of them says why. What comes a second time has a
    template of its own from then on."""
    grid = key[1]
    if 0 in grid or (known := _COMPILED.get(_assumed(function, key, args))) is None:
        return None
    compiled, number_of = known
    bound = _bound(function, args, options)
    try:
        (made, apart), words = compiled.run.launch(compiled.function, grid, [*bound.values()])
    except ArgumentError:
        return None
    if (seen := hash(key)) not in _SEEN:
        kept(_SEEN, seen, None)
    elif apart is not None:
        own = made.on(words, number_of), compiled, [number_of[i] for i in apart]
        kept(_TEMPLATES, key, own)
    return made, compiled, words


def _numbers(function: Any, args: Items, options: Mapping[str, Any]) -> list[int]:
    """Those of the arrays among all that are read, in the order of the parameters."""
    numbers, first = dict[str, range](), 0
    given = zip(_names(function, args, options), (*args, *options.values()), strict=True)
    for name, value in given:
        arrays: list[Any] = []
        items_of((value,), arrays)
        numbers[name] = range(first, first + len(arrays) // 2)
        first += len(arrays) // 2
    return [number for name in function.arg_names for number in numbers.get(name, ())]


def _names(function: Any, args: Sequence[Any], options: Iterable[str]) -> list[str]:
    """The names of arguments that are given, and of options."""
    return [*function.arg_names[: len(args)], *options]


def _assumed(function: Any, key: Any, args: Items) -> Any:
    """All but what launches of one compiled kernel may differ in: the grid, numbers but for what
    Triton specializes for."""
    own, _, options, items = key
    rows = zip(_is_variable(function, len(args), options), items, strict=True)
    return own, options, tuple([_specialized(item) if varies else item for varies, item in rows])


@lru_cache(MOST)
def _is_variable(function: Any, count: int, options: tuple[str, ...]) -> list[bool]:
    """Which of so many arguments, and of options, are those of parameters that are no constants."""
    names = {name for i, name in enumerate(function.arg_names) if i not in function.constexprs}
    return [name in names for name in _names(function, range(count), options)]


def _specialized(item: Items) -> Any:
    kind, value, *_ = item
    if kind is int:
        return int, value == 1, value % 16 == 0, size_of(value)
    if kind is float:
        return float
    if kind == DESCRIPTOR:
        return kind, value
    if kind is tuple:
        return kind, tuple(map(_specialized, value))
    return item
