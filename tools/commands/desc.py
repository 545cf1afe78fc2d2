"""Explain or build the 64-bit descriptors by which wgmma and tcgen05 read matrices in shared
memory, the 32-bit instruction descriptor of tcgen05.mma, and its zero-column mask.

  tilewright desc 0x4000004000010040
  tilewright desc decode 0x4000004000010040 [--type bf16] [--shape 64x16] [--major k]
  tilewright desc encode 'S<3,3,3> o 0 o (64,16):(64,1)' --type bf16 [--address 0x400]
  tilewright desc decode 0x4000404000010040 --format tcgen05 --type bf16
  tilewright desc decode 0x08200490 --format idesc --kind f16
  tilewright desc encode m=128,n=128,a_type=bf16,b_type=bf16 --format idesc --kind f16
  tilewright desc encode used=3,zeroed=1 --format zero-columns

A layout is (mn, k) -> offset in elements from --address, mn being M of A or N of B. Addresses are
those of 16-byte chunks, after the swizzle. PTX ISA 9.7.15.5.1.2 and 9.7.16.4.
"""

import argparse
import json
import re
from collections.abc import Iterator
from typing import cast

from tilewright.dialects.cute import ComposedLayout, Swizzle, parse_layout
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import KINDS
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import BitField
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    CHUNK,
    FORMATS,
    MAJOR_MODES,
    WGMMA,
    DescriptorFormat,
    MajorMode,
    SmemDescriptor,
)
from tilewright.dialects.cute_nvgpu.descriptors.solve_descriptor import solve
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, UNPACKED, ElementType
from tilewright.tools.commands.field_descriptors import (
    FIELD_DESCRIPTORS,
    decode_fields,
    encode_fields,
)
from tilewright.tools.commands.input import InputError, add_options, read_integer
from tilewright.tools.render_table import table

_K_BYTES = 32
"""The bytes that one dense wgmma reads along K."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        f"""
action: say what a word means, which is meant where it is left out, or build one
what WORD|LAYOUT|FIELDS: a word (0x4000004000010040), a layout in CuTe's notation, or fields:
    m=128,n=64
--format: whose descriptor it is (wgmma)
--kind: idesc: that of the tcgen05.mma
--type TYPE: {", ".join(_ALL_TYPES)}
--major: which way it lies; otherwise both, or what fits
--shape MNxK: decode: extents in elements; otherwise one swizzle atom
--address N: encode: where offset 0 lies in the shared window (0)
--json: one JSON object
""",
        action={"choices": ("decode", "encode"), "nargs": "?", "default": "decode"},
        format={"default": WGMMA.name, "choices": (*FORMATS, *FIELD_DESCRIPTORS)},
        kind={"choices": KINDS},
        type={"default": "f16", "choices": _ALL_TYPES},
        major={"choices": MAJOR_MODES},
    )


_COMMON = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8")
_UNPACKED = "e2m1-unpacked"
_TYPES = {"wgmma": (*_COMMON, "b1"), "tcgen05": (*_COMMON, "e2m3", "e3m2", "e2m1", _UNPACKED)}
"""The types that each multiplies: e2m1 is that of kind::mxf4; unpacked, of kind::f8f6f4."""

_ALL_TYPES = tuple(dict.fromkeys(name for names in _TYPES.values() for name in names))


def run(options: argparse.Namespace) -> None:
    if options.format in FIELD_DESCRIPTORS:
        if options.action == "decode":
            decode_fields(options.format, options.kind, options.what, json_wanted=options.json)
        else:
            encode_fields(options.format, options.kind, options.what, json_wanted=options.json)
        return
    if options.kind is not None:
        raise InputError(f"desc --format {options.format} expected no --kind")
    element = _element(options)
    other = "address" if options.action == "decode" else "shape"
    if getattr(options, other) is not None:
        raise InputError(f"desc {options.action} expected no --{other}")
    if options.action == "decode":
        _decode(options, element)
    else:
        _encode(options, element)


def _element(options: argparse.Namespace) -> ElementType:
    """The element type. Raises InputError for one that the format's instructions do not take."""
    legal = _TYPES[options.format]
    if options.type not in legal:
        raise InputError(
            f"expected --type of {', '.join(legal)} for {options.format}, got {options.type}"
        )
    if options.type == _UNPACKED:
        return UNPACKED["e2m1"]
    return ELEMENT_TYPES[options.type]


# decode


def _decode(options: argparse.Namespace, element: ElementType) -> None:
    descriptor = SmemDescriptor.decode(read_integer(options.what), FORMATS[options.format])
    readings: dict[MajorMode, tuple[int, int]] = {
        major: _extents(options.shape, major, descriptor, element)
        for major in _majors(options.major, element, descriptor.format)
        if not descriptor.absolute
    }
    if options.json:
        read = {
            major: _reading(descriptor, major, extents, element)
            for major, extents in readings.items()
        }
        print(json.dumps(_fields(descriptor) | read))
        return
    lines = [*_field_lines(descriptor)]
    for major, extents in readings.items():
        lines += _reading_lines(descriptor, major, extents, element)
    print("\n".join(lines))


def _majors(
    asked: MajorMode | None, element: ElementType, format: DescriptorFormat
) -> tuple[MajorMode, ...]:
    """The ways in which a matrix of the element type may lie, or the one asked for."""
    wide = 16 if format is WGMMA else 8
    turns = element.bits == 16 or (format is not WGMMA and element.bits >= wide)
    legal = MAJOR_MODES if turns and not element.padded else MAJOR_MODES[:1]
    if asked is None:
        return legal
    if asked not in legal:
        why = (
            "only f16 and bf16 lie MN-major; PTX ISA 9.7.15.5.2"
            if format is WGMMA
            else "elements of 6 and 4 bits lie K-major; PTX ISA, tcgen05 major-ness"
        )
        raise InputError(
            f"expected --major {' or '.join(legal)} for {element.name}, got {asked} ({why})"
        )
    return (asked,)


def _extents(
    shape: str | None, major: MajorMode, descriptor: SmemDescriptor, element: ElementType
) -> tuple[int, int]:
    """(mn, k): as asked for, or what one swizzle atom has of an instruction's K."""
    if shape is not None:
        match = re.fullmatch(r"([1-9]\d{0,5})x([1-9]\d{0,5})", shape)
        if match is None:
            raise InputError(f"expected --shape MNxK such as 64x16, got '{shape}'")
        return int(match[1]), int(match[2])
    k = _K_BYTES * 8 // element.bits
    if major == "k":
        return descriptor.mode.rows, k
    return 8 * (descriptor.swizzle or CHUNK) // element.bits, k


def _fields(descriptor: SmemDescriptor) -> dict[str, object]:
    values = {field.name: descriptor.value(field) for field in descriptor.format.fields[:-1]}
    return {"word": f"{descriptor.encode():#018x}", "swizzle": descriptor.swizzle, **values}


def _field_lines(descriptor: SmemDescriptor) -> Iterator[str]:
    yield f"{descriptor.encode():#018x}"
    notes = {
        "base_offset": "" if descriptor.swizzle else "ignored without a swizzle",
        "swizzle_mode": _swizzle_words(descriptor),
    }
    rows = [
        (f"bits {field.bits}", field.words, _shown(descriptor, field), notes.get(field.name, ""))
        for field in descriptor.format.fields
    ]
    yield from table(rows, indent="  ")


def _shown(descriptor: SmemDescriptor, field: BitField) -> str:
    value = descriptor.value(field)
    return f"{value:#x} ({value})" if field.shift else str(value)


def _swizzle_words(descriptor: SmemDescriptor) -> str:
    if not descriptor.swizzle:
        return "no swizzle"
    return f"{descriptor.mode.words}, {descriptor.mode.pattern} on addresses"


def _reading(
    descriptor: SmemDescriptor, major: MajorMode, extents: tuple[int, int], element: ElementType
) -> dict[str, object]:
    """The matrix that a descriptor means when it is read as `major`."""
    addresses = descriptor.addresses(major, extents, element.bits)
    step = 8 * CHUNK // element.bits
    chunks = addresses[:, ::step] if major == "k" else addresses[::step].T
    return {
        "layout": str(_composed(descriptor, major, extents, element)),
        "chunks": [[int(number) // 8 for number in row] for row in chunks],
    }


def _composed(
    descriptor: SmemDescriptor, major: MajorMode, extents: tuple[int, int], element: ElementType
) -> AnyLayout:
    layout = descriptor.layout(major, extents, element.bits)
    if not descriptor.swizzle:
        return layout
    pattern = descriptor.mode.pattern
    base = pattern.base - (element.bits.bit_length() - 4)
    return ComposedLayout(Swizzle(pattern.bits, base, pattern.shift), 0, layout)


def _reading_lines(
    descriptor: SmemDescriptor, major: MajorMode, extents: tuple[int, int], element: ElementType
) -> Iterator[str]:
    reading = _reading(descriptor, major, extents, element)
    other = "mn" if major == "k" else "k"
    rows = cast("list[list[int]]", reading["chunks"])
    yield ""
    yield (
        f"{major.upper()}-major, {extents[0]}x{extents[1]} of {element.name}: {reading['layout']}"
    )
    step = 8 * CHUNK // element.bits
    heading = [other, *(f"{major}={step * i}" for i in range(len(rows[0])))]
    body = [[str(i), *(f"{number:#x}" for number in row)] for i, row in enumerate(rows)]
    yield from table([heading, *body], indent="  ")


# encode


def _encode(options: argparse.Namespace, element: ElementType) -> None:
    layout, format = parse_layout(options.what), FORMATS[options.format]
    majors = _majors(options.major, element, format)
    tile = solve(layout, element.bits, majors[0] if len(majors) == 1 else None, format)
    descriptor = tile.at(read_integer(options.address or "0"))
    if options.json:
        print(json.dumps(_fields(descriptor) | {"major": tile.major}))
        return
    print("\n".join(_field_lines(descriptor)))
    print(f"  {tile.major.upper()}-major")
