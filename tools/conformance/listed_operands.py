"""Instructions that are listed beside the tensor cores', with right and wrong operands.

Every mnemonic of these listings stands with operands of the kinds that its forms name, then with
each of them replaced, left out and repeated. `check-ptx` takes an instruction exactly where ptxas
does, or calls it undocumented. Registers are of the right kinds: their names say nothing to
`check-ptx`.
"""

import random
import re
from collections.abc import Iterator, Sequence
from functools import cache

from tilewright.dialects.cute_nvgpu.lattice.memory_forms import Address, BoxForm
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    Choice,
    Constant,
    Label,
    OperandForm,
    Register,
    Result,
    Scalar,
    Vector,
    Wide,
)
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF
from tilewright.tools.conformance import ptxas_bulk, verifier_bulk
from tilewright.tools.instructions import plain
from tilewright.tools.instructions.listing import Listing

NAMES = {
    "pred": "%p",
    "b8": "%q",
    "b16": "%h",
    "b32": "%r",
    "f32": "%f",
    "b64": "%rd",
    "f64": "%fd",
    "b128": "%x",
}
KINDS = {"s8": "b16", "u8": "b16", **REGISTER_OF}
# Choices that take a register of another width than 32 bits.
_WIDE = {"cache-policy": "b64", "ctaMask": "b16", "byteMask": "b16"}
_INTEGERS = ("0", "1", "2", "5", "16", "31", "32", "33", "40", "64", "255", "-1", "0x10", "65536")
# No constant of 20 digits: behind one, ptxas misreads the lines that follow in a text.
_OTHERS = ("1.5", "0f3F800000", "0d3FF0000000000000", "_", "[%rd0]", "[%rd0+16]")

# What ptxas takes beyond the PTX ISA, and check-ptx refuses without a word on that.
QUIRKS = (
    # Braces around one register, where the parser has a vector for another form or another type.
    re.compile(r"(?:mov\.b32 %r0|mov\.b64 %rd0|mbarrier\.\S+ \S+ \[%rd0\]), \{%\w+\};"),
    re.compile(r"mov\.b128 (?:\{%x0\}, .*|.*, \{%x0\});"),
    # A second result, left out, of logic on predicates and of a test of floats.
    re.compile(r"(?:(?:and|or|xor|not)\.pred|testp\.\S+) %p0\|_, .*"),
    # The bits of a float as lane or as clamp of a shuffle, of some combinations.
    re.compile(r"shfl\.sync\..*, 0f3F800000, .*"),
    # `_` among the registers that a move puts together.
    re.compile(r"mov\.b\d+ %\w+, \{.*_.*\};"),
    # Another value to atomic logic, as `cas` has it, and `_` for the address of `red`.
    re.compile(r"atom\.\S+\.(?:and|or|xor|exch)\.b\d+ \S+, \S+, \S+, \S+;"),
    re.compile(r"red\.\S+ _, \S+;"),
)


def listings() -> list[Listing]:
    """Those that a kernel of one instruction can hold: all but branches."""
    return [
        row
        for row in plain.listings()
        if not any(isinstance(form, Label) for form in row.operands(row.mnemonics[0]))
    ]


def kind_of(form: OperandForm) -> str:
    """The kind of register that an operand is."""
    match form:
        case Wide():
            return "b128"
        case Vector(register=kind) | Result(register=kind) | Register(register=kind):
            return kind
        case Scalar(type_=type_):
            return KINDS[type_]
        case _:
            return _WIDE.get(form.name, "b32")


def right(form: OperandForm) -> str:
    """An operand of the form."""
    stem = NAMES[kind_of(form)]
    match form:
        case Vector(count=count):
            return form.write(*(f"{stem}{i}" for i in range(count)))
        case Result(legal=(first, *_)):
            return first.replace("|r", "|%p0").replace("r", f"{stem}0", 1)
        case Address():
            return "[%rd0]"
        case BoxForm(rank=rank):
            return f"[%rd0, {{{', '.join(['%r1'] * rank)}}}]"
        case Constant():
            return form.spelling
        case Choice(legal=tuple() as legal):
            return str(legal[0])
        case _:
            return f"{stem}0"


def wrong(form: OperandForm) -> Iterator[str]:
    """The texts that may stand in the place of an operand: some of them right, too."""
    stem = NAMES[kind_of(form)]
    yield from _INTEGERS
    yield from _OTHERS
    if not isinstance(form, Vector) or form.count == 1:
        yield f"{stem}0"
    yield f"{stem}0|%p1"
    yield "_|%p0"
    for count in (1, 2, 3, 4) if isinstance(form, Vector) else (1,):
        yield "{" + ", ".join(f"{stem}{i % 4}" for i in range(count)) + "}"
    if stem == "%p":
        yield "!%p0"
        yield "%p0|_"
    if isinstance(form, Vector) and form.count > 1:
        yield "{" + ", ".join([f"{stem}0", *["_"] * (form.count - 1)]) + "}"
        yield "{" + ", ".join(["_"] * form.count) + "}"
    if isinstance(form, BoxForm):
        for rank in (1, 2, 3):
            yield f"[%rd0, {{{', '.join(['%r1', '-7', '%r2'][:rank])}}}]"


@cache
def instructions() -> tuple[str, ...]:
    """Every instruction that is asked about, once."""
    return tuple(dict.fromkeys(_instructions()))


def _instructions() -> Iterator[str]:
    for row in listings():
        for mnemonic in row.mnemonics:
            lists = row.lists(mnemonic)
            for forms in lists:
                yield from _variants(mnemonic, forms)


def _variants(mnemonic: str, forms: Sequence[OperandForm]) -> Iterator[str]:
    texts = [right(form) for form in forms]
    chosen = [texts, texts[:-1], [*texts, *texts[-1:]], [*texts, "%r3"]]
    for place, form in enumerate(forms):
        chosen.extend([*texts[:place], text, *texts[place + 1 :]] for text in wrong(form))
    for operands in chosen:
        yield f"{mnemonic} {', '.join(operands)};" if operands else f"{mnemonic};"


def disagreements(lines: list[str], target: str) -> list[str]:
    """Where ptxas and `check-ptx` differ, and about what."""
    taken = ptxas_bulk.taken(lines, target)
    legal = verifier_bulk.verdicts(lines, target)
    judged = zip(lines, taken, legal, strict=True)
    differing = [(line, ok) for line, ok, verdict in judged if verdict is not ok]
    # Whoever takes a line has no reason against it: the few others are asked for theirs.
    reasons = verifier_bulk.reasons([line for line, _ in differing], target)
    return [
        f"{target}: {line} {'taken by ptxas' if ok else 'refused by ptxas'}; {why or 'legal'}"
        for (line, ok), why in zip(differing, reasons, strict=True)
        if not (ok and ("undocumented" in why or quirk(line) or _advised_against(line, why)))
    ]


def _advised_against(line: str, why: str) -> bool:
    """Multicast loads where ptxas takes them with the advice not to: the row leaves these out."""
    return ".multicast::cluster" in line and " requires " in why


def quirk(line: str) -> bool:
    """True where it is known that ptxas takes the line."""
    return any(pattern.fullmatch(line) for pattern in QUIRKS)


def sample(number: int, seed: int, target: str) -> list[str]:
    """Some of the instructions, others for every target."""
    every = instructions()
    return random.Random(f"{seed} {target}").sample(every, min(number, len(every)))
