"""Descriptors that are no more than their fields, on the command line: the instruction descriptor
of tcgen05.mma, and the zero-column mask of its weight-stationary form."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from tilewright.dialects.cute_nvgpu.descriptors.instruction_descriptor import (
    FIELDS,
    InstructionDescriptor,
)
from tilewright.dialects.cute_nvgpu.descriptors.zero_column_mask import FIELDS as MASK_FIELDS
from tilewright.dialects.cute_nvgpu.descriptors.zero_column_mask import ZeroColumnMask
from tilewright.dialects.cute_nvgpu.lattice.sm100 import UmmaKind
from tilewright.tools.commands.input import InputError, read_integer
from tilewright.tools.instructions.umma_explained import in_words
from tilewright.tools.render_table import table

FIELD_DESCRIPTORS = ("idesc", "zero-columns")

Row = tuple[str, str, str, object]
"""Name, bits, words and value of a field."""


def decode_fields(name: str, kind: str | None, text: str, *, json_wanted: bool) -> None:
    """Print the fields of a word."""
    word = read_integer(text)
    _print(name, kind, lambda: word, json_wanted=json_wanted)


def encode_fields(name: str, kind: str | None, text: str, *, json_wanted: bool) -> None:
    """Print the word of `field=value,...`, with its fields."""
    given = _assignments(text)
    _print(name, kind, lambda: _word(name, kind, given), json_wanted=json_wanted)


def _print(name: str, kind: str | None, word_of: Callable[[], int], *, json_wanted: bool) -> None:
    checked = _kind(name, kind)
    word = word_of()
    rows = list(_instruction(word, checked) if checked is not None else _mask(word))
    spelled = f"{word:#010x}" if checked is not None else f"{word:#018x}"
    if json_wanted:
        print(json.dumps({"word": spelled} | {name: value for name, _, _, value in rows}))
        return
    lines = table(
        [(f"bits {bits}", words, f"{name}={in_words(value)}") for name, bits, words, value in rows],
        indent="  ",
    )
    print("\n".join([spelled, *lines]))


def _kind(name: str, kind: str | None) -> UmmaKind | None:
    if (name == "idesc") != (kind is not None):
        expected = "a --kind" if name == "idesc" else "no --kind"
        raise InputError(f"desc --format {name} expected {expected}")
    return cast("UmmaKind | None", kind)


def _instruction(word: int, kind: UmmaKind) -> Iterator[Row]:
    fields = InstructionDescriptor.decode(word, kind)
    for field in sorted(FIELDS[kind], key=lambda entry: entry.bits.low):
        yield field.name, field.bits.bits, field.bits.words, getattr(fields, field.name)


def _mask(word: int) -> Iterator[Row]:
    ZeroColumnMask.decode(word)
    for field in MASK_FIELDS:
        more = 1 if field.name in ("used", "zeroed") else 0
        yield field.name, field.bits, field.words, field.get(word) + more


# Encoding


def _assignments(text: str) -> dict[str, str]:
    """`m=128,n=64` taken apart."""
    fields: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"expected fields such as m=128,n=64, got '{part}'")
        fields[name.strip()] = value.strip()
    return fields


def _word(name: str, kind: str | None, given: Mapping[str, str]) -> int:
    if name == "idesc":
        return _instruction_word(cast("UmmaKind", kind), given)
    legal = [field.name for field in MASK_FIELDS]
    _check_names(given, legal)
    values = {field: read_integer(value) for field, value in given.items()}
    starts, firsts = (
        tuple(values.get(f"{field}{i}", 0) for i in range(4)) for field in ("start", "first")
    )
    return ZeroColumnMask(
        values.get("used", 1),
        values.get("zeroed", 1),
        cast("tuple[int, int, int, int]", starts),
        cast("tuple[bool, bool, bool, bool]", tuple(map(bool, firsts))),
        values.get("shift", 0),
        bool(values.get("masked", 1)),
    ).encode()


def _instruction_word(kind: UmmaKind, given: Mapping[str, str]) -> int:
    fields = {field.name: field for field in FIELDS[kind]}
    _check_names(given, list(fields))
    values: dict[str, Any] = {}
    for name, text in given.items():
        spelled = {str(in_words(value)): value for value in fields[name].values}
        values[name] = spelled.get(text, text) if spelled else read_integer(text)
    needed = {"m", "n", "a_type", "b_type"} | ({"scale_type"} & fields.keys())
    if missing := sorted(needed - values.keys()):
        raise InputError(f"expected {', '.join(missing)} too for kind::{kind}")
    if "d_type" in fields and "d_type" not in values:
        values["d_type"] = fields["d_type"].values[-1]
    return InstructionDescriptor(kind=kind, **values).encode()


def _check_names(given: Mapping[str, str], legal: list[str]) -> None:
    for name in given:
        if name not in legal:
            raise InputError(f"expected a field of {', '.join(legal)}, got {name}")
