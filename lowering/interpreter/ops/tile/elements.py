"""Elements of tensors as values: loads, stores, fills and reductions.

A reduction combines elements in the order of their coordinates, then with those of the lanes whose
numbers differ in one bit, mask by mask.
"""

from typing import Any

import numpy as np

from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.ops.convert import ConvertOp
from tilewright.dialects.cute.ops.elements import (
    CoordsOp,
    FillOp,
    LoadOp,
    LoadVecOp,
    ReduceOp,
    StoreOp,
    StoreVecOp,
)
from tilewright.dialects.cute.ops.properties import path_of
from tilewright.dialects.cute.rules.tensors import coords, element_at
from tilewright.dialects.cute.symbolic.evaluate import image
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.types.tensors import CoordTensorType
from tilewright.dialects.cute_nvgpu.types.conversion import ConvertAttr
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneValue, sized
from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.arithmetic.watched import finite
from tilewright.lowering.interpreter.array_types import Int64Array
from tilewright.lowering.interpreter.builder import Effect, accesses, effects, notes
from tilewright.lowering.interpreter.machine.machine import WARP, Gang, Machine
from tilewright.lowering.interpreter.ops.instructions.cute_nvgpu import convert_elements
from tilewright.lowering.interpreter.ops.tile.algebra import typed_value
from tilewright.lowering.interpreter.ops.tile.tensor_access import container, images, read, write
from tilewright.lowering.interpreter.values import Bits, spread


@notes(LoadVecOp)
def _load_vec(machine: Machine, gang: Gang, source: LaneValue, *, number: int) -> Bits:
    # A value of its own: the tensor may be written later.
    return np.array(read(machine, gang, source.typed.value, number))


@notes(StoreVecOp)
def _store_vec(machine: Machine, gang: Gang, values: Bits, dest: LaneValue, *, number: int) -> None:
    write(machine, gang, dest.typed.value, spread(values, gang.count), number)


@notes(FillOp)
def _fill(machine: Machine, gang: Gang, dest: LaneValue, value: Bits, *, number: int) -> None:
    tensor = dest.typed.value
    column = _held(value, tensor, gang)[:, None]
    values = np.broadcast_to(column, (gang.count, tensor.modes.size()))
    write(machine, gang, tensor, values, number)


def _held(value: Bits, tensor: Tensor, gang: Gang) -> Bits:
    return spread(value.astype(container(tensor)), gang.count)


def _element(tensor: Tensor, coord: Any) -> Tensor:
    """The tensor of one element."""
    return tensor.moved(image(tensor.modes, coord), Layout(1, 0))


@accesses
def _load(op: LoadOp, number: int) -> Effect:
    of_coordinates = isinstance(op.source.type, CoordTensorType)

    def run(machine: Machine, gang: Gang, source: LaneValue, coord: Any) -> Any:
        if of_coordinates:
            return LaneValue(element_at(source.typed, typed_value(coord)))
        tensor = _element(source.typed.value, typed_value(coord).value)
        return np.array(read(machine, gang, tensor, number)[:, 0])

    return run, op.source, op.coord


@effects
def _coords(op: CoordsOp) -> Effect:
    mode = path_of(op.mode)

    def run(machine: Machine, gang: Gang, source: LaneValue) -> Bits:
        coordinates = [sized(at, 32) for at in coords(source.typed, mode)]
        return np.stack(np.broadcast_arrays(*coordinates), axis=1)

    return run


@notes(StoreOp)
def _store(
    machine: Machine, gang: Gang, value: Bits, dest: LaneValue, coord: Any, *, number: int
) -> None:
    tensor = _element(dest.typed.value, typed_value(coord).value)
    write(machine, gang, tensor, _held(value, tensor, gang)[:, None], number)


@accesses
def _convert(op: ConvertOp, number: int) -> Effect:
    atom = op.atom
    assert isinstance(atom, ConvertAttr)
    compute = convert_elements(atom.data)

    def run(
        machine: Machine, gang: Gang, source: LaneValue, dest: LaneValue, *random: LaneValue
    ) -> None:
        values = [read(machine, gang, given.typed.value, number) for given in (source, *random)]
        write(machine, gang, dest.typed.value, compute(*values), number)

    return run


# Reductions

_INSTRUCTIONS = {"add": ("add", "rn."), "max": ("max", "NaN."), "min": ("min", "NaN.")}


@accesses
def _reduce(op: ReduceOp, number: int) -> Effect:
    masks = path_of(op.lanes)
    instruction, modifier = _INSTRUCTIONS[op.kind.data]

    def run(machine: Machine, gang: Gang, source: LaneValue, dest: LaneValue) -> None:
        tensor, reduced = source.typed.value, dest.typed.value
        is_float = "f" in tensor.element
        type_ = tensor.element if is_float else f"s{tensor.bits}"
        combine = scalar(instruction, f"{modifier if is_float else ''}{type_}")
        combine = finite(combine, (type_,) * 2, type_)
        values = read(machine, gang, tensor, number)
        combined, group = _by_element(values, images(reduced.modes)[0], combine)
        if masks:
            warps = gang.warps(op.name)
            for mask in masks:
                by_warp = combined.reshape(warps, WARP, -1)
                other = by_warp[:, np.arange(WARP) ^ mask].reshape(combined.shape)
                combined = combine(combined, np.ascontiguousarray(other))
        write(machine, gang, reduced, combined[:, group], number)

    return run, op.source, op.destination


def _by_element(values: Bits, places: Int64Array, combine: Any) -> tuple[Bits, Int64Array]:
    """The values that fall on one element, combined in their order: [threads, elements], and the
    element of each value."""
    _, group = np.unique(places, return_inverse=True)
    order = np.argsort(group, kind="stable")
    counts = np.bincount(group)
    starts = np.cumsum(counts) - counts
    combined = values[:, order[starts]]
    for step in range(1, int(counts.max())):
        more = np.flatnonzero(counts > step)
        taken = np.ascontiguousarray(values[:, order[starts[more] + step]])
        combined[:, more] = combine(np.ascontiguousarray(combined[:, more]), taken)
    return np.ascontiguousarray(combined), group
