"""The time of a launch by the latency model: its first CTAs run, and stand for the others."""

from collections import defaultdict

from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import chip_of
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RESERVED
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.lowering.interpreter.builder import Builder
from tilewright.lowering.interpreter.machine.launch import Launch
from tilewright.lowering.interpreter.program import Program
from tilewright.lowering.interpreter.timeline.record import Timeline


class LaunchTime(Timeline):
    """A timeline of one CTA, or of one cluster; no others run."""

    def __init__(self) -> None:
        super().__init__(1)

    def watch(self, program: Program, builder: Builder, launch: Launch) -> None:
        """Wrap the steps of a program, and let one CTA run."""
        super().watch(program, builder, launch)
        self._launch, self._shared = launch, program.shared_bytes
        launch.most = 1

    @property
    def microseconds(self) -> float:
        """The time of all CTAs; as many as fit, registers aside, share an SM's pipes."""
        chip = chip_of(divmod(target(self.arch).number, 10))
        fitting = min(
            chip.ctas,
            chip.threads // self._launch.threads,
            (chip.shared << 10) // (self._shared + RESERVED),
        )
        together = max(min(fitting, -(-self._launch.ctas // chip.count)), 1)
        turns = -(-self._launch.ctas // (chip.count * together))
        busy = defaultdict[tuple[str, int], int](int)
        for (name, number), pipe in self._pipes.items():
            unit = "tma" if name == "cp.async" else name  # One way into the SM.
            busy[unit, number] += sum(end - start for start, end in pipe.taken)
        cycles = max(self.cycles, together * max(busy.values(), default=0))
        return turns * cycles / chip.ghz / 1e3
