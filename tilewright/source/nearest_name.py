"""The nearest legal name of a slip in IR text, from what the parser says of it."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from xdsl.context import Context
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS
from xdsl.ir import Operation, TypeAttribute
from xdsl.irdl import IRDLOperation
from xdsl.utils.arg_spec import parse_pipeline

from tilewright.source.diagnostic import ArgumentError

_UNREGISTERED = re.compile(r"(Operation )?'?(?<![\w.$])([\w.$]+)'? is not registered")
_LISTED = re.compile(r"expected ((?:[\w.]+, )+[\w.]+), got ([\w.]+)$")
_UNDEFINED = re.compile(r"property '(\w+)' is not defined by the operation")
_CHOICES = re.compile(r"Expected (`\w+`(?:, (?:or )?`\w+`)*)")
_KEYWORD = re.compile(r"(?:Expected '(\w+)'|'(\w+)' expected)")
_UNSEEN = re.compile(r"values used but not defined: \[%([\w$.-]+)")
_RELATION = re.compile(r"Unknown comparison mnemonic: (\w+)")
_TYPES = ("f16", "bf16", "f32", "f64", "tf32", "i1", "i8", "i16", "i32", "i64", "index", "vector",
          "memref", "tensor", "none", "f8E4M3FN", "f8E5M2", "si8", "ui8", "si4", "ui4",
          "complex")  # fmt: skip
_WORDS = ("fastmath", "attributes", "loc", "iter_args", "step", "to", "from", "else", "do", "into",
          "bounds", "accumulate", "pipeline", "multicast", "dimension", "overflow")  # fmt: skip
_ATTRIBUTES = ("true", "false", "dense", "array", "unit", "loc", "affine_map", "affine_set")
_FASTMATH = ("fast", "none")
"""Flags that stand for others, which xDSL's message leaves out."""
_WORD = re.compile(r"[A-Za-z_][\w.]*")


def nearest_name(message: str, text: str, position: int, context: Context) -> str | None:
    """The name that was probably meant where a parser complains, or None."""
    if (match := _UNREGISTERED.search(message)) is not None:
        name = _of_dialect(match[2], match[1] is not None, context)
        return name or (None if "." in match[2] else close_name(match[2], _WORDS, cutoff=0.7))
    if (match := _UNSEEN.search(message)) is not None:
        others = [name for name in _defined(text) if name != match[1]]
        meant = close_name(match[1], others, cutoff=0.4)
        return None if meant is None else f"%{meant}"
    if (match := _LISTED.search(message)) is not None:
        return close_name(match[2], match[1].split(", "))
    if (match := _RELATION.search(message)) is not None:
        return close_name(match[1], (*CMPF_COMPARISON_OPERATIONS, *CMPI_COMPARISON_OPERATIONS))
    word = _WORD.match(text, position)
    return None if word is None else close_name(word[0], _legal(message))


def _legal(message: str) -> Iterable[str]:
    """The words that may stand where a parser expects something."""
    if (match := _CHOICES.search(message)) is not None:
        flags = re.findall(r"\w+", match[1])
        return [word for word in flags if word != "or"] + list(_FASTMATH if "nnan" in flags else ())
    if (match := _KEYWORD.search(message)) is not None:
        return [match[1] or match[2]]
    low = message.lower()
    if low.endswith("attribute expected"):
        return _ATTRIBUTES
    if low.endswith("type expected"):
        return _TYPES
    return _WORDS if low.endswith(("expected ':'", "expected region!")) else ()


def _defined(text: str) -> Iterable[str]:
    """The names of the values that a text defines: results, and arguments of blocks."""
    defined = re.finditer(r"%([\w$.-]+)(?::\d+)?(?=\s*(?:,\s*%[\w$.-]+\s*)*=|\s*:\s*[\w!])", text)
    return dict.fromkeys(match[1] for match in defined)


def check_pass_names(pipeline: str, known: Iterable[str]) -> None:
    """Raise ArgumentError for a pass of a pipeline's text that is not known."""
    legal = set(known)
    for spec in parse_pipeline(pipeline):
        if spec.name not in legal:
            meant = close_name(spec.name, sorted(legal))
            nearest = "" if meant is None else f"; nearest legal: {meant}"
            raise ArgumentError(f"expected the name of a pass, got '{spec.name}'{nearest}")


def nearest_property(op: Operation, message: str) -> str | None:
    """The property that was probably meant where a verifier does not know one, or None."""
    match = _UNDEFINED.search(message)
    if match is None or not isinstance(op, IRDLOperation):
        return None
    return close_name(match[1], op.get_irdl_definition().properties)


def close_name(name: str, legal: Iterable[str], cutoff: float = 0.5) -> str | None:
    """The legal name that is most like one, or None where none is."""
    return next(iter(get_close_matches(name, list(legal), n=1, cutoff=cutoff)), None)


def _of_dialect(name: str, is_op: bool, context: Context) -> str | None:
    """The op, or the type or attribute, of a dialect that is called most nearly so."""
    prefix, _, rest = name.partition(".")
    dialects = context.registered_dialect_names
    dialect_name = prefix if prefix in dialects else close_name(prefix, dialects, cutoff=0.6)
    dialect = None if dialect_name is None else context.get_optional_dialect(dialect_name)
    if dialect is None or not rest:
        return dialect_name if dialect is not None else None
    names = [one.name for one in (dialect.operations if is_op else dialect.attributes)]
    meant = close_name(f"{dialect_name}.{rest}", names, cutoff=0.0)
    same = next(
        (one for one in dialect.attributes if not is_op and one.name == name == meant), None
    )
    if same is not None:  # a type for an attribute, or the other way round
        return f"{'!' if issubclass(same, TypeAttribute) else '#'}{name}"
    return meant
