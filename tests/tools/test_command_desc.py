"""`tilewright desc`: descriptors in words, and from layouts."""

import json

import pytest
import run_command

from tilewright.tools.tilewright import main


def shown(capsys, *words):
    main(["desc", *words])
    return capsys.readouterr().out


def refused(capsys, *words):
    return run_command.refused(capsys, main, ["desc", *words])


def test_a_word_alone_is_decoded(capsys):
    assert shown(capsys, "0x4000004000010040") == shown(capsys, "decode", "0x4000004000010040")
    assert refused(capsys, "encode") == "error: expected an integer such as 0x400, got 'encode'\n"


def test_a_descriptor_in_words(capsys):
    out = shown(capsys, "decode", "0x4000004000010040", "--type", "bf16", "--major", "k")
    assert out.splitlines() == [
        "0x4000004000010040",
        "  bits 13-0   matrix start address, bytes          0x400 (1024)",
        "  bits 29-16  leading dimension byte offset (LBO)  0x10 (16)",
        "  bits 45-32  stride dimension byte offset (SBO)   0x400 (1024)",
        "  bits 51-49  matrix base offset                   0",
        "  bits 63-62  swizzling mode                       1             "
        "128 bytes, S<3,4,3> on addresses",
        "",
        "K-major, 8x16 of bf16: S<3,3,3> o 0 o ((8,1),(16,1)):((64,512),(1,8))",
        "  mn  k=0    k=8",
        "  0   0x400  0x410",
        "  1   0x490  0x480",
        "  2   0x520  0x530",
        "  3   0x5b0  0x5a0",
        "  4   0x640  0x650",
        "  5   0x6d0  0x6c0",
        "  6   0x760  0x770",
        "  7   0x7f0  0x7e0",
    ]


def test_both_ways_of_16_bit_types_and_one_of_others(capsys):
    word = "0x4000004000010040"
    assert "MN-major, 64x16 of f16" in shown(capsys, "decode", word)
    assert "MN-major" not in shown(capsys, "decode", word, "--type", "e4m3")
    error = refused(capsys, "decode", word, "--type", "s8", "--major", "mn")
    assert "expected --major k for s8, got mn" in error


def test_addresses_as_json(capsys):
    out = json.loads(shown(capsys, "decode", "0x800400040", "--major", "mn", "--json"))
    assert out["stride_byte_offset"] == 128
    assert out["mn"]["chunks"][9] == [0x400 + 0x400 + 16]


def test_encode_and_decode_agree(capsys):
    layout = "S<3,3,3> o 16 o (64,16):(64,1)"
    built = json.loads(shown(capsys, "encode", layout, "--address", "0x480", "--json"))
    assert (built["major"], built["base_offset"], built["start_address"]) == ("k", 1, 0x4A0)
    assert shown(capsys, "encode", layout, "--address", "0x480").splitlines()[-1] == "  K-major"
    read = json.loads(
        shown(capsys, "decode", built["word"], "--shape", "64x16", "--major", "k", "--json")
    )
    assert read["k"]["chunks"][1] == [0x480 + 128 + (32 ^ 16), 0x480 + 128 + (48 ^ 16)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("encode", "(64,16):(16,1)"), "no descriptor expresses (64,16):(16,1); K-major: expected"),
        (("encode", "(64,16"), "at position"),
        (("encode", "(8,8):(8,1)", "--address", "8"), "a multiple of 16 below 0x40000"),
        (("encode", "(8,8):(8,1)", "--shape", "8x8"), "desc encode expected no --shape"),
        (("decode", "0x10000000000000000"), "expected a word of 64 bits"),
        (("decode", "0x1400000000000"), "bits 46, 48 set; nearest legal: 0x0"),
        (("decode", "word"), "expected an integer such as 0x400, got 'word'"),
        (("decode", "0", "--shape", "8"), "expected --shape MNxK such as 64x16, got '8'"),
        (("decode", "0", "--shape", "64x0"), "expected --shape MNxK such as 64x16, got '64x0'"),
        (("decode", "0", "--shape", "16x12"), "whole chunks of 8 elements along the K mode"),
        (("decode", "0", "--address", "8"), "desc decode expected no --address"),
    ],
)
def test_what_cannot_be(words, message, capsys):
    assert message in refused(capsys, *words)
