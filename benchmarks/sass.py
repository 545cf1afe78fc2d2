"""Machine code as nvdisasm prints it: what a kernel takes, its loops, what the busiest issues."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

CLASSES = {
    "MMA": r"\w*MMA\b",
    "TMA": r"UTMA(LDG|STG|REDG)|UBLKCP",
    "LDGSTS": r"LDGSTS",
    "LDS": r"LDSM?\b",
    "STS": r"STSM?\b|STAS|ATOMS",
    "LDG": r"LDG?\b",
    "STG": r"STG?\b|RED\b|ATOMG",
    "LDL": r"LDL|STL",
    "TMEM": r"LDTM|STTM",
    "barrier": r"BAR\b|UCGABAR",
    "sync": r"\w*BAR|SYNCS|WARPSYNC|BSSY|BSYNC|FENCE|YIELD|NANOSLEEP",
    "MUFU": r"MUFU",
    "float": r"F(ADD|MUL|FMA|MNMX|SEL|SET|2|CHK)|H(ADD|MUL|FMA|MNMX|SET)|D(ADD|MUL|FMA)|I2F",
    "uniform": r"U[A-Z]|R2UR|S2UR|VOTEU|REDUX|ELECT",
    "branch": r"BR[AX]|EXIT|CALL|RET",
    "ALU": r"",
}
"""An instruction is of the first class whose expression its name begins with."""
_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32, "2": 8, "4": 16}
"""Bytes a thread by a part of the name, 4 without one; LDSM and STSM have one, 2 or 4 matrices."""
_DEPTHS = {"UTCHMMA": 16, "UTCQMMA": 32, "UTCIMMA": 32, "UTCOMMA": 64}
_TF32 = 2
"""The format of A in an instruction descriptor whose products have half the depth."""

_SECTION = re.compile(r"\s*\.section\s+(\S+?),")
_LABEL = re.compile(r"([.$][\w$]+):")
_LINE = re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s+(@!?\w+ +)?([A-Z][\w.]*) *(.*);")
_TARGET = re.compile(r"\.L_x_\d+|\$[\w$]+")
_WRITTEN = re.compile(r"(UR\d+),(?: 0x([0-9a-f]+) $)?")
_DESCRIPTOR = re.compile(r"idesc\[(UR\d+)\]")
_MEETING = re.compile(r"\w+, 0x([0-9a-f]+) *$")
_SHAPE = re.compile(r"(G?)MMA\.(?:SF\.|SP\.)*(64|16|8)x?(8|\d+x)x?(\d+)")


@dataclass(frozen=True, slots=True)
class Instruction:
    """A machine instruction: its name, the labels that it may go to, whether it may go on to the
    next, the multiplications of an MMA for each warp that issues it (0: its shape is in a
    register), and the threads that meet at a barrier (0: all)."""

    name: str
    targets: tuple[str, ...]
    goes_on: bool
    products: int
    meeting: int

    @property
    def kind(self) -> str:
        return next(kind for kind, names in CLASSES.items() if re.match(names, self.name))

    @property
    def bytes(self) -> int:
        """The bytes that a memory instruction moves for a thread."""
        return next((_WIDTHS[part] for part in self.name.split(".")[:0:-1] if part in _WIDTHS), 4)


class Region(NamedTuple):
    """Instructions from the first to before the last: a loop, or the whole kernel."""

    first: int
    last: int


@dataclass(frozen=True)
class Disassembly:
    """A kernel's machine code, its registers and bytes of local memory a thread, the bytes of its
    static shared memory, and its threads."""

    instructions: list[Instruction]
    labels: dict[str, int]
    registers: int
    local_bytes: int
    shared_bytes: int
    all_threads: int

    @property
    def threads(self) -> int:
        """Those that compute: others than copy do not meet them at barriers."""
        return max(one.meeting for one in self.instructions) or self.all_threads

    @property
    def mbarriers(self) -> int:
        """The mbarriers that it initialises."""
        return sum(one.name.startswith("SYNCS.EXCH") for one in self.instructions)

    def loops(self) -> list[Region]:
        """From where a branch goes back to, if every way to the branch comes through there, which
        no wait does that is out of line; not what runs once for each value of a register in a warp
        (`BRA.U.ANY`)."""
        ends = dict[int, int]()
        for place, one in enumerate(self.instructions):
            for first in self._targets(one) if one.name != "BRA.U.ANY" else ():
                if first <= place and place not in self._reached_without(first):
                    ends[first] = max(ends.get(first, 0), place + 1)
        return [Region(*loop) for loop in ends.items()]

    def _targets(self, one: Instruction) -> Iterator[int]:
        return (self.labels[label] for label in one.targets if label in self.labels)

    def _reached_without(self, avoided: int) -> set[int]:
        reached, waiting = {avoided}, [0]
        while waiting:
            if (place := waiting.pop()) not in reached and place < len(self.instructions):
                reached.add(place)
                one = self.instructions[place]
                waiting += [*self._targets(one), *([place + 1] if one.goes_on else [])]
        return reached - {avoided}

    def busiest(self) -> Region:
        """The loop with the most MMAs that no loop in it has; with the most bytes loaded where
        there is no MMA at all. The whole where no loop has any."""
        loops = sorted(self.loops(), key=lambda loop: loop.last - loop.first)
        regions = [*loops, Region(0, len(self.instructions))]
        kinds = [one.kind for one in self.instructions]
        weights = Counter[Region]()
        for place, (kind, one) in enumerate(zip(kinds, self.instructions, strict=True)):
            own = next(region for region in regions if region.first <= place < region.last)
            if "MMA" in kinds:
                weights[own] += kind == "MMA"
            elif kind in ("LDG", "LDGSTS", "LDS"):
                weights[own] += one.bytes
        return max(filter(weights.get, loops), key=weights.__getitem__, default=regions[-1])


class Issued(NamedTuple):
    """A region as a warp issues it: instructions and bytes a thread by class, multiplications."""

    counts: Counter[str]
    bytes: Counter[str]
    products: int
    threads: int

    @classmethod
    def of(cls, code: Disassembly) -> Issued:
        """Of the busiest region."""
        first, last = code.busiest()
        counts, moved = Counter[str](), Counter[str]()
        for one in code.instructions[first:last]:
            counts[one.kind] += 1
            moved[one.kind] += one.bytes
        products = sum(one.products for one in code.instructions[first:last])
        return cls(counts, moved, products, code.threads)

    @property
    def work(self) -> int:
        """Multiplications, or bytes that a thread loads; 0: not known, as of what TMA brings."""
        return self.products if self.counts["MMA"] else self.bytes["LDG"] + self.bytes["LDGSTS"]


def codes(text: str) -> dict[str, Disassembly]:
    """The kernels of a cubin, by name, from all that nvdisasm prints of it."""
    kernels = dict[str, Disassembly]()
    place, constants = "", dict[str, int]()
    for line in text.splitlines():
        if (section := _SECTION.match(line)) is not None:
            place = section[1]
            if place.startswith(".text."):
                kernels[place[6:]] = Disassembly([], {}, *_resources(text, re.escape(place[6:])))
        elif place.startswith(".text."):
            code = kernels[place[6:]]
            if (label := _LABEL.match(line)) is not None:
                code.labels[label[1]] = len(code.instructions)
            elif (words := _LINE.match(line)) is not None:
                code.instructions.append(_instruction(words, constants))
    return kernels


def _resources(text: str, kernel: str) -> tuple[int, int, int, int]:
    """Registers, bytes of local and of shared memory, threads."""
    info = r"EIATTR_{}\n(?:.*\n){{4,6}}?.*index@\({}\)\n.*\.word\s+(\w+)"
    places = [info.format(name, kernel) for name in ("REGCOUNT", "FRAME_SIZE")]
    places.append(rf"\n\.nv\.shared\.{kernel}:\n\s+\.zero\s+(\d+)")
    own = rf"\.section\s+\.nv\.info\.{kernel},(?:(?!\.section\s)[\s\S])*?EIATTR_REQNTID"
    places.append(own + r"\n(?:.*\n){4,6}?.*\.word\s+(\w+)")
    registers, local, shared, threads = (
        0 if (match := re.search(place, text)) is None else int(match[1], 0) for place in places
    )
    return registers, local, shared, threads


def _instruction(words: re.Match[str], constants: dict[str, int]) -> Instruction:
    """That of a line; `constants` are those of uniform registers, as far as it was read."""
    predicate, name, rest = words.groups()
    if predicate == "@!PT ":
        name = "NOP"
    if (written := _WRITTEN.match(rest)) is not None:
        constants[written[1]] = int(written[2] or "0", 16) if name == "UMOV" else 0
    kind = name.split(".")[0]
    leaves = kind in ("BRX", "EXIT", "RET") or (kind == "BRA" and rest.startswith("`"))
    targets = _TARGET.findall(rest) if kind in ("BRA", "BRX", "CALL") else ()
    meeting = _MEETING.search(rest) if kind == "BAR" else None
    return Instruction(name, tuple(targets), bool(predicate) or not leaves,
                       _products(name, rest, constants),
                       0 if meeting is None else int(meeting[1], 16))  # fmt: skip


def _products(name: str, rest: str, constants: dict[str, int]) -> int:
    """M N K from the name, or from the instruction descriptor (PTX ISA, tcgen05, "Instruction
    descriptor"), which one thread gives for all; the four warps of wgmma have a part each."""
    if (register := _DESCRIPTOR.search(rest)) is not None:
        bits, kind = constants.get(register[1], 0), name.split(".")[0]
        depth = 8 if kind == "UTCHMMA" and bits >> 7 & 7 == _TF32 else _DEPTHS.get(kind, 0)
        return (bits >> 24 & 31) * 16 * (bits >> 17 & 63) * 8 * depth
    if (shape := _SHAPE.search(name)) is None:
        return 0
    m, n, k = int(shape[2]), int(shape[3].rstrip("x")), int(shape[4])
    return m * n * k // (4 if shape[1] else 1)
