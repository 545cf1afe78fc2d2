"""The instructions of ptx_instructions.txt that ptxas takes, for some target, and those of them
that are not read, or whose text ptxas does not take again.

    python tests/conformance/ptx_instructions.py [--list] [--every N]

Prints a table, with `--list` what is refused. ptxas judges operands and modifiers: a wrong last
line keeps it from compiling. Products of matrices are not in the list: `make conformance` has them.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tilewright.launch.ptxas import assemble
from tilewright.lowering.ptx.parsing.module import read_module
from tilewright.lowering.ptx.parsing.statements import PtxError
from tilewright.lowering.ptx.text import module_text

LIST = Path(__file__).with_suffix(".txt")
TARGETS = ("sm_100a", "sm_90a", "sm_120a", "sm_103a")
HEAD = ".version 9.3\n.target {}\n.address_size 64\n"
VARIABLES = ".global .u32 gv[8];\n.const .u32 cv[8];\n"
BODY = """.visible .entry {}(.param .u64 p0) {{
.shared .align 128 .b8 sv[1024]; .local .align 16 .b8 lv[64]; .reg .pred p, q; .reg .b8 b<9>;
.reg .b16 h<18>; .reg .b32 r<40>; .reg .f32 f<18>; .reg .b64 d<20>; .reg .f64 g<18>;
.reg .b128 x<9>;
"""
WRONG = ".visible .entry wrong() { .reg .u32 r; add.u32 r, r, 1.0; ret; }\n"
_TYPE = re.compile(r"\.(pred|(?:b|s|u|bf|f)(?:8|16|32|64|128)(?:x[24])?|e\dm\dx[24])(?=\.|$)")
_ERROR = re.compile(r"line (\d+); (error|fatal)\s*:\s*([^\n]*)")
_LETTER = re.compile(r"(?<![\w%:.])([TSDVHMNCObhrdfgx])(?!\w)")
_VECTORS = {"V": "v", "H": "v", "M": "x", "N": "x"}


@dataclass(frozen=True)
class Instruction:
    """One of a chapter, with operands."""

    chapter: str
    mnemonic: str
    text: str


def instructions() -> list[Instruction]:
    """All of the list."""
    sets, chapter, listed = dict[str, str](), "", dict[Instruction, None]()
    for line in LIST.read_text().splitlines():
        if line.startswith("["):
            chapter = line.strip("[]")
        elif " = " in line:
            name, _, words = line.partition(" = ")
            sets[name] = ",".join(words.split())
        elif line and line[0] != "#":
            template, _, operands = line.partition(" ")
            for mnemonic in _expanded(template, sets):
                text = f"{mnemonic} {_operands(mnemonic, operands)}".rstrip()
                listed[Instruction(chapter, mnemonic, f"{text};")] = None
    return list(listed)


def _expanded(template: str, sets: dict[str, str]) -> Iterator[str]:
    pieces = re.split(r"\{([^}]*)\}", template)
    choices = [
        sets.get(piece, piece).split(",") if place % 2 else [piece]
        for place, piece in enumerate(pieces)
    ]
    choices = [
        [way for word in words for way in sets.get(word, word).split(",")] for words in choices
    ]
    for words in itertools.product(*choices):
        yield re.sub(r"\.{2,}", ".", "".join(words)).strip(".")


def _register(type_: str) -> str:
    """The letter of the registers of a type."""
    if (letter := {"pred": "p", "f32": "f", "f64": "g", "e2m1x2": "b"}.get(type_)) is not None:
        return letter
    width, count = re.findall(r"\d+", "8x" + type_[4:] if type_[0] == "e" else f"{type_}x1")[:2]
    return {8: "h", 16: "h", 32: "r", 64: "d", 128: "x"}[int(width) * int(count)]


def _operands(mnemonic: str, operands: str) -> str:
    types = _TYPE.findall(mnemonic) or ["b32"]
    numbers = itertools.count(1)
    space = re.sub(r"shared::cta\.global|global\.shared::cta", "", mnemonic)
    address = next(
        (at for word, at in (("shared", "r9"), ("local", "lv"), ("const", "cv"), ("param", "p0"))
         if re.search(rf"\.{word}(\.|:|$)", space)), "d9",
    )  # fmt: skip
    with_hint, with_mask = "cache_hint" in mnemonic, re.search("multicast::cluster|mask", mnemonic)
    operands = operands.replace(",?d", ",d" if with_hint else "")
    operands = operands.replace(",?h", ",h" if with_mask else "").replace("[A]", f"[{address}]")

    def made(match: re.Match[str]) -> str:
        letter = match[1]
        kind = {"T": types[-1], "V": types[-1], "D": types[0], "S": types[max(-2, -len(types))]}
        register = _register(kind[letter]) if letter in kind else letter
        register = {"H": "h", "M": "r", "N": "r", "C": "r", "O": "h"}.get(letter, register)
        if letter in "CO":
            count = int(re.findall(r"\.(\d)d", mnemonic)[0]) - 2 * (letter == "O")
        elif letter in _VECTORS:
            said = re.search(rf"\.{_VECTORS[letter]}(\d)\b", mnemonic)
            count = (int(said[1]) if said else 0) * (2 if letter == "N" else 1)
        else:
            count = 0
        names = [
            register if register in "p" else f"{register}{next(numbers) % 17 or 1}"
            for _ in range(count or 1)
        ]
        if register == "x" or register == "b":
            names = [f"{register}{int(name[1:]) % 8}" for name in names]
        in_braces = count and (letter in "CMNO" or count > 1)
        return f"{{{', '.join(names)}}}" if in_braces else names[0]

    return _LETTER.sub(made, operands)


def refused_by_ptxas(kernels: Sequence[str], target: str) -> dict[int, str]:
    """The kernels that ptxas refuses, by their numbers, and why."""
    left, refused = dict(enumerate(kernels)), dict[int, str]()
    while left:
        text = HEAD.format(target) + VARIABLES
        owners: list[int | None] = [None] * text.count("\n")
        for number, kernel in left.items():
            text += kernel
            owners += [number] * kernel.count("\n")
        errors = _ERROR.findall("\n".join(assemble(text + WRONG, target).errors))
        owners.append(None)
        why = {owners[int(line) - 1]: what for line, _, what in errors}
        wrong = {number: what for number, what in why.items() if number is not None}
        refused |= wrong
        left = {number: kernel for number, kernel in left.items() if number not in wrong}
        if not wrong or all(kind == "error" for _, kind, _ in errors):
            break
    return refused


def taken(listed: Sequence[Instruction]) -> dict[Instruction, str]:
    """Those that ptxas takes, and for which target."""
    targets = dict[Instruction, str]()
    for target in TARGETS:
        left = [one for one in listed if one not in targets]
        targets |= dict.fromkeys(taken_for(left, target), target)
    return targets


def taken_for(listed: Sequence[Instruction], target: str) -> list[Instruction]:
    """Those that ptxas takes for a target."""
    kernels = [
        f"{BODY.format(f'k{number}')}{one.text}\nret; }}\n" for number, one in enumerate(listed)
    ]
    refused = refused_by_ptxas(kernels, target)
    return [one for number, one in enumerate(listed) if number not in refused]


def written(one: Instruction, target: str, name: str) -> str:
    """The text of its kernel, read and written again. Raises PtxError."""
    kernel = f"{BODY.format(name)}{one.text}\nret; }}\n"
    text = module_text(read_module(HEAD.format(target) + VARIABLES + kernel))
    body = text.partition(".address_size 64\n")[2]
    return re.sub(r"^\.(?:global|const)[^;]*;\n", "", body, flags=re.MULTILINE).lstrip("\n")


def judged(listed: Sequence[Instruction]) -> tuple[dict[Instruction, str], dict[Instruction, str]]:
    """Those that ptxas takes and their targets; of them, why some are not read, or what ptxas says
    of what is written of them."""
    targets, why = taken(listed), dict[Instruction, str]()
    texts = dict[Instruction, str]()
    for number, (one, target) in enumerate(targets.items()):
        try:
            texts[one] = written(one, target, f"k{number}")
        except PtxError as error:
            why[one] = error.message
    for target in TARGETS:
        ours = [one for one in texts if targets[one] == target]
        for number, what in refused_by_ptxas([texts[one] for one in ours], target).items():
            why[ours[number]] = f"written as it is not taken: {what}"
    return targets, why


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args(arguments)
    targets, why = judged(instructions()[:: options.every])
    counts, refused = Counter(one.chapter for one in targets), Counter(one.chapter for one in why)
    print("| of | taken by ptxas | refused |\n|---|---|---|")
    for chapter, count in counts.items():
        print(f"| {chapter} | {count} | {refused[chapter]} |")
    print(f"| all | {len(targets)} | {len(why)} |")
    for one, what in why.items() if options.list else ():
        print(f"{one.text}  // {what}")
    return int(any(one.chapter != "by name" and "written" in what for one, what in why.items()))


if __name__ == "__main__":
    sys.exit(main())
