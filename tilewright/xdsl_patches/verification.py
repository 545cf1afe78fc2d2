"""Faster verification by xDSL: the same errors, once for all ops that have the same types and
attributes."""

from xdsl.ir import Operation, OpResult
from xdsl.ir.core import ErasedSSAValue
from xdsl.irdl import OpDef
from xdsl.traits import IsolatedFromAbove, IsTerminator, OpTrait
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.signature import FactsBySignature, signature
from tilewright.xdsl_patches.assignments import Patches

# pyright: reportPrivateUsage=false


_verify_any = Operation.verify
_verify_all = OpDef.verify
_verify_isolated = IsolatedFromAbove.verify
_inert = OpTrait.verify
_verified = FactsBySignature[tuple[OpTrait, ...]]()
"""Of ops that were right: the traits that ask more than the definition says."""


def verify_op(op: Operation, verify_nested_ops: bool = True) -> None:
    """Verify an op: one that stands where it may is asked for its operands and by its verifier."""
    if op.regions or not _is_in_place(op):
        return _verify_any(op, verify_nested_ops)
    try:
        if ErasedSSAValue not in map(type, op._operands):
            return op.verify_()
    except VerifyException:
        pass
    return _verify_any(op, verify_nested_ops)


def _is_in_place(op: Operation) -> bool:
    """True of an op in the middle of a block, and of one that may end it, without counting blocks
    as xDSL does for each of them."""
    if op._next_op is not None:
        return not op._successors
    region = None if op.parent is None else op.parent.parent
    if region is None or not op.has_trait(IsTerminator):
        return False
    return all(block.parent is region for block in op._successors)


def verify(definition: OpDef, op: Operation) -> None:
    """Verify an op by its definition. Attributes never change: what was right of some stays so."""
    if op.regions:
        return _verify_all(definition, op)
    key = (id(definition), signature(op))
    traits = _verified.get(key)
    if traits is None:
        _verify_all(definition, op)
        asking = [trait for trait in definition.traits if type(trait).verify is not _inert]
        _verified.put(key, op, tuple(asking))
        return None
    for trait in traits:
        trait.verify(op)
    return None


def isolated(trait: IsolatedFromAbove, op: Operation) -> None:
    """Verify that nothing in an op uses a value around it: most are defined in the same block."""
    regions = list(op.regions)
    while regions:
        for block in regions.pop().blocks:
            for inner in block.ops:
                for operand in inner._operands:
                    owner = operand.owner
                    where = owner.parent if operand.__class__ is OpResult else owner
                    if where is not block and (owner is op or not op.is_ancestor(owner)):
                        return _verify_isolated(trait, op)
                if inner.regions and not inner.has_trait(IsolatedFromAbove):
                    regions += inner.regions
    return None


PATCHES: Patches = {
    "verified_places": ((Operation, "verify", verify_op),),
    "verified_definitions": ((OpDef, "verify", verify),),
    "verified_isolation": ((IsolatedFromAbove, "verify", isolated),),
}
