"""Compiled kernels as JSON: what their launch needs, and remarks; attributes are MLIR text."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from xdsl.context import Context
from xdsl.ir import Attribute
from xdsl.parser import Parser

from tilewright.arguments.parameters import Parameter
from tilewright.kernel import Entry, Kernel
from tilewright.lowering.cuda_tile.analysis.remarks import Remark
from tilewright.parsing import default_context


def record_of(kernel: Kernel) -> dict[str, Any]:
    """A kernel as what JSON can hold."""
    return {
        "ptx": kernel.ptx,
        "arch": kernel.arch,
        "entries": [_entry_record(entry) for entry in kernel.entries],
        "remarks": [asdict(remark) for remark in kernel.remarks],
    }


def kernel_of(record: Any) -> Kernel:
    """The inverse of `record_of`."""
    entries = tuple(_entry(row) for row in record["entries"])
    remarks = tuple(Remark(**row) for row in record["remarks"])
    return Kernel(record["ptx"], entries, record["arch"], None, remarks)


def _entry_record(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "parameters": entry.parameters,
        "shared_bytes": entry.shared_bytes,
        "block": entry.block,
        "cluster": entry.cluster,
        "arguments": [_parameter_record(parameter) for parameter in entry.arguments],
        "parts": entry.parts and [_parameter_record(parameter) for parameter in entry.parts],
        "ctas": entry.ctas,
        "takes_blocks": entry.takes_blocks,
    }


def _entry(row: Any) -> Entry:
    return Entry(
        row["name"],
        tuple((name, text) for name, text in row["parameters"]),
        row["shared_bytes"],
        row["block"] and tuple(row["block"]),
        row["cluster"] and tuple(row["cluster"]),
        tuple(_parameter(parameter) for parameter in row["arguments"]),
        row["parts"] and tuple(_parameter(parameter) for parameter in row["parts"]),
        row["ctas"],
        row["takes_blocks"],
    )


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
