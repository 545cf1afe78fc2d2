"""The answers of the playground: each a function of the fields of a question."""

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.cute.drawing import svg
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.lowering.ptx.text import module_text
from tilewright.pipeline import is_tile_ir, run_pipeline, stages_where, verified
from tilewright.source.diagnostic import CompileError, Diagnostic
from tilewright.source.guard import guard
from tilewright.tile_kernel import DEFAULT_ARCH
from tilewright.tools.commands.input import InputError
from tilewright.tools.commands.layout import fragment_atom, fragments, selected
from tilewright.tools.instructions.catalogue import canonical
from tilewright.tools.instructions.explanation import explanation
from tilewright.tools.instructions.fragment_places import fragment_operands
from tilewright.tools.instructions.why_mnemonic import why_illegal_mnemonic
from tilewright.tools.language_server.diagnose import Finding, diagnose, located
from tilewright.tools.language_server.hover import hover
from tilewright.tools.playground.layouts import operate
from tilewright.tools.playground.runs import Ran, run_kernel, run_script
from tilewright.tools.report.levels import Level, of_ptx, printed
from tilewright.tools.report.page import needed_arch

Answer = dict[str, Any]
MOST_TEXT = 1 << 20
"""Characters of a level that are shown, at most."""


def check(text: str, name: str, arch: str) -> Answer:
    """The diagnostics of a text, with their ranges in UTF-16 code units, as browsers count; of
    Python, whether it is such."""
    wrong: list[Finding] = []
    if name.endswith(".py"):
        try:
            ast.parse(text)
        except SyntaxError as error:
            place = Diagnostic(error.msg, line=error.lineno, column=error.offset)
            wrong.append(located(place, text))
    else:
        wrong += diagnose(text, name, arch or None)
    return {"diagnostics": _marked(text, wrong)}


def _marked(text: str, findings: Iterable[Finding]) -> list[Answer]:
    def units(offset: int) -> int:
        return len(text[:offset].encode("utf-16-le")) // 2

    return [
        {"start": units(one.start), "end": units(one.end), "message": one.message}
        for one in findings
    ]


def levels(text: str, name: str, arch: str) -> Answer:
    """The text after every stage that changes it, and the PTX; where a stage fails, those before
    it and what it says. Of each line of a level the line of the text that it is of. Without a
    target they are those for the lowest that the text needs, and the answer names it."""
    try:
        chosen = arch or needed_arch(text, name)
        module, source = verified(text, name)
    except CompileError as error:
        return {"levels": [], "diagnostics": _wrong(error, text)}
    why = "" if is_tile_ir(module) else ", the lowest that it needs"
    shown, error = _lowered(module, source, chosen)
    wrong = [] if error is None else _wrong(error, text)
    whom = "" if arch else f"for {chosen}{why}"
    return {"levels": _cut(shown), "diagnostics": wrong, "for": whom}


def _lowered(
    module: ModuleOp, source: str | None, arch: str
) -> tuple[list[Level], CompileError | None]:
    """The levels of a module, and what stopped them."""
    shown: list[Level] = []

    def keep(stage: str | None, module: ModuleOp) -> None:
        level = printed(stage or "verified", module)
        if not shown or shown[-1].text != level.text:
            shown.append(level)

    try:
        run_pipeline(module, arch, source, observers=[keep], stages=stages_where("ignore"))
        with guard("ptx", module, source):
            shown.append(of_ptx(module_text(module, target(arch))))
    except CompileError as error:
        return shown, error
    return shown, None


def _wrong(error: CompileError, text: str) -> list[Answer]:
    return _marked(text, (located(one, text) for one in (error.diagnostic, *error.further)))


def _cut(shown: list[Level]) -> list[Answer]:
    return [{**asdict(level), "text": level.text[:MOST_TEXT]} for level in shown]


def run(text: str, name: str, arch: str, arguments: str) -> Answer:
    """A run of a kernel as one more level: what it prints, its arrays, the error that ends it."""
    return _told(run_kernel(text, name, arch, arguments), text, name)


def script(text: str, name: str, arch: str) -> Answer:
    """The levels of the kernels that a Python script launches, as the first launch of each has
    them, and what it prints."""
    ran = run_script(text, name)
    shown: list[Level] = []
    for kernel, module in ran.modules.items():
        own, error = _lowered(module.clone(), None, arch or DEFAULT_ARCH)
        one = len(ran.modules) == 1
        shown += [level if one else replace(level, name=f"{kernel} {level.name}") for level in own]
        ran.error = ran.error or str(error or "")
    answer = _told(ran, text, name)
    answer["levels"] = _cut(shown) + answer["levels"]
    return answer | {"for": "" if arch or not shown else f"for {DEFAULT_ARCH}"}


def _told(ran: Ran, text: str, name: str) -> Answer:
    """A run as a level, with the places of the text that its error names."""
    said = "\n".join(filter(None, (ran.said, ran.error)))
    place = re.compile(rf"{re.escape(name)}:(\d+):(\d+): error: (.*)")
    lines, findings = ran.lines[:], list[Finding]()
    for row in said.split("\n")[len(lines) :]:
        named = place.match(row)
        lines.append(None if named is None else int(named[1]))
        if named is not None:
            where = Diagnostic(named[3], line=int(named[1]), column=int(named[2]))
            findings.append(located(where, text))
    shown = _cut([Level("run", said, lines)])
    return {"arguments": ran.words, "levels": shown, "diagnostics": _marked(text, findings)}


def about(text: str, name: str, offset: str, arch: str) -> Answer:
    """Markdown about what stands at a place, in UTF-16 code units."""
    units = text.encode("utf-16-le")[: 2 * int(offset)]
    said = hover(text, name, len(units.decode("utf-16-le", "ignore")), arch or None)
    return {"markdown": "" if said is None else said[0]}


def instruction(mnemonic: str, arch: str) -> Answer:
    """A PTX mnemonic explained, with pictures of its fragments; or why there is none such."""
    mnemonic = mnemonic.strip()
    why = why_illegal_mnemonic(mnemonic, arch or None)
    if why is not None:
        return {"error": why, "pictures": []}
    pictures: list[dict[str, str]] = []
    try:
        atom = fragment_atom(canonical(mnemonic))
        for operand in fragment_operands(atom):
            drawing = fragments(atom, operand, selected(atom, operand, None))
            pictures.append({"title": drawing.title, "svg": svg(drawing)})
    except InputError:
        pass  # no MMA: it has no matrices of its own
    return {"text": "\n".join(explanation(mnemonic)), "pictures": pictures}


ANSWERS: dict[str, Callable[..., Answer]] = {
    "check": check,
    "levels": levels,
    "run": run,
    "script": script,
    "about": about,
    "instruction": instruction,
    "layout": operate,
}
