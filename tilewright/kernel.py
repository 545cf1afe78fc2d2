"""Kernels as `tilewright.compile` gives them back: to launch, to read, and to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from tilewright.arguments.options import checked
from tilewright.launch.kernel import CompiledCode
from tilewright.source.checked import Rule, require


def _run(given: Any) -> Mapping[str, Any]:
    require("grid" in given and given.keys() <= {"grid", "block", "args", "ctas"})
    return given


_RUN = Rule("a dict of grid and args, of block and ctas where needed", _run)


@dataclass(frozen=True)
class Kernel(CompiledCode):
    """Compiled code: `ptx` for the driver, `entries` the kernels in it, `arch` what it was
    compiled for; `remarks` what a user may want to know of what was chosen; `made_from` the IR, the
    name of its file, and what makes flat arguments of a caller's, where they are known."""

    @checked(run=_RUN)
    def report(self, kernel: str | None = None, run: Mapping[str, Any] | None = None) -> str:
        """One HTML page that shows a kernel at every level, as `tilewright report` writes it. `run`
        are the `grid`, `block` and `args` of a run, as its launch takes them, which it shows too,
        and `ctas`, how many of them the timeline shows (by default one)."""
        from tilewright.tools.report.page import report, report_of_ptx

        if self.made_from is None:
            return report_of_ptx(self.ptx, self.arch)
        source, name, flat = self.made_from
        if run is not None:
            run = {**run, "args": flat(run.get("args", ()))}
        return report(source, self.arch, name=name, kernel=kernel, run=run)

    def _repr_html_(self) -> str:
        """The report, in a frame of a notebook."""
        page = escape(self.report(None if len(self.entries) == 1 else self.entries[0].name))
        return f'<iframe srcdoc="{page}" style="width:100%;height:48rem;border:0"></iframe>'
