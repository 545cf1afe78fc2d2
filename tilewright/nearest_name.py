"""The nearest legal name of a slip in IR text, from what the parser says of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from xdsl.context import Context
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS
from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation

_UNREGISTERED = re.compile(r"(Operation )?'?([\w.$]+)'? is not registered")
_LISTED = re.compile(r"expected ((?:[\w.]+, )+[\w.]+), got ([\w.]+)$")
_UNDEFINED = re.compile(r"property '(\w+)' is not defined by the operation")
_RELATION = re.compile(r"Unknown comparison mnemonic: (\w+)")
_TYPES = ("f16", "bf16", "f32", "f64", "tf32", "i1", "i8", "i16", "i32", "i64", "index", "vector",
          "memref", "tensor", "none", "f8E4M3FN", "f8E5M2")  # fmt: skip
_WORDS = ("fastmath", "attributes", "loc", "iter_args", "step", "to", "from", "else", "do", "into",
          "bounds", "accumulate", "pipeline", "multicast", "dimension", "overflow")  # fmt: skip
_WORD = re.compile(r"[A-Za-z_][\w.]*")


def nearest_name(message: str, text: str, position: int, context: Context) -> str | None:
    """The name that was probably meant where a parser complains, or None."""
    if (match := _UNREGISTERED.search(message)) is not None:
        return _of_dialect(match[2], match[1] is not None, context)
    if (match := _LISTED.search(message)) is not None:
        return _close(match[2], match[1].split(", "))
    if (match := _RELATION.search(message)) is not None:
        return _close(match[1], (*CMPF_COMPARISON_OPERATIONS, *CMPI_COMPARISON_OPERATIONS))
    word = _WORD.match(text, position)
    if word is None or not message.lower().endswith(("type expected", "expected ':'")):
        return None
    return _close(word[0], _TYPES if "type" in message else _WORDS)


def nearest_property(op: Operation, message: str) -> str | None:
    """The property that was probably meant where a verifier does not know one, or None."""
    match = _UNDEFINED.search(message)
    if match is None or not isinstance(op, IRDLOperation):
        return None
    return _close(match[1], op.get_irdl_definition().properties)


def _close(name: str, legal: Iterable[str], cutoff: float = 0.5) -> str | None:
    return next(iter(get_close_matches(name, list(legal), n=1, cutoff=cutoff)), None)


def _of_dialect(name: str, is_op: bool, context: Context) -> str | None:
    """The op, or the type or attribute, of a dialect that is called most nearly so."""
    prefix, _, rest = name.partition(".")
    dialects = context.registered_dialect_names
    dialect_name = prefix if prefix in dialects else _close(prefix, dialects, cutoff=0.6)
    dialect = None if dialect_name is None else context.get_optional_dialect(dialect_name)
    if dialect is None or not rest:
        return dialect_name if dialect is not None else None
    return _close(f"{dialect_name}.{rest}", _names(dialect, is_op), cutoff=0.0)


def _names(dialect: Dialect, is_op: bool) -> list[str]:
    return [one.name for one in (dialect.operations if is_op else dialect.attributes)]
