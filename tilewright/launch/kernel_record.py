"""Compiled kernels as JSON: what their launch needs, and remarks; attributes are MLIR text."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from functools import cache
from typing import Any, TypeVar

from xdsl.context import Context
from xdsl.ir import Attribute
from xdsl.parser import Parser

from tilewright.arguments.parameters import Parameter
from tilewright.launch.kernel import CompiledCode, Entry
from tilewright.passes.cuda_tile.analysis.remarks import Remark
from tilewright.source.parsing import default_context

_TYPED = ("arguments", "parts")
"""The fields of an entry that are parameters of it or of what it was made from."""


def record_of(kernel: CompiledCode) -> dict[str, Any]:
    """A kernel as what JSON can hold."""
    return {
        "ptx": kernel.ptx,
        "arch": kernel.arch,
        "entries": [_entry_record(entry) for entry in kernel.entries],
        "remarks": [asdict(remark) for remark in kernel.remarks],
    }


_Code = TypeVar("_Code", bound=CompiledCode)


def kernel_of(record: Any, kind: type[_Code]) -> _Code:
    """The inverse of `record_of`."""
    entries = tuple(_entry(row) for row in record["entries"])
    remarks = tuple(Remark(**row) for row in record["remarks"])
    return kind(record["ptx"], entries, record["arch"], remarks)


def _entry_record(entry: Entry) -> dict[str, Any]:
    row = {field.name: getattr(entry, field.name) for field in fields(Entry)}
    return row | {name: row[name] and list(map(_parameter_record, row[name])) for name in _TYPED}


def _entry(row: Any) -> Entry:
    typed: dict[str, Any] = {
        name: row[name] and tuple(map(_parameter, row[name])) for name in _TYPED
    }
    return Entry(**{name: _frozen(value) for name, value in row.items()} | typed)


def _frozen(value: Any) -> Any:
    """Lists, which are all that JSON has, as tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value  # pyright: ignore


def _parameter_record(parameter: Parameter) -> Sequence[str | None]:
    """The name, the text of the type, the type, and the source."""
    attributes = (parameter.type, parameter.source)
    return parameter.name, parameter.text, *(a and str(a) for a in attributes)


def _parameter(row: Any) -> Parameter:
    name, text, type_, source = row
    of: Any = source and _attribute(source)
    return Parameter(name, text, type_ and _attribute(type_), of)


@cache
def _attribute(text: str) -> Attribute:
    parser = Parser(_context(), text)
    return parser.parse_attribute()


@cache
def _context() -> Context:
    return default_context()
