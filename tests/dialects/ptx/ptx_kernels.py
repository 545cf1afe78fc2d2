"""Kernels of `ptx` ops whose inputs nobody can fold, and ptxas's verdict line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects.cute_nvgpu.lattice.operand_text import split
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, Target
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.ptx.functions import RetOp
from tilewright.dialects.ptx.registers import (
    ConstOp,
    ListGetOp,
    ListMakeOp,
    PackOp,
    SharedAddressOp,
    UnpackOp,
)
from tilewright.dialects.ptx.scalars import CvtaOp, SelpOp, SetpOp
from tilewright.dialects.ptx.types import KINDS, RegType, reg
from tilewright.launch.ptxas import PtxasReport
from tilewright.lowering.ptx.text import module_text
from tilewright.tools.instructions.catalogue import canonical, operand_lists
from tilewright.tools.instructions.judge import is_legal, why_illegal

OLDEST = "sm_75"
"""The oldest GPU that ptxas of CUDA 13 compiles for; texts of older targets assemble for it."""

ACCESS_OF = {"b16": "b16", "b32": "b32", "b64": "b64", "f32": "f32", "f64": "f64"}


Ptxas = Callable[..., PtxasReport]


@dataclass
class Kernel:
    """One `ptx.entry` in the making; `input` loads from global memory, `output` stores there."""

    name: str = "kernel"
    shared: int = 0
    reqntid: Sequence[int] | None = None
    block: Block = field(default_factory=lambda: Block(arg_types=[reg("b64")]))
    loaded: int = 0
    stored: int = 0

    def __post_init__(self) -> None:
        self.pointer = self.add(CvtaOp("to.global.u64", [self.block.args[0]]))

    def add(self, op: Operation) -> SSAValue:
        """Append an op; its result, where it has one."""
        self.block.add_op(op)
        return op.results[0] if op.results else self.block.args[0]

    def input(self, kind: str, count: int = 1) -> SSAValue:
        """A register, or a list of them, with a value that only the GPU will know."""
        if count > 1:
            return self.add(ListMakeOp([self.input(kind) for _ in range(count)], reg(kind, count)))
        if kind == "pred":
            return self.add(SetpOp("ne.u16", [self.input("b16"), self.constant(0, "b16")]))
        if kind == "b8":
            return self.add(ListGetOp(self.add(UnpackOp(self.input("b16"))), 0))
        self.loaded += 8
        return self.add(LdOp("global", ACCESS_OF[kind], self.pointer, self.loaded))

    def constant(self, bits: int, kind: str) -> SSAValue:
        return self.add(ConstOp(bits, kind))

    def shared_address(self, offset: int = 0) -> SSAValue:
        self.shared = max(self.shared, 4096)
        return self.add(SharedAddressOp(offset))

    def output(self, value: SSAValue) -> None:
        """Store a register, or every register of a list."""
        assert isinstance(value.type, RegType)
        for position in range(value.type.count.data):
            one = value
            if value.type.count.data > 1:
                one = self.add(ListGetOp(value, position))
            kind = value.type.kind.data
            if kind == "pred":
                pair = [self.constant(1, "b32"), self.constant(0, "b32")]
                one, kind = self.add(SelpOp("b32", [*pair, one])), "b32"
            if kind == "b8":
                one, kind = self.add(PackOp(one, one)), "b16"
            self.stored += 8
            self.add(StOp("global", ACCESS_OF[kind], self.pointer, one, self.stored))

    def entry(self) -> EntryOp:
        self.block.add_op(RetOp())
        return EntryOp(
            self.name, [("pointer", "u64")], Region(self.block), self.shared, 128, self.reqntid
        )


def text_of(*kernels: Kernel, arch: Target | None = None) -> str:
    """The PTX of verified kernels, for that target."""
    module = ModuleOp([kernel.entry() for kernel in kernels])
    module.verify()
    text = module_text(module, arch)
    check_listed(text)
    return text


def together(texts: Sequence[str]) -> str:
    """Texts for one target in one, of the newest version among them: ptxas takes long to start."""
    newest = max(texts, key=lambda text: directives(text)[1])
    head, mark, _ = newest.partition(".address_size 64\n")
    return head + mark + "".join(text.partition(mark)[2] for text in texts)


def directives(text: str) -> tuple[str, tuple[int, int]]:
    """`.target` and `.version` of a text."""
    target = re.search(r"^\.target (\w+)$", text, re.MULTILINE)
    version = re.search(r"^\.version (\d+)\.(\d+)$", text, re.MULTILINE)
    assert target is not None and version is not None
    return target[1], (int(version[1]), int(version[2]))


def with_target(text: str, target: str) -> str:
    return re.sub(r"^\.target \w+$", f".target {target}", text, flags=re.MULTILINE)


def with_version(text: str, version: tuple[int, int]) -> str:
    return re.sub(
        r"^\.version [\d.]+$", f".version {version[0]}.{version[1]}", text, flags=re.MULTILINE
    )


# PTX ISA versions that introduced a target or an instruction of ours, and those between.
VERSIONS = (
    *((6, minor) for minor in range(6)),
    *((7, minor) for minor in range(9)),
    *((8, minor) for minor in range(9)),
    *((9, minor) for minor in range(4)),
)

NEWEST = VERSIONS[-1]
"""A version that knows every target and instruction of ours."""


def older_version(version: tuple[int, int]) -> tuple[int, int]:
    """The PTX ISA version before one."""
    return VERSIONS[VERSIONS.index(version) - 1]


def older_target(name: str) -> str:
    """The newest target that does not run what requires this one."""
    below = [each for each in TARGETS.values() if each.number < TARGETS[name].number]
    plain = [each for each in below if not each.suffix]
    return max(plain, key=lambda each: each.number).name


def gpu_of(target: str) -> str:
    """The `-arch` that a text of this target assembles for."""
    return target if TARGETS[target].number >= TARGETS[OLDEST].number else OLDEST


def complaints(text: str, report: PtxasReport) -> dict[str, list[str]]:
    """What ptxas complains of, by the line of the text it points at."""
    lines = text.splitlines()
    found: dict[str, list[str]] = {}
    for message in (*report.warnings, *report.errors):
        match = re.search(r"line (\d+);", message)
        place = "" if match is None else lines[int(match[1]) - 1].strip()
        found.setdefault(place, []).append(message.split(":", 1)[-1].strip())
    return found


def instructions(text: str, start: str) -> set[str]:
    """The lines of the text that begin with a mnemonic."""
    return {line.strip() for line in text.splitlines() if line.strip().startswith(start)}


def refuse_older(text: str, lines: set[str], ptxas: Ptxas) -> None:
    """ptxas takes none of these lines of the text at the PTX ISA version before its own."""
    target, version = directives(text)
    lowered = with_version(text, older_version(version))
    report = ptxas(lowered, gpu_of(target))
    if version > TARGETS[target].ptx_version:
        assert lines <= set(complaints(lowered, report))
    else:
        assert not report.ok  # The target is as young as its instructions.


def bits_of(kind: str) -> int:
    return KINDS[kind]


def check_listed(text: str) -> None:
    """Every instruction is one that the command line lists, with operands that it takes, and its
    forms write what they read."""
    target, _ = directives(text)
    for line in map(str.strip, text.splitlines()):
        if not re.match(r"(?:@!?%\w+ )?[a-z][\w.:]* ?[^:]*;$", line) or line.startswith("{ .reg"):
            continue
        assert is_legal(line, target), why_illegal(line, target)
        mnemonic, operands = split(line) or ("", None)
        assert operands is not None
        lists = operand_lists(canonical(mnemonic))
        assert any(
            [form.write(*operand.words) for form, operand in zip(forms, operands, strict=False)]
            == [operand.text for operand in operands]
            for forms in lists
        ), line
