"""Schedules of examples/hopper_gemm.py, and the model that picks one."""

from dataclasses import dataclass
from typing import NamedTuple

MULTIPROCESSORS, ROW = 132, 128
"""Those of an H100 or H200 (SXM), and the bytes of a stage's rows: one swizzle."""


class MultipliedType(NamedTuple):
    """An element type of A and B: its bytes, K of an instruction, and FLOP of a multiprocessor in a
    microsecond."""

    size: int
    depth: int
    rate: float


OPERANDS = {
    "bf16": MultipliedType(2, 16, 6.85e6),
    "f8E4M3FN": MultipliedType(1, 32, 12.9e6),
    "tf32": MultipliedType(4, 8, 3.43e6),
}


@dataclass(frozen=True)
class GemmSchedule:
    """A tile of C, m by n; how many stages a CTA has, by how many columns C is stored, how many
    CTAs of a cluster have a part of K each, and how many teams of warpgroups take the tiles of a
    CTA in turn. Streamed, each CTA has as many steps of K as the others, whole tiles or not."""

    m: int
    n: int
    stages: int
    piece: int
    split: int = 1
    teams: int = 1
    streamed: bool = False

    def __str__(self) -> str:
        kinds = {"in turn": self.teams > 1, "streamed": self.streamed}
        split = f"/{self.split}" if self.split > 1 else ""
        return " ".join([f"{self.m}x{self.n}{split}", *(kind for kind in kinds if kinds[kind])])

    @property
    def height(self) -> int:
        """The rows that are multiplied: whole instructions, zeros below the tile's."""
        return -(-self.m // 64) * 64

    @property
    def groups(self) -> int:
        """The warpgroups of a team."""
        return self.height // 64 if self.teams == 1 else 1

    @property
    def threads(self) -> int:
        """The threads that multiply."""
        return 128 * self.groups * self.teams

    @property
    def most_ctas(self) -> int:
        """How many CTAs run at once: of clusters those that fit into groups of 14 to 18
        multiprocessors."""
        return MULTIPROCESSORS if self.split <= 2 else 112

    def tiles(self, m: int, n: int) -> int:
        """The tiles of a problem."""
        return -(-m // self.m) * -(-n // self.n)

    @property
    def box(self) -> int:
        """The columns of a box of C: a swizzle wide; or an odd number of runs of 16 bytes, so that
        eight rows lie in different banks as they are."""
        return next(box for box in (64, 32, 56, 40, 24, 8) if self.piece % box == 0)

    @property
    def swizzle(self) -> str:
        """The swizzle of a box of C."""
        return f"S<{self.box.bit_length() - 4},3,3> o 0 o " if self.box % 32 == 0 else ""


SHARED = 227 << 10
"""The shared memory of a CTA."""


def schedule(
    m: int, n: int, split: int = 1, *, teams: int = 1, streamed: bool = False
) -> GemmSchedule:
    """The schedule of a tile: C through shared memory in as few pieces as leave four stages, which
    have the rest of it."""
    height = -(-m // 64) * 64
    exchanged = 4 * m * n * (split - 1) // split
    for pieces in range(split, n):
        left = SHARED - 2048 - 2 * teams * height * (n // pieces) - exchanged
        stages = min(left // ((height + n) * ROW), 16)
        if n % pieces == 0 and (stages >= 4 or split > 1):
            return GemmSchedule(m, n, stages, n // pieces, split, teams, streamed)
    raise ValueError(f"{m}x{n} leaves no four stages")


TILES = (
    *(
        schedule(*tile)
        for tile in (
            (128, 256), (192, 192), (128, 168), (128, 160), (128, 128), (128, 96), (64, 128),
            (128, 64), (64, 64), (64, 32), (16, 32), (128, 64, 2), (64, 64, 4), (64, 128, 8),
        )
    ),
    schedule(128, 128, teams=2),
)  # fmt: skip


def microseconds(own: GemmSchedule, m: int, n: int, k: int, element: str = "bf16") -> float:
    """The time that a schedule takes, by what was measured on an H200: the launch, the first copies
    and the last store, of tiles by their size; sums through shared memory of a cluster; 0.5 us from
    a tile to the next, 0.4 where another team multiplies meanwhile; and for each step of K what the
    tensor cores take, with 0.033 us to begin, or what copies do, 95 bytes a nanosecond for each
    multiprocessor. Meanwhile A and B come from memory, and what was in the L2 cache goes there."""
    operand = OPERANDS[element]
    step = max(2 * own.height * own.n * ROW / operand.size / operand.rate + 0.033,
               (own.m + own.n) * ROW / 95e3)  # fmt: skip
    tiles, steps = own.tiles(m, n), -(-k * operand.size // (ROW * own.split))
    rounds = -(-tiles * own.split // own.most_ctas)
    work = rounds * steps * step + 0.5 + (rounds - 1) * (0.5 if own.teams == 1 else 0.4)
    memory = ((m + n) * k * operand.size + 2 * m * n) / 3.4e6
    first_and_last = 4.3 + own.height * own.n * 1e-4 + (own.split - 1) * 0.5
    return first_and_last + max(work, memory) + min(work, memory) / 10


def legal(own: GemmSchedule, row_major: bool, element: str = "bf16") -> bool:
    """True of every schedule, but for a row-major B, whose columns are whole swizzles, and tf32,
    of which there are no zeros to lay below rows."""
    return (not row_major or own.n % 32 == 0) and (element != "tf32" or own.m == own.height)


def schedule_of(
    m: int, n: int, k: int, element: str = "bf16", *, row_major: bool = False
) -> GemmSchedule:
    """The schedule that the model finds fastest."""
    tiles = [own for own in TILES if legal(own, row_major, element)]
    return min(tiles, key=lambda own: microseconds(own, m, n, k, element))


def grid_of(own: GemmSchedule, m: int, n: int) -> tuple[int]:
    """The grid of a schedule for a problem: a CTA for each tile, at most the multiprocessors; or a
    cluster for each."""
    tiles = own.tiles(m, n)
    ctas = tiles * own.split
    return (own.most_ctas if own.streamed else ctas if own.split > 1 else min(ctas, own.most_ctas),)


def workspace(own: GemmSchedule, m: int, n: int) -> tuple[tuple[int, ...], ...]:
    """The shapes of what a streamed kernel takes beside A, B and C: sums, f32, and flags, i32,
    which are zero before and after."""
    (ctas,) = grid_of(own, m, n)
    return ((ctas, own.height * own.n), (ctas,)) if own.streamed else ()
