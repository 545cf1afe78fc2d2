"""`convert-triton-to-cuda-tile`: kernels of Triton as entries of Tile IR.

The entry has the parameters of the public `tt.func`, in order: a pointer is a scalar tile of a
pointer, a number a scalar tile, a descriptor what `descriptors.py` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import Rewriter

from tilewright.dialects import triton
from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.attributes import OptimizationHintsAttr
from tilewright.dialects.cuda_tile.ops import module
from tilewright.dialects.cuda_tile.ops.control_flow import IfOp, ReturnOp
from tilewright.dialects.cuda_tile.ops.floating_point import AddFOp, SubFOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import Mma
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.frozen import frozen
from tilewright.dialects.integers import integer_of
from tilewright.dialects.ptx.control_flow import COMPUTES_LATE, MAX_REGISTERS
from tilewright.lowering.triton import (
    atomics,
    block_pointers,
    control_flow,
    descriptors,
    diagnostics,
    elementwise,
    external,
    facts,
    folds,
    functions,
    inline_assembly,
    lookups,
    polling,
    products,
    scaled_products,
    shapes,
)
from tilewright.lowering.triton.control_flow import converted_blocks
from tilewright.lowering.triton.conversion import TritonConversion
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile_fold_if import known_condition
from tilewright.passes.cuda_tile_fuse_fma import fuse
from tilewright.source.diagnostic import OpError

_OPTIONS = ("num-ctas", "num-warps", "maxnreg")
_SIXTEEN = IntegerAttr(16, i32)
_USUAL_WARPS, _MANY_ROWS = 4, 64
"""The warps of a launch that does not say them, and the rows from which on a warpgroup
multiplies."""
_NONE = DenseArrayBase.from_list(i32, [])
_FALSE, _UNIT = BoolAttr.from_bool(False), UnitAttr()
_RULES = (
    atomics, block_pointers, control_flow, descriptors, diagnostics, elementwise, external,
    folds, functions, inline_assembly, lookups, polling, products, scaled_products, shapes,
)  # fmt: skip
"""The modules whose rules are known once they are imported."""


@frozen
class ConvertTritonToCudaTilePass(ModulePass):
    """Convert every public function of a module. `fp_fusion` fuses products and sums as Triton
    does where it is not told otherwise."""

    name = "convert-triton-to-cuda-tile"

    fp_fusion: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [inner for inner in op.ops if isinstance(inner, triton.FuncOp)]
        entries = [converted(x) for x in functions if _is_kernel(x)]
        if not entries:
            raise OpError(op, f"'{op.name}' expected a public tt.func, got none")
        for function in functions:
            Rewriter.erase_op(function, safe_erase=False)
        for entry in entries:
            for branch in descendants(entry, IfOp):
                known_condition(branch, PatternRewriter(branch))
            _hint(entry, op)
            entry.attributes[module.NEGATIVE] = op.attributes.get(module.NEGATIVE, _NONE)
            if self.fp_fusion and op.attributes.get("tt.fp_fusion") != _FALSE:
                _fuse(entry)
        name = {"sym_name": StringAttr("kernels")}
        kernels = module.ModuleOp.create(properties=name, regions=[Region(Block(entries))])
        kernels.location = op.location
        op.body.block.add_op(kernels)


def _is_kernel(function: triton.FuncOp) -> bool:
    visibility = function.sym_visibility
    return bool(function.body.blocks) and (visibility is None or visibility.data == "public")


def converted(function: triton.FuncOp) -> module.EntryOp:
    """The entry that a function is. Raises OpError where Tile IR has none."""
    first, block = function.body.blocks[0], Block()
    at = TritonConversion(function, block)
    attributes = () if function.arg_attrs is None else function.arg_attrs.data
    padded: dict[BlockArgument, SSAValue] = {}
    whole = descriptors.whole_sizes(function)
    for i, argument in enumerate(first.args):
        parameter = block.insert_arg(at.tile(argument.type), len(block.args))
        parameter.name_hint = argument.name_hint or None
        given: Mapping[str, Attribute] = attributes[i].data if i < len(attributes) else {}
        given = {"tt.divisibility": _SIXTEEN} if i in whole else given
        at[argument] = facts.known(at, parameter, given)
        if isinstance(argument.type, triton.TensorDescType):
            padded[argument] = block.insert_arg(TileType.get((), i1), len(block.args))
    for argument, nan in padded.items():
        at[argument] = descriptors.parameter(at, argument, nan)
    at.calls.append(function)
    converted_blocks(at, first)
    at.insert(ReturnOp.create())
    type_ = FunctionType.from_lists(block.arg_types, [])
    properties = {"sym_name": function.sym_name, "function_type": type_}
    entry = module.EntryOp.create(properties=properties, regions=[Region(block)])
    entry.location = function.location
    return entry


def _hint(entry: module.EntryOp, of: ModuleOp) -> None:
    """Give an entry the options of a launch that are attributes of Triton's module: the CTAs of a
    cluster, the registers of a thread, and the warps of a kernel that multiplies no matrices; of
    those that do, their products say how many pay, but that fewer than are usual are meant where
    all have few rows."""
    ctas, warps, registers = (of.attributes.get(f"ttg.{name}") for name in _OPTIONS)
    together, wanted = integer_of(ctas, 1), None
    products = descendants(entry, Mma)
    if isinstance(warps, IntegerAttr):
        few = warps.value.data < _USUAL_WARPS
        if all(few and shape_of(op.results[0])[-2] < _MANY_ROWS for op in products):
            wanted = warps.value.data
        if not products:
            entry.attributes[COMPUTES_LATE] = _UNIT
    if isinstance(registers, IntegerAttr):
        entry.attributes[MAX_REGISTERS] = registers
    if together > 1 or wanted is not None:
        entry.optimization_hints = _hints(together, wanted)


@cache
def _hints(ctas: int, warps: int | None) -> OptimizationHintsAttr:
    hints: dict[str, Attribute] = {}
    if ctas > 1:
        hints["num_cta_in_cga"] = IntegerAttr(ctas, i64)
    if warps is not None:
        hints["num_worker_warps_per_cta"] = IntegerAttr(warps, i64)
    return OptimizationHintsAttr(DictionaryAttr({"default": DictionaryAttr(hints)}))


def _fuse(entry: Operation) -> None:
    for op in list(entry.walk()):
        if isinstance(op, AddFOp | SubFOp):
            fuse(op)
