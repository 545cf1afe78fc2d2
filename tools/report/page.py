"""A kernel's page: what it is made of, as one HTML file that needs nothing but itself."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.cute_nvgpu.lattice.targets import lowest, target
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.execution import ExecutionError, Timeline, interpret
from tilewright.passes.analysis.bank_conflicts import bank_conflicts
from tilewright.passes.check_target import required_targets
from tilewright.pipeline import is_tile_ir, verified
from tilewright.source.diagnostic import CompileError, at
from tilewright.tile_kernel import DEFAULT_ARCH
from tilewright.tools.language_server.outline import LANGUAGES
from tilewright.tools.report.levels import Levels, levels_of, of_ptx, sass
from tilewright.tools.report.memory import shared_map
from tilewright.tools.report.pictures import descriptors, pictures
from tilewright.tools.report.resources import resources, roofline
from tilewright.tools.report.tensor_memory import picture
from tilewright.tools.report.timeline import timeline_data
from tilewright.tools.report.watch import RunWatch
from tilewright.tools.web_page import part, web_page

PACKAGE = "tilewright.tools.report"


def report(
    module_or_text: ModuleOp | str | bytes,
    arch: str | None = None,
    *,
    name: str = "<string>",
    kernel: str | None = None,
    run: Mapping[str, Any] | None = None,
) -> str:
    """The HTML of a kernel's page. `run` are the `grid`, `block` and `args` of a run of it, as
    `tilewright.interpret` takes them, which the page shows too, and `ctas`, how many of its CTAs
    the timeline shows. Raises CompileError."""
    arch = arch or needed_arch(module_or_text, name)
    target(arch)
    levels = levels_of(module_or_text, arch, name)
    data: dict[str, Any] = {
        "name": name,
        "arch": arch,
        "levels": list(map(asdict, levels.levels)),
        "pictures": pictures(levels.modules.values()),
        "descriptors": descriptors(levels.modules.values()),
        "conflicts": _static_conflicts(levels),
        "errors": [] if levels.error is None else [str(levels.error)],
    }  # fmt: skip
    entry = _entry(levels, kernel)
    if run is not None and levels.error is None:
        launch = {key: value for key, value in run.items() if key != "ctas"}
        warps = _warps(entry, run)
        data |= _run(module_or_text, arch, name, kernel, launch, warps, data["errors"])
    if entry is not None:
        threads = None if run is None or run.get("block") is None else _product(run["block"])
        data |= {
            "kernel": entry.sym_name.data,
            "line": _line(entry),
            "shared": shared_map(entry),
            "resources": resources(levels.ptx, arch, levels.modules["ptx"], entry, threads),
        }
    return page(data)


def report_of_ptx(ptx: str, arch: str) -> str:
    """The HTML of what is known of PTX alone."""
    level = of_ptx(ptx)
    levels = [level, *sass(ptx, arch, level.lines)]
    return page({"name": "PTX", "arch": arch, "levels": list(map(asdict, levels)),
                 "pictures": [], "conflicts": [], "errors": []})  # fmt: skip


def page(data: Mapping[str, Any]) -> str:
    """The file: the page's own text, style and script, and the data."""
    style, script = (part(PACKAGE, kind) for kind in ("css", "js"))
    text = json.dumps({**data, "languages": LANGUAGES}, separators=(",", ":")).replace("</", "<\\/")
    html = web_page(PACKAGE, "report", f"<style>{style}</style>")
    return html.replace("/*script*/", script).replace("/*data*/null", text)


def needed_arch(module_or_text: ModuleOp | str | bytes, name: str) -> str:
    """The lowest target that a kernel needs."""
    module, _ = verified(module_or_text, name)
    if is_tile_ir(module):
        return DEFAULT_ARCH
    return lowest([target("sm_80"), *required_targets(module)]).name


def _entry(levels: Levels, kernel: str | None) -> EntryOp | None:
    if "ptx" not in levels.modules:
        return None
    entries = [op for op in levels.modules["ptx"].body.block.ops if isinstance(op, EntryOp)]
    named = [op for op in entries if kernel in (None, op.sym_name.data)]
    return named[0] if named else None


def _static_conflicts(levels: Levels) -> list[dict[str, Any]]:
    for module in levels.modules.values():
        rows = [
            {"line": _line(conflict.op), "op": conflict.op.name, "what": conflict.verb,
             "layout": str(conflict.layout), "ways": conflict.ways,
             "better": f"{conflict.best}" if conflict.best_ways < conflict.ways else None}
            for conflict in bank_conflicts(module)
        ]  # fmt: skip
        if rows:
            return rows
    return []


def _line(op: Any) -> int | None:
    return at(op.location, "").line


def _run(
    module_or_text: ModuleOp | str | bytes,
    arch: str,
    name: str,
    kernel: str | None,
    run: Mapping[str, Any],
    warps: int,
    errors: list[str],
) -> dict[str, Any]:
    """The data of a run, of whose CTAs so many `warps` are in the timeline; an error of it becomes
    one of the `errors`."""
    timeline, watch = Timeline(warps), RunWatch()
    try:
        interpret(module_or_text, kernel, arch=arch, name=name, watchers=[timeline, watch], **run)
    except (ExecutionError, CompileError) as error:
        errors.append(str(_own_error(module_or_text, arch, name, kernel, run) or error))
    watch.allocations()
    grid = _product(run["grid"])
    return {
        "timeline": timeline_data(timeline),
        "run_conflicts": [
            {"line": line, "op": conflict.op, "accesses": conflict.accesses, "ways": conflict.ways}
            for line, conflict in sorted(watch.conflicts.items())
            if conflict.accesses
        ],
        "columns": picture(watch.lifetimes, watch.columns),
        "roofline": roofline(arch, dict(watch.products), watch.octets, timeline.cycles),
        "grid": grid,
    }  # fmt: skip


def _warps(entry: EntryOp | None, run: Mapping[str, Any]) -> int:
    """The warps of so many CTAs of a run, with all that are in a cluster with them."""
    extents, cluster = run.get("block"), None
    if entry is not None:
        extents, cluster = (
            given if own is None else own.get_values()
            for own, given in ((entry.reqntid, extents), (entry.cluster, None))
        )
    together = _product(cluster or (1,))
    return -(-_product(extents or (1,)) // 32) * -(-run.get("ctas", 1) // together) * together


def _own_error(
    module_or_text: ModuleOp | str | bytes,
    arch: str,
    name: str,
    kernel: str | None,
    run: Mapping[str, Any],
) -> Exception | None:
    """The error of the run as the kernel is written, whose values have names."""
    try:
        interpret(module_or_text, kernel, arch=arch, name=name, **run)
    except (ExecutionError, CompileError) as error:
        return error
    return None


def _product(extents: Sequence[int]) -> int:
    result = 1
    for extent in extents:
        result *= extent
    return result
