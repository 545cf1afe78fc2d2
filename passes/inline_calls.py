"""`inline-calls`: calls of device functions become their bodies."""

from collections.abc import Sequence
from typing import Any

from xdsl.context import Context
from xdsl.dialects import cf, func, gpu
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import BlockInsertPoint, InsertPoint, Rewriter
from xdsl.traits import SymbolTable

from tilewright.dialects.ancestors import ancestors, descendants, enclosing
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import STATIC_SHARED_LIMIT
from tilewright.dialects.fields import number
from tilewright.dialects.frozen import frozen
from tilewright.dialects.gpu import FunctionOp
from tilewright.dialects.insertion import insert_before
from tilewright.dialects.ptx import functions
from tilewright.dialects.ptx.calls import TrapOp
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp, EntryOp
from tilewright.dialects.ptx.instruction import content
from tilewright.dialects.ptx.module_variables import GlobalAddressOp, GlobalOp
from tilewright.dialects.ptx.registers import ConstOp, LocalAddressOp, SharedAddressOp, UndefOp
from tilewright.dialects.ptx.scalars import SCALAR_OPS
from tilewright.dialects.ptx.stack import AllocaOp, StackrestoreOp, StacksaveOp
from tilewright.dialects.ptx.types import B64
from tilewright.source.diagnostic import OpError

Function = FunctionOp | functions.FuncOp
Call = func.CallOp | functions.CallOp
_RETURNS = (func.ReturnOp, gpu.ReturnOp, functions.RetOp)


@frozen
class InlineCallsPass(ModulePass):
    """Replace each `func.call`, and each `ptx.call` of a function with a body, by the body of its
    callee, and erase the callees. A function that calls itself is an error, and so is one of
    several blocks that is called inside `scf`."""

    name = "inline-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        taken = [one for one in descendants(op, functions.FuncOp) if one.address is not None]
        for call in descendants(op, functions.CallOp):
            if call.indirect is not None:
                _compare(call, taken)
        _number(op, taken)
        calls: list[Call] = [*filter(_has_body, descendants(op, Call))]
        callees = {callee_of(call) for call in calls} | {one for one in taken if one.body.blocks}
        for call in calls:
            if callees.isdisjoint(ancestors(call)):
                _inline(call, ())
        for callee in callees:
            Rewriter.erase_op(callee, safe_erase=False)
        shared = [one for one in descendants(op, GlobalOp) if one.shared is not None]
        for variable in sorted(shared, key=lambda one: len(one.content)):  # the rest last
            for kernel in descendants(op, EntryOp):
                addresses = descendants(kernel, SharedAddressOp)
                if named := [one for one in addresses if one.variable == variable.sym_name]:
                    size, align = len(variable.content), variable.align.value.data
                    _enlarge(kernel, named, "shared", "align", size, align)
            Rewriter.erase_op(variable)


def callee_of(call: Call) -> Function:
    """The function that is called. Raises OpError where it is no device function with a body."""
    callee = SymbolTable.lookup_symbol(call, call.callee)
    if not isinstance(callee, Function) or not callee.body.blocks:
        raise OpError(call, f"'{call.name}' expected a function with a body, got {call.callee}")
    if "gpu.kernel" in callee.attributes or "kernel" in callee.properties:
        raise OpError(
            call, f"'{call.name}' expected a device function, got the kernel {call.callee}; "
            "nearest legal: a function without gpu.kernel that both call"
        )  # fmt: skip
    return callee


def _has_body(call: Call) -> bool:
    """False for a `ptx.call` of what is known elsewhere alone."""
    function = call.function if isinstance(call, functions.CallOp) else None
    return function is None or bool(function.body.blocks)


def _compare(call: functions.CallOp, taken: Sequence[functions.FuncOp]) -> None:
    """Let a call of an address be one of each function that it may be of; of another one it
    traps."""
    callee, block, (address, *arguments) = call.function, call.parent, call.arguments
    assert callee is not None and block is not None and block.parent is not None
    following = block.split_before(call, arg_types=call.result_types)
    passed = callee.parameters, callee.returns
    for one in taken:
        if (one.parameters, one.returns) != passed or one.address is None:
            continue
        there, other = Block(), Block()
        direct = functions.CallOp(arguments, call.result_types, SymbolRefAttr(one.sym_name),
                                  uniform=call.uniform is not None)  # fmt: skip
        there.add_ops((direct, BraOp(following, direct.results)))
        known = ConstOp(one.address.value.data, "b64")
        is_one = SCALAR_OPS["setp"]("eq.u64", (address, known.result))
        block.add_ops((known, is_one, CondBraOp(is_one.results[0], there, other)))
        Rewriter.insert_block((there, other), BlockInsertPoint.before(following))
        block = other
    nothing = [UndefOp(result.type) for result in call.returned]
    trap = TrapOp()
    trap.location = call.location
    block.add_ops((trap, *nothing, BraOp(following, [op.result for op in nothing])))
    Rewriter.replace_op(call, [], following.args)


def _number(module: ModuleOp, taken: Sequence[functions.FuncOp]) -> None:
    """Let the addresses of functions be numbers."""
    numbers = {one.sym_name.data: one.address.value.data for one in taken if one.address}
    for op in descendants(module, GlobalAddressOp) if numbers else ():
        if (address := numbers.get(op.variable.data)) is not None:
            Rewriter.replace_op(op, ConstOp(address, "b64"))


def _branch(call: Call, dest: Block, values: Sequence[SSAValue]) -> Operation:
    """The branch of the level of a call."""
    if isinstance(call, functions.CallOp):
        return BraOp(dest, values)
    return cf.BranchOp(dest, *values)


def _enlarge(
    kernel: EntryOp, ops: Sequence[Any], memory: str, aligned: str, size: int, align: int
) -> None:
    """Let addresses be behind the memory that a kernel has; where a launch says the size, they
    have what is left."""
    begin = -(-(content(getattr(kernel, memory)) or 0) // align) * align
    for op in ops:
        op.offset = number(op.offset.value.data + begin)
        op.properties.pop("variable", None)
    is_rest = memory == "shared" and size > STATIC_SHARED_LIMIT
    setattr(kernel, memory, number(max(begin, size) if is_rest else begin + size))
    if align > (content(getattr(kernel, aligned)) or 16):
        setattr(kernel, aligned, number(align))


def _free_stack(body: Region) -> None:
    """Let what the body of a function allocates on the stack be free where it returns."""
    if not descendants(body, AllocaOp):
        return
    top = StacksaveOp(form="u64", result=B64)
    Rewriter.insert_op(top, InsertPoint.at_start(body.blocks[0]))
    for block in body.blocks:
        if isinstance(last := block.last_op, _RETURNS):
            restored = StackrestoreOp(form="u64", top=top.result)
            insert_before(restored, last)


def _inline(call: Call, path: tuple[Function, ...]) -> None:
    """Replace a call that stands in the bodies of these callees. Raises OpError."""
    callee, caller = callee_of(call), call.parent
    assert caller is not None
    if callee in path:
        raise OpError(call, f"'{call.name}' expected a callee that does not call itself")
    body = callee.body.clone()
    nested, (entry, *others) = descendants(body, Call), body.blocks
    if isinstance(callee, functions.FuncOp):
        if callee.local is not None:
            kernel, local = next(enclosing(call, EntryOp)), descendants(body, LocalAddressOp)
            size, align = callee.local.value.data, content(callee.local_align) or 16
            _enlarge(kernel, local, "local", "local_align", size, align)
        _free_stack(body)
    returned = entry.last_op
    if not others and isinstance(returned, _RETURNS):
        Rewriter.inline_block(entry, InsertPoint.before(call), call.operands)
        results: Sequence[SSAValue] = returned.operands
        returned.detach()
    else:
        around = caller.parent_op()
        if not isinstance(around, Function | EntryOp):
            raise OpError(
                call, f"'{call.name}' inside '{'' if around is None else around.name}' expected a "
                f"callee of one block, got {len(body.blocks)}; nearest legal: scf instead of "
                "branches"
            )  # fmt: skip
        following = caller.split_before(call, arg_types=call.result_types)
        for block in body.blocks:
            if isinstance(last := block.last_op, _RETURNS):
                Rewriter.replace_op(last, _branch(call, following, last.operands), [])
            elif isinstance(last, functions.ExitOp) and isinstance(around, EntryOp):
                Rewriter.replace_op(last, functions.RetOp(()), [])
        caller.add_op(_branch(call, entry, call.operands))
        Rewriter.inline_region(body, BlockInsertPoint.before(following))
        results = following.args
    Rewriter.replace_op(call, [], results)
    for inner in filter(_has_body, nested):
        _inline(inner, (*path, callee))
