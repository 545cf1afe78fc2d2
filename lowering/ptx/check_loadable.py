"""The limits of ptxas and the driver, asked of `ptx` IR before it becomes text.

IR that a front end or a pass has built need not have been verified since: each instruction says
here again what is wrong with its constants.
"""

from collections.abc import Sequence

from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.lattice.shared_memory import why_too_much
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.functions import FuncOp
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.module_variables import GlobalOp
from tilewright.dialects.ptx.registers import SharedAddressOp
from tilewright.lowering.ptx.instructions import Shapes, shapes_of
from tilewright.lowering.ptx.kept import kept
from tilewright.source.diagnostic import OpError, named


def check_loadable(
    entries: Sequence[EntryOp], functions: Sequence[FuncOp], variables: Sequence[GlobalOp],
    arch: Target | None,
) -> Shapes:  # fmt: skip
    """The shapes of all instructions. Raises OpError for the first kernel, or variable of the
    module, that ptxas would refuse, or the driver could not load on `arch`."""
    names: dict[str, EntryOp | FuncOp | GlobalOp] = {}
    shapes = Shapes()
    for op in (*variables, *functions, *entries):
        other = names.setdefault(op.sym_name.data, op)
        if other is not op:
            kinds: dict[type, str] = {EntryOp: "kernel", FuncOp: "function"}
            kind = kinds.get(type(other), "variable")
            raise OpError(
                op, f"'{op.name}' expected a name that no other {kind} of the PTX has, got "
                f"'{op.sym_name.data}', which {named(other)} has"
            )  # fmt: skip
    for op in names.values():
        _check_verified(op)
    for entry in entries:
        why = None if arch is None else why_too_much(entry.shared.value.data, arch)
        if why is not None:
            raise OpError(entry, f"'{entry.name}' {why}")
        _check_body(entry, shapes)
    for function in functions:
        _check_body(function, shapes)
    return shapes


def _check_verified(op: PtxOp | GlobalOp) -> None:
    try:
        op.verify_()
    except VerifyException as error:
        raise OpError(op, str(error)) from error


def _check_body(entry: EntryOp | FuncOp, shapes: Shapes) -> None:
    own = kept(Shapes, entry.body) or shapes_of(entry)
    for op in () if isinstance(entry, EntryOp) and entry.shared.value.data else own:
        if isinstance(op, SharedAddressOp) and op.variable is None:
            raise OpError(op, f"'{op.name}' expected a kernel with shared memory, got "
                              f"@{entry.sym_name.data} without")  # fmt: skip
    last = {block.last_op for block in entry.body.blocks}
    for op, shape in own.items():
        if shape.ends_block or op in last:
            _check_verified(op)  # type: ignore[arg-type]  # where it stands
    shapes.update(own)
