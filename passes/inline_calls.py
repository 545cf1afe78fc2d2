"""`inline-calls`: calls of device functions become their bodies."""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import cf, func, gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import BlockInsertPoint, InsertPoint, Rewriter
from xdsl.traits import SymbolTable

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.frozen import frozen
from tilewright.source.diagnostic import OpError

Function = func.FuncOp | gpu.FuncOp
_RETURNS = (func.ReturnOp, gpu.ReturnOp)


@frozen
class InlineCallsPass(ModulePass):
    """Replace each `func.call` by the body of its callee, and erase the callees. A function that
    calls itself is an error, and so is one of several blocks that is called inside `scf`."""

    name = "inline-calls"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        calls = _calls(op)
        callees = {callee_of(call) for call in calls}
        for call in calls:
            if callees.isdisjoint(ancestors(call)):
                _inline(call, ())
        for callee in callees:
            callee.detach()
            callee.erase(safe_erase=False)


def callee_of(call: func.CallOp) -> Function:
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


def _calls(inside: Operation | Region) -> list[func.CallOp]:
    return [op for op in inside.walk() if type(op) is func.CallOp]


def _inline(call: func.CallOp, path: tuple[Function, ...]) -> None:
    """Replace a call that stands in the bodies of these callees. Raises OpError."""
    callee, caller = callee_of(call), call.parent
    assert caller is not None
    if callee in path:
        raise OpError(call, f"'{call.name}' expected a callee that does not call itself")
    body = callee.body.clone()
    nested, (entry, *others) = _calls(body), body.blocks
    if not others:
        returned = entry.last_op
        assert returned is not None
        Rewriter.inline_block(entry, InsertPoint.before(call), call.operands)
        results: Sequence[SSAValue] = returned.operands
        returned.detach()
    else:
        around = caller.parent_op()
        if not isinstance(around, Function):
            raise OpError(
                call, f"'{call.name}' inside '{'' if around is None else around.name}' expected a "
                f"callee of one block, got {len(body.blocks)}; nearest legal: scf instead of "
                "branches"
            )  # fmt: skip
        following = caller.split_before(call, arg_types=call.result_types)
        for block in body.blocks:
            if isinstance(last := block.last_op, _RETURNS):
                Rewriter.replace_op(last, cf.BranchOp(following, *last.operands), [])
        caller.add_op(cf.BranchOp(entry, *call.operands))
        Rewriter.inline_region(body, BlockInsertPoint.before(following))
        results = following.args
    Rewriter.replace_op(call, [], results)
    for inner in nested:
        _inline(inner, (*path, callee))
