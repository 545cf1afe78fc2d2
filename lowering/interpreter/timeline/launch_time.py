"""The time of a launch by the latency model: its first and last CTAs stand for the others."""

from collections import defaultdict
from collections.abc import Iterable
from math import ceil, floor, inf, prod

from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import REGISTERS, Sm, chip_of
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RESERVED
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.lowering.interpreter.builder import Builder
from tilewright.lowering.interpreter.machine.launch import Launch
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.program import Program
from tilewright.lowering.interpreter.timeline.deciding import drop_data
from tilewright.lowering.interpreter.timeline.instructions import Line
from tilewright.lowering.interpreter.timeline.latencies import COPIED_BYTES, COPIES
from tilewright.lowering.interpreter.timeline.periods import Counts, Periods
from tilewright.lowering.interpreter.timeline.record import Timeline
from tilewright.lowering.interpreter.timeline.turns import DATA

CROWDING, QUEUEING = 8, 4
"""The exponents of the norms by which times add up: two units of an SM that are as busy as each
other take 9 % longer than one, SMs whose threads load and memory 19 %: they wait longer for it the
busier it is. [A]"""


class LaunchTime(Timeline):
    """A timeline of the first CTA and of the last one, or of the first of these clusters; no others
    run. `registers` are those of a thread, 0 where nobody knows; so many CTAs share the work of
    each `last` one, where those do not fill the chip. Where an SM's CTAs are `taken` by one after
    the other, it has the operands of the next one while it stores the last."""

    reorders = True
    sustained = 0.82  # The clock falls at the cap on power: 790 to 810 of 989 TFLOP/s on an H200.

    def __init__(self, registers: int = 0, last: int = 1, *, taken: bool = False):
        super().__init__()
        self._registers, self._sharing, self._taking = registers, last, taken
        self._ended = defaultdict[int, int](int)
        """When the last event of a CTA ends."""
        self._skipped = defaultdict[int, float](float)
        """The time of the periods of a CTA that were not run."""

    def watch(self, program: Program, builder: Builder, launch: Launch) -> None:
        """Wrap the steps of a program, and let these CTAs run."""
        deciding = drop_data(program, builder.slots)
        launch.runner = Periods(program, builder.slots, deciding, self._counts, self._skip)
        super().watch(program, builder, launch)
        self._launch, self._shared = launch, program.shared_bytes
        # Of CTAs that all run at once the first one takes longest.
        launch.ends = 1 + (launch.ctas > self._chip.count)
        ctas = 1 + (launch.ends - 1) * prod(launch.cluster)
        self._most = ctas * -(-launch.threads // WARP)

    def _counts(self) -> Counts:
        """The clocks of warps, and how long units were taken, by name and number."""
        counts: Counts = {
            warp: clock.now + self._skipped[self._cta(warp)] for warp, clock in self._clocks.items()
        }
        return counts | self._busy | {key: pipe.busy for key, pipe in self._pipes.items()}

    def _skip(self, counts: Counts) -> None:
        """Add what is not run."""
        times = defaultdict[int, float](float)
        for key, count in counts.items():
            if isinstance(key, int):
                times[self._cta(key)] = max(times[self._cta(key)], count)
            elif isinstance(key[0], int):
                self._busy[key] += count
            else:
                self._pipes[key].busy += count
        for cta, time in times.items():
            self._skipped[cta] += time

    @property
    def _chip(self) -> Sm:
        return chip_of(divmod(target(self.arch).number, 10))

    def _note(
        self, cta: int, warp: int, kind: str, name: str, start: int, end: int, line: Line | None
    ) -> None:
        self._ended[cta] = max(self._ended[cta], end)

    @property
    def microseconds(self) -> float:
        """The time of all CTAs; as many as fit share an SM's pipes. Where the first one takes
        longer than the last, they take as long as both on the average: SMs that are free early
        begin with the next ones."""
        chip, threads = self._chip, self._launch.threads
        fitting = min(
            chip.ctas,
            chip.threads // threads,
            (chip.shared << 10) // (self._shared + RESERVED),
            REGISTERS // (-(-self._registers // 8) * 8 * threads) if self._registers else inf,
        )
        together = max(int(min(fitting, -(-self._launch.ctas // chip.count))), 1)
        turns = self._launch.ctas / (chip.count * together)
        first, last = (self._cycles(cta, together) for cta in (0, len(self.blocks) - 1))
        whole, rest = ceil(turns), last * (ceil(turns) - turns)
        if self._sharing > 1:
            whole, rest = floor(turns), last / self._sharing
        in_turn = (first + last) / 2 * min(turns, whole) + rest
        if self._taking:
            in_turn -= (whole - 1) * self._first_product
        limits = max(first, last, in_turn), self._memory_cycles
        # What TMA copies is asked for far ahead: the latency of memory is nowhere to be seen.
        ahead = any(name == COPIES for name, _ in self._pipes)
        cycles = max(limits) if ahead else _crowded(limits, QUEUEING)
        return cycles / chip.ghz / 1e3

    @property
    def _first_product(self) -> int:
        """When the first CTA begins to multiply."""
        begins = (
            pipe.taken[0][0]
            for (name, number), pipe in self._pipes.items()
            if number < 4 and name not in (COPIES, "cp.async", DATA)
        )
        return min(begins, default=0)

    @property
    def _memory_cycles(self) -> float:
        """The cycles in which the chip's memory moves what CTAs copy, but not more than all arrays:
        what several copy is moved once."""
        ctas = range(len(self.blocks))
        copied = COPIED_BYTES * sum(self._taken(cta)[COPIES, 0] for cta in ctas)
        arrays = sum(one.size for one in self._wave.memory.allocations if not one.share)
        moved = min(arrays, copied / len(ctas) * self._launch.ctas)
        return moved / self._chip.bandwidth * self._chip.ghz

    def _cycles(self, cta: int, together: int) -> float:
        """The time of a CTA beside others like it, which queue up for the busiest unit (by mean
        value analysis of a closed network); units that are nearly as busy hold that one up."""
        units = self._taken(cta).values()
        busiest = max(units, default=0)
        elsewhere, waiting, time = max(self._ended[cta] + self._skipped[cta] - busiest, 0), 0.0, 1.0
        for ctas in range(1, together + 1):
            served = busiest * (1 + waiting)
            time = elsewhere + served
            waiting = ctas * served / time
        return time + together * (_crowded(units) - busiest)

    def _taken(self, cta: int) -> dict[tuple[str, int], float]:
        """The cycles that a CTA takes each unit of its SM, or of a quarter of it."""
        taken = defaultdict[tuple[str, int], float](float)
        for (name, number), pipe in self._pipes.items():
            own, quarter = divmod(number, 4)
            if own == cta:
                unit = COPIES if name == "cp.async" else name  # One way into the SM.
                taken[unit, quarter] += pipe.busy
        for (own, unit), cycles in self._busy.items():
            if own == cta:
                taken[unit, 0] += cycles
        return taken


def _crowded(times: Iterable[float], exponent: int = CROWDING) -> float:
    """The time of units that hold each other up."""
    return sum(time**exponent for time in times) ** (1 / exponent)
