"""Programs that the static check and the interpreter are both asked of."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from run_levels import LEVELS
from without_checks import without_checks

import tilewright as tw
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.pipeline import run_pipeline, verified
from tilewright.source.diagnostic import OpError
from tilewright.source.parsing import default_context


@dataclass(frozen=True)
class CheckedProgram:
    """A program, whose static answer at either level is that of its runs."""

    text: str
    arch: ClassVar[str]
    threads: ClassVar[int]
    unproven: ClassVar[str]
    schedules: ClassVar[tuple[int | None, ...]]

    @property
    def arguments(self) -> list[Any]:
        return [np.zeros(1, np.int32)]

    def refused(self, level: str) -> str | None:
        """What the static check says; the empty word where it warns that it proves nothing."""
        module, source = verified(self.text, "k.mlir")
        if level == "ptx":
            with without_checks():
                run_pipeline(module, self.arch, source)
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                CheckHazardsPass(unproven=self.unproven).apply(default_context(), module)
        except OpError as error:
            return error.message
        return "" if said else None

    def fault(self) -> str | None:
        """What the interpreter says, on some schedule."""
        for schedule in self.schedules:
            try:
                with without_checks():
                    tw.interpret(
                        self.text, level="atom", grid=(1,), block=(self.threads,), arch=self.arch,
                        args=self.arguments, schedule=schedule, name="k.mlir",
                    )  # fmt: skip
            except tw.ExecutionError as error:
                return str(error)
        return None

    def difference(self) -> str | None:
        fault = self.fault()
        for level in LEVELS:
            said = self.refused(level)
            if said != "" and (said is None) != (fault is None):
                verb = "refuses what runs" if fault is None else "accepts what does not run"
                return f"the check {verb} at {level}"
        return None
