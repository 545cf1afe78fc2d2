"""Programs of tcgen05 in any order: where the static check is silent nothing goes wrong when they
run, and where it refuses them something does.

Every cell has one word and keeps it, in whatever order things are done: B is zero, and D adds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from checked_program import CheckedProgram
from draw import Draw
from tmem_kernels import AFTER, BARRIER, BEFORE, CELLS, SMEM, SYNC, WAIT_LOAD, WAIT_STORE, held
from umma_images import Umma
from umma_programs import atom_of, tile_and_view
from wgmma_kernels import Tile

from tilewright.dialects.cute_nvgpu.ops.umma import tensor_type

F16 = ("f16", "f16", "f32")
E4M3 = ("e4m3", "e4m3", "f32")
MMAS = {
    "f16": Umma(128, 16, 16, F16, a_in_tmem=True),
    "wide": Umma(128, 32, 16, F16, a_in_tmem=True),
    "shared": Umma(128, 16, 16, F16),
    "half": Umma(64, 16, 16, F16, a_in_tmem=True),
    "into f16": Umma(128, 16, 16, ("f16", "f16", "f16"), a_in_tmem=True),
    "tf32": Umma(128, 16, 8, ("tf32", "tf32", "f32"), a_in_tmem=True),
    "sparse": Umma(128, 16, 32, F16, sparse=True, a_in_tmem=True),
    "wider": Umma(128, 64, 16, F16),
    "ws": Umma(128, 64, 16, F16, ws=True),
    "wide mx": Umma(128, 32, 32, E4M3, vector=1, scale_type="ue8m0"),
    "mx": Umma(128, 16, 32, E4M3, vector=1, scale_type="ue8m0"),
}
COPIES = {
    "32x128b warpx4": (32, 4), "4x256b": (4, 8), "128x128b": (128, 4), "128x256b": (128, 8),
    "64x128b warpx2_02_13": (64, 4),
}  # fmt: skip
COLUMNS, ACCUMULATORS = (0, 8, 16, 32, 40, 64), (0, 16, 32)
FOUR, ALL = "!cute_nvgpu.fragment<4xi32>", "!cute_nvgpu.fragment<128xi32>"
BARS = f"memref<16xi64, {SMEM}>"
SOURCE = f'memref<128x8xi32, !cute.layout<"(128,(4,2)):(4,(1,512))">, {SMEM}>'
ISSUERS = ("first", "other")
LAUNCH = "gpu.known_block_size = array<i32: 128, 1, 1>, gpu.known_grid_size = array<i32: 1, 1, 1>"
FILLED = f"""
  %other = arith.cmpi eq, %t, %c32 : index
  %high = arith.addi %row, %c16 : index
  %true = arith.constant true
  %one = arith.constant 1 : i32
  %word = arith.constant {0x44444444} : i32
  %q = memref.alloc() : {BARS}
  %s = memref.alloc() : {SOURCE}
  %four = cute_nvgpu.fragment.splat %word : i32 -> {FOUR}
  %paired = cute_nvgpu.fragment.splat %word : i32 -> {FOUR}
  cute_nvgpu.fragment.store %four, %s[%t, %c0] : {FOUR}, {SOURCE}
  cute_nvgpu.fragment.store %four, %s[%t, %k4] : {FOUR}, {SOURCE}
  scf.if %first {{
    scf.for %j = %c0 to %c16 step %c1 {{
      cute_nvgpu.mbarrier.init %q[%j] count 1 : {BARS}
    }}
    cute_nvgpu.fence.mbarrier_init
  }}
  %v = cute_nvgpu.fragment.splat %word : i32 -> {ALL}
  cute_nvgpu.tmem.store %v, %m[%row, %c0] shape 32x32b : {ALL}, {CELLS}
  {WAIT_STORE}
  cute_nvgpu.fence.proxy.async
  {SYNC}
"""


class Tcgen05Text:
    """A kernel of 128 threads, statement by statement: what thread 0 (`first`) or 32 (`other`)
    starts, and what all warps do, on 128 columns that are written."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._tiles: dict[str, str] = {}
        self._values = self._commits = 0
        self._parity = "%even"

    @property
    def text(self) -> str:
        body = "".join(self._tiles.values()) + FILLED + "\n".join(self.lines)
        numbers = sorted(set(re.findall(r"%k(\d+)", body)))
        constants = "\n".join(f"  %k{n} = arith.constant {n} : index" for n in numbers)
        return held(constants + body).replace("gpu.kernel", f"gpu.kernel, {LAUNCH}", 1)

    def _name(self) -> str:
        self._values += 1
        return f"%x{self._values}"

    def by(self, issuer: str, *lines: str) -> None:
        """What a thread does, or, where none is named, all of them."""
        self.lines += [f"  scf.if %{issuer} {{", *lines, "  }"] if issuer else lines

    def mma(self, issuer: str, name: str, places: Mapping[str, int], half: int = 0) -> None:
        """One whose operands in tensor memory begin at these columns; in the second half of the
        lanes, where M is 64, or with the second half of a pair of columns of metadata."""
        u, body = MMAS[name], list[str]()
        atom = atom_of(u)
        lane = 16 * half * (atom.path.letter == "F")
        tensors, types = list[str](), list[str]()
        for operand in ("D", "A", "B", "E", "SFA", "SFB"):
            if operand in atom.tmem_operands:
                value, type_ = self._name(), tensor_type(atom, operand)
                at = f"%m[%k{lane}, %k{places[operand]}] : {CELLS} -> {type_}"
                body.append(f"    {value} = cute_nvgpu.tmem.slice {at}")
            elif operand == "A" or operand == "B":
                value, type_ = self._matrix(u, operand)
            else:
                continue
            selected = {"E": f"[{half}]", "SFA": "[0]", "SFB": "[0]"}
            tensors.append(value + selected.get(operand, ""))
            types.append(type_)
        body.append(
            f"    cute_nvgpu.{atom.op} {', '.join(tensors)} enable_input_d %true "
            f"<{atom.parameters}> : {', '.join(types)}"
        )
        self.by(issuer, *body)

    def _matrix(self, u: Umma, operand: Literal["A", "B"]) -> tuple[str, str]:
        """The descriptor of a matrix of zeros in shared memory, and its type."""
        tile, view = tile_and_view(u, operand)
        element, (rows, width) = tile.element, tile.shape
        layout = tile.layout.replace(f"({rows},", "(128,", 1)
        tile = Tile(f"m{element}", (128, width), layout, element)
        name, zero = tile.name, "0.0" if element[0] == "f" else "0"
        chunk = f"!cute_nvgpu.fragment<{width // 8}x{element}>"
        stores = "\n".join(
            f"  cute_nvgpu.fragment.store %{name}f, %{name}[%t, %k{place}] : {chunk}, {tile.memref}"
            for place in range(0, width // 2, width // 8)
        )
        self._tiles[name] = f"""
{tile.alloc()}  %{name}z = arith.constant {zero} : {element}
  %{name}f = cute_nvgpu.fragment.splat %{name}z : {element} -> {chunk}
{stores}
"""
        value = self._name()
        self.lines.append(tile.desc(value[1:], view, "%c0", "%c0").rstrip())
        return value, view

    def copy(self, issuer: str, shape: str, column: int) -> None:
        """A `tcgen05.cp`."""
        rows, columns = COPIES[shape]
        layout = f"({rows},(4,2)):(4,(1,512))" if columns == 8 else f"({rows},4):(4,1)"
        view = f'!cute_nvgpu.smem_desc_view<{rows}x{columns}xi32, tcgen05, "{layout}">'
        name = self._name()
        self.by(
            issuer,
            f"    {name} = cute_nvgpu.make_smem_desc %s[%c0, %c0] : {SOURCE} -> {view}",
            f"    cute_nvgpu.tmem.copy {name} to %m[%c0, %k{column}] shape {shape} : {view} to "
            f"{CELLS}",
        )

    def shift(self, issuer: str, column: int, lane: int = 0) -> None:
        """A `tcgen05.shift` of the rows from a lane on."""
        self.by(issuer, f"    cute_nvgpu.tmem.shift %m[%k{lane}, %k{column}] : {CELLS}")

    def load(self, column: int, row: str = "%row", shape: str = "32x32b") -> None:
        """A load by all warps, to four registers that nothing reads."""
        at = f"%m[{row}, %k{column}] shape {shape} : {CELLS}"
        self.lines.append(f"  {self._name()} = cute_nvgpu.tmem.load {at} -> {FOUR}")

    def store(self, column: int, row: str = "%row", shape: str = "32x32b") -> None:
        """A store by all warps, of four registers."""
        at = f"%m[{row}, %k{column}] shape {shape} : {FOUR}, {CELLS}"
        value = "%four" if shape == "32x32b" else "%paired"
        self.lines.append(f"  cute_nvgpu.tmem.store {value}, {at}")

    def commit(self, issuer: str) -> str:
        """A commit to an mbarrier of its own, and the wait for it."""
        at = f"%q[%k{self._commits % 16}]"
        self._commits += 1
        self.by(issuer, f"    cute_nvgpu.tcgen05.commit {at} : {BARS}")
        return f"cute_nvgpu.mbarrier.wait {at} parity {self._parity} : {BARS}"

    def end(self, *issuers: str) -> None:
        """All that was started is over."""
        self.lines += [WAIT_LOAD, WAIT_STORE]
        for issuer in issuers:
            self.lines += [self.commit(issuer), AFTER]


class Statements(Tcgen05Text):
    """A random one."""

    def __init__(self, draw: Draw):
        super().__init__()
        self._draw = draw
        self._issuers = ISSUERS[: 1 + draw.chance(25)]
        self._some(draw.number(2, 7))
        if draw.chance(30):
            self._loop()
            self._some(draw.number(0, 2))
        self.end(*self._issuers)

    def _some(self, count: int) -> None:
        kinds = [self._mma] * 5 + [self._copy] * 3 + [self._shift, self._load, self._store]
        kinds += [self._complete] * 5 + [self._sync, self.commit, self._part]
        for _ in range(count):
            self._draw.pick(kinds)(self._draw.pick(self._issuers))

    def _loop(self) -> None:
        self.lines.append("""  scf.for %i = %c0 to %c3 step %c1 {
  %round = arith.index_cast %i : index to i32
  %turn = arith.andi %round, %one : i32""")
        self._parity = "%turn"
        self._some(self._draw.number(1, 4))
        self.lines.append("  }")
        self._parity = "%even"

    def _maybe(self, *lines: str, percent: int = 80) -> list[str]:
        return [line for line in lines if self._draw.chance(percent)]

    def _mma(self, issuer: str) -> None:
        name, accumulator = self._draw.pick(tuple(MMAS)), self._draw.pick(ACCUMULATORS)
        width = MMAS[name].n
        free = [c for c in COLUMNS if not accumulator <= c < accumulator + width]
        places = {
            operand: self._draw.pick(free if self._draw.chance(95) else COLUMNS)
            for operand in ("A", "E", "SFA", "SFB")
        }
        self.mma(issuer, name, {**places, "D": accumulator}, self._draw.number(0, 1))

    def _copy(self, issuer: str) -> None:
        self.copy(issuer, self._draw.pick(tuple(COPIES)), self._draw.pick(COLUMNS))

    def _shift(self, issuer: str) -> None:
        self.shift(issuer, self._draw.pick(COLUMNS), self._draw.pick((0, 0, 32, 96)))

    def _tile(self) -> tuple[int, str, str]:
        """All of a warp's lanes, or half of them."""
        shape, rows = self._draw.pick((("32x32b", ("%row",)), ("16x64b", ("%row", "%high"))))
        return self._draw.pick(COLUMNS), self._draw.pick(rows), shape

    def _load(self, _: str) -> None:
        self.load(*self._tile())
        self.lines += self._maybe(WAIT_LOAD)

    def _store(self, _: str) -> None:
        self.store(*self._tile())
        self.lines += self._maybe(WAIT_STORE)

    def _complete(self, issuer: str) -> None:
        """What was started is over for all, or for one; a part may be missing."""
        wait = self.commit(issuer)
        if self._parity == "%turn":
            self.lines += [wait, *self._maybe(AFTER, percent=85), BARRIER]
            return
        self.by(self._draw.pick(("", *ISSUERS)), *self._maybe(wait, AFTER, percent=85))

    def _sync(self, _: str) -> None:
        self.lines += self._maybe(BEFORE, BARRIER, AFTER)

    def _part(self, _: str) -> None:
        self.lines.append(self._draw.pick((WAIT_LOAD, WAIT_STORE, BEFORE, AFTER, BARRIER)))


@dataclass(frozen=True)
class Tcgen05Orders(CheckedProgram):
    arch, threads, unproven, schedules = "sm_100a", 128, "error", (None, 1)


def tcgen05_orders(draw: Draw) -> Tcgen05Orders:
    """One thread or two start MMAs, copies and shifts; all warps load and store."""
    return Tcgen05Orders(Statements(draw).text)
