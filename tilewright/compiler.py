"""`tilewright.compile`: IR in, PTX out."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.arguments.options import checked
from tilewright.arguments.parameters import kernel_parameters, kernels_of, symbol_of
from tilewright.dialects.cuda_tile.accuracy import Accuracy, set_accuracy
from tilewright.dialects.cuda_tile.ops.module import EntryOp as TileEntryOp
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.ir_dump import IRDump
from tilewright.kernel import Kernel
from tilewright.launch import ptxas
from tilewright.launch.kernel import Entry
from tilewright.levels import keep_compiled
from tilewright.lowering.ptx.kept import kept_facts
from tilewright.lowering.ptx.text import module_text
from tilewright.passes.check_hazards import Unproven
from tilewright.passes.cuda_tile.analysis.remarks import Remark, collected
from tilewright.pipeline import (
    Observer,
    is_tile_ir,
    run_pipeline,
    stages_of,
    stages_where,
    verified,
)
from tilewright.source.checked import Rule, items, require
from tilewright.source.diagnostic import CompileError, Diagnostic
from tilewright.source.guard import guard
from tilewright.source.recursion import deep_recursion
from tilewright.tile_kernel import entry_parameters

if TYPE_CHECKING:
    from tilewright.verify_by_running import Trial


_YOUNG = 500_000
"""As many objects as the garbage collector lets come before it looks at them."""
_compiling: list[tuple[int, int, int]] = []
_compilations = Lock()


@contextmanager
def _seldom_collecting() -> Generator[None]:
    """Lets the garbage collector look seldom: IR is full of cycles, and most of it stays till the
    end. The last of the compilations that run at a time gives back how it was before the first."""
    with _compilations:
        _compiling.append(gc.get_threshold())
        gc.set_threshold(max(_YOUNG, _compiling[0][0]), *_compiling[0][1:])
    try:
        yield
    finally:
        with _compilations:
            before = _compiling[0]
            _compiling.pop()
            if not _compiling:
                gc.set_threshold(*before)


def _passes(given: Any) -> Any:
    if not isinstance(given, str):
        for pass_ in items(given):
            require(isinstance(pass_, ModulePass))
    return given


def _folder(given: Any) -> str:
    path = os.fsdecode(given)
    require(b"\0" not in os.fsencode(path))
    return path


def _trial(given: Any) -> Any:
    from tilewright.verify_by_running import Trial

    require(isinstance(given, Trial))
    return given


@checked(
    passes=Rule("the text of a pipeline or a list of xDSL's ModulePass", _passes),
    dump_dir=Rule("the path of a folder", _folder),
    verify_by_running=Rule("a tilewright.Trial", _trial),
)
@deep_recursion()
@_seldom_collecting()
def compile(
    module_or_text: ModuleOp | str | bytes,
    arch: str,
    *,
    name: str = "<string>",
    passes: str | Sequence[ModulePass] = (),
    verify_each: bool = False,
    dump_dir: str | os.PathLike[str] | None = None,
    verify_by_running: Trial | None = None,
    assemble: bool = False,
    unproven: Unproven = "warn",
    accuracy: Accuracy = "libdevice",
) -> Kernel:
    """Compile IR to PTX for a target.

    `module_or_text` is an xDSL module (which is left as it is), MLIR text or Tile IR bytecode;
    `arch` a target such as "sm_90a". The text carries the lowest `.version` and `.target` that its
    instructions need and that `arch` runs.
    `passes` run first: instances, or what xdsl-opt's `-p` takes; what they leave is verified.
    `verify_each` verifies the IR after every stage too; `dump_dir` is a folder that gets the IR
    after every stage, and the PTX, as numbered files; `verify_by_running` is a run of the kernel
    whose results no stage may change; `assemble` asks ptxas whether it takes the PTX, and remarks
    on what it spills; `unproven` says what becomes of synchronisation that the check of
    hazards can neither prove nor refute: "warn", "error" or "ignore"; `accuracy` whether functions
    such as `exp` of Tile IR have the bits of CUDA's "libdevice" or those of `math`, more "exact"
    (docs/math.md). Raises CompileError with a diagnostic that points into the text (called `name`)
    and names a pass that fails, TargetError for an unknown arch, ArgumentError for other arguments
    that it does not take, OSError where `dump_dir` cannot be written, PtxasNotFound where
    `assemble` finds none.
    """
    chip, own = target(arch), stages_of(passes)
    with collected() as seen:
        module, source = verified(module_or_text, name)
    set_accuracy(module, accuracy)
    arguments = {symbol_of(op): kernel_parameters(op) for op in kernels_of(module)}
    for op in module.walk() if is_tile_ir(module) else ():
        if isinstance(op, TileEntryOp):
            arguments[op.sym_name.data] = entry_parameters(op)
    dump = None if dump_dir is None else IRDump(dump_dir)
    observers: list[Observer] = [] if dump is None else [dump]
    if verify_by_running is not None:
        observers.append(_result_check(verify_by_running, arch, name, source))
    with collected() as remarks, kept_facts():
        run_pipeline(
            module, arch, source, first=own, verify_each=verify_each, observers=observers,
            stages=stages_where(unproven),
        )  # fmt: skip
        with guard("ptx", module, source):
            text = module_text(module, chip)
    if dump is not None:
        dump.output(text, "ptx")
    lowered = [op for op in module.body.block.ops if isinstance(op, EntryOp)]
    entries = [
        Entry.of(op, arguments.get(op.sym_name.data) or kernel_parameters(op)) for op in lowered
    ]
    if own or isinstance(module_or_text, ModuleOp):
        module.erase(safe_erase=False)
    else:
        keep_compiled((module_or_text, name, accuracy, ()), chip.name, module)
    report = _assembled(text, arch, name) if assemble else None
    told = (*seen, *remarks, *(() if report is None else _costs(report)))
    return Kernel(text, tuple(entries), arch, told, (module_or_text, name, list))


def _costs(report: ptxas.PtxasReport) -> Iterator[Remark]:
    """A remark for each kernel whose registers ptxas keeps in memory, or whose wgmmas it lets wait
    for each other."""
    for line in report.mended:
        yield Remark("serialized", line.partition("Potential Performance Loss: ")[2] or line)
    for name, needs in report.kernels.items():
        if needs.spill_stores or needs.spill_loads:
            yield Remark(
                "spill",
                f"'{name}' takes {needs.registers} registers a thread, and spills: "
                f"{needs.spill_stores} bytes are stored, {needs.spill_loads} bytes loaded back",
            )


def _assembled(text: str, arch: str, name: str) -> ptxas.PtxasReport:
    """The verdict of ptxas. Raises CompileError where it refuses the PTX,
    PtxasNotFound where it is none for the target."""
    report = ptxas.assemble(text, arch)
    if "for option 'gpu-name'" in report.output:
        known = f"expected a ptxas that knows {arch}, got release {report.version}"
        raise ptxas.PtxasNotFound(f"{known}; nearest legal: an older one, by {ptxas.VARIABLE}")
    if not report.ok:
        said = "; ".join(report.errors)
        raise CompileError(
            Diagnostic(f"internal error, please report: ptxas refuses: {said}", name)
        )
    return report


def _result_check(trial: Trial, arch: str, name: str, source: str | None) -> Observer:
    from tilewright.verify_by_running import ResultCheck

    return ResultCheck(trial if trial.arch else replace(trial, arch=arch), name, source)
