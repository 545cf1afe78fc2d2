"""The guard at the edge: whatever a step of the compiler raises becomes one located diagnostic."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute_nvgpu.lattice.targets import TargetError
from tilewright.source.diagnostic import (
    CompileError,
    Diagnostic,
    ExecutionError,
    OpError,
    at,
    file_location,
)
from tilewright.source.recursion import deep_recursion
from tilewright.source.verification import op_diagnostic, stopped_in_xdsl, verify_diagnostic

_EXPECTED = (CompileError, ExecutionError, TargetError, OSError)
"""The errors that say all in their own words."""

_LONG = 120
"""Characters that are told of an error that holds a whole op."""


@contextmanager
def guard(
    step: str,
    module: ModuleOp,
    source: str | None = None,
    name: str | None = None,
    *,
    named: bool = False,
) -> Generator[None]:
    """Runs a step on a module. Raises CompileError for whatever else it raises: at the op that was
    at work, naming the step. The original error is the cause of those that nobody foresaw. A step
    that is the user's own is `named` by what it says of an op, too."""
    with deep_recursion():
        try:
            yield
        except _EXPECTED:
            raise
        except OpError as error:
            raise CompileError(_of(op_diagnostic(error, source), step, named)) from None
        except VerifyException as error:
            diagnostic = verify_diagnostic(module, error, source)
            raise CompileError(_of(diagnostic, step, named)) from None
        except DiagnosticException as error:
            raise CompileError(Diagnostic(f"{error} (in '{step}')", name)) from None
        except RecursionError:
            message = f"expected IR that nests less deeply, got more than '{step}' can follow"
            raise CompileError(Diagnostic(message, name)) from None
        except MemoryError as error:
            message = f"expected IR that fits in memory, got more than '{step}' can hold: {error}"
            raise CompileError(_at_work(message, error, source, name)) from error
        except ImportError as error:
            package = (error.name or str(error)).split(".")[0]
            message = f"'{step}' expected the Python package '{package}' to be installed"
            raise CompileError(Diagnostic(message, name)) from None
        except LayoutError as error:
            raise CompileError(_no_layout(step, error, source, name)) from error
        except Exception as error:
            raise CompileError(_internal(step, error, source, name)) from error


def _no_layout(step: str, error: LayoutError, source: str | None, name: str | None) -> Diagnostic:
    """The complaint of the algebra of layouts, at the op that asks for it."""
    return _at_work(f"{error} (in '{step}')", error, source, name)


def _at_work(message: str, error: Exception, source: str | None, name: str | None) -> Diagnostic:
    """A complaint at the op that a step was busy with, where there is one."""
    op = _op_at_work(error.__traceback__)
    if op is None:
        return Diagnostic(message, name)
    return at(op.location, f"'{op.name}' {message}", source)


def _of(diagnostic: Diagnostic, step: str, named: bool) -> Diagnostic:
    """The text of a step's error, with its name where that is wanted."""
    if not named:
        return diagnostic
    return replace(diagnostic, message=f"{diagnostic.message} (in '{step}')")


def _internal(step: str, error: Exception, source: str | None, name: str | None) -> Diagnostic:
    op = _op_at_work(error.__traceback__)
    place = "" if op is None else f" at '{op.name}'"
    said = " ".join(str(error).split())
    message = f"internal error in '{step}'{place}, please report: {type(error).__name__}: {said}"
    if stopped_in_xdsl(error):
        said = f"{type(error).__name__}: {said[:_LONG]}{'...' * (len(said) > _LONG)}"
        message = f"'{step}' expected IR that xDSL's own code takes, got {said}"
    if isinstance(error, NotImplementedError):
        message = f"'{step}' is not implemented for this{place}: {said}"
    return Diagnostic(message, name) if op is None else at(op.location, message, source)


def _op_at_work(traceback: TracebackType | None) -> Operation | None:
    """The op with a place in the source that the innermost function was busy with."""
    op: Operation | None = None
    while traceback is not None:
        for value in traceback.tb_frame.f_locals.values():
            # One whose constructor failed has no location yet.
            place = getattr(value, "location", None) if isinstance(value, Operation) else None
            if place is not None and file_location(place) is not None:
                op = value
                break
        traceback = traceback.tb_next
    return op
