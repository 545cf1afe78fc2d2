"""The instruction descriptor: its bits, both ways, and what it cannot say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import KINDS
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.instruction_descriptor import (
    FIELDS,
    InstructionDescriptor,
)
from tilewright.dialects.cute_nvgpu.lattice.sm100 import UmmaKind


@pytest.mark.parametrize(
    "word, fields",
    [
        (0x08200490, {"kind": "f16", "a_type": "bf16", "b_type": "bf16"}),
        (0x08200010, {"kind": "f16", "a_type": "f16", "b_type": "f16"}),
        (0x08200000, {"kind": "f16", "a_type": "f16", "b_type": "f16", "d_type": "f16"}),
        (0x08A00000 + (3 << 29) + (3 << 4),
         {"kind": "mxf8f6f4", "a_type": "e4m3", "b_type": "e4m3", "scale_type": "ue8m0",
          "sfa_id": 3, "sfb_id": 3}),
        (0x08200480,
         {"kind": "mxf4nvf4", "a_type": "e2m1", "b_type": "e2m1", "scale_type": "ue4m3"}),
        (0x88200480,
         {"kind": "mxf4nvf4", "a_type": "e2m1", "b_type": "e2m1", "scale_type": "ue4m3",
          "long_k": True}),
        (0x08200480 | 1 << 23,
         {"kind": "mxf4", "a_type": "e2m1", "b_type": "e2m1", "scale_type": "ue8m0"}),
        (1 << 3 | 2 << 4 | 1 << 7 | 1 << 10 | 1 << 15 | 16 << 17 | 8 << 24,
         {"kind": "i8", "a_type": "s8", "b_type": "s8", "d_type": "s32", "saturate": True,
          "a_major": "mn"}),
    ],
)  # fmt: skip
def test_words_of_128x128(word: int, fields: dict[str, Any]):
    """Those of the PTX ISA's examples and of CUTLASS's kernels, and each field of its own."""
    held = InstructionDescriptor(m=128, n=128, **fields)
    assert held.encode() == word
    assert InstructionDescriptor.decode(word, fields["kind"]) == held


def test_no_two_fields_of_a_kind_share_a_bit():
    for kind, fields in FIELDS.items():
        seen = 0
        for field in fields:
            assert not seen & field.bits.mask, (kind, field.name)
            seen |= field.bits.mask
        # Bit 6 is reserved by every kind.
        assert not seen & 1 << 6


@st.composite
def descriptors(draw: st.DrawFn) -> InstructionDescriptor:
    kind = draw(st.sampled_from(KINDS))
    chosen: dict[str, Any] = {}
    for field in FIELDS[kind]:
        if field.codes is None:
            unit, bits = 1 << field.bits.shift, field.bits
            chosen[field.name] = draw(st.integers(0, (1 << bits.width) - 1)) * unit
        else:
            chosen[field.name] = draw(st.sampled_from(field.values))
    return InstructionDescriptor(kind=kind, **chosen)


@given(descriptors())
def test_decoding_gives_back_what_was_encoded(held: InstructionDescriptor):
    assert InstructionDescriptor.decode(held.encode(), held.kind) == held


@given(descriptors(), st.integers(0, 31))
def test_each_bit_says_something(held: InstructionDescriptor, bit: int):
    """A word with another bit is another descriptor, or none."""
    try:
        other = InstructionDescriptor.decode(held.encode() ^ 1 << bit, held.kind)
    except DescriptorError:
        return
    assert other != held


def _plain(kind: UmmaKind, **fields: Any) -> InstructionDescriptor:
    types = {"i8": "s8", "mxf4": "e2m1", "mxf8f6f4": "e4m3"}
    of = types.get(kind, kind)
    held = {"m": 128, "n": 128, "a_type": of, "b_type": of}
    scales = {"scale_type": "ue8m0"} if kind.startswith("mx") else {}
    accumulator = {"d_type": "s32"} if kind == "i8" else {}
    return InstructionDescriptor(kind=kind, **(held | scales | accumulator | fields))


@pytest.mark.parametrize(
    "kind, fields, message",
    [
        ("f16", {"a_type": "e4m3"}, "type of A of f16, bf16, got e4m3; nearest legal: f16"),
        ("f16", {"n": 20}, "expected a multiple of 8 below 0x200 for the N, got 0x14; nearest"),
        ("f16", {"m": 8}, "expected a multiple of 16 below 0x200 for the M, got 0x8"),
        ("f16", {"saturate": True}, "expected saturation of False, got True; nearest legal: False"),
        ("f16", {"sfa_id": 1}, "kind::f16 expected no sfa_id but 0, got 1"),
        ("f16", {"max_shift": 12}, "maximum shift of B of 0, 8, 16, 32, got 12; nearest legal: 8"),
        ("i8", {"negate_a": True}, "expected negation of A of False, got True"),
        ("mxf4", {"a_major": "mn"}, "expected major-ness of A of k, got mn; nearest legal: k"),
        ("mxf4", {"scale_type": "ue4m3"}, "type of the scale factors of ue8m0, got ue4m3"),
        ("mxf8f6f4", {"m": 64}, "expected a multiple of 128 below 0x200 for the M, got 0x40"),
        ("mxf8f6f4", {"d_type": "f16"}, "kind::mxf8f6f4 expected no d_type but f32, got f16"),
        ("mxf8f6f4", {"long_k": True}, "kind::mxf8f6f4 expected no long_k but False, got True"),
    ],
)  # fmt: skip
def test_what_the_word_cannot_say(kind: UmmaKind, fields: dict[str, Any], message: str):
    with pytest.raises(DescriptorError, match=message):
        _plain(kind, **fields)


@pytest.mark.parametrize(
    "word, kind, message",
    [
        (1 << 32, "f16", "expected a word of 32 bits, got 0x100000000"),
        (0x08200050, "f16", "bits 6 set; nearest legal: 0x08200010"),
        (0x08200110, "f16", r"0 \(f16\), 1 \(bf16\) in bits 9-7 \(type of A\), got 2"),
        (0x08200020, "f16", r"0 \(f16\), 1 \(f32\) in bits 5-4 \(type of D\), got 2"),
        (0x08200480, "mxf4", r"expected 1 \(ue8m0\) in bits 23 \(type of the scale factors\)"),
        (0x8A200480, "mxf4", "bits 25 set"),
    ],
)
def test_words_that_are_no_descriptor(word: int, kind: UmmaKind, message: str):
    with pytest.raises(DescriptorError, match=message):
        InstructionDescriptor.decode(word, kind)
