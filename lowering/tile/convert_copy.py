"""`cute.copy` of threads and warps: universal copies, cp.async, ldmatrix, stmatrix, tcgen05.ld.

Each instruction moves the next values of source and destination, in the order of their
coordinates. What is out of bounds is not accessed: zeros arrive instead.
"""

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute.atoms import CopyTraits
from tilewright.dialects.cute.int_tuple import flatten
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.ops.copy import CopyOp
from tilewright.dialects.cute.rules.copies import no_whole_bytes, not_first
from tilewright.dialects.cute.symbolic import layouts
from tilewright.dialects.cute.symbolic.composed import through
from tilewright.dialects.cute.symbolic.scalar import divisor_of
from tilewright.dialects.cute.symbolic.sharing import sharing
from tilewright.dialects.cute.symbolic.tuples import product
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.tensor_memory import LANES
from tilewright.dialects.cute.types.tensors import element_type
from tilewright.dialects.cute_nvgpu.atoms.copy import CopyInstruction
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import TCGEN05
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import WARP
from tilewright.dialects.cute_nvgpu.ops import tmem_access
from tilewright.dialects.cute_nvgpu.ops.copy import CpAsyncOp
from tilewright.dialects.cute_nvgpu.ops.matrix_copy import DEFAULT_SHAPE, LdmatrixOp, StmatrixOp
from tilewright.dialects.cute_nvgpu.ops.tmem_copy import CopyOp as TmemCopyOp
from tilewright.dialects.cute_nvgpu.types.copies import CopyInstructionAttr
from tilewright.dialects.cute_nvgpu.types.fragments import Cache, FragmentType
from tilewright.dialects.frozen import frozen
from tilewright.lowering.emit.emitter import zero_constant
from tilewright.lowering.emit.leaves import sized
from tilewright.lowering.emit.registers import from_elements
from tilewright.lowering.tile.access import (
    RegisterPiece,
    item_fragment,
    load_piece,
    recast,
    register_places,
    store_piece,
    takes_predicate,
    widest_vector,
)
from tilewright.lowering.tile.bounds import BoundedRun, Bounds, Inside, condition_value
from tilewright.lowering.tile.convert_tensor_memory import tile_of
from tilewright.lowering.tile.convert_tma_copy import convert_tma_copy
from tilewright.lowering.tile.descriptors import descriptor
from tilewright.lowering.tile.kernel import KernelLowering, lowers
from tilewright.lowering.tile.places import per_item
from tilewright.lowering.tile.written_registers import WRITES
from tilewright.source.diagnostic import OpError

WRITES[CopyOp] = lambda op: op.destination


@lowers
def _copy(op: CopyOp, kernel: KernelLowering) -> None:
    copier = None if op.tiled is None else kernel.typed(op.tiled)
    if copier is not None and copier.kind == "tma_copy":
        convert_tma_copy(op, kernel)
        return
    source, destination = kernel.tensor(op.source), kernel.tensor(op.destination)
    bounds = None
    if op.coords is not None and op.limits is not None:
        bounds = Bounds(kernel.typed(op.coords).value, kernel.typed(op.limits).value)
    if copier is None:
        if bounds is None:
            source, destination = _in_order_of_registers(source, destination)
        move = TileMove(op, source, destination, bounds, kernel)
        move.by_threads(widest_vector([source, destination], move.size))
        return
    move = TileMove(op, source, destination, bounds, kernel)
    atom = copier.value.atom
    assert isinstance(atom, CopyInstructionAttr)
    instruction = atom.data
    match instruction.kind:
        case "universal":
            move.by_threads(instruction.traits.values)
        case "cp_async":
            move.asynchronously(instruction)
        case "ldmatrix":
            move.load_matrices(instruction)
        case "stmatrix":
            move.store_matrices(instruction)
        case "tmem_load":
            move.load_tensor_memory(instruction)
        case "tmem_store":
            move.store_tensor_memory(instruction)
        case "tmem_copy":
            move.copy_to_tensor_memory(instruction)


def _in_order_of_registers(source: Tensor, destination: Tensor) -> tuple[Tensor, Tensor]:
    """The two tensors with their modes in the order in which registers have them, if there are any:
    what lies side by side there may do so in memory."""
    pair = [list(layouts.modes(tensor.modes)) for tensor in (source, destination)]
    sizes = [[product(mode.shape) for mode in modes] for modes in pair]
    registers = [tensor.space == "rmem" for tensor in (source, destination)]
    if True not in registers or sizes[0] != sizes[1] or len(pair[0]) < 2:
        return source, destination
    owned = pair[registers.index(True)]
    steps = [
        min((step for step in flatten(mode.stride) if isinstance(step, int) and step), default=0)
        for mode in owned
    ]
    order = sorted(range(len(owned)), key=lambda i: steps[i])
    if order == list(range(len(owned))):
        return source, destination

    def ordered(tensor: Tensor, modes: Sequence[Layout]) -> Tensor:
        layout = layouts.joined(modes[i] for i in order)

        def reordered(_: Layout) -> Layout:
            return layout

        return tensor.with_layout(through(reordered, tensor.layout))

    return ordered(source, pair[0]), ordered(destination, pair[1])


@frozen
class TileMove:
    """One `cute.copy`."""

    op: Operation
    source: Tensor
    destination: Tensor
    bounds: Bounds | None
    kernel: KernelLowering

    @property
    def size(self) -> int:
        """How many elements of the source each thread names."""
        elements = product(self.source.modes.shape)
        assert isinstance(elements, int)
        return elements

    # --- ld and st ---

    def by_threads(self, count: int) -> None:
        """Every thread for itself, `count` elements at a time; what it writes of a tensor that it
        reads is written behind all of that."""
        runs = self._runs(count)
        if self.source.base is self.destination.base:
            pieces = [self._load(run) for run in runs]
            for run, piece in zip(runs, pieces, strict=True):
                self._store(run, piece)
            return
        for run in runs:
            self._store(run, self._load(run))

    def _runs(self, count: int) -> list[BoundedRun]:
        """The runs of neighbours, those in one place of the destination together: what is there is
        one run of the source as well, and elements beyond the bounds do not come over it."""
        shared = sharing(self.destination.modes) or range(self.size)
        runs: dict[Sequence[int], BoundedRun] = {}
        for first in range(0, self.size, count):
            inside = self._inside(first, count)
            before = runs.setdefault(shared[first : first + count], BoundedRun(first, count, ()))
            runs[shared[first : first + count]] = before.joined(inside)
        return list(runs.values())

    def _load(self, run: BoundedRun) -> RegisterPiece:
        """The elements of a run; of global memory those within bounds, and zeros."""
        kernel, emitter = self.kernel, self.kernel.emitter
        if self.source.space != "gmem" or run.is_all:
            return load_piece(self.op, self.source, run.first, run.count, kernel)
        if run.is_whole:
            return self._load_or_zeros(run.first, run.count, run.condition(emitter))
        scalars: list[SSAValue] = []
        for i in range(run.count):
            one = self._load_or_zeros(run.first + i, 1, run.present(i, emitter))
            scalars += one.as_scalars(kernel)
        return RegisterPiece(None, tuple(scalars))

    def _store(self, run: BoundedRun, piece: RegisterPiece) -> None:
        """The inverse; to global memory what is within bounds: all elements at once, or else one by
        one."""
        emitter = self.kernel.emitter
        if self.destination.space != "gmem" or run.is_all:
            store_piece(self.op, self.destination, run.first, run.count, piece, self.kernel)
            return
        condition = run.condition(emitter)
        if run.is_whole:
            self._store_if(condition, run.first, run.count, piece)
            return
        every = run.every(emitter)
        self._store_if(every, run.first, run.count, piece)
        rest = emitter.binary("and", condition, emitter.binary("xor", every, 1))
        emitter.when(rest, lambda: self._store_some(run, piece))

    def _store_some(self, run: BoundedRun, piece: RegisterPiece) -> None:
        """Elements, one of them beyond the bounds: the last one, where others begin the run."""
        values = piece.as_scalars(self.kernel)
        for i, value in enumerate(values[:-1] if run.begins_within else values):
            present = run.present(i, self.kernel.emitter)
            self._store_if(present, run.first + i, 1, RegisterPiece(None, (value,)))

    def _store_if(self, condition: SSAValue, first: int, count: int, piece: RegisterPiece) -> None:
        """Elements to global memory under a condition."""
        tensor, kernel = self.destination, self.kernel
        if takes_predicate(tensor, count):
            store_piece(self.op, tensor, first, count, piece, kernel, condition)
        else:
            loaded = RegisterPiece(None, tuple(piece.as_scalars(kernel)))
            kernel.emitter.when(
                condition, lambda: store_piece(self.op, tensor, first, count, loaded, kernel)
            )

    def _load_or_zeros(self, first: int, count: int, condition: SSAValue) -> RegisterPiece:
        """Elements where a condition holds, else zeros."""
        kernel, emitter = self.kernel, self.kernel.emitter
        element = element_type(self.source.element)
        whole = count * self.source.bits >= 32

        def load() -> Sequence[SSAValue]:
            piece = load_piece(self.op, self.source, first, count, kernel)
            return [piece.as_fragment(element, kernel)] if whole else piece.as_scalars(kernel)

        def zeros() -> Sequence[SSAValue]:
            # Elements that share bytes have no constants: words of them have.
            kind, per_word = (
                (i32, 32 // self.source.bits) if per_item(self.source) > 1 else (element, 1)
            )
            elements = [emitter.emit(zero_constant(kind))] * (count // per_word)
            if not whole:
                return elements
            words = from_elements(elements, FragmentType.get(len(elements), kind), emitter)
            return [recast(words, FragmentType.get(count, element), kernel)]

        chosen = tuple(emitter.either(condition, load, zeros))
        return RegisterPiece(chosen[0]) if whole else RegisterPiece(None, chosen)

    # --- cp.async ---

    def asynchronously(self, instruction: CopyInstruction) -> None:
        """`cp.async`: what is out of bounds is not read, and zeros land. An instruction reads its
        first elements: where others are within bounds each has an instruction of its own."""
        kernel, width = self.kernel, instruction.traits.values
        for start in range(0, self.size, width):
            count, cache = width, Cache(instruction.cache)
            if self._inside(start, width).apart:
                # Less than 16 bytes go through L1.
                count, cache = 1, Cache.CA
                self._require(self.source.bits >= 32, not_first)
            for first in range(start, start + width, count):
                inside = self._inside(first, count)
                fill = None if inside.is_all else self._bytes(inside, count)
                source, above = kernel.place(self.source, first)
                dest, below = kernel.place(self.destination, first)
                size = count * self.source.bits // 8
                kernel.emitter.add(
                    CpAsyncOp(source, [above], dest, [below], size, cache, fill=fill)
                )

    def _inside(self, first: int, count: int) -> Inside:
        """The elements from the `first` on that are within bounds."""
        return Inside(True, None) if self.bounds is None else self.bounds.of(first, count)

    def _require(self, holds: bool, fault: Callable[[int], str]) -> None:
        """Raise OpError, a fault of the elements' bits, where bounds are not known to be right."""
        if not holds:
            raise OpError(self.op, f"'{self.op.name}' {fault(self.source.bits)}")

    def _bytes(self, inside: Inside, count: int) -> SSAValue:
        """How many bytes are within bounds, as i32."""
        emitter, bits = self.kernel.emitter, self.source.bits
        wanted: SSAValue = emitter.constant(count * bits // 8, 32)
        if inside.count is not None:
            shared = per_item(self.source)
            self._require(divisor_of(inside.count) % shared == 0, no_whole_bytes)
            some = emitter.binary("min", sized(emitter, inside.count, 32), count)
            some = emitter.binary("max", some, 0)
            if shared > 1:
                wanted = emitter.binary("div", some, shared)
            else:
                wanted = emitter.binary("mul", some, bits // 8)
        if inside.condition is True:
            return wanted
        condition = condition_value(inside.condition, emitter)
        return emitter.select(condition, wanted, emitter.constant(0, 32))

    # --- matrices ---

    def load_matrices(self, instruction: CopyInstruction) -> None:
        """`ldmatrix`: each thread names a row, and gets its part of all matrices."""
        traits, kernel = instruction.traits, self.kernel
        element = element_type(self.source.element)
        for row, values in self._instructions(traits, memory="S"):
            line, at = kernel.place(self.source, row)
            type_ = FragmentType.get(len(values), element)
            shape = _said_shape(instruction)
            items = item_fragment(self.source, type_)
            load = LdmatrixOp(line, [at], items, trans=instruction.trans, shape=shape)
            places = register_places(self.op, self.destination, values)
            registers = kernel.registers(self.destination)
            fragment = recast(kernel.emitter.emit(load), type_, kernel)
            registers.write(places, fragment, kernel.emitter)

    def store_matrices(self, instruction: CopyInstruction) -> None:
        """`stmatrix`: the inverse."""
        traits, kernel = instruction.traits, self.kernel
        for row, values in self._instructions(traits, memory="D"):
            line, at = kernel.place(self.destination, row)
            places = register_places(self.op, self.source, values)
            fragment = kernel.read(self.op, self.source, places)
            assert isinstance(fragment.type, FragmentType)
            fragment = recast(fragment, item_fragment(self.destination, fragment.type), kernel)
            shape = _said_shape(instruction)
            store = StmatrixOp(fragment, line, [at], trans=instruction.trans, shape=shape)
            kernel.emitter.add(store)

    # --- tensor memory ---

    def load_tensor_memory(self, instruction: CopyInstruction) -> None:
        """`tcgen05.ld`: each warp gets a tile of lanes and columns, and waits for all of them."""
        kernel, element = self.kernel, element_type(self.source.element)
        for first, values in self._instructions(instruction.traits, memory="S"):
            whole, cell = self._tile(instruction, self.source, first)
            type_, half = FragmentType.get(len(values), element), instruction.half_cells
            load = tmem_access.LoadOp(whole, cell, type_, instruction.shape, pack=half)
            places = register_places(self.op, self.destination, values)
            registers = kernel.registers(self.destination)
            registers.write(places, kernel.emitter.emit(load), kernel.emitter)
        kernel.emitter.add(tmem_access.WaitLoadOp())

    def store_tensor_memory(self, instruction: CopyInstruction) -> None:
        """`tcgen05.st`: the inverse."""
        kernel = self.kernel
        for first, values in self._instructions(instruction.traits, memory="D"):
            whole, cell = self._tile(instruction, self.destination, first)
            places = register_places(self.op, self.source, values)
            fragment, half = kernel.read(self.op, self.source, places), instruction.half_cells
            store = tmem_access.StoreOp(fragment, whole, cell, instruction.shape, unpack=half)
            kernel.emitter.add(store)
        kernel.emitter.add(tmem_access.WaitStoreOp())

    def _tile(
        self, instruction: CopyInstruction, tensor: Tensor, first: int
    ) -> tuple[SSAValue, list[SSAValue]]:
        """The access of a load or store of tensor memory from an element on."""
        assert isinstance(instruction.traits.tmem, Layout)
        step = instruction.traits.tmem[1].stride
        extents = instruction.access.extents(tensor.bits)
        assert isinstance(step, int)
        return tile_of(tensor, first, extents, step, self.kernel)

    def copy_to_tensor_memory(self, instruction: CopyInstruction) -> None:
        """`tcgen05.cp`: one thread starts it; its MMAs that follow see it."""
        kernel, shape = self.kernel, instruction.copy_shape
        columns = shape.bits // self.source.bits
        for first, _ in self._instructions(instruction.traits, memory="S"):
            values = layouts.mode(self.source.modes, (0,))
            run, down = layouts.modes(layouts.composition(values, Layout((columns, shape.rows))))
            matrix = layouts.joined([down, run])
            element = FragmentType.get(WARP, element_type(self.source.element)).element
            desc = descriptor(self.source, first, matrix, element, TCGEN05, kernel)
            whole, cell = tile_of(self.destination, first, (LANES, columns), 1, kernel)
            kernel.emitter.add(
                TmemCopyOp(desc, whole, cell, shape.spelled, cta_group=instruction.cta_group)
            )

    def _instructions(self, traits: CopyTraits, memory: str) -> list[tuple[int, range]]:
        """For each instruction the element that a thread names, and the values that it has."""
        source, dest = traits.source[1].size(), traits.destination[1].size()
        named, other = (source, dest) if memory == "S" else (dest, source)
        number = self.size // source
        return [(i * named, range(i * other, (i + 1) * other)) for i in range(number)]


def _said_shape(instruction: CopyInstruction) -> tuple[int, int] | None:
    """The shape of an instruction's matrices, where IR says it."""
    shape = instruction.matrices.row.shape
    return None if shape == DEFAULT_SHAPE else shape
