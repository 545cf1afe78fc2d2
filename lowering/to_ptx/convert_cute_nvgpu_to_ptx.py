"""`cute_nvgpu` to `ptx`, and the pass that lowers whole kernels."""

from collections.abc import Iterator, Sequence
from typing import Any

from xdsl.context import Context
from xdsl.dialects import func, gpu, memref
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, i32
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, SSAValues
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.traits import Pure

from tilewright.dialects.contents import modules_of
from tilewright.dialects.cute.types.argument import FROM, SIGNATURE, ArgumentAttr, sources_of
from tilewright.dialects.cute.types.memref import is_memref
from tilewright.dialects.cute_nvgpu.lattice.targets import Target, target
from tilewright.dialects.cute_nvgpu.lattice.tmem import DATACENTER_BLACKWELL
from tilewright.dialects.cute_nvgpu.ops import wmma
from tilewright.dialects.cute_nvgpu.ops.mma import MMA_OPS
from tilewright.dialects.cute_nvgpu.ops.register_mma import RegisterMmaOp
from tilewright.dialects.cute_nvgpu.types.tensor_map import TENSOR_MAP, TmaDescriptorType
from tilewright.dialects.frozen import frozen
from tilewright.dialects.gpu import FunctionOp, ReturnOp, is_kernel, known_extents
from tilewright.dialects.insertion import insert_before
from tilewright.dialects.ptx import matrix
from tilewright.dialects.ptx.control_flow import (
    BLOCK_CTAS,
    COMPUTES_LATE,
    MAX_REGISTERS,
    MIN_CTAS,
    PARAMETER_TYPES,
    TAKES_BLOCKS,
    TENSORMAP,
    EntryOp,
)
from tilewright.dialects.ptx.functions import FuncOp, RetOp
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.module_variables import GlobalOp
from tilewright.dialects.ptx.scalar_types import ScalarType, scalar_type
from tilewright.dialects.ptx.scalars import CvtaOp, SetpOp
from tilewright.dialects.ptx.types import reg
from tilewright.dialects.ptx.warp_specialization import SetmaxnregOp
from tilewright.lowering.ptx.instructions import shapes_of
from tilewright.lowering.ptx.kept import keep
from tilewright.lowering.ptx.rename_in_flight import rename_in_flight
from tilewright.lowering.to_ptx.compute_late import compute_late
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_instruction import add_instruction_rules
from tilewright.lowering.to_ptx.convert_llvm import give, leaves_of, register_types
from tilewright.lowering.to_ptx.convert_memref import argument_tile, module_variable
from tilewright.lowering.to_ptx.pair_floats import pair_floats
from tilewright.source.diagnostic import OpError

modules_of("tilewright.lowering.to_ptx")  # Importing them fills the table of rules.
add_instruction_rules()

# Matrix instructions


@lowers(*(op_type for op_type in MMA_OPS.values() if op_type is not wmma.MmaOp))
def _mma(op: RegisterMmaOp, to: Conversion) -> SSAValue:
    selectors = [n if isinstance(n, int) else to[n] for n in op.selectors]
    return to.emit(matrix.MmaOp([to[value] for value in op.inputs], op.mma_atom, selectors))


# Kernels


def convert_kernel(op: FunctionOp, arch: Target | None = None) -> EntryOp:
    """The `ptx.entry` of one kernel. Raises OpError where something does not lower."""
    arguments = op.body.blocks[0].args
    passed = list(_passed(op, arguments))
    region = Region(Block(arg_types=[reg(PARAMETER_TYPES[part.how.parameter]) for part in passed]))
    to = Conversion(region, arch)
    registers: list[Any] = []
    for part, register in zip(passed, region.blocks[0].args, strict=True):
        to.bind_argument(register)
        register.name_hint = part.name
        registers.append(_argument(op, part.type, register, part.how, to))
    give(arguments, registers, to)
    _lower_body(op.body, to)
    if arch is not None and arch.supports(DATACENTER_BLACKWELL):
        pair_floats(region)
    remove_dead(region)
    if COMPUTES_LATE in op.attributes:
        compute_late(region)
    rename_in_flight(region)
    entry = EntryOp(
        op.sym_name.data,
        [(part.name, part.how.parameter) for part in passed],
        region,
        to.shared.size,
        to.shared.align,
        known_extents(op, "gpu.known_block_size"),
        known_extents(op, "gpu.known_cluster_size"),
        tuple(part.attributes for part in passed),
        to.local,
    )
    entry.location = op.location
    for name in (MIN_CTAS, MAX_REGISTERS, BLOCK_CTAS, TAKES_BLOCKS, "gpu.known_grid_size"):
        if name in op.attributes:
            entry.attributes[name] = op.attributes[name]
    if entry.reqntid and any(type(inner) is SetmaxnregOp for inner in region.walk()):
        # Otherwise ptxas ignores setmaxnreg, not knowing the registers at entry (C7508).
        entry.attributes.setdefault(MIN_CTAS, IntegerAttr(1, i32))
    signature = op.attributes.get(SIGNATURE)
    if signature is None and _has_structs(arguments):
        signature = ArrayAttr([argument.type for argument in arguments])
    if signature is not None:
        entry.attributes[SIGNATURE] = signature
    return entry


@frozen
class Passed:
    """A parameter of an entry, and how it is passed."""

    name: str
    type: Attribute
    how: ScalarType
    attributes: DictionaryAttr


def _has_structs(arguments: Sequence[SSAValue]) -> bool:
    return any(isinstance(argument.type, LLVMStructType) for argument in arguments)


def _passed(op: FunctionOp, arguments: Sequence[SSAValue]) -> Iterator[Passed]:
    """The parameters that arguments become: of a struct one for each field, which says which."""
    given = tuple(op.arg_attrs or ()) if isinstance(op, func.FuncOp) else ()
    structs, sources = _has_structs(arguments), sources_of(op)
    for i, argument in enumerate(arguments):
        name = argument.name_hint or f"arg{i}"
        for path, type_ in leaves_of(argument.type):
            attributes = given[i] if given else DictionaryAttr({})
            source = sources[i]
            if path:
                number = i if source is None else source.index.data
                attributes = DictionaryAttr({FROM: ArgumentAttr.get(number, "field", path)})
            elif structs and source is None:
                part = "pointer" if is_memref(argument.type) else "value"
                attributes = DictionaryAttr({**attributes.data, FROM: ArgumentAttr.get(i, part)})
            if source is None and isinstance(type_, TmaDescriptorType):
                attributes = DictionaryAttr({**attributes.data, TENSOR_MAP: type_})
            yield Passed(
                "_".join(map(str, (name, *path))), type_, _parameter(op, type_), attributes
            )


def _parameter(op: Operation, type_: object) -> ScalarType:
    """How an argument is passed: a memref as one 64-bit pointer, anything else as itself."""
    if is_memref(type_):
        return ScalarType(64, "b64", "b64", "u64")
    if isinstance(type_, TmaDescriptorType):
        return ScalarType(64, "b64", "b64", TENSORMAP)
    storage = scalar_type(type_)  # type: ignore[arg-type]
    if storage is None:
        raise OpError(op, f"kernel argument of {type_} expected a memref, a scalar or a tensor map")
    return storage


def _argument(
    op: Operation, type_: Attribute, register: SSAValue, storage: ScalarType, to: Conversion
) -> object:
    if is_memref(type_):
        return argument_tile(op, type_, to.scalar(CvtaOp, "to.global.u64", register))
    if storage.kind == "pred":
        return to.scalar(SetpOp, "ne.u16", register, to.const(0, "b16"))
    return register


def _lower_body(body: Region, to: Conversion) -> None:
    """The ops of a kernel; blocks of a multi-block body keep their order."""
    blocks = list(body.blocks)
    to.blocks[blocks[0]] = to.scope.block
    for index, block in enumerate(blocks[1:], 1):
        types = register_types(body.parent, block.args)  # type: ignore[arg-type]
        to.blocks[block] = to.new_block(block.name_hint or f"block{index}", types)
    for block in blocks:
        lowered = to.blocks[block]
        if block is not blocks[0]:
            to.proceed(lowered)
            # Blocks of one region need not dominate each other: nothing carries over.
            to.forget()
            give(block.args, lowered.args, to)
        for op in block.ops:
            to.lower(op)


@lowers(gpu.ReturnOp, ReturnOp, func.ReturnOp)
def _return(op: gpu.ReturnOp, to: Conversion) -> None:
    to.add(RetOp())


def remove_dead(region: Region) -> None:
    """Erase pure instructions whose results nobody reads, last first."""
    for block in reversed(list(region.blocks)):
        for op in reversed(list(block.ops)):
            for result in op.results:
                if result.first_use is not None:
                    break
            else:
                if op.results and op.has_trait(Pure):
                    op.detach()
                    op.drop_all_references()
                    op.results = SSAValues()  # Without a cycle it is gone at once.


@frozen
class ConvertCuteNvgpuToPtxPass(ModulePass):
    """Lower every kernel of the module to a `ptx.entry`: `cute_nvgpu` atoms, and the `arith`,
    `math`, `scf`, `cf`, `gpu` and `memref` around them.

    With `arch`, an instruction that this target does not have is an error.
    """

    name = "convert-cute-nvgpu-to-ptx"

    arch: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        arch = None if self.arch is None else target(self.arch)
        entries: list[EntryOp] = []
        for top in list(op.body.block.ops):
            entries += [convert_kernel(kernel, arch) for kernel in _kernels(top)]
        for top in list(op.body.block.ops):
            for variable in _variables(top):
                insert_before(module_variable(variable), top)
            if not isinstance(top, EntryOp | FuncOp | GlobalOp):
                Rewriter.erase_op(top, safe_erase=False)
        op.body.block.add_ops(entries)
        if arch is not None:
            for entry in entries:
                _check_instructions(entry, arch)


def _check_instructions(entry: EntryOp, arch: Target) -> None:
    """Raise OpError for the first instruction that the target does not have."""
    shapes = shapes_of(entry)
    needs = {shape.requirement.target for shape in {*shapes.values()}}
    if not all(map(arch.supports, (entry.requirement().target, *needs))):
        for op in entry.walk():
            if isinstance(op, PtxOp) and not arch.supports(required := op.requirement().target):
                raise OpError(op, f"{op.mnemonic} requires {required.at_least}, got target {arch}")
    keep(entry.body, shapes)


def _variables(top: Operation) -> list[memref.GlobalOp]:
    """The variables of a module in a top-level op."""
    if isinstance(top, gpu.ModuleOp):
        return [variable for op in top.body.block.ops for variable in _variables(op)]
    return [top] if isinstance(top, memref.GlobalOp) else []


def _kernels(top: Operation) -> list[FunctionOp]:
    """The kernels in a top-level op. Raises OpError for an op that has no place beside them."""
    if isinstance(top, memref.GlobalOp):
        return []
    if isinstance(top, EntryOp | FuncOp | GlobalOp) and not isinstance(
        top.parent_op(), gpu.ModuleOp
    ):
        return []
    if isinstance(top, gpu.ModuleOp):
        return [kernel for op in top.body.block.ops for kernel in _kernels(op)]
    if isinstance(top, FunctionOp) and is_kernel(top):
        return [top]
    raise OpError(
        top,
        f"'{top.name}' has no lowering to ptx; nearest legal: a gpu.func with kernel, or a "
        "func.func with attribute gpu.kernel",
    )
