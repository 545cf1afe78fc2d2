"""The reference pages of what users call: the Python API and the commands, from the code."""

import inspect
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import tilewright
from tilewright.tools.commands.parsers import COMMANDS, command_module, command_parser

API_NOTE = """
The public names of `tilewright`, their signatures and what they take: shapes as `[..., rows,
columns]`, leading axes in `...` free; sizes of memory in bytes, strides in elements.

## What is stable

- The names on this page, their parameters (by name, and by place where there is no `*` before
  them) and results, and the commands and options of [commands.md](commands.md). Anything else may
  change at any time.
- A minor version (0.1 to 0.2) may add names, parameters with defaults, and checks that reject what
  was undefined before. It may change the text of diagnostics, layouts of files under `--dump-dir`,
  the PTX that a kernel becomes, and order and names of passes.
- What is to go or to change otherwise is marked with `@deprecated` first: it works as before for
  one minor version at least, with a DeprecationWarning that names what takes its place, and
  stands under *Deprecated* in [CHANGELOG.md](../CHANGELOG.md), later under *Removed* or *Changed*.
- The arithmetic of `numerics="hardware"` follows the chips: where a chip shows a result to be
  wrong, it changes at once, and the changelog says so.

This page is compared with the code by the tests: a name or a signature that changes fails them
until `python docs/generate.py` writes it anew, and the review of that sees the difference.
"""


def api_page(names: Mapping[str, Any] | None = None) -> str:
    """docs/api.md: every public name."""
    public = {name: getattr(tilewright, name) for name in tilewright.__all__}
    entries = (_entry(name, value) for name, value in (names or public).items())
    return f"# The Python API\n{API_NOTE}\n" + "\n".join(entries)


def _entry(name: str, value: Any) -> str:
    """A public name: its signature, its docstring, its members."""
    said = inspect.getdoc(value) or ""
    parts = [
        f"## `{name}`",
        *_deprecation(value),
        f"```python\n{_declared(name, value)}\n```",
        said,
    ]
    for member, inner in _members(value):
        parts += [f"### `{name}.{member}`", *_deprecation(inner)]
        parts += [f"```python\n{_declared(member, inner)}\n```", inspect.getdoc(inner) or ""]
    return "\n\n".join(filter(None, parts)) + "\n"


def _deprecation(value: Any) -> Iterator[str]:
    if (message := getattr(value, "__deprecated__", None)) is not None:
        yield f"**Deprecated:** {message}"


def _declared(name: str, value: Any) -> str:
    """How a name is declared: `def atom(name: str, *, ...) -> MmaAtom`."""
    if inspect.ismodule(value):
        return f"import {value.__name__}"
    if isinstance(value, property):
        returns = inspect.signature(value.fget).return_annotation  # type: ignore[arg-type]
        return f"{name}: {returns}"
    if not inspect.isclass(value):
        return f"def {name}{_signature(value)}"
    if issubclass(value, Exception):
        return f"class {name}({', '.join(base.__name__ for base in value.__bases__)})"
    return f"class {name}{_signature(value)}"


def _signature(value: Any) -> str:
    """Parameters and result, a line each where there are several; private ones are left out."""
    signature = inspect.signature(value)
    kinds, shown = inspect.Parameter, list[str]()
    for parameter in signature.parameters.values():
        if parameter.name.startswith("_") or parameter.name == "self":
            continue
        if parameter.kind is kinds.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        stars = {kinds.VAR_POSITIONAL: "*", kinds.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        text = f"{stars}{parameter.name}"
        if parameter.annotation is not kinds.empty:
            text += f": {_written(parameter.annotation)}"
        if parameter.default is not kinds.empty:
            text += f" = {_written(parameter.default, repr)}"
        shown.append(text)
    result = signature.return_annotation
    returns = "" if result in (inspect.Signature.empty, None, "None") else f" -> {_written(result)}"
    if inspect.isclass(value):
        returns = ""
    lines = "".join(f"    {text},\n" for text in shown)
    return (f"(\n{lines})" if len(shown) > 1 else f"({', '.join(shown)})") + returns


def _written(value: Any, plain: Any = str) -> str:
    """An annotation or a default as the source has it."""
    forward = getattr(value, "__forward_arg__", value)
    return forward.__name__ if inspect.isclass(forward) else plain(forward)


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """The public functions of a module; methods and properties of a class, with a docstring."""
    if isinstance(value, ModuleType):
        yield from ((name, getattr(value, name)) for name in value.__all__)
    elif inspect.isclass(value) and value.__module__.startswith("tilewright."):
        for name in dict.fromkeys(name for class_ in value.__mro__ for name in vars(class_)):
            inner = inspect.getattr_static(value, name)
            function = inner.fget if isinstance(inner, property) else inner
            ours = inspect.isfunction(function) and function.__module__.startswith("tilewright.")
            if ours and not name.startswith("_"):
                yield name, inner


BAR = r"\|"
"""A bar within a cell of a table."""


def commands_page() -> str:
    """docs/commands.md: every command with its arguments."""
    entries = "\n".join(_command(name) for name in COMMANDS)
    return (
        "# Commands\n\nWritten by `python docs/generate.py` from the parsers; do not edit. Exit "
        "status: 0 fine, 1 the input is wrong (the diagnostic is on stderr), 2 wrong usage. "
        "`tilewright completion SHELL` prints a completion script for bash, zsh or fish.\n\n"
        f"{entries}"
    )


def _command(name: str) -> str:
    """A command: its description, its arguments."""
    command = command_module(name)
    rows = ""
    for action in command_parser(name, command)._actions[1:]:  # behind --help
        value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices
                                   else action.dest)  # fmt: skip
        spelled = ", ".join(action.option_strings) + (f" {value}" if action.nargs != 0 else "")
        cells = (f"`{spelled.strip()}`", " ".join((action.help or "").split()))
        rows += f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |\n"
    listed = f"| argument | |\n|---|---|\n{rows}\n" if rows else ""
    return f"## `tilewright {name}`\n\n```text\n{(command.__doc__ or '').strip()}\n```\n\n{listed}"
