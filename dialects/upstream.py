"""Rules that the verifiers of xDSL's own dialects leave out, and MLIR's do not.

One rule an op; `fault` says what is wrong with an op of another dialect, in MLIR's terms. A module
is checked by these before its ops verify themselves, since some of those stop with other errors.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from xdsl.dialects import arith, cf, func, gpu, memref, scf
from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from tilewright.dialects.ancestors import symbol
from tilewright.dialects.cute.int_tuple import product
from tilewright.dialects.cute.types.tensors import MemRefType as TensorMemRefType
from tilewright.dialects.cute_nvgpu.lattice.launch import why_illegal_block, why_illegal_cluster
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.gpu import FuncOp, FunctionOp, LaunchOp, other_spelling
from tilewright.source.diagnostic import named

Rule = Callable[[Any], str | None]
INDEX_BITS = 64


MAX_HELD = 1 << 16
"""The elements of 64 bits in a thread's local memory of 512 KiB."""


_HELD: dict[type[Attribute], Callable[[Any], int]] = {
    VectorType: lambda type_: prod(type_.get_shape()),
    FragmentType: lambda type_: type_.count.data,
    TensorMemRefType: lambda type_: (
        product(type_.tensor.modes.shape) if type_.tensor.space == "rmem" else 1
    ),
}
"""How many elements a value of a type is to the thread that holds it."""


def fault(op: Operation) -> str | None:
    """The fault of an upstream op beyond what its own verifier says, or None. Rules count on the
    fields of their op: where one is missing, that is the fault."""
    for result in op.results:
        if (counts := _HELD.get(type(result.type))) is not None:
            count = counts(result.type)
            if not 0 < count <= MAX_HELD:
                words = f"a {result.type.name} of 1 to {MAX_HELD} elements, which a thread can hold"
                return f"expected {words}, got {result.type}"
    if op.attributes and isinstance(op, IRDLOperation):
        known = op.attributes.keys() & op.get_irdl_definition().properties.keys()
        if known:
            name = min(known)
            return f"expected {name} as a property, got an attribute too: {op.attributes[name]}"
    if (rule := RULES.get(type(op))) is None:
        return None
    try:
        return rule(op)
    except Exception:
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as error:
            return str(error)
        raise


def _width(type_: Attribute) -> int:
    shaped: Any = type_
    element = shaped.element_type if isinstance(type_, VectorType | TensorType) else shaped
    return int(getattr(element, "bitwidth", 0))


def _shape(type_: Attribute) -> tuple[int, ...] | None:
    return type_.get_shape() if isinstance(type_, VectorType | TensorType) else None


def _cast(wider: bool | None) -> Rule:
    def rule(op: Any) -> str | None:
        source, result = op.operands[0].type, op.results[0].type
        grows = _width(result) - _width(source)
        if _shape(source) != _shape(result):
            return f"expected operand and result of one shape, got {source} and {result}"
        if wider is None or (grows if wider else -grows) > 0:
            return None
        return f"expected a result {'wider' if wider else 'narrower'} than {source}, got {result}"

    return rule


def _constant(op: arith.ConstantOp) -> str | None:
    value = op.value
    if isinstance(value, IntegerAttr) and isinstance(value.type, IndexType):
        number = value.value.data
        if not -(1 << INDEX_BITS - 1) <= number < 1 << INDEX_BITS - 1:
            return f"expected an index of {INDEX_BITS} bits, got {number}"
    return None


def _indices(op: memref.LoadOp | memref.StoreOp) -> str | None:
    type_ = op.memref.type
    if isinstance(type_, MemRefType) and len(op.indices) != type_.get_num_dims():
        return f"expected {type_.get_num_dims()} indices for {type_}, got {len(op.indices)}"
    return None


def _alloc(op: memref.AllocOp | memref.AllocaOp) -> str | None:
    type_ = op.memref.type
    if 0 in type_.get_shape():
        return f"expected extents of at least 1, got {type_}"
    return None


def _global(op: memref.GlobalOp) -> str | None:
    given = op.initial_value
    if isinstance(given, DenseIntOrFPElementsAttr) and (
        (given.get_shape(), given.get_element_type())
        != (op.type.get_shape(), op.type.get_element_type())
    ):
        return f"expected elements of {op.type}, got {given.type}"
    return None


def _get_global(op: memref.GetGlobalOp) -> str | None:
    variable = symbol(op, name := op.name_.string_value())
    if not isinstance(variable, memref.GlobalOp):
        return f"expected a memref.global @{name}, got {named(variable)}"
    if op.memref.type != variable.type:
        return f"expected {variable.type} as @{name} is, got {op.memref.type}"
    return None


def _types(values: Sequence[SSAValue]) -> list[str]:
    return [str(value.type) for value in values]


def _if(op: scf.IfOp) -> str | None:
    wanted = _types(op.results)
    if wanted and not op.false_region.blocks:
        return f"expected an else region, since it has results of ({', '.join(wanted)}), got none"
    for region in (op.true_region, op.false_region):
        last = region.blocks[-1].last_op if region.blocks else None
        if isinstance(last, scf.YieldOp) and _types(last.operands) != wanted:
            given = ", ".join(_types(last.operands))
            return f"expected its regions to yield ({', '.join(wanted)}), got ({given})"
    return None


def _ending(last: Operation | None) -> str:
    return "no op" if last is None else named(last)


def _while(op: scf.WhileOp) -> str | None:
    before, after = (region.blocks[0] for region in (op.before_region, op.after_region))
    condition, again = before.last_op, after.last_op
    if not isinstance(condition, scf.ConditionOp):
        return f"expected its first region to end in scf.condition, got {_ending(condition)}"
    if not isinstance(again, scf.YieldOp):
        return f"expected its second region to end in scf.yield, got {_ending(again)}"
    passed, yielded = condition.args, again.operands
    for whose, wanted, values in (
        ("the arguments of its first region", op.arguments, before.args),
        ("the arguments of its second region", op.results, after.args),
        ("what scf.condition passes on", op.results, passed),
        ("what its second region yields", op.arguments, yielded),
    ):
        if _types(values) != _types(wanted):
            given = ", ".join(_types(values))
            return f"expected {whose} to be of ({', '.join(_types(wanted))}), got ({given})"
    return None


def _compared(op: arith.CmpiOp | arith.CmpfOp) -> str | None:
    is_integer, given = isinstance(op, arith.CmpiOp), op.predicate.value.data
    count = len(CMPI_COMPARISON_OPERATIONS if is_integer else CMPF_COMPARISON_OPERATIONS)
    if not 0 <= given < count:
        return f"expected a predicate of 0 to {count - 1}, got {given}"
    if op.lhs.type != op.rhs.type:
        return f"expected operands of one type, got {op.lhs.type} and {op.rhs.type}"
    return _mask(op)


def _mask(op: arith.CmpiOp | arith.CmpfOp | arith.SelectOp) -> str | None:
    mask, type_ = (op.cond, op.lhs) if isinstance(op, arith.SelectOp) else (op.result, op.lhs)
    if isinstance(op, arith.SelectOp) and mask.type == i1:
        return None
    wanted, given = map(_shape, (type_.type, mask.type))
    if wanted != given:
        return f"expected a mask of the shape of {type_.type}, got {mask.type}"
    return None


def _branch(op: cf.BranchOp | cf.ConditionalBranchOp) -> str | None:
    given = (
        [op.arguments] if isinstance(op, cf.BranchOp) else [op.then_arguments, op.else_arguments]
    )
    for block, arguments in zip(op.successors, given, strict=True):
        if _types(arguments) != _types(block.args):
            return (
                f"expected its successor's arguments of ({', '.join(_types(block.args))}), "
                f"got ({', '.join(_types(arguments))})"
            )
    return None


def _body(op: FunctionOp | gpu.LaunchOp) -> str | None:
    if len(op.body.blocks) > 1 and any(not block.ops for block in op.body.blocks):
        return "expected its blocks to end in terminators, got an empty one"
    return None


def _kernel(op: FunctionOp) -> str | None:
    marked = "gpu.kernel" in op.attributes or isinstance(op, gpu.FuncOp)
    if marked and not (op.body.blocks and op.body.blocks[0].ops):
        return "expected a kernel to have a body, got a declaration"
    if marked and (spelled := other_spelling(op)) is not None:
        other, name = spelled
        beside = f", which says {op.attributes[name]}" if name in op.attributes else ""
        return f"expected {name}, got {other} = {op.attributes[other]}{beside}"
    if (why := _body(op)) is not None:
        return why
    attributes, count = op.properties.get("arg_attrs"), len(op.function_type.inputs)
    if isa(attributes, ArrayAttr) and len(attributes) != count:
        return f"expected attributes of {count} arguments, got {len(attributes)}"
    for name, why_illegal in _EXTENTS.items():
        given = op.attributes.get(name)
        if given is not None and (why := _extents_fault(given, why_illegal)) is not None:
            return f"{name} {why}"
    return None


_WhyIllegal = Callable[[Sequence[int]], str | None]
_EXTENTS: dict[str, _WhyIllegal] = {
    "gpu.known_block_size": why_illegal_block,
    "gpu.known_cluster_size": why_illegal_cluster,
}
"""The launch attributes of kernels, each with the fault of its extents."""


def _extents_fault(
    given: Attribute, why_illegal: Callable[[Sequence[int]], str | None]
) -> str | None:
    if isa(given, DenseArrayBase[IntegerType]):
        return why_illegal([int(extent) for extent in given.get_values()])
    return f"expected array<i32: X, Y, Z>, got {given}"


RULES: dict[type[Operation], Rule] = {
    arith.CmpfOp: _compared,
    arith.CmpiOp: _compared,
    arith.ConstantOp: _constant,
    arith.ExtFOp: _cast(wider=True),
    arith.ExtSIOp: _cast(wider=True),
    arith.ExtUIOp: _cast(wider=True),
    arith.FPToSIOp: _cast(wider=None),
    arith.FPToUIOp: _cast(wider=None),
    arith.SIToFPOp: _cast(wider=None),
    arith.TruncIOp: _cast(wider=False),
    arith.UIToFPOp: _cast(wider=None),
    arith.SelectOp: _mask,
    arith.TruncFOp: _cast(wider=False),
    cf.BranchOp: _branch,
    cf.ConditionalBranchOp: _branch,
    func.FuncOp: _kernel,
    gpu.FuncOp: _kernel,
    FuncOp: _kernel,
    LaunchOp: _body,
    memref.AllocOp: _alloc,
    memref.AllocaOp: _alloc,
    memref.GetGlobalOp: _get_global,
    memref.GlobalOp: _global,
    memref.LoadOp: _indices,
    memref.StoreOp: _indices,
    scf.IfOp: _if,
    scf.WhileOp: _while,
}
