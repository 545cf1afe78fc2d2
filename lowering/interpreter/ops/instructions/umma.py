"""`tcgen05.mma` of both levels: one thread issues it for its CTA, or for the pair."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.instruction_descriptor import InstructionDescriptor
from tilewright.dialects.cute_nvgpu.ops.sm100 import UMMA_OPS
from tilewright.dialects.cute_nvgpu.ops.umma import UmmaOp
from tilewright.dialects.ptx.tcgen05_mma import Tcgen05MmaOp
from tilewright.dialects.ptx.types import reg
from tilewright.lowering.interpreter.arithmetic.umma import options_of, umma_model
from tilewright.lowering.interpreter.arithmetic.umma_issue import Memories, UmmaIssue
from tilewright.lowering.interpreter.builder import Builder, Step, runs
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.tcgen05_streams import AsyncOperation
from tilewright.lowering.interpreter.machine.tensor_memory import TensorAccess
from tilewright.lowering.interpreter.ops.instructions.tcgen05_sync import each_thread, group_ctas
from tilewright.lowering.interpreter.values import Bits, spread


@dataclass(frozen=True, slots=True)
class _OfCtas:
    """The memories of a running kernel, as one asynchronous MMA of a thread accesses them."""

    machine: Machine
    lane: int
    ctas: list[int]
    access: TensorAccess

    def chunks(self, rank: int, addresses: NDArray[np.int64]) -> NDArray[np.uint8]:
        return self.machine.shared.read_operand(
            self.lane, self.ctas[rank], addresses, self.access.stream, self.access.op
        )

    def read(self, rank: int, addresses: NDArray[np.int64]) -> NDArray[np.uint32]:
        tensor, cta = self.machine.tensor, self.ctas[rank]
        return tensor.read(cta, tensor.cells(cta, addresses, "read"), self.access)

    def accumulate(self, rank: int, addresses: NDArray[np.int64]) -> NDArray[np.uint32]:
        tensor, cta = self.machine.tensor, self.ctas[rank]
        return tensor.accumulate(cta, tensor.cells(cta, addresses, "write"), self.access)

    def write(self, rank: int, addresses: NDArray[np.int64], words: NDArray[np.uint32]) -> None:
        tensor, cta = self.machine.tensor, self.ctas[rank]
        tensor.write(cta, tensor.cells(cta, addresses, "write"), words, self.access)


Describe = Callable[[int], tuple[UmmaAtom, InstructionDescriptor]]
"""The atom and the descriptor that the value of a register stands for."""

Address = Callable[[Gang, int], Bits]
"""The addresses that a register holds, one a thread or one for all."""


@dataclass(frozen=True, slots=True)
class _OperandSlots:
    """The registers of one `tcgen05.mma`: those of D, A, E, SFA and SFB that hold addresses, by
    operand; of descriptors, the predicate, the zero-column mask and the words of the lane mask."""

    tensors: dict[str, int]
    a: int | None
    b: int
    idesc: int | None
    enable: int | None
    mask: int | None
    lanes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Issuer:
    """One `tcgen05.mma` of a program: it accumulates `always` where no predicate
    says."""

    number: int
    slots: _OperandSlots
    describe: Describe
    address: Address
    always: bool
    input_scale: int

    def step(self, machine: Machine, gang: Gang) -> None:
        """Issue it in every thread of the gang."""
        operands = self.slots

        def value(slot: int | None) -> Bits | None:
            return None if slot is None else spread(gang.regs[slot], gang.count)

        places = {
            name: spread(self.address(gang, slot), gang.count)
            for name, slot in operands.tensors.items()
        }
        a, b, idesc, enable, mask = map(
            value, (operands.a, operands.b, operands.idesc, operands.enable, operands.mask)
        )
        assert b is not None
        lanes = self._lanes(gang)

        def run(index: int, lane: int) -> None:
            atom, descriptor = self.describe(0 if idesc is None else int(idesc[index]))
            options = options_of(
                atom,
                descriptor,
                accumulate=self.always if enable is None else bool(enable[index]),
                input_scale=self.input_scale,
                zero_column_mask=None if mask is None else int(mask[index]),
                lane_words=None if lanes is None else lanes[index].tolist(),
            )
            a_desc, addresses = None if a is None else int(a[index]), _at(places, index)
            model = umma_model(atom, machine.launch.arch, machine.launch.numerics)
            issue = UmmaIssue(atom, model, options, a_desc, int(b[index]), addresses)
            issue.run(memories_of(machine, lane, atom, self.number))

        each_thread(gang, lambda index, lane: faulting(lambda: run(index, lane)))

    def _lanes(self, gang: Gang) -> Bits | None:
        """The words of the lane mask: [threads, words]."""
        masks = self.slots.lanes
        words = [spread(gang.regs[slot], gang.count).reshape(gang.count, -1) for slot in masks]
        return np.concatenate(words, axis=1) if words else None


def _at(places: dict[str, Bits], index: int) -> dict[str, int]:
    return {name: int(addresses[index]) for name, addresses in places.items()}


def faulting(run: Callable[[], None]) -> None:
    """Run it; what is wrong with its operands is a Fault."""
    try:
        run()
    except (AtomError, DescriptorError) as error:
        raise Fault(str(error)) from None


def memories_of(machine: Machine, lane: int, atom: UmmaAtom, number: int) -> Memories:
    """The memories of the CTAs of an MMA that a thread issues."""
    signature = atom.shape, atom.cta_group, atom.row.kind, atom.row.ws, atom.types[2]
    operation = AsyncOperation("mma", signature, number)
    ctas = group_ctas(machine, lane, atom.cta_group)
    return _OfCtas(machine, lane, ctas, machine.tensor.operation(lane, atom.cta_group, operation))


# The atom level


@runs(*UMMA_OPS.values())
def _mma(op: UmmaOp, builder: Builder) -> Step:
    atom, descriptor = op.mma_atom, op.instruction_descriptor
    if op.shifts_a:
        return _not_modelled
    tensors = {name: builder.slot(op.sources[name]) for name in atom.tmem_operands}
    enable, mask = (
        None if operand is None else builder.slot(operand)
        for operand in (op.accumulates_if, op.zero_columns)
    )
    slots = _OperandSlots(
        tensors,
        None if "A" in tensors else builder.slot(op.sources["A"]),
        builder.slot(op.sources["B"]),
        None if op.idesc is None else builder.slot(op.idesc),
        enable,
        mask,
        builder.slots(op.lane_mask),
    )

    def address(gang: Gang, slot: int) -> Bits:
        return gang.regs[slot].address

    def describe(word: int) -> tuple[UmmaAtom, InstructionDescriptor]:
        return atom, descriptor if op.idesc is None else op.described(word)

    return _Issuer(builder.number(op), slots, describe, address, True, op.input_scale).step


def _not_modelled(machine: Machine, gang: Gang) -> None:
    raise Fault("a shifted A is not modelled (no source says what its first row becomes)")


# The ptx level


@runs(Tcgen05MmaOp)
def _tcgen05_mma(op: Tcgen05MmaOp, builder: Builder) -> Step:
    if op.said.ashift:
        return _not_modelled
    in_tensor_memory = op.a.type == reg("b32")
    operands = {"D": op.d, "E": op.metadata, "SFA": op.sfa, "SFB": op.sfb}
    operands |= {"A": op.a} if in_tensor_memory else {}
    slots = _OperandSlots(
        {name: builder.slot(value) for name, value in operands.items() if value is not None},
        None if in_tensor_memory else builder.slot(op.a),
        builder.slot(op.b),
        builder.slot(op.idesc),
        None if op.enable_input_d is None else builder.slot(op.enable_input_d),
        None if op.zero_column_mask is None else builder.slot(op.zero_column_mask),
        () if op.lanes is None else (builder.slot(op.lanes),),
    )

    def describe(word: int) -> tuple[UmmaAtom, InstructionDescriptor]:
        atom = op.atom_of(word)
        return atom, InstructionDescriptor.decode(word, atom.row.kind)

    def address(gang: Gang, slot: int) -> Bits:
        return gang.regs[slot]

    always = op.zero is None
    return _Issuer(builder.number(op), slots, describe, address, always, op.input_scale).step
