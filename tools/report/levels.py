"""The texts of a kernel, level by level, and of each of their lines the line of the source."""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.frozen import factory, frozen
from tilewright.launch.ptxas import PtxasNotFound, find_ptxas
from tilewright.lowering.ptx.text import module_text
from tilewright.pipeline import is_tile_ir, run_pipeline, stages_where, verified
from tilewright.source.diagnostic import CompileError, at
from tilewright.source.guard import guard
from tilewright.source.printing import ShortPrinter

NAMES = {
    "convert-cuda-tile-to-cute-nvgpu": "cute",
    "convert-cute-to-cute-nvgpu": "atoms",
    "convert-cute-nvgpu-to-ptx": "ptx",
}
"""The levels that stages leave; the others check."""

_PLACE = re.compile(r"^\s*// .* \S+:(\d+)(?::\d+)?$")
_SASS_LINE = re.compile(r'^\s*//## File "\.nv_debug_ptx_txt", line (\d+)')
_SASS = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;?$")


@frozen
class Level:
    """A text, and for each of its lines the line of the source that it is of, or None."""

    name: str
    text: str
    lines: list[int | None]


@dataclass
class Levels:
    """A kernel at all of its levels, as modules too; `error` is why there are no more."""

    levels: list[Level] = factory(list)
    modules: dict[str, ModuleOp] = factory(dict)
    ptx: str = ""
    error: CompileError | None = None


def levels_of(module_or_text: ModuleOp | str | bytes, arch: str, name: str) -> Levels:
    """The levels of a kernel. Raises CompileError for wrong IR, and keeps that of a stage."""
    module, source = verified(module_or_text, name)
    result = Levels()
    first = "program" if is_tile_ir(module) else "source"
    if source is None:
        result.levels += _python(module)

    def keep(stage: str | None, module: ModuleOp) -> None:
        title = first if stage is None else NAMES.get(stage, "")
        if not title:
            return
        level = printed(title, module)
        if stage is None and source is not None:
            lines = source.splitlines()
            level = Level(title, source, [*range(1, len(lines) + 1)])
        elif result.levels and result.levels[-1].text == level.text:
            return
        result.levels.append(level)
        result.modules[title] = module.clone()

    try:
        run_pipeline(module, arch, source, observers=[keep], stages=stages_where("ignore"))
        with guard("ptx", module, source):
            result.ptx = module_text(module, target(arch))
    except CompileError as error:
        result.error = error
        return result
    result.levels.append(of_ptx(result.ptx))
    result.levels += sass(result.ptx, arch, result.levels[-1].lines)
    return result


def _python(module: ModuleOp) -> list[Level]:
    """The Python that IR is of, where its file is here."""
    files = {at(op.location, "").file for op in module.walk()} - {None}
    texts = [Path(file) for file in files if file and file.endswith(".py") and Path(file).is_file()]
    if len(texts) != 1:
        return []
    text = texts[0].read_text()
    return [Level("Python", text, [*range(1, len(text.splitlines()) + 1)])]


class _LinePrinter(ShortPrinter):
    """Prints IR, and notes on which line of the text each op begins."""

    def __init__(self, stream: StringIO):
        super().__init__(stream)
        self.stream_ = stream
        self.places: list[tuple[int, int]] = []

    def print_op(self, op: Operation) -> None:
        line = at(op.location, "").line
        if line is not None:
            self.places.append((self.stream_.tell(), line))
        super().print_op(op)


def printed(name: str, module: ModuleOp) -> Level:
    """A module as a level."""
    stream = StringIO()
    printer = _LinePrinter(stream)
    printer.print_op(module)
    text = stream.getvalue()
    lines: list[int | None] = [None] * len(text.splitlines())
    number = last = 0
    for place, line in printer.places:
        number += text.count("\n", last, place)
        last = place
        lines[number] = line
    return Level(name, text, lines)


def of_ptx(text: str) -> Level:
    """PTX, whose comments say what its lines are of."""
    lines: list[int | None] = []
    line: int | None = None
    for words in text.splitlines():
        if (place := _PLACE.match(words)) is not None:
            line = int(place[1])
        elif words in ("{", "}"):
            line = None
        lines.append(line)
    return Level("PTX", text, lines)


def sass(ptx: str, arch: str, lines: list[int | None]) -> list[Level]:
    """The machine code, where ptxas and nvdisasm are here; `lines` are those of the PTX."""
    try:
        assembler = find_ptxas()
    except PtxasNotFound:
        return []
    beside = assembler.with_name("nvdisasm")
    disassembler = str(beside) if beside.is_file() else shutil.which("nvdisasm")
    if disassembler is None:
        return []
    with tempfile.TemporaryDirectory(prefix="tilewright-report-") as folder:
        Path(folder, "text.ptx").write_text(ptx)
        commands = (
            [str(assembler), f"-arch={arch}", "-lineinfo", "text.ptx", "-o", "text.cubin"],
            [disassembler, "-gp", "-c", "text.cubin"],
        )
        said = ""
        for command in commands:
            run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if run.returncode:
                return []
            said = run.stdout
    shown: list[str] = []
    of: list[int | None] = []
    line: int | None = None
    for words in said.splitlines():
        if (place := _SASS_LINE.match(words)) is not None:
            number = int(place[1])
            line = lines[number - 1] if number <= len(lines) else None
        elif (code := _SASS.match(words)) is not None or words.startswith(".L_"):
            shown.append(f"  {code[1]}" if code else words)
            of.append(line if code else None)
    return [Level("SASS", "\n".join(shown), of)]
