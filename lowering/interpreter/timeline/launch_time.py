"""The time of a launch by the latency model: its first and last CTAs stand for the others."""

from collections import defaultdict
from math import ceil, floor, inf, prod

from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import REGISTERS, Sm, chip_of
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RESERVED
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.lowering.interpreter.builder import Builder
from tilewright.lowering.interpreter.machine.launch import Launch
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.program import Program
from tilewright.lowering.interpreter.timeline.latencies import COPIED_BYTES
from tilewright.lowering.interpreter.timeline.record import Line, Timeline


class LaunchTime(Timeline):
    """A timeline of the first CTA and of the last one, or of the first of these clusters; no others
    run. `registers` are those of a thread, 0 where nobody knows; so many CTAs share the work of
    each `last` one, where those do not fill the chip."""

    reorders = True

    def __init__(self, registers: int = 0, last: int = 1) -> None:
        super().__init__()
        self._registers, self._sharing = registers, last
        self._ended = defaultdict[int, int](int)
        """When the last event of a CTA ends."""

    def watch(self, program: Program, builder: Builder, launch: Launch) -> None:
        """Wrap the steps of a program, and let these CTAs run."""
        super().watch(program, builder, launch)
        self._launch, self._shared = launch, program.shared_bytes
        # Of CTAs that all run at once the first one takes longest.
        launch.ends = 1 + (launch.ctas > self._chip.count)
        ctas = 1 + (launch.ends - 1) * prod(launch.cluster)
        self._most = ctas * -(-launch.threads // WARP)

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
        together = max(min(fitting, -(-self._launch.ctas // chip.count)), 1)
        turns = self._launch.ctas / (chip.count * together)
        first, last = (self._cycles(cta, together) for cta in (0, len(self.blocks) - 1))
        in_turn = (first + last) / 2 * turns + last * (ceil(turns) - turns)
        if self._sharing > 1:
            in_turn = (first + last) / 2 * floor(turns) + last / self._sharing
        return max(first, last, in_turn, self._memory_cycles) / chip.ghz / 1e3

    @property
    def _memory_cycles(self) -> float:
        """The cycles in which the chip's memory moves what CTAs copy, but not more than all arrays:
        what several copy is moved once."""
        copies = (pipe for (name, _), pipe in self._pipes.items() if name in ("tma", "cp.async"))
        copied = COPIED_BYTES * sum(end - start for pipe in copies for start, end in pipe.taken)
        arrays = sum(one.size for one in self._wave.memory.allocations if not one.share)
        moved = min(arrays, copied / len(self.blocks) * self._launch.ctas)
        return moved / self._chip.bandwidth * self._chip.ghz

    def _cycles(self, cta: int, together: float) -> float:
        """The time of a CTA beside others like it."""
        busy = defaultdict[tuple[str, int], int](int)
        for (name, number), pipe in self._pipes.items():
            if number // 4 == cta:
                unit = "tma" if name == "cp.async" else name  # One way into the SM.
                busy[unit, number] += sum(end - start for start, end in pipe.taken)
        units = (cycles for (own, _), cycles in self._busy.items() if own == cta)
        return max(self._ended[cta], together * max([*busy.values(), *units], default=0))
