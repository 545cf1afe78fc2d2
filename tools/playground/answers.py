"""The answers of the playground: each a function of the fields of a question."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.cute.drawing import svg
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.lowering.ptx.text import module_text
from tilewright.pipeline import run_pipeline, stages_where, verified
from tilewright.source.diagnostic import CompileError
from tilewright.source.guard import guard
from tilewright.tools.commands.input import InputError
from tilewright.tools.commands.layout import fragment_atom, fragments, selected
from tilewright.tools.instructions.catalogue import canonical
from tilewright.tools.instructions.explanation import explanation
from tilewright.tools.instructions.fragment_places import fragment_operands
from tilewright.tools.instructions.why_mnemonic import why_illegal_mnemonic
from tilewright.tools.language_server.diagnose import diagnose, located
from tilewright.tools.language_server.hover import hover
from tilewright.tools.playground.layouts import operate
from tilewright.tools.report.levels import Level, of_ptx, printed

Answer = dict[str, Any]
MOST_TEXT = 1 << 20
"""Characters of a level that are shown, at most."""


def check(text: str, name: str, arch: str) -> Answer:
    """The diagnostics of a text, with their ranges in UTF-16 code units, as browsers count."""
    return {"diagnostics": [_marked(text, one.start, one.end, one.message)
                            for one in diagnose(text, name, arch or None)]}  # fmt: skip


def _marked(text: str, start: int, end: int, message: str) -> Answer:
    places = (len(text[:offset].encode("utf-16-le")) // 2 for offset in (start, end))
    return dict(zip(("start", "end"), places, strict=True)) | {"message": message}


def levels(text: str, name: str, arch: str) -> Answer:
    """The text after every stage that changes it, and the PTX; where a stage fails, those before
    it and what it says. Of each line of a level the line of the text that it is of."""
    shown: list[Level] = []

    def keep(stage: str | None, module: ModuleOp) -> None:
        level = printed(stage or "verified", module)
        if not shown or shown[-1].text != level.text:
            shown.append(level)

    try:
        module, source = verified(text, name)
        run_pipeline(module, arch, source, observers=[keep], stages=stages_where("ignore"))
        with guard("ptx", module, source):
            shown.append(of_ptx(module_text(module, target(arch))))
    except CompileError as error:
        places = (located(one, text) for one in (error.diagnostic, *error.further))
        wrong = [_marked(text, one.start, one.end, one.message) for one in places]
        return {"levels": _cut(shown), "diagnostics": wrong}
    return {"levels": _cut(shown), "diagnostics": []}


def _cut(shown: list[Level]) -> list[Answer]:
    return [{**asdict(level), "text": level.text[:MOST_TEXT]} for level in shown]


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
    "about": about,
    "instruction": instruction,
    "layout": operate,
}
