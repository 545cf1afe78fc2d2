"""A Tile IR kernel run on arrays: binds its arguments, prepares it once, runs its grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.contents import modules_of
from tilewright.dialects.cuda_tile.enums import MemoryOrderingSemantics
from tilewright.dialects.cuda_tile.ops.module import EntryOp, GlobalOp, ModuleOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.illegal import told
from tilewright.lowering.interpreter.array_spans import steps_forwards
from tilewright.lowering.interpreter.array_types import AnyArray
from tilewright.lowering.interpreter.checks import check_written
from tilewright.lowering.interpreter.cuda_tile import rules
from tilewright.lowering.interpreter.cuda_tile.allocations import (
    Allocations,
    ArrayTable,
    PlacedArguments,
)
from tilewright.lowering.interpreter.cuda_tile.blocks import Preparation
from tilewright.lowering.interpreter.cuda_tile.checks import watch_floats
from tilewright.lowering.interpreter.cuda_tile.elements import (
    Element,
    element_of,
    element_of_tile,
    pointee_of,
)
from tilewright.lowering.interpreter.cuda_tile.grid import run_grid
from tilewright.lowering.interpreter.cuda_tile.machine import OrderNeeded, TileLaunch, TileMachine
from tilewright.lowering.interpreter.cuda_tile.memory_access import polls_memory, semantics_of
from tilewright.lowering.interpreter.cuda_tile.rules.pointwise import POINTWISE
from tilewright.lowering.interpreter.cuda_tile.values import Value
from tilewright.lowering.interpreter.cuda_tile.written_memory import (
    ANYTHING,
    Origins,
    written_memory,
)
from tilewright.source.diagnostic import ArgumentError

if TYPE_CHECKING:
    from tilewright.lowering.interpreter.cuda_tile.breakpoints import LineStops

RULES_OF = modules_of(rules.__name__)
"""All are read, so that each op's rule is known."""

_ELEMENTS_OF_A_GANG = 1 << 20
"""Elements of the largest tile, over all blocks that run together: they stay in a cache."""
_MORE = 4
"""How many times as many a tile may have that mostly stays where it lies in memory."""


def run_kernel(
    entry: EntryOp, launch: TileLaunch, args: Sequence[Any], names: Sequence[str] | None = None
) -> PlacedArguments:
    """Run a kernel. `args` are its parameters: an array for every pointer, else a number. `names`
    are what diagnostics call them.

    Returns the argument arrays in memory, as they are after the run. Raises ArgumentError for
    wrong arguments, ExecutionError for what no kernel may do, OpError for an op that cannot be
    executed.
    """
    stops = list(_stops(entry, launch))
    watchers = [stop.watch for stop in stops]
    watchers += [watch_floats] if "nan" in launch.check else []
    preparation = Preparation(POINTWISE, launch, watchers)
    prepared = preparation.block(entry.body.block)
    for stop in stops:
        stop.points.check(stop.met, stop.lines)
    ops = list(entry.walk())
    orders = (MemoryOrderingSemantics.ACQUIRE, MemoryOrderingSemantics.ACQ_REL)
    may_synchronise = any(
        semantics_of(op) in orders for op in ops if "memory_ordering_semantics" in op.properties
    )
    polls = any(op.name == "cuda_tile.loop" and polls_memory(op) for op in ops)
    origins = written_memory(entry, ops)
    attempts = (True,) if polls and may_synchronise else (False, True)
    for synchronising in attempts:
        memory = Allocations()
        arrays, values = bound(entry, args, names, origins, memory)
        machine = TileMachine(
            launch,
            memory,
            synchronising=synchronising,
            may_synchronise=may_synchronise,
            origins=preparation.origins,
        )
        unwritten = "unwritten" in launch.check
        if launch.elsewhere is not None and not unwritten:
            buffers = [allocation.octets for allocation in memory.all]
            if launch.elsewhere(buffers, machine.block_count) is not None:
                return arrays
        _place_globals(entry, machine, origins)
        if unwritten:
            pointers = [one for one in entry.body.block.args if _is_pointer(one)]
            arrays.follow(
                {
                    place: pointee_of(one.type).bytes
                    for place, one in enumerate(pointers)
                    if one.index in origins
                }
            )
        try:
            run_grid(machine, prepared, values, 1 if polls else _gang_size(ops))
        except OrderNeeded:
            continue
        check_written(entry, arrays.unwritten(), launch.source)
        return arrays
    raise AssertionError("a synchronising run needs no other")


def _stops(entry: EntryOp, launch: TileLaunch) -> Iterator[LineStops]:
    """The breakpoints of a launch; they show values of threads too, whose interpreter is read for
    no launch without one."""
    for points in launch.breakpoints:
        from tilewright.lowering.interpreter.cuda_tile.breakpoints import LineStops

        yield LineStops(points, entry, launch.source)


def _gang_size(ops: Sequence[Operation]) -> int:
    largest = 1
    for op in ops:
        for value in op.results:
            if isinstance(value.type, TileType):
                largest = max(largest, value.type.elements // (_MORE if _passes(value) else 1))
    return max(1, _ELEMENTS_OF_A_GANG // largest)


def _passes(value: SSAValue) -> bool:
    """True where a tile is a constant (one for all blocks), one that a view loads, or one that
    nothing but a store to a view takes."""
    use = value.get_user_of_unique_use()
    stored = use is not None and use.name == "cuda_tile.store_view_tko"
    source = getattr(value.owner, "name", "")
    return stored or source in ("cuda_tile.load_view_tko", "cuda_tile.constant")


def bound(
    entry: EntryOp,
    args: Sequence[Any],
    names: Sequence[str] | None,
    origins: Origins,
    memory: Allocations,
) -> tuple[PlacedArguments, list[Value]]:
    """The arguments in memory, and what the parameters stand for; `origins` may be written."""
    parameters = entry.body.block.args
    if len(args) != len(parameters):
        types = ", ".join(shown(parameter.type) for parameter in parameters)
        raise ArgumentError(
            f"'{entry.sym_name.data}' expected {len(parameters)} arguments ({types}), "
            f"got {len(args)}"
        )
    pointers = [i for i, type_ in enumerate(parameters) if _is_pointer(type_)]
    for i in pointers:
        if not isinstance(args[i], np.ndarray | ArrayTable):
            raise ArgumentError(
                f"'{entry.sym_name.data}' expected an array as argument {i}, a "
                f"{shown(parameters[i].type)}, got {type(args[i]).__name__}"
            )
        if isinstance(args[i], np.ndarray) and not steps_forwards(args[i]):
            raise ArgumentError(
                f"'{entry.sym_name.data}' expected an array with strides of whole elements "
                f"forwards as argument {i}, got strides of {args[i].strides} bytes"
            )
    arrays, addresses = _placed(
        {i: args[i] for i in pointers},
        {i: i in origins or ANYTHING in origins for i in pointers},
        {i: f"argument {i}" if names is None else names[i] for i in pointers},
        memory,
    )
    values: list[Value] = []
    for i, parameter in enumerate(parameters):
        if i in addresses:
            values.append(np.full(1, addresses[i], np.int64))
        else:
            values.append(_number(entry, i, _element(parameter), args[i]))
    return arrays, values


def _placed(
    pointed: dict[int, AnyArray | ArrayTable],
    written: dict[int, bool],
    names: dict[int, str],
    memory: Allocations,
) -> tuple[PlacedArguments, dict[int, int]]:
    """Arrays, and tables with their arrays behind them, in memory; where each parameter's lies."""
    rows: list[tuple[AnyArray, bool, str]] = []
    members: dict[int, range] = {}
    for i, content in pointed.items():
        if isinstance(content, ArrayTable):
            blank = content.words([0] * len(content.arrays))
            rows.append((blank, written[i], names[i]))
        else:
            rows.append((content, written[i], names[i]))
    for i, content in pointed.items():
        if isinstance(content, ArrayTable):
            members[i] = range(len(rows), len(rows) + len(content.arrays))
            # The kernel makes pointers of the table's words: stores may go anywhere.
            rows += [(array, True, f"{names[i]}[{j}]") for j, array in enumerate(content.arrays)]
    arrays = PlacedArguments(*([row[column] for row in rows] for column in range(3)), memory)  # type: ignore[arg-type]
    for place, (i, content) in enumerate(pointed.items()):
        if isinstance(content, ArrayTable):
            arrays.fill(place, content.words([arrays.addresses[j] for j in members[i]]))
    return arrays, dict(zip(pointed, arrays.addresses, strict=False))


def _element(parameter: SSAValue) -> Element:
    return element_of_tile(parameter.type)


def _is_pointer(parameter: SSAValue) -> bool:
    return _element(parameter).kind == "pointer"


def _number(entry: EntryOp, i: int, element: Element, number: Any) -> AnyArray:
    """A scalar argument as a tile; integers are taken modulo their width."""
    what = f"'{entry.sym_name.data}' expected a number as argument {i}, an {element.name}, got "
    if shape := getattr(number, "shape", ()):
        raise ArgumentError(f"{what}an array of shape {shape}")
    try:
        if isinstance(number, str | bytes):
            raise TypeError
        if element.kind == "float":
            with np.errstate(over="ignore"):
                return np.asarray([float(number)]).astype(element.dtype)
        whole = int(number)
        if whole != number:
            raise ValueError
    except Exception:  # its own methods may raise anything
        raise ArgumentError(f"{what}{told(number)}") from None
    if element.dtype == np.bool_:
        return np.asarray([bool(whole & 1)])
    bits = 8 * element.dtype.itemsize
    if not -(1 << (bits - 1)) <= whole < 1 << bits:
        raise ArgumentError(f"{what}{told(whole)}")
    wrapped = whole - (1 << bits) if whole >= 1 << (bits - 1) else whole
    return np.asarray([wrapped], element.dtype)


def _place_globals(entry: EntryOp, machine: TileMachine, origins: Origins) -> None:
    module = entry.parent_op()
    if not isinstance(module, ModuleOp):
        return
    for op in module.body.block.ops:
        if isinstance(op, GlobalOp):
            value: Any = op.value
            element = element_of(value.type.element_type)
            array = np.array(value.array()).astype(element.dtype)
            octets = np.frombuffer(array.tobytes(), np.uint8).copy()
            name, constant = op.sym_name.data, op.constant is not None
            allocation = machine.memory.add(f"@{name}", octets, constant=constant)
            allocation.written = name in origins or ANYTHING in origins
            machine.globals[name] = allocation
