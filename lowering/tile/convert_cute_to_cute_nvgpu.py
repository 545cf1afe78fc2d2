"""`cute` to `cute_nvgpu`: kernels of tiles as kernels of atoms, and the pass that lowers them."""

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, VectorType
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilewright.dialects.contents import modules_of
from tilewright.dialects.cute.ops.operation import CuteOp
from tilewright.dialects.cute.types.algebra import TypedAttribute
from tilewright.dialects.cute.types.argument import SIGNATURE
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.frozen import frozen
from tilewright.dialects.gpu import FunctionOp, is_kernel, known_extents
from tilewright.lowering.tile.convert_tensor_memory import deallocate_rest
from tilewright.lowering.tile.kernel import KernelLowering
from tilewright.passes.analysis.functions import functions
from tilewright.source.diagnostic import OpError

modules_of("tilewright.lowering.tile")  # Importing them fills the table of rules.


def has_tiles(op: FunctionOp) -> bool:
    """A kernel is written in tiles, or computes on vectors: the atom level has neither."""
    arguments = op.body.blocks[0].args if op.body.blocks else ()
    if any(isinstance(argument.type, TypedAttribute) for argument in arguments):
        return True
    kinds = set[type[Operation]]()
    for inner in op.walk():
        kinds.add(type(inner))
        # Operands are results of others, or arguments of blocks.
        for value in inner.results:
            if value.type.__class__ is VectorType:
                return True
        if inner.regions and any(_has_vectors(region) for region in inner.regions):
            return True
    return any(issubclass(kind, CuteOp) for kind in kinds)


def _has_vectors(region: Region) -> bool:
    """A block of a region has an argument that is a vector."""
    return any(isinstance(arg.type, VectorType) for block in region.blocks for arg in block.args)


def convert_kernel(op: FunctionOp) -> func.FuncOp:
    """The kernel of atoms of a kernel of tiles. Raises OpError where something does not lower."""
    if len(op.body.blocks) != 1:
        raise OpError(
            op,
            f"'{op.name}' of tiles expected one block, got {len(op.body.blocks)}; nearest legal: "
            "scf instead of branches",
        )
    source, entry = op.body.block, Block()
    kernel = KernelLowering(entry, known_extents(op, "gpu.known_block_size"))
    kernel.values.update(kernel.arguments.bind(source))
    kernel.lower_block(source)
    kernel.emitter.location = op.location
    deallocate_rest(source, kernel)
    kernel.emitter.add(func.ReturnOp())
    kernel.erase_unused()
    attributes = kernel.arguments.finish()
    types = [argument.type for argument in entry.args]
    lowered = func.FuncOp(op.sym_name.data, (types, []), Region(entry), arg_attrs=attributes)
    lowered.attributes.update(op.attributes)
    lowered.attributes["gpu.kernel"] = op.attributes.get("gpu.kernel", StringAttr(""))
    lowered.attributes[SIGNATURE] = ArrayAttr([argument.type for argument in source.args])
    lowered.location = op.location
    return lowered


@frozen
class ConvertCuteToCuteNvgpuPass(ModulePass):
    """Lower every kernel that is written in tiles to atoms of `cute_nvgpu`.

    Tensors become pointers, offsets and fragments; `arch` is checked to be a target.
    """

    name = "convert-cute-to-cute-nvgpu"

    arch: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.arch is not None:
            target(self.arch)
        for kernel in list(functions(op)):
            if isinstance(kernel, FunctionOp) and is_kernel(kernel) and has_tiles(kernel):
                block = kernel.parent
                assert block is not None
                block.insert_op_before(convert_kernel(kernel), kernel)
                Rewriter.erase_op(kernel, safe_erase=False)
