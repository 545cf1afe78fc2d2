"""`wgmma` of both levels: descriptors, MMAs of warpgroups, and what orders them.

The arithmetic is in `wgmma`, the rules of memory in `async_proxy`. A result is in flight, an
`InFlight` value, until a `wgmma.wait_group` completes it.
"""

from typing import Any, Literal, NoReturn

import numpy as np

from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import DescriptorError
from tilewright.dialects.cute_nvgpu.lattice import sync as rows
from tilewright.dialects.cute_nvgpu.lattice.sm90 import WARPGROUP
from tilewright.dialects.cute_nvgpu.ops import sm90
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.instruction import content
from tilewright.dialects.ptx.wgmma import WgmmaOp
from tilewright.lowering.interpreter.arithmetic.elements import elements_of
from tilewright.lowering.interpreter.arithmetic.sparse import check_metadata
from tilewright.lowering.interpreter.arithmetic.wgmma import (
    chunk_addresses,
    fragment_matrix,
    matrix_of_chunks,
    multiply_matrices,
    wgmma_model,
)
from tilewright.lowering.interpreter.array_types import AnyArray, AnyDType, BoolArray, Int64Array
from tilewright.lowering.interpreter.builder import Builder, Effect, effects, executes, runs
from tilewright.lowering.interpreter.errors import Fault, first_of, first_place
from tilewright.lowering.interpreter.machine.async_proxy import AsyncFragment
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.values import (
    CONTAINERS,
    NOBODY,
    Bits,
    InFlight,
    Lanes,
    Overwritten,
    PartlyUndefined,
    Undefined,
    spread,
)


def warpgroups(machine: Machine, gang: Gang, what: str) -> Lanes:
    """The gang's threads by warpgroup: [warpgroups, 128]. Raises Fault unless it is whole ones."""
    gang.warps(what)
    first = gang.lanes[::WARP] - machine.cta_of(gang.lanes[::WARP]) * machine.slots
    group = machine.cta_of(gang.lanes[::WARP]) * machine.slots + first // WARPGROUP * WARPGROUP
    groups, counts = np.unique(group, return_counts=True)
    if (wrong := first_of(counts * WARP != WARPGROUP)) is not None:
        raise Fault(
            f"{what} needs all {WARPGROUP} threads of a warpgroup, and {counts[wrong] * WARP} "
            "execute it (.sync.aligned: PTX ISA 9.7.15)",
            WARP * int(np.argmax(group == groups[wrong])),
        )
    return gang.lanes.reshape(-1, WARPGROUP)


@frozen
class IssuedMma:
    """One `wgmma.mma_async` of a program: its atom, and the registers of its operands.

    `words` is the dtype of PTX's registers; those of an atom hold elements. `a_sources` are all
    registers of the text of which A is made: atoms have values, which get registers of their own
    where one is in flight.
    """

    atom: WgmmaAtom
    number: int
    a: int
    b: int
    c: int
    d: int
    e: int | None
    scale_d: int | None
    zero: bool
    negated: tuple[bool, bool]
    selector: int
    words: AnyDType | None
    a_sources: frozenset[int]

    def run(self, machine: Machine, gang: Gang) -> None:
        """Issue it for every warpgroup of the gang."""
        lanes, regs = warpgroups(machine, gang, self.atom.mnemonic), gang.regs
        machine.shared.wgmmas.check_fenced(gang.lanes, "the first")
        accumulates = self._accumulates(gang)
        c = self._accumulator(machine, gang, accumulates)
        if self.atom.frag_kind == "rs":
            self._check_ordered(gang, "A", self.a)
        a, b = self._matrices(machine, gang, lanes)
        e = None if self.e is None else self._fragment(gang, "E", regs[self.e])
        if e is not None:
            check_metadata(self.atom, e, self.selector)
        model = wgmma_model(self.atom, machine.launch.arch, machine.launch.numerics)
        d = multiply_matrices(
            self.atom, a, b, c, model, negated=self.negated, e=e, selector=self.selector
        )
        shape = (self.atom.shape, self.atom.types[2])
        group = machine.shared.wgmmas.committed[gang.lanes]
        origin = machine.shared.op_names[self.number]
        if self.a_sources:
            machine.shared.wgmmas.fragments.issue(
                AsyncFragment(self.a_sources, gang.lanes, group, self.number)
            )
        self._overwrite(gang, origin)
        if self.words is not None:
            d = np.ascontiguousarray(d).view(self.words)
        regs[self.d] = InFlight(origin, d.reshape(gang.count, -1), group, shape)

    def _accumulates(self, gang: Gang) -> BoolArray:
        """The warpgroups that add C: [warpgroups]."""
        count = gang.count // WARPGROUP
        if self.zero or self.scale_d is None:
            return np.full(count, not self.zero)
        return self._one_each(gang, gang.regs[self.scale_d], "scale-d")

    def _accumulator(self, machine: Machine, gang: Gang, accumulates: BoolArray) -> Bits:
        """C: [warpgroups, threads, values], zeros where it is not added."""
        value = gang.regs[self.c]
        if isinstance(value, InFlight):
            if value.shape != (self.atom.shape, self.atom.types[2]):
                value.fault()
            self._check_whole(gang, value)
            if ((value.group == NOBODY) & np.repeat(accumulates, WARPGROUP)).any():
                Undefined(value.unwritten).fault()
            value = value.value
        elif not isinstance(value, Undefined):
            self._check_ordered(gang, "C", self.c)
        elif (
            isinstance(value, PartlyUndefined)
            and not (value.missing & np.repeat(accumulates, WARPGROUP)).any()
        ):
            value = value.value
            if self.c in gang.unfenced:
                self._unfenced("C")
        if isinstance(value, Undefined) and not accumulates.any():
            values = self.atom.values("C")
            dtype = np.dtype(self.atom.element("C").container)
            return np.zeros((len(accumulates), WARPGROUP, values), dtype=dtype)
        c = self._fragment(gang, "C", value)
        return np.where(accumulates[:, None, None], c, c.dtype.type(0))

    def _check_whole(self, gang: Gang, value: InFlight) -> None:
        """Threads whose registers no wgmma wrote have no business among those in flight of their
        warpgroup; in another one they are as fenced as any."""
        flying = value.group.reshape(-1, WARPGROUP) >= 0
        if (flying.any(axis=1) & ~flying.all(axis=1)).any():
            value.fault()
        if (value.group == -1).any() and self.c in gang.unfenced:
            self._unfenced("C")

    def _check_ordered(self, gang: Gang, operand: str, slot: int) -> None:
        value = gang.regs[slot]
        if isinstance(value, Undefined):
            value.fault()
        if slot in gang.unfenced:
            self._unfenced(operand)

    def _unfenced(self, operand: str) -> NoReturn:
        raise Fault(
            f"accesses registers of operand {operand} that were written after the last "
            "wgmma.fence of its warpgroup (PTX ISA 9.7.15.7.1)"
        )

    def _overwrite(self, gang: Gang, origin: str) -> None:
        """The registers of a C in flight become D's: nobody may look at C any more."""
        c = gang.regs[self.c]
        if isinstance(c, InFlight):
            gang.regs[:] = [Overwritten(origin) if value is c else value for value in gang.regs]

    def _matrices(self, machine: Machine, gang: Gang, lanes: Lanes) -> tuple[AnyArray, AnyArray]:
        """A and B: [warpgroups, rows, columns]."""
        operands: list[Literal["A", "B"]] = ["B"] if self.atom.frag_kind == "rs" else ["A", "B"]
        slots = {"A": self.a, "B": self.b}
        words = {
            operand: self._one_each(gang, gang.regs[slots[operand]], f"descriptor {operand}")
            for operand in operands
        }
        by_warpgroup: list[list[AnyArray]] = []
        for index, warpgroup in enumerate(lanes):
            addresses = [
                self._addresses(operand, int(words[operand][index])) for operand in operands
            ]
            try:
                chunks = machine.shared.read_async(warpgroup, addresses, self.number)
            except Fault as fault:
                raise Fault(fault.message, index * WARPGROUP) from None
            by_warpgroup.append([
                matrix_of_chunks(self.atom, operand, data)
                for operand, data in zip(operands, chunks, strict=True)
            ])  # fmt: skip
        *a, b = (np.stack(matrices) for matrices in zip(*by_warpgroup, strict=True))
        if a:
            return a[0], b
        return fragment_matrix(self.atom, self._fragment(gang, "A", gang.regs[self.a])), b

    def _addresses(self, operand: Literal["A", "B"], word: int) -> Int64Array:
        major = self.atom.majors["AB".index(operand)]
        extents, bits = self.atom.extents(operand), self.atom.element(operand).bits
        try:
            return chunk_addresses(word, major, extents, bits)
        except DescriptorError as error:
            raise Fault(f"descriptor {word:#018x} of {operand}: {error}") from None

    def _one_each(self, gang: Gang, value: Bits, what: str) -> AnyArray:
        """One value of each warpgroup, the same in all of its threads: [warpgroups]."""
        every = spread(value, gang.count).reshape(-1, WARPGROUP)
        other = every != every[:, :1]
        if other.any():
            row, thread = first_place(other)
            raise Fault(
                f"expected one {what} in all threads of a warpgroup, got "
                f"{int(every[row, 0]):#x} and {int(every[row, thread]):#x}",
                row * WARPGROUP + thread,
            )
        return every[:, 0]

    def _fragment(self, gang: Gang, operand: str, value: Any) -> Bits:
        """Elements in containers: [warpgroups, threads, values]."""
        wide = spread(value, gang.count).reshape(gang.count // WARPGROUP, WARPGROUP, -1)
        return wide if self.words is None else elements_of(wide, self.atom.element(operand))


# Ops


@runs(*sm90.WGMMA_OPS.values(), WgmmaOp)
def _mma(op: Any, builder: Builder) -> None:
    """Registers that a wgmma writes need no fence before another one."""
    atom, a_sources, dtype = op.mma_atom, frozenset[int](), None
    builder.by_warpgroups = True
    if isinstance(op, WgmmaOp):
        dtype = np.dtype(CONTAINERS[op.d.type.kind.data])
        a_sources = builder.sharing([op.a]) if atom.frag_kind == "rs" else a_sources

    def slot(name: str) -> int | None:
        value = getattr(op, name, None)
        return None if value is None else builder.slot(value)

    a, b, c, d = builder.slots((op.a, op.b, op.c, op.d))
    metadata = slot("e" if dtype is None else "metadata")
    zero, selector = getattr(op, "zero", None) is not None, content(getattr(op, "selector", None))
    issue = IssuedMma(
        atom, builder.number(op), a, b, c, d, metadata, slot("scale_d"), zero, op.negated,
        selector or 0, dtype, a_sources,
    )  # fmt: skip
    builder.add(op, issue.run, builder.slots(op.operands), (d,), fenced=True)


# What orders them


@executes(rows.WGMMA_FENCE)
def _fence(machine: Machine, gang: Gang) -> None:
    warpgroups(machine, gang, "wgmma.fence")
    machine.shared.wgmmas.fenced[gang.lanes] = True
    machine.registers.fence(gang.lanes)
    gang.unfenced.clear()


@executes(rows.WGMMA_COMMIT_GROUP)
def _commit(machine: Machine, gang: Gang) -> None:
    warpgroups(machine, gang, "wgmma.commit_group")
    machine.shared.wgmmas.commit(gang.lanes)


@effects(rows.WGMMA_WAIT_GROUP)
def _wait(op: Any) -> Effect:
    pending = op.pending.value.data

    def run(machine: Machine, gang: Gang) -> None:
        warpgroups(machine, gang, "wgmma.wait_group")
        machine.shared.wgmmas.wait(gang.lanes, pending)
        _settle(machine, gang)

    return run


def _settle(machine: Machine, gang: Gang) -> None:
    """Results that are complete become values like others, which a wgmma wrote."""
    completed = machine.shared.wgmmas.completed[gang.lanes]
    machine.registers.settle(gang.lanes, completed)
    for slot, value in enumerate(gang.regs):
        if isinstance(value, InFlight) and (value.group < completed).all():
            gang.regs[slot] = value.settled()


@effects(rows.FENCE_PROXY_ASYNC)
def _fence_proxy(op: Any) -> Effect:
    space = content(op.space) or ""

    def run(machine: Machine, gang: Gang) -> None:
        if op.is_of_shared:
            machine.shared.fence_proxy(gang.lanes)
            machine.mbarriers.fence(gang.lanes)
        if not space.startswith("shared"):
            machine.accesses.fence_proxy(gang.lanes)

    return run
