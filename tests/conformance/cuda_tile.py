"""The `cuda_tile` dialect against NVIDIA's lit files for CUDA Tile IR, read where they lie.

    python tests/conformance/cuda_tile.py PATH_TO_CHECKOUT        # of NVIDIA/cuda-tile
    python tests/conformance/cuda_tile.py PATH --filter Transforms --list-failures

A file passes when every one of its RUN lines does. The lines are run as they are, `cuda-tile-opt`
standing for `tilewright-opt`, `cuda-tile-translate` for our reader and writer of bytecode. Errors
must be ours on the lines where NVIDIA expects them; what they say is ours, and how many say what
NVIDIA's do is counted. Where a line wants a program to fail and looks for its error by FileCheck,
the program must fail on as many chunks as have such a check. Prints a line for every folder, and
what cannot apply by file with the reason. The exit status is 1 where a file failed.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import llvm_filecheck
from cuda_tile_testing import TESTING
from cute_ir import Outcome, UnmappedError, called, commands, run_lines, table
from mlir_opt_printer import MlirOptPrinter
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Operation
from xdsl.universe import Universe

from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode
from tilewright.dialects.cuda_tile.bytecode.write_module import write_bytecode
from tilewright.dialects.cuda_tile.hints import hints_checked
from tilewright.dialects.cuda_tile.versions import V13_3, VERSIONS, Version
from tilewright.source.diagnostic import CompileError, Diagnostic, OpError
from tilewright.source.parsing import parse_module
from tilewright.source.verification import op_diagnostic, verify
from tilewright.tools.expected_errors import Expectation, expectations

TESTS = "test"

INAPPLICABLE = {
    "Bytecode/list_versions.mlir": "lists versions 250.0 and 250.1 of NVIDIA's own tests",
    "Dialect/CudaTile/debuginfo_update_symbol_names.mlir": "a test of a C++ function by a pass",
    "Dialect/CudaTile/debuginfo_update_symbol_names_fail.mlir": "likewise",
}
"""What cannot apply, and why."""


OUTDATED = {
    ("invalid.mlir", 2055): "`ftof` to a wider type rounds as IEEE 754 has it, says tileiras 13.5",
}
"""Errors of 13.3 that later versions do not have, by file and line."""


TOOLS = ("cuda-tile-opt", "cuda-tile-translate")
"""NVIDIA's tools that ours stand for."""


@dataclass
class Judged:
    """What the errors of a run were."""

    errors: int = 0
    same_words: int = 0
    wrong: list[str] = field(default_factory=list)


# --- chunks -----------------------------------------------------------------------------------


def context(*, unregistered: bool) -> Context:
    """A context with NVIDIA's testing ops."""
    made = Context(allow_unregistered=unregistered)
    for name, factory in Universe.get_multiverse().all_dialects.items():
        made.register_dialect(name, (lambda: TESTING) if name == "cuda_tile" else factory)
    return made


def chunks(text: str, split: bool) -> Iterator[tuple[str, int]]:
    """The parts of a text between `// -----`, each with the number of lines before it."""
    offset = 0
    for part in re.split(r"^// -----.*\n", text, flags=re.MULTILINE) if split else [text]:
        yield part, offset
        offset += part.count("\n") + 1


def read(text: str, path: str, options: Options, offset: int = 0) -> ModuleOp:
    """The verified module of a chunk, or of bytecode. Raises CompileError."""
    module = parse_module(
        text,
        path,
        context(unregistered="allow-unregistered-dialect" in options),
        line_offset=offset,
    )
    verify(module, "\n" * offset + text)
    return module


def printed(module: Operation, options: Options) -> str:
    """A module as mlir-opt prints it."""
    output = io.StringIO()
    printer = MlirOptPrinter(
        output,
        print_generic_format="mlir-print-op-generic" in options,
        print_debuginfo="mlir-print-debuginfo" in options,
    )
    printer.print_op(module)
    return f"{output.getvalue()}\n"


# --- commands ---------------------------------------------------------------------------------


class Options(dict[str, str]):
    """What a command line says behind dashes; `files` are the words without."""

    def __init__(self, words: list[str], name: str = ""):
        super().__init__()
        self.name = name
        self.files: list[str] = []
        self.output: str | None = None
        rest = iter(words)
        for word in rest:
            if word == "-o":
                self.output = next(rest)
            elif word.startswith("-"):
                name, _, value = word.lstrip("-").partition("=")
                self[name] = value
            elif word != "2>&1":
                self.files.append(word)


KNOWN = {
    "split-input-file", "verify-diagnostics", "mlir-print-op-generic", "mlir-print-debuginfo",
    "allow-unregistered-dialect", "no-implicit-module", "bytecode-version", "Wunsupported-hints",
    "Werr-hints", "mlir-to-cudatilebc", "cudatilebc-to-mlir", "test-cudatile-roundtrip",
}  # fmt: skip

PASSES: dict[str, str] = {
    "fuse-fma": "cuda-tile-fuse-fma",
    "loop-split": "cuda-tile-split-loops",
    "canonicalize": "cuda-tile-canonicalize",
    "synthesize-debug-info-scopes": "cuda-tile-synthesize-scopes",
}
"""NVIDIA's passes as ours are called."""


def passes(options: Options) -> list[str]:
    """The passes that a command line names, by our names."""
    found: list[str] = []
    for name, value in options.items():
        if name == "pass-pipeline":
            found += re.findall(r"[\w-]+(?=\)*$)", value.strip("'\""))
        elif name not in KNOWN:
            found.append(name)
    for name in found:
        if name not in PASSES:
            raise UnmappedError(f"option {name}")
    return [PASSES[name] for name in found]


def transformed(module: ModuleOp, names: list[str]) -> None:
    """Run passes of ours."""
    for name in names:
        factory = Universe.get_multiverse().all_passes[name]
        factory()().apply(context(unregistered=True), module)


@dataclass
class Result:
    """What a command wrote, and what it complained of by chunk."""

    text: str = ""
    data: bytes = b""
    complaints: list[Diagnostic] = field(default_factory=list)
    failed: int = 0


def process(text: str, data: bytes, path: str, options: Options, judged: Judged) -> Result:
    """What cuda-tile-opt or cuda-tile-translate make of a text or of bytecode."""
    result = Result()
    names = passes(options)
    if "cudatilebc-to-mlir" in options:
        try:
            result.text = printed(read_bytecode(data, path), options)
        except CompileError as error:
            result.complaints.append(error.diagnostic)
        return result
    outputs: list[str] = []
    for chunk, offset in chunks(text, "split-input-file" in options):
        chunk = chunk.replace("expected-error-re", "expected-error")
        wanted = expectations(chunk, offset) if "verify-diagnostics" in options else []
        complaints: list[Diagnostic] = []
        try:
            outputs.append(_one(chunk, path, options, offset, names, result))
        except CompileError as error:
            complaints = [error.diagnostic, *error.further]
        result.complaints += complaints
        result.failed += bool(complaints)
        if "verify-diagnostics" in options:
            remarked = expectations(chunk.replace("expected-remark", "expected-error"), offset)
            anywhere = len(re.findall(r"expected-error ?@unknown", chunk))
            if anywhere and len(complaints) == anywhere:
                continue
            remarked = [] if len(remarked) == len(wanted) else remarked
            wanted = [each for each in wanted if (options.name, each.line) not in OUTDATED]
            _judge_errors(wanted, remarked, complaints, judged)
    result.text = "// -----\n".join(outputs)
    return result


def _one(
    chunk: str, path: str, options: Options, offset: int, names: list[str], result: Result
) -> str:
    version = _version(options)
    checked = "Werr-hints" in options
    try:
        if checked:
            with hints_checked():
                module = read(chunk, path, options, offset)
        else:
            module = read(chunk, path, options, offset)
        transformed(module, names)
        if names:
            verify(module, chunk)
        if "mlir-to-cudatilebc" in options:
            result.data = write_bytecode(_self_contained(module), version)
        if "test-cudatile-roundtrip" in options:
            module = read_bytecode(write_bytecode(module, version), path)
    except OpError as error:
        raise CompileError(op_diagnostic(error, "\n" * offset + chunk)) from None
    if "no-implicit-module" in options and "\n" not in printed(module, Options([]))[:1]:
        return "".join(printed(op, options) for op in module.body.block.ops)
    return printed(module, options)


def _version(options: Options) -> Version | None:
    if "bytecode-version" not in options:
        return V13_3
    major, _, minor = options["bytecode-version"].partition(".")
    version = Version(int(major), int(minor))
    if version not in VERSIONS and version.major != 250:
        raise CompileError(Diagnostic(f"expected a bytecode version of {VERSIONS}, got {version}"))
    return version


def _self_contained(module: ModuleOp) -> ModuleOp:
    for op in module.walk():
        if isinstance(op, UnregisteredOp):
            raise OpError(op, f"expected ops of cuda_tile, got {op.op_name.data}")
    return module


def _judge_errors(
    wanted: list[Expectation],
    remarked: list[Expectation],
    complaints: list[Diagnostic],
    judged: Judged,
) -> None:
    """Note errors on other lines than those expected. Where NVIDIA's error points to what is around
    the op that is wrong, a remark of theirs points to that op: ours is there."""
    remarks = {each.line for each in remarked}
    if wanted and any(complaint.line in remarks for complaint in complaints):
        judged.errors += len(wanted)
        return
    lines = {complaint.line for complaint in complaints}
    judged.errors += len(wanted)
    judged.same_words += sum(
        any(each.text in complaint.message for complaint in complaints) for each in wanted
    )
    for line in {each.line for each in wanted} - lines:
        got = "; ".join(f"{c.line}: {c.message}" for c in complaints) or "none"
        judged.wrong.append(f"line {line}: expected an error, got {got}")
    # NVIDIA's verifier stops at the first op that is wrong; ours says of all what is.
    for complaint in () if wanted else complaints:
        if complaint.line not in {each.line for each in wanted}:
            judged.wrong.append(f"line {complaint.line}: unexpected {complaint.message}")


# --- files ------------------------------------------------------------------------------------


def judge(path: Path, scratch: Path) -> tuple[Outcome, Judged]:
    """Run a file."""
    judged = Judged()
    try:
        for line in run_lines(path.read_text()):
            if (failure := _run(line, path, scratch, judged)) is not None:
                return Outcome(str(path), *failure), judged
    except UnmappedError as missing:
        return Outcome(str(path), "option not mapped", str(missing)), judged
    except Exception:
        return Outcome(str(path), "crash", traceback.format_exc()), judged
    if judged.wrong:
        return Outcome(str(path), "verifier disagrees", "\n".join(judged.wrong)), judged
    return Outcome(str(path)), judged


def _run(line: str, path: Path, scratch: Path, judged: Judged) -> tuple[str, str] | None:
    here = line.replace("%S", str(path.parent)).replace("%t", str(scratch / path.stem))
    if here.startswith("%round_trip_test"):
        return _round_trip(path, Options(here.split()[3:]), judged)
    text, failed = "", False
    for words in commands(here, str(path)):
        name, *rest = words
        must_fail = name == "not"
        if must_fail:
            name, *rest = rest
        if name == "diff":
            one, other = (without_names(Path(file).read_text()) for file in rest[:2])
            return None if one == other else ("round trip differs", f"{one}\n{other}")
        if name == "FileCheck":
            if failed:
                return None
            ran = called(llvm_filecheck.main, ["filecheck", *rest], text)
            if ran.status:
                return "FileCheck mismatch", f"{ran.stderr}\n{text}"
            continue
        if name not in TOOLS:
            return "tool not mapped", name
        options = Options(rest, path.name)
        source = options.files[0] if options.files else None
        data = Path(source).read_bytes() if source else b""
        given = text if source is None else data.decode(errors="replace")
        result = process(given, data, str(path), options, judged)
        failed = bool(result.complaints)
        if must_fail and (missing := _unfailed(path, result, options)):
            return "no error where one is due", missing
        if failed and not must_fail and "verify-diagnostics" not in options:
            return "rejected", "\n".join(map(str, result.complaints))
        text = result.text
        if options.output:
            _write(Path(options.output), result)
    return None


def _unfailed(path: Path, result: Result, options: Options) -> str:
    """What is wrong where a command must fail: fewer chunks with errors than have checks."""
    if "split-input-file" not in options:
        return "" if result.complaints else "no error"
    parts = [part for part, _ in chunks(path.read_text(), True)]
    wanted = sum(bool(re.search(r"// CHECK[\w-]*: ", part)) for part in parts)
    return "" if result.failed >= wanted else f"{result.failed} of {wanted} chunks"


def _write(path: Path, result: Result) -> None:
    if result.data:
        path.write_bytes(result.data)
    else:
        path.write_text(result.text)


def _round_trip(path: Path, options: Options, judged: Judged) -> tuple[str, str] | None:
    """Text, bytecode, text again: the same but for the names of values."""
    try:
        module = read(path.read_text(), str(path), options)
        again = read_bytecode(write_bytecode(module, V13_3), str(path))
    except (CompileError, OpError) as error:
        return "rejected", str(error)
    one, other = (printed(nameless(each), options).strip() for each in (module, again))
    if one != other:
        pairs = zip(one.splitlines(), other.splitlines(), strict=False)
        return "round trip differs", next((f"{a}\n{b}" for a, b in pairs if a != b), "length")
    return None


def nameless(module: ModuleOp) -> ModuleOp:
    """A module whose values are numbered where it is printed."""
    for op in module.walk():
        arguments = [
            argument for region in op.regions for b in region.blocks for argument in b.args
        ]
        for value in (*op.results, *arguments):
            value.name_hint = None
    return module


def without_names(text: str) -> str:
    """A text whose values are numbered in the order they appear, blank lines left out."""
    numbers: dict[str, str] = {}
    renamed = re.sub(
        r"%[\w$.-]+", lambda match: numbers.setdefault(match[0], f"%{len(numbers)}"), text
    )
    return "\n".join(line.strip() for line in renamed.splitlines() if line.strip())


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--filter", default="", help="only paths that hold this")
    parser.add_argument("--list-failures", action="store_true", help="what was wrong")
    options = parser.parse_args(arguments)
    tests = options.checkout / TESTS
    files = [path for path in sorted(tests.rglob("*.mlir")) if options.filter in str(path)]
    if not files:
        print(f"error: no lit files below {tests}", file=sys.stderr)
        return 2
    outcomes: list[Outcome] = []
    errors = same = 0
    with tempfile.TemporaryDirectory() as scratch:
        for path in files:
            name = str(path.relative_to(tests))
            if name in INAPPLICABLE:
                print(f"not applicable: {name}: {INAPPLICABLE[name]}")
                continue
            outcome, judged = judge(path, Path(scratch))
            outcomes.append(Outcome(name, outcome.reason, outcome.detail))
            errors, same = errors + judged.errors, same + judged.same_words
            if options.list_failures and outcome.reason is not None:
                print(f"{name}: {outcome.reason}\n{outcome.detail.rstrip()}\n")
    print("\n".join(table(outcomes)))
    print(f"{errors} errors expected, {same} of ours say what NVIDIA's do")
    return int(any(outcome.reason is not None for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
