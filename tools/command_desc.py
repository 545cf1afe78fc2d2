"""Explain or build the 64-bit descriptors by which wgmma reads matrices in shared memory.

  tilewright desc decode 0x4000004000010040 [--type bf16] [--shape 64x16] [--major k]
  tilewright desc encode 'S<3,3,3> o 0 o (64,16):(64,1)' --type bf16 [--address 0x400]

A layout is (mn, k) -> offset in elements from --address, mn being M of A or N of B. Addresses are
those of 16-byte chunks, after the swizzle. PTX ISA 9.7.15.5.1.2.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from typing import cast

from tilewright.dialects.cute import ComposedLayout, Layout, LayoutParseError, Swizzle, parse_layout
from tilewright.dialects.cute_nvgpu.elements import ELEMENT_TYPES, ElementType
from tilewright.dialects.cute_nvgpu.smem_descriptor import (
    BIT_FIELDS,
    CHUNK,
    MAJOR_MODES,
    ROWS,
    DescriptorError,
    MajorMode,
    SmemDescriptor,
)
from tilewright.dialects.cute_nvgpu.solve_descriptor import solve
from tilewright.tools.command_input import InputError
from tilewright.tools.render_table import table

_K_BYTES = 32
"""What one dense wgmma reads along K."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=("decode", "encode"), help="say what a word means, or build one"
    )
    parser.add_argument(
        "what",
        metavar="WORD|LAYOUT",
        help="a 64-bit word (0x4000004000010040), or a layout in CuTe's notation",
    )
    parser.add_argument(
        "--type", default="f16", choices=_TYPES, metavar="TYPE", help=", ".join(_TYPES)
    )
    parser.add_argument(
        "--major", choices=MAJOR_MODES, help="which way it lies; otherwise both, or what fits"
    )
    parser.add_argument(
        "--shape", metavar="MNxK", help="decode: extents in elements; otherwise one swizzle atom"
    )
    parser.add_argument(
        "--address", metavar="N", help="encode: where offset 0 lies in the shared window (0)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")


_TYPES = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "b1")
"""What wgmma multiplies."""


def run(options: argparse.Namespace) -> None:
    element = ELEMENT_TYPES[options.type]
    other = "address" if options.action == "decode" else "shape"
    if getattr(options, other) is not None:
        raise InputError(f"desc {options.action} expected no --{other}")
    try:
        if options.action == "decode":
            _decode(options, element)
        else:
            _encode(options, element)
    except DescriptorError as error:
        raise InputError(str(error)) from None


# decode


def _decode(options: argparse.Namespace, element: ElementType) -> None:
    descriptor = SmemDescriptor.decode(_integer(options.what))
    readings: dict[MajorMode, tuple[int, int]] = {
        major: _extents(options.shape, major, descriptor, element)
        for major in _majors(options.major, element)
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


def _majors(asked: MajorMode | None, element: ElementType) -> tuple[MajorMode, ...]:
    """The ways in which a matrix of the element type may lie, or the one asked for."""
    legal = MAJOR_MODES if element.bits == 16 else MAJOR_MODES[:1]
    if asked is None:
        return legal
    if asked not in legal:
        raise InputError(
            f"expected --major {' or '.join(legal)} for {element.name}, got {asked} "
            "(only f16 and bf16 lie MN-major; PTX ISA 9.7.15.5.2)"
        )
    return (asked,)


def _extents(
    shape: str | None, major: MajorMode, descriptor: SmemDescriptor, element: ElementType
) -> tuple[int, int]:
    """(mn, k): as asked for, or what one swizzle atom has of an instruction's K."""
    if shape is not None:
        match = re.fullmatch(r"(\d+)x(\d+)", shape)
        if match is None:
            raise InputError(f"expected --shape MNxK such as 64x16, got '{shape}'")
        return int(match[1]), int(match[2])
    k = _K_BYTES * 8 // element.bits
    if major == "k":
        return ROWS, k
    return (8 * CHUNK // element.bits) << descriptor.swizzle_bits, k


def _fields(descriptor: SmemDescriptor) -> dict[str, object]:
    values = {field.name: getattr(descriptor, field.name) for field in BIT_FIELDS[:-1]}
    return {"word": f"{descriptor.encode():#018x}", "swizzle": descriptor.swizzle, **values}


def _field_lines(descriptor: SmemDescriptor) -> Iterator[str]:
    yield f"{descriptor.encode():#018x}"
    notes = {
        "base_offset": "" if descriptor.swizzle else "ignored without a swizzle",
        "swizzle_mode": _swizzle_words(descriptor),
    }
    rows = [
        (f"bits {field.bits}", field.words, _shown(descriptor, field.name)) for field in BIT_FIELDS
    ]
    noted = [(*row, notes.get(field.name, "")) for row, field in zip(rows, BIT_FIELDS, strict=True)]
    yield from table(noted, indent="  ")


def _shown(descriptor: SmemDescriptor, name: str) -> str:
    value = getattr(descriptor, name)
    return str(value) if name in ("base_offset", "swizzle_mode") else f"{value:#x} ({value})"


def _swizzle_words(descriptor: SmemDescriptor) -> str:
    if not descriptor.swizzle:
        return "no swizzle"
    return f"{descriptor.swizzle} bytes, S<{descriptor.swizzle_bits},4,3> on addresses"


def _reading(
    descriptor: SmemDescriptor, major: MajorMode, extents: tuple[int, int], element: ElementType
) -> dict[str, object]:
    """The matrix that a descriptor means when it is read as `major`."""
    addresses = descriptor.addresses(major, extents, element.bits)
    step = 8 * CHUNK // element.bits
    chunks = addresses[:, ::step] if major == "k" else addresses[::step].T
    return {
        "layout": str(_composed(descriptor, major, extents, element)),
        "chunks": [[int(each) // 8 for each in row] for row in chunks],
    }


def _composed(
    descriptor: SmemDescriptor, major: MajorMode, extents: tuple[int, int], element: ElementType
) -> Layout | ComposedLayout:
    layout = descriptor.layout(major, extents, element.bits)
    if not descriptor.swizzle:
        return layout
    base = 4 - (element.bits.bit_length() - 4)
    return ComposedLayout(Swizzle(descriptor.swizzle_bits, base, 3), 0, layout)


def _reading_lines(
    descriptor: SmemDescriptor, major: MajorMode, extents: tuple[int, int], element: ElementType
) -> Iterator[str]:
    found = _reading(descriptor, major, extents, element)
    other = "mn" if major == "k" else "k"
    rows = cast("list[list[int]]", found["chunks"])
    yield ""
    yield (f"{major.upper()}-major, {extents[0]}x{extents[1]} of {element.name}: {found['layout']}")
    step = 8 * CHUNK // element.bits
    heading = [other, *(f"{major}={step * i}" for i in range(len(rows[0])))]
    body = [[str(i), *(f"{each:#x}" for each in row)] for i, row in enumerate(rows)]
    yield from table([heading, *body], indent="  ")


# encode


def _encode(options: argparse.Namespace, element: ElementType) -> None:
    try:
        layout = parse_layout(options.what)
    except LayoutParseError as error:
        raise InputError(str(error)) from None
    majors = _majors(options.major, element)
    tile = solve(layout, element.bits, majors[0] if len(majors) == 1 else None)
    descriptor = tile.at(_integer(options.address or "0"))
    if options.json:
        print(json.dumps(_fields(descriptor) | {"major": tile.major}))
        return
    print("\n".join(_field_lines(descriptor)))
    print(f"  {tile.major.upper()}-major")


def _integer(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise InputError(f"expected an integer such as 0x400, got '{text}'") from None
