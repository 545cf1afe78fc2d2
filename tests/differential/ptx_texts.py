"""PTX as any compiler might write it: scalar instructions of every kind in a row, guarded, in
branches and loops; words of a thread's own in shared, local and global memory.

Both engines of the interpreter, the text that is written again, and a chip leave the same bits.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from arithmetic import values
from draw import Draw
from tiles import TileKernel

import tilewright as tw

sys.path.append(str(Path(__file__).parents[1] / "conformance"))
from ptx_instructions import BODY, HEAD, Instruction, instructions

ARCH, THREADS, OWN = "sm_90a", 64, 64
KINDS = {"h": ("b16", 2), "r": ("b32", 4), "f": ("f32", 4), "d": ("b64", 8), "g": ("f64", 8)}
"""The registers: their type, and their bytes."""
EACH = 4
"""Registers of a kind, and predicates."""
STRIDE = -8 * (-sum(EACH * size for _, size in KINDS.values()) // 8)
REGISTER = re.compile(r"(?<![\w.])([hrfdg])\d+\b")
ACCESS = re.compile(r"(ld|st)\.(volatile\.|weak\.)?(shared|local|global)(\.ca|\.cg|\.cs|\.wb)?"
                    r"(\.v[24])?\.[busf]\d+|atom\.shared\.\w+(\.noftz)?\.\w+")  # fmt: skip
OPEN = re.compile(r"div\.[us]|rem\.|mov\.\w+ \w+,\w*v|mov\.u64 d\d+,(p0|k)|st\..*[bus]8 ")
"""What depends on addresses, is open for some numbers, or ptxas 13.0 makes something else of: it
stores a byte of a float of 16 bits as an integer."""
UNGUARDED = re.compile(r"testp|set\.")
"""What ptxas 13.0 lets all threads do, whatever guards it."""
EXTREME = re.compile(r"(?:min|max).* \w+,(\w+),\1")
"""What ptxas makes a move, by which a NaN keeps its bits."""
UNGUARDED = re.compile(r"testp|set\.")
"""What ptxas 13.0 executes for every thread whatever the guard is."""
HALF = re.compile(r"st\.\w+\.(v\d\.)?[bus]8|min|max")
"""What ptxas 13.0 stores converted to an integer where it was a float of 16 bits, or leaves out of
two operands that are one, so that a NaN keeps its bits."""
WHOLE = re.compile(r"shfl\.sync|vote\.sync|match\.|redux\.sync")
"""What all threads of a warp take part in."""


@cache
def chapters() -> dict[str, list[Instruction]]:
    """The instructions that are drawn."""
    listed = defaultdict[str, list[Instruction]](list)
    for one in instructions():
        name, text = one.chapter, one.text
        if WHOLE.match(text):
            name = "of a warp"
        elif name in ("memory and moves", "atomics"):
            if ACCESS.match(one.mnemonic) and "[" in text and "v[" not in text:
                name = "memory"
            elif not re.match(r"mov|prmt", text):
                continue
        elif name not in ("integers", "floats", "halves", "comparison and selection",
                          "logic and shifts", "conversion"):  # fmt: skip
            continue
        if not OPEN.match(text) and not re.search(r"\b[bx]\d", text):
            listed[name].append(one)
    return listed


@cache
def legal(text: str) -> bool:
    """Whether the target has an instruction."""
    try:
        tw.compile(f"{HEAD.format(ARCH)}{BODY.format('k')}{text}\nret; }}\n", ARCH)
    except tw.CompileError:
        return False
    return True


@dataclass
class PtxKernel:
    """A text, and the words that it begins with."""

    text: str
    args: list[Any]
    natively: bool

    def difference(self) -> str | None:
        launch: dict[str, Any] = {
            "grid": (1,),
            "block": (THREADS,),
            "args": self.args,
            "arch": ARCH,
        }
        wanted = tw.interpret(self.text, **launch)
        written = tw.compile(self.text, ARCH)
        ways: dict[str, Callable[[], list[Any]]] = {
            "the text written again": lambda: tw.interpret(written.ptx, **launch),
        }
        if self.natively:
            ways["the compiled engine"] = lambda: tw.interpret(
                self.text, **launch, engine="compiled"
            )
        if "chip" in TileKernel.levels:
            ways["the chip"] = lambda: written.launch(*self.args, grid=(1,), block=(THREADS,))
        for way, run in ways.items():
            if any(a.tobytes() != b.tobytes() for a, b in zip(run(), wanted, strict=True)):
                return f"{way} leaves other bits"
        return None


class Text:
    """The lines of a kernel on their way."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.lines, self.labels = draw, list[str](), 0

    def register(self, kind: str) -> str:
        return f"{kind}{self.draw.number(1, EACH)}"

    def predicate(self) -> str:
        return f"p{self.draw.number(1, EACH)}"

    def instruction(self, depth: int) -> None:
        """One of the list, with other registers; some threads may leave it out."""
        names = [name for name in chapters() if depth == 0 or name != "of a warp"]
        name = self.draw.pick(names)
        one = self.draw.pick(chapters()[name])
        if not legal(one.text):
            return
        text = REGISTER.sub(lambda match: self.register(match[1]), one.text)
        mnemonic, _, operands = text.partition(" ")
        if name == "of a warp":
            operands = re.sub(r",\s*[^,]+;$", ",-1;", operands)
        operands = re.sub(r"\b[pq]\b", lambda _: self.predicate(), operands)
        operands = re.sub(r"(p\d)\|\1", r"\1|p0", operands)
        base = {"shared": "sa", "local": "lv", "global": "ga"}
        space = next((base[word] for word in base if f".{word}" in mnemonic), "")
        at = f"[{space}+{16 * self.draw.number(0, OWN // 16 - 1)}]"
        operands = re.sub(r"\[\w+\]", at, operands)
        guard = ""
        if EXTREME.match(text):
            return
        if name != "of a warp" and not UNGUARDED.match(text) and self.draw.chance(15):
            guard = f"@{'!' * self.draw.number(0, 1)}{self.predicate()} "
        self.lines.append(f"{guard}{mnemonic} {operands}")

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def block(self, depth: int) -> None:
        for _ in range(self.draw.number(1, 8)):
            way = self.draw.number(0, 9) if depth < 3 else 0
            (self.branch if way == 9 else self.loop if way == 8 else self.instruction)(depth)

    def branch(self, depth: int) -> None:
        """Some threads go past what others do, or do something else."""
        other, end = self.label(), self.label()
        self.lines.append(f"@{'!' * self.draw.number(0, 1)}{self.predicate()} bra {other};")
        self.block(depth + 1)
        if self.draw.chance(50):
            self.lines += [f"bra {end};", f"{other}:"]
            self.block(depth + 1)
            self.lines.append(f"{end}:")
        else:
            self.lines.append(f"{other}:")

    def loop(self, depth: int) -> None:
        """A few rounds; some threads may leave before the others."""
        start, end, count = self.label(), self.label(), f"c{depth}"
        self.lines += [f"mov.u32 {count}, 0;", f"{start}:"]
        self.block(depth + 1)
        if self.draw.chance(40):
            self.lines.append(f"@{self.predicate()} bra {end};")
            self.block(depth + 1)
        self.lines += [f"add.u32 {count}, {count}, 1;",
                       f"setp.lt.u32 p0, {count}, {self.draw.number(1, 3)};", f"@p0 bra {start};",
                       f"{end}:"]  # fmt: skip


def all_registers(op: str, line: str) -> list[str]:
    """A line for each register, and where its word is."""
    lines, at = list[str](), 0
    for kind, (type_, size) in sorted(KINDS.items(), key=lambda item: -item[1][1]):
        for number in range(1, EACH + 1):
            lines.append(line.format(op=f"{op}.{type_}", register=f"{kind}{number}", at=at))
            at += size
    return lines


def ptx_texts(draw: Draw) -> PtxKernel:
    """A kernel that loads all its registers, goes on from there, and stores all of them."""
    rng, text = draw.generator(), Text(draw)
    columns = [
        values(element, (THREADS, EACH), rng).view(np.uint8).reshape(THREADS, -1)
        for element in ("i64", "f64", "i32", "f32", "f16")
    ]
    words = np.zeros((THREADS, STRIDE), np.uint8)
    words[:, : sum(column.shape[1] for column in columns)] = np.concatenate(columns, axis=1)
    own = rng.integers(0, 256, (THREADS, OWN), np.uint8)
    for _ in range(draw.number(1, 3)):
        text.block(0)
    registers = "".join(f".reg .{type_} {kind}<{EACH + 1}>; " for kind, (type_, _) in KINDS.items())
    lines = [
        *all_registers("ld.global", "{op} {register}, [in+{at}];"),
        *(f"setp.lt.s32 p{number}, r{number}, 0;" for number in range(1, EACH + 1)),
        *(f"ld.global.v2.b64 {{a, b}}, [ga+{at}]; st.shared.v2.b64 [sa+{at}], {{a, b}}; "
          f"st.local.v2.b64 [lv+{at}], {{b, a}};" for at in range(0, OWN, 16)),
        "add.cc.u32 t, t, 0;",
        *text.lines,
        *all_registers("st.global", "{op} [in+{at}], {register};"),
        *(f"selp.b32 r{n}, 1, 0, p{n}; st.global.b32 [out+{4 * n}], r{n};"
          for n in range(1, EACH + 1)),
        *(f"ld.{space}.v2.b64 {{a, b}}, [{base}+{at}]; st.global.v2.b64 [out+{first + at}], "
          "{a, b};" for first, space, base in ((32, "shared", "sa"), (32 + OWN, "local", "lv"))
          for at in range(0, OWN, 16)),
    ]  # fmt: skip
    size = 32 + 2 * OWN
    places = "".join(
        f"ld.param.u64 {name}, [p_{name}]; cvta.to.global.u64 {name}, {name}; "
        f"mad.wide.u32 {name}, t, {stride}, {name};\n"
        for name, stride in (("in", STRIDE), ("ga", OWN), ("out", size))
    )
    body = "\n".join(lines)
    source = f"""{HEAD.format(ARCH)}
.visible .entry k(.param .u64 p_in, .param .u64 p_ga, .param .u64 p_out) {{
.shared .align 16 .b8 sv[{THREADS * OWN}]; .local .align 16 .b8 lv[{OWN}];
.reg .pred p<{EACH + 1}>; .reg .b32 c<3>, t, sa; .reg .b64 in, ga, out, a, b; {registers}
mov.u32 t, %tid.x; mov.u32 sa, sv; mad.lo.u32 sa, t, {OWN}, sa;
{places}{body}
ret;
}}
"""
    return PtxKernel(source, [words, own, np.zeros((THREADS, size), np.uint8)], draw.chance(15))
