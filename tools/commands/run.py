"""Execute a kernel on .npy files: interpret it on the CPU, bit for bit, or launch it on the GPU.

One ARG for each parameter of the kernel, in order, or by its name (x=IN.npy):

  IN.npy                  a memref that the kernel reads; the file stays as it is
  OUT.npy=SHAPE[:DTYPE]   a memref of zeros, written to OUT.npy afterwards: c.npy=256x256:f32
  OUT.npy=@IN.npy         a memref that starts as IN.npy and is written to OUT.npy afterwards
  256x256[:DTYPE]         a memref of random elements; zeros:256x256 one of zeros
  3, 0x10, -1.5, nan      a scalar, integer or float as the parameter's type has it

A tensor map is given like a memref: its box is in the parameter's type. PTX has no types: there it
is an array with a box, and a swizzle (IN.npy#64x32:128); a struct is its parts, each behind the
byte that it begins with (0:IN.npy,8:i32=5,64:IN.npy#64x32). A kernel of CUDA Tile IR
(bytecode, or text) takes the entry's flat parameters: a file, as for a memref, for every pointer
to an array's first element, numbers for the rest. Of a cuTile kernel arrays stand for their shapes
and their strides in elements, too, and names are those of Python, where its file is here; constants
are in it. It has a --grid of tile blocks and no --block:

  tilewright run add.tileirbc --grid 8 a=a.npy b=1000:f64 c=c.npy=1000
  tilewright run add.tileirbc --grid 8 a.npy 1000 1 b.npy 1000 1 c.npy=1000 1000 1

DTYPE is f16, bf16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 or an ml_dtypes name; left out,
the memref's own. NumPy's file format has no name for bf16 and the 8-bit floats: such an output is
saved as ml_dtypes saves it (|V2, |V1), and an input may be that or the raw bits as uint16, uint8.
Outputs are written only when the kernel has run to its end. With --schedules it runs in the order
of the text, then in N random ones, which must give the same. Put -- before an ARG that argparse
takes for an option, such as -inf.
"""

from __future__ import annotations

import argparse
import io
import logging
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.tools.commands.input import (
    InputError,
    add_options,
    chosen_executor,
    read_source,
    read_target,
    shown_path,
)
from tilewright.tools.output import write_whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tilewright.arguments.tensor_map import TensorMap
    from tilewright.tools.commands.run_argument import KernelArgument

    Value = NDArray[Any] | TensorMap | dict[int, Any] | int | float

Extent = tuple[int, int, int]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="IR text, or Tile IR bytecode; - is stdin")
    parser.add_argument("arguments", metavar="ARG", nargs="*", help="see above")
    add_launch_arguments(parser, block_required=False)
    shown: dict[str, Any] = {"action": "append", "default": []}
    add_options(
        parser,
        """
--level: interpret the IR as it is (the default), or lowered to atoms or PTX instructions
--engine: what executes instructions at level ptx: NumPy (the default), native code (the extra
    'fast'), or native code in long runs (auto)
--executor NAME: share the blocks, or the random orders, out to processes:N, to dask:ADDRESS or to
    mpi
--check WORDS: what is looked for, with commas between: the first NaN or infinity (nan), outputs
    that no block wrote (unwritten), undefined results of arithmetic (integers), and, of Tile IR,
    undetermined padding that takes effect (padding; without it it is zeros); default: of Tile IR
    padding,integers
--padding: "zeros" is --check without padding
--trace TRACE.json: write when each warp of the first blocks ran and waited, by a model of the chip,
    as trace events, which Perfetto opens; implies --level ptx (Tile IR is compiled)
--break LINE: show the values of --print where threads come to this line of FILE
--print NAME[THREAD]: a value to show there, of all threads or of [THREAD,BLOCK]; of Tile IR, a tile
    of the first block or of [BLOCK], and where it is left out what the line gives
--hits N: show them the first N times that threads come to each line (default: 1)
--device: launch it on the GPU instead
--quiet: no progress bar, no summary
""",
        level={"choices": ("program", "tile", "atom", "ptx")},
        engine={"choices": ("auto", "numpy", "compiled"), "default": "numpy"},
        padding={"choices": ("undetermined", "zeros"), "default": "undetermined"},
        hits={"type": at_least(1), "default": 1},
        **{
            "break": {**shown, "dest": "lines", "type": at_least(1)},
            "print": {**shown, "dest": "shown"},
        },
    )


def add_launch_arguments(parser: argparse.ArgumentParser, *, block_required: bool = True) -> None:
    """The kernel that runs, its threads, and the chip; the orders in which the interpreter runs
    threads, and what it makes of races."""
    add_options(
        parser,
        """
--kernel NAME: which kernel; needed where FILE has more
--grid X,Y,Z: blocks of the grid; X, or X,Y too
--block X,Y,Z: threads of a block; X, or X,Y too
--numerics: as the chip rounds (the default), the exact result rounded once, or (Tile IR only)
    NumPy's f32
--arch TARGET: the chip that runs it: sm_90a
--seed N: that of random elements (default: 0)
--races: what becomes of races on global memory (default: error)
--schedule SEED: run threads in this random order, and complete copies late
--schedules N: run in N random orders too, of the seeds from SEED or 0 on
--max-steps N: end a kernel that takes more steps, and name the loop it is in
""",
        grid={"required": True, "type": extent},
        block={"required": block_required, "type": extent},
        numerics={"choices": ("hardware", "exact", "fast"), "default": "hardware"},
        seed={"type": at_least(0), "default": 0},
        races={"choices": ("error", "warn", "ignore")},
        schedule={"type": at_least(0)},
        schedules={"type": at_least(1), "default": 0},
        max_steps={"type": at_least(1)},
    )


def at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or int(text) < least:
            raise argparse.ArgumentTypeError(f"expected an integer from {least} on, got '{text}'")
        return int(text)

    return number


def extent(text: str) -> Extent:
    """`X,Y,Z`, `X,Y` or `X`. Raises ArgumentTypeError."""
    words = text.split(",")
    if not 1 <= len(words) <= 3 or not all(word.isdecimal() and int(word) for word in words):
        raise argparse.ArgumentTypeError(f"expected X,Y,Z, each 1 or more, got '{text}'")
    x, y, z = (*map(int, words), 1, 1)[:3]
    return x, y, z


def run(options: argparse.Namespace) -> None:
    if options.arch is not None:
        read_target(options.arch)
    source, name = read_source(options.file), shown_path(options.file)
    from tilewright.tools.commands.run_argument import read_arguments

    arguments = read_arguments(options, source, name, lengths=False)
    values = [argument.value for argument in arguments]
    arrays = [array for argument in arguments for array in argument.arrays]
    for array in arrays:
        _check_writable(array)
    names = [array.name for array in arrays]
    if options.device:
        _check_for_device(options)
        outputs = _launch(source, name, values, options)
    else:
        outputs = _interpret(source, name, values, names, options)
    for argument, output in zip(arrays, outputs, strict=True):
        if argument.output is not None:
            _write(argument.output, output, options.quiet)


def _interpret(
    source: str | bytes,
    name: str,
    values: Sequence[Value],
    names: Sequence[str],
    options: argparse.Namespace,
) -> list[NDArray[Any]]:
    """The memrefs, of these names, after the run, in order."""
    from tilewright import shares
    from tilewright.execution import Timeline
    from tilewright.lowering.interpreter.breakpoints import Breakpoints, Shown
    from tilewright.progress import ProgressBar
    from tilewright.schedules import under_schedules

    with (
        warnings.catch_warnings(action="always", category=UserWarning),
        closing(ProgressBar("blocks", shown=not options.quiet)) as progress,
    ):
        warnings.showwarning = _show_warning

        run = partial(
            _under,
            source,
            options.kernel,
            grid=options.grid,
            block=options.block,
            args=values,
            numerics=options.numerics,
            arch=options.arch,
            level=options.level,
            name=name,
            max_steps=options.max_steps,
            races=options.races,
            check=options.check,
            padding=options.padding,
            engine=options.engine,
        )
        with ExitStack() as stack:
            executor = None
            if options.executor is not None:
                executor = stack.enter_context(chosen_executor(options.executor))
                if not options.quiet:
                    shares.LOG.addHandler(_Notes())
                    shares.LOG.setLevel(logging.INFO)
            if not options.schedules:
                run, executor = partial(run, executor=executor, progress=progress.update), None
            watchers: list[Any] = []
            if options.shown and not options.lines:
                raise InputError("expected --break LINE for --print, got none")
            if options.lines:
                shown = [Shown.parse(text) for text in options.shown]
                watchers.append(Breakpoints(options.lines, shown, options.hits))
            timeline = None if options.trace is None else Timeline()
            watchers += [] if timeline is None else [timeline]
            run = partial(run, watchers=watchers)
            results = under_schedules(run, options.schedule, options.schedules, names, executor)
        if timeline is not None:
            from tilewright.lowering.interpreter.timeline.chrome import trace_json

            text = source if isinstance(source, str) else None
            _write_bytes(str(options.trace), trace_json(timeline, name, text).encode())
        return results


def _under(
    source: str | bytes, kernel: str | None, schedule: int | None, **settings: Any
) -> list[NDArray[Any]]:
    """A run under a schedule."""
    from tilewright.execution import interpret

    return interpret(source, kernel, schedule=schedule, **settings)


class _Notes(logging.Handler):
    """Notes on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"note: {record.getMessage()}", file=sys.stderr)


def _show_warning(message: Warning | str, *_: Any) -> None:
    print(str(message).replace(": error: ", ": warning: ", 1), file=sys.stderr)


def _launch(
    source: str | bytes, name: str, values: Sequence[Value], options: argparse.Namespace
) -> list[NDArray[Any]]:
    """The same on the GPU, compiled for that GPU unless `--arch` names a target."""
    from tilewright.compiler import compile
    from tilewright.launch.launcher import device_arch

    if options.block is None:
        raise InputError("expected --block for --device, got none (Tile IR runs on the CPU only)")
    compiled = compile(source, options.arch or device_arch(), name=name)
    return compiled.launch(*values, grid=options.grid, block=options.block, kernel=options.kernel)


def _check_for_device(options: argparse.Namespace) -> None:
    """Raise InputError for options of the interpreter: a GPU has an order of its own."""
    for option in (
        "races",
        "check",
        "schedule",
        "schedules",
        "max_steps",
        "executor",
        "trace",
        "lines",
    ):
        if getattr(options, option):
            name = option.replace("_", "-").replace("lines", "break")
            raise InputError(f"expected no --{name} with --device, which only interpretation has")


def _check_writable(argument: KernelArgument) -> None:
    """Better no run than one whose result has no place to go. Raises InputError."""
    if argument.output is None:
        return
    folder = Path(argument.output).parent
    if not folder.is_dir():
        raise InputError(f"cannot write '{argument.output}': no directory '{folder}'")
    if Path(argument.output).is_dir():
        raise InputError(f"cannot write '{argument.output}': it is a directory")
    if not os.access(folder, os.W_OK):
        raise InputError(f"cannot write '{argument.output}': permission denied in '{folder}'")


def _write(path: str, array: NDArray[np.generic], quiet: bool) -> None:
    import numpy as np

    stream = io.BytesIO()
    if array.dtype.isbuiltin == 2:  # one of ml_dtypes: of some, np.load cannot read the name back
        np.save(stream, array.view(f"V{array.dtype.itemsize}"))
    else:
        np.save(stream, array, allow_pickle=False)
    _write_bytes(path, stream.getvalue())
    if not quiet:
        shape = "x".join(map(str, array.shape)) or "scalar"
        print(f"{path}: {shape} {array.dtype.name}")


def _write_bytes(path: str, data: bytes) -> None:
    write_whole(os.path.join(os.curdir, path) if path == "-" else path, data)
