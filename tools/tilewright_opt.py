"""`tilewright-opt`: xdsl-opt with tilewright's dialects, passes and targets, and diagnostics that
point into the source.

Exit status: 0 fine, 1 the input is wrong (the diagnostic is on stderr), 2 wrong usage.
"""

from __future__ import annotations

import argparse
import atexit
import io
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib.metadata import version
from inspect import signature
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any, ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.utils.arg_spec import parse_spec
from xdsl.utils.diagnostic import Diagnostic as XDSLDiagnostic
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from tilewright.dialects.cuda_tile.bytecode.container import is_bytecode
from tilewright.dialects.cute_nvgpu.lattice.targets import TargetError
from tilewright.ir_dump import IRDump
from tilewright.source.diagnostic import CompileError, Diagnostic
from tilewright.source.guard import guard
from tilewright.source.nearest_name import check_pass_names
from tilewright.source.parsing import parse_module, register_dialects
from tilewright.source.printing import ShortPrinter
from tilewright.source.verification import verify
from tilewright.tools.commands.input import EXAMPLE, InputError, chosen_executor, example
from tilewright.tools.expected_errors import Expectation, check_expected, expectations
from tilewright.tools.output import (
    BROKEN_PIPE,
    INTERRUPTED,
    UnwritableError,
    drop_stdout,
    last_words,
    replace_closed_stdout,
    write_whole,
)
from tilewright.tools.trial import read_trial, trial_options

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tilewright.pipeline import Observer

USAGE = 2
WRONG_INPUT = 1


class TilewrightOpt(xDSLOptMain):
    """The driver. One chunk of the input is parsed, verified, run through the passes and printed;
    nothing is written unless every chunk went well."""

    version_format: ClassVar[str] = (
        f"tilewright-opt {version('tilewright')} (xdsl {{xdsl_version}})"
    )

    def register_all_dialects(self) -> None:
        """tilewright's, and xDSL's with what tilewright adds to them."""
        register_dialects(self.ctx)

    def register_all_frontends(self) -> None:
        """MLIR text, whatever the file is called."""
        self.available_frontends["mlir"] = self._parse

    def _parse(self, io: IO[bytes]) -> ModuleOp:
        raise NotImplementedError("chunks are parsed by process")

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.prog = "tilewright-opt"
        arg_parser.add_argument(
            "--dump-dir",
            metavar="DIR",
            help="write the IR before and after every pass, and the output, to files in DIR",
        )
        arg_parser.add_argument(
            "--verify-by-running",
            metavar="TRIAL",
            type=trial_options,
            help="run a kernel before and after every pass, and name the first that changes a "
            "result; TRIAL is '--grid X,Y,Z --block X,Y,Z [--kernel NAME] [--seed N] ARG...' as "
            "for `tilewright run`, with 256x64:bf16 for an array of random elements",
        )

    def get_input_stream(self) -> tuple[IO[bytes], str]:
        file = self.args.input_file
        if file is not None and file.startswith(EXAMPLE):
            return io.BytesIO(example(file.removeprefix(EXAMPLE))), "mlir"
        stream, _ = super().get_input_stream()
        return stream, "mlir"

    def run(self) -> None:
        """Process the input. Raises CompileError for the first chunk that is wrong."""
        self.check_target_options()
        chunks, _ = self.prepare_input()
        written: list[str | bytes] = []
        failed = False
        for stream, offset in chunks:
            with stream:
                raw = stream.read()
            source = raw if is_bytecode(raw, self.get_input_name()) else raw.decode()
            expected: list[Expectation] = []
            if self.args.verify_diagnostics and isinstance(source, str):
                expected = expectations(source, offset)
            try:
                result = self.process(source, offset)
            except CompileError as error:
                if not self.args.verify_diagnostics and not self.args.parsing_diagnostics:
                    raise
                if expected:
                    failed |= not check_expected(
                        expected, [error.diagnostic, *error.further], sys.stderr
                    )
                else:
                    written.append(f"{error.diagnostic}\n")
                continue
            failed |= not check_expected(expected, [], sys.stderr)
            written.append(result)
        write_whole(self.args.output_file, _joined(written))
        if failed:
            sys.exit(WRONG_INPUT)

    def setup_pipeline(self) -> None:
        check_pass_names(self.args.passes, self.available_passes)
        super().setup_pipeline()

    def check_target_options(self) -> None:
        """Raise ValueError or TypeError for options that the target does not have."""
        spec = parse_spec(self.args.target)
        factory: Any = self.available_targets[spec.name]
        if not signature(factory).parameters:
            with suppress(ImportError):
                factory().from_spec(spec)

    def module_of(self, source: str | bytes, offset: int) -> ModuleOp:
        """The module of one chunk, not verified. Raises CompileError."""
        name = self.get_input_name()
        if isinstance(source, bytes):
            from tilewright.dialects.cuda_tile.bytecode.read_module import read_bytecode

            return read_bytecode(source, name, verify=not self.args.disable_verify)
        return parse_module(
            source,
            name,
            self.ctx,
            line_offset=offset,
            implicit_module=not self.args.no_implicit_module,
        )

    def process(self, text: str | bytes, offset: int) -> str | bytes:
        """The output for one chunk. Raises CompileError."""
        name = self.get_input_name()
        module = self.module_of(text, offset)
        source = None if isinstance(text, bytes) else "\n" * offset + text
        try:
            self.apply(module, source)
            target = parse_spec(self.args.target).name
            with guard(target, module, source, name):
                result = self.output(module)
            if self.dump is not None and target != "mlir":
                self.dump.output(result, target)
            return result
        except OSError as error:
            raise UnwritableError(f"cannot write '{error.filename}': {error.strerror}") from None
        except TargetError as error:
            raise CompileError(Diagnostic(str(error), name)) from None

    def apply(self, module: ModuleOp, source: str | None) -> None:
        """Verify the module, and run the passes of `-p` on it. Raises CompileError."""
        name, passes = self.get_input_name(), self.pipeline.passes
        with guard("verify", module, source, name):
            self.verify(module, source)
        observers = self.observers(module, source)
        for before, after in pairwise((None, *passes, None)):
            if before is not None:
                with guard(before.name, module, source, name):
                    before.apply(self.ctx, module)
                    self.verify(module, source, before.name)
            # xDSL's verifies once more; it is wanted for what it prints.
            if self.pipeline.callback and (self.args.time_passes or self.args.print_between_passes):
                self.pipeline.callback(before, module, after)
            for observer in observers:
                observer(None if before is None else before.name, module)

    def verify(self, module: ModuleOp, source: str | None, after: str | None = None) -> None:
        """Verify what the parser or a pass left, unless told not to."""
        if not self.args.disable_verify:
            verify(module, source, after)

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """The output: MLIR text with short names, or what a target makes of the module."""
        if parse_spec(self.args.target).name != "mlir" or self.args.syntax_highlight:
            return super().output_resulting_program(prog)
        output = io.StringIO()
        printer = ShortPrinter(
            output,
            print_generic_format=self.args.print_op_generic,
            print_properties_as_attributes=self.args.print_no_properties,
            print_debuginfo=self.args.print_debuginfo,
        )
        printer.print_op(prog)
        printer.print_metadata(self.ctx.loaded_dialects)
        return output.getvalue().rstrip("\n") + "\n"

    @cached_property
    def executor(self) -> Executor | None:
        """Who makes the runs of `--verify-by-running`, until the process ends."""
        named = self.args.verify_by_running.executor
        if named is None:
            return None
        opened = chosen_executor(named)
        atexit.register(opened.__exit__, None, None, None)
        return opened.__enter__()

    @cached_property
    def dump(self) -> IRDump | None:
        """Where the IR goes between passes: one numbering for all chunks of the input."""
        return None if self.args.dump_dir is None else IRDump(self.args.dump_dir)

    def observers(self, module: ModuleOp, source: str | None) -> list[Observer]:
        """Who is told of the passes. Raises CompileError where `--verify-by-running` cannot run."""
        observers: list[Observer] = [] if self.dump is None else [self.dump]
        if self.args.verify_by_running is not None:
            from tilewright.verify_by_running import ResultCheck

            name = self.get_input_name()
            trial = read_trial(self.args.verify_by_running, module, name, self.executor)
            observers.append(ResultCheck(trial, name, source))
        return observers

    def output(self, module: ModuleOp) -> str | bytes:
        """The target's text of a module."""
        target = parse_spec(self.args.target)
        if target.name != "tileirbc":
            return self.output_resulting_program(module)
        from tilewright.dialects.cuda_tile.bytecode.target import TileIRTarget

        return TileIRTarget.from_spec(target).encoded(module)


def _joined(written: Sequence[str | bytes]) -> str | bytes:
    """The outputs of all chunks. Raises CompileError for bytecode beside others."""
    if len(written) == 1:
        return written[0]
    text = [part for part in written if isinstance(part, str)]
    if len(text) < len(written):
        raise CompileError(
            Diagnostic(f"'tileirbc' expected one module for a file, got {len(written)}")
        )
    return "// -----\n".join(text)


@contextmanager
def _flags_of_one_run() -> Generator[None]:
    """A run with which `--disable-verify` and `--syntax-highlight`, set in xDSL's classes, end."""
    verify, colored = Attribute.__post_init__, XDSLDiagnostic.colored
    try:
        yield
    finally:
        Attribute.__post_init__, XDSLDiagnostic.colored = verify, colored


def main(
    arguments: Sequence[str] | None = None, driver: type[TilewrightOpt] = TilewrightOpt
) -> None:
    """The console script."""
    replace_closed_stdout()
    try:
        with _flags_of_one_run():
            driver("tilewright's modular optimizer driver", arguments).run()
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
        sys.exit(BROKEN_PIPE)
    except CompileError as error:
        _fail(str(error), WRONG_INPUT)
    except UnicodeDecodeError as error:
        _fail(f"error: the input is not UTF-8 text ({error.reason})", WRONG_INPUT)
    except InputError as error:
        _fail(str(error), WRONG_INPUT)
    except UnwritableError as error:
        _fail(f"error: {error}", WRONG_INPUT)
    except OSError as error:
        if error.filename is None:
            # What is still in the buffer would be written once more at exit.
            drop_stdout()
            _fail(last_words(error), WRONG_INPUT)
        _fail(f"error: cannot read '{error.filename}': {error.strerror}", WRONG_INPUT)
    except (ArgSpecParseError, ValueError, TypeError) as error:
        _fail(f"error: {error}", USAGE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        _fail(last_words(error), WRONG_INPUT)


def _fail(message: str, status: int) -> None:
    print(message, file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
