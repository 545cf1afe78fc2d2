"""The parameters of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from xdsl.ir import Operation

from tilewright.lowering.interpreter.array_types import BoolArray
from tilewright.lowering.interpreter.machine.special_registers import Dim
from tilewright.lowering.interpreter.share import Share, print_text


class Runner(Protocol):
    """Who runs gangs of a machine."""

    def run(self, machine: Any, gang: Any, others: Sequence[Any]) -> list[Any]:
        """Run a gang that the others are not further behind than: the gangs that go on."""
        ...


@dataclass
class Launch:
    """The parameters of a run: grid and block, numerics, and the file of its code; the seed of its
    schedule, how many steps its gangs may take in each wave, how many of its `ends` run alone,
    the first cluster and the last one, what becomes of races on global memory ("error", "warn" or
    "ignore"), the share of the grid that runs, what takes the text that the kernel prints, what
    says more of an op that went wrong, of a machine, a gang, the op, a lane and the message, and
    what runs gangs in place of the machine; after a run that asks for it, the bytes of each buffer
    that were `written`.
    """

    grid: Dim
    block: Dim
    numerics: str
    arch: str
    source: str | None = None
    progress: Callable[[int, int], None] | None = None
    cluster: Dim = (1, 1, 1)
    schedule: int | None = None
    max_steps: int | None = None
    ends: int | None = None
    races: str = "ignore"
    share: Share | None = None
    say: Callable[[str], Any] = print_text
    explain: Callable[[Any, Any, Operation, int | None, str], list[str]] | None = None
    runner: Runner | None = None
    written: Sequence[BoolArray] = ()

    @property
    def threads(self) -> int:
        x, y, z = self.block
        return x * y * z

    @property
    def ctas(self) -> int:
        x, y, z = self.grid
        return x * y * z
