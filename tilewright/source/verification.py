"""Verification: what xDSL's verifiers ask and what they leave out, dominance too; each fault at the
op that is wrong."""

from dataclasses import replace
from traceback import walk_tb

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import upstream
from tilewright.source.diagnostic import CompileError, Diagnostic, InnerOpError, OpError, at
from tilewright.source.dominance import misplaced_uses
from tilewright.source.nearest_name import nearest_property


def verify(module: ModuleOp, text: str | None = None, after: str | None = None) -> None:
    """Verify a module, as the pass `after` left it. Raises CompileError at the op that is wrong."""
    faults = [op_diagnostic(fault, text) for fault in misplaced_uses(module)]
    if not faults:
        try:
            faults = _left_out(module, text)
            if not faults:
                module.verify()
        except VerifyException as error:
            faults = _faults(module, text) or [at(module.location, str(error), text)]
        except Exception:
            faults = _faults(module, text)
            if not faults:
                raise
    if faults and after is not None:
        faults = [replace(fault, message=f"{fault.message} (after '{after}')") for fault in faults]
    if faults:
        first, *further = faults
        raise CompileError(first, further)


def verify_diagnostic(module: ModuleOp, error: VerifyException, text: str | None) -> Diagnostic:
    """Where a module does not verify: at the innermost op that rejects itself."""
    return next(iter(_faults(module, text)), at(module.location, str(error), text))


def op_diagnostic(error: OpError, text: str | None) -> Diagnostic:
    """The diagnostic of what a pass, a lowering or a target said of an op."""
    return at(error.op.location, error.message, text)


def _left_out(module: ModuleOp, text: str | None) -> list[Diagnostic]:
    """The faults of upstream ops that their own verifiers take, or stop at in other ways."""
    if not any(map(upstream.fault, module.walk())):
        return []  # the quicker walk
    said = ((op, upstream.fault(op)) for op in module.walk(region_first=True))
    return [at(op.location, _named(op, why), text) for op, why in said if why is not None]


def _faults(module: ModuleOp, text: str | None) -> list[Diagnostic]:
    """The faults of every op that rejects itself, the innermost first."""
    faults: list[Diagnostic] = []
    stopped: Exception | None = None
    for op in module.walk(region_first=True):
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as error:
            wrong = error.op if isinstance(error, InnerOpError) else op
            faults.append(at(wrong.location, _named(wrong, str(error)), text))
        except Exception as error:
            # Verifiers count on the ops before theirs and around them, one of which is wrong here.
            if stopped_in_xdsl(error):
                said = f"as xDSL verifies them, got {type(error).__name__}: {error}"
                message = f"'{op.name}' expected its operands and types {said}"
                faults.append(at(op.location, message, text))
            else:
                stopped = stopped or error
    if stopped is not None and not faults:
        raise stopped
    return faults


_RUNNERS = (
    "source.guard", "pipeline", "source.verification", "xdsl_patches.speed",
    "xdsl_patches.verification", "tools.tilewright_opt",
)  # fmt: skip
"""Modules that run what is not theirs: passes, targets, verifiers, xDSL's own code."""


def stopped_in_xdsl(error: Exception) -> bool:
    """True where code of xDSL's stopped that no code of ours, but for the runners, had called."""
    modules = [frame.f_globals["__name__"] for frame, _ in walk_tb(error.__traceback__)]
    ours = {name.removeprefix("tilewright.") for name in modules if name.startswith("tilewright.")}
    return modules[-1].startswith(("xdsl.", "tilewright.xdsl_patches")) and ours <= {*_RUNNERS}


def _named(op: Operation, message: str) -> str:
    """The message, beginning with the op's name as ours do; of a slip, with what was meant."""
    if (meant := nearest_property(op, message)) is not None:
        message = f"{message}; nearest legal: {meant}"
    return message if message.startswith("'") else f"'{op.name}' {message}"
