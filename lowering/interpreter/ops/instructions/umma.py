"""`tcgen05.mma` of both levels: one thread issues it for its CTA, or for the pair."""

from collections.abc import Callable
from typing import Any

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.instruction_descriptor import InstructionDescriptor
from tilewright.dialects.cute_nvgpu.ops.sm100 import UMMA_OPS
from tilewright.dialects.cute_nvgpu.ops.umma import UmmaOp
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.tcgen05_mma import Tcgen05MmaOp
from tilewright.lowering.interpreter.arithmetic.umma import options_of, umma_model
from tilewright.lowering.interpreter.arithmetic.umma_issue import Memories, UmmaIssue
from tilewright.lowering.interpreter.array_types import Int64Array, UInt8Array, UInt32Array
from tilewright.lowering.interpreter.builder import Effect, accesses
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.tcgen05_streams import AsyncOperation
from tilewright.lowering.interpreter.machine.tensor_memory import TensorAccess
from tilewright.lowering.interpreter.ops.instructions.operands import side_by_side
from tilewright.lowering.interpreter.ops.instructions.tcgen05_sync import each_thread, group_ctas
from tilewright.lowering.interpreter.ops.instructions.tensor_view import TmemView
from tilewright.lowering.interpreter.values import Bits, spread


@frozen
class _OfCtas:
    """The memories of a running kernel, as one asynchronous MMA of a thread accesses them."""

    machine: Machine
    lane: int
    ctas: list[int]
    access: TensorAccess

    def chunks(self, rank: int, addresses: Int64Array) -> UInt8Array:
        return self.machine.shared.read_operand(
            self.lane, self.ctas[rank], addresses, self.access.stream, self.access.number
        )

    def read(self, rank: int, addresses: Int64Array) -> UInt32Array:
        tensor, cta = self.machine.tensor, self.ctas[rank]
        return tensor.read(cta, tensor.cells(cta, addresses, "read"), self.access)

    def accumulate(self, rank: int, addresses: Int64Array) -> UInt32Array:
        tensor, cta = self.machine.tensor, self.ctas[rank]
        return tensor.accumulate(cta, tensor.cells(cta, addresses, "write"), self.access)

    def write(self, rank: int, addresses: Int64Array, words: UInt32Array) -> None:
        tensor, cta = self.machine.tensor, self.ctas[rank]
        tensor.write(cta, tensor.cells(cta, addresses, "write"), words, self.access)


def faulting(run: Callable[[], None]) -> None:
    """Run it; what is wrong with its operands is a Fault."""
    try:
        run()
    except (AtomError, DescriptorError) as error:
        raise Fault(str(error)) from None


def memories_of(
    machine: Machine, lane: int, atom: UmmaAtom, accumulator: int, number: int
) -> Memories:
    """The memories of the CTAs of an MMA that a thread issues, to an accumulator."""
    operation = AsyncOperation(("mma", (accumulator, atom.pipeline)), number)
    ctas = group_ctas(machine, lane, atom.cta_group)
    return _OfCtas(machine, lane, ctas, machine.tensor.operation(lane, atom.cta_group, operation))


# Ops


def _not_modelled(*_: object) -> None:
    raise Fault("a shifted A is not modelled (no source says what its first row becomes)")


def _described(op: Any) -> Callable[[int], tuple[UmmaAtom, InstructionDescriptor]]:
    """The atom and the instruction descriptor that the value of a register stands for."""
    if isinstance(op, UmmaOp):
        atom, descriptor, known = op.mma_atom, op.instruction_descriptor, op.idesc is None
        return lambda word: (atom, descriptor if known else op.described(word))

    def described(word: int) -> tuple[UmmaAtom, InstructionDescriptor]:
        atom = op.atom_of(word)
        return atom, InstructionDescriptor.decode(word, atom.row.kind)

    return described


@accesses(*UMMA_OPS.values(), Tcgen05MmaOp)
def _mma(op: Any, number: int) -> Effect:
    """It accumulates always, or never, where no predicate says."""
    if op.shifts_a:
        return _not_modelled
    describe, always = _described(op), getattr(op, "zero", None) is None
    names, input_scale = list(op.sources), op.input_scale

    def run(
        machine: Machine, gang: Gang, sources: list[Any], word: Bits | None, enable: Bits | None,
        mask: Bits | None, lane_mask: list[Bits],
    ) -> None:  # fmt: skip
        def every(value: Any) -> Bits:
            return spread(value.address if isinstance(value, TmemView) else value, gang.count)

        words = dict(zip(names, map(every, sources), strict=True))
        idesc, enabled, columns = (
            None if value is None else every(value) for value in (word, enable, mask)
        )
        lanes = side_by_side(lane_mask, gang.count) if lane_mask else None

        def issue(index: int, lane: int) -> None:
            atom, descriptor = describe(0 if idesc is None else int(idesc[index]))
            options = options_of(
                atom,
                descriptor,
                accumulate=always if enabled is None else bool(enabled[index]),
                input_scale=input_scale,
                zero_column_mask=None if columns is None else int(columns[index]),
                lane_words=None if lanes is None else lanes[index].tolist(),
            )
            own = {name: int(values[index]) for name, values in words.items()}
            descriptors = {
                name: own.pop(name) for name in ("A", "B") if name not in atom.tmem_operands
            }
            model = umma_model(atom, machine.launch.arch, machine.launch.numerics)
            started = UmmaIssue(atom, model, options, descriptors.get("A"), descriptors["B"], own)
            started.run(memories_of(machine, lane, atom, own["D"], number))

        each_thread(gang, lambda index, lane: faulting(lambda: issue(index, lane)))

    mask = getattr(op, "zero_column_mask", None)
    return run, list(op.sources.values()), op.idesc, op.enable_input_d, mask, op.lane_mask
