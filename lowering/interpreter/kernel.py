"""A kernel of threads run: on its instructions, its registers, its memory."""

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, Protocol

from xdsl.dialects import memref
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, i8
from xdsl.ir import Operation

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cute_nvgpu.lattice.data_movement import GRID_WORKSPACE
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import why_too_much
from tilewright.dialects.cute_nvgpu.lattice.stack import STACK_BYTES
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.instruction import content
from tilewright.dialects.ptx.module_variables import BYTES_ALONE, GlobalOp, content_of
from tilewright.dialects.ptx.registers import TimeOp, UndefOp
from tilewright.dialects.ptx.stack import AllocaOp, StackOp
from tilewright.lowering.interpreter.builder import Builder
from tilewright.lowering.interpreter.checks import ASKED
from tilewright.lowering.interpreter.errors import OCTET, Unwritten
from tilewright.lowering.interpreter.machine.global_memory import WORKSPACE, GlobalMemory
from tilewright.lowering.interpreter.machine.grid import run_grid
from tilewright.lowering.interpreter.machine.launch import Launch
from tilewright.lowering.interpreter.ops import base, instructions, tile
from tilewright.lowering.interpreter.program import Program
from tilewright.lowering.interpreter.register_builder import Allocation, RegisterBuilder
from tilewright.lowering.interpreter.runners import Engine, runner_of
from tilewright.lowering.interpreter.state import thread_state
from tilewright.source.diagnostic import ExecutionError, OpError

RULES_OF = (base, instructions, tile)
"""Importing them fills the table of rules."""


class Watcher(Protocol):
    """Who watches a program run, as timelines and breakpoints do: it wraps the program's steps, at
    its `level`, where it has one."""

    @property
    def level(self) -> str | None: ...

    def watch(self, program: Program, builder: Builder, launch: Launch) -> None: ...


def module_variables(op: Operation) -> dict[str, tuple[bytes, bool]]:
    """The contents of the variables of a kernel's module, by name, and whether it is constant;
    with the workspace of a grid whose CTAs wait for each other.
    Raises OpError for one whose bytes nobody gives."""
    variables: dict[str, tuple[bytes, bool]] = {}
    block = op.parent_block()
    for other in () if block is None else block.ops:
        if isinstance(other, GlobalOp):
            variables[other.sym_name.data] = other.content, other.constant is not None
        elif isinstance(other, memref.GlobalOp):
            octets = other.initial_value
            if other.type.element_type != i8 or not isinstance(octets, DenseIntOrFPElementsAttr):
                raise OpError(other, f"'{other.name}' {BYTES_ALONE}, got {other.type}")
            variables[other.sym_name.data] = content_of(octets), other.constant is not None
    if any(isinstance(one, TimeOp) and one.register.data in GRID_WORKSPACE for one in op.walk()):
        variables[WORKSPACE] = bytes(8), False
    return variables


def run_kernel(
    op: Operation,
    launch: Launch,
    memory: GlobalMemory,
    arguments: list[Any],
    registers: Allocation | None = None,
    watchers: Sequence[Watcher] = (),
    engine: Engine = "auto",
) -> int:
    """Run a kernel, a `ptx.entry` on `registers` by an engine, as `watchers` watch it. Returns how
    many thread-steps it took. What is watched, looked at for NaNs, counted (`max_steps`) or in
    a random order, and instructions that write registers after their turn, are the first engine's.

    Raises OpError for an op that has no semantics, ExecutionError for what no kernel may do.
    """
    body = op.regions[0]
    shared = op.shared.value.data if isinstance(op, EntryOp) else 0
    builder = Builder() if registers is None else RegisterBuilder(body, registers)
    program = builder.build(body, shared)
    if (why := why_too_much(program.shared_bytes, target(launch.arch))) is not None:
        raise OpError(op, f"'{op.name}' {why}")
    memory.place_variables(module_variables(op))
    for variable in () if (block := op.parent_block()) is None else block.ops:
        if isinstance(variable, GlobalOp):
            memory.link(variable.sym_name.data, variable.named)
    allocated = descendants(body, StackOp)
    if isinstance(op, EntryOp) and (op.local is not None or allocated):
        own, align = content(op.local) or 0, content(op.local_align) or 16
        align = max([align, *(one.alignment for one in allocated if isinstance(one, AllocaOp))])
        share = -(-(own + STACK_BYTES * bool(allocated)) // align) * align
        memory.place_local(share, prod(launch.grid) * launch.threads, frame=own)
    launch.explain = partial(thread_state, builder.registers)
    counted = watchers or (launch.schedule, launch.max_steps) != (None, None)
    counted = counted or "nan" in ASKED.get()
    if isinstance(builder, RegisterBuilder) and not counted and not builder.asynchronous:
        launch.runner = runner_of(engine, op, program, builder.registers)
    for watcher in watchers:
        watcher.watch(program, builder, launch)
    is_loose = memory.local is not None or any(isinstance(one, UndefOp) for one in body.walk())
    run = run_grid if watchers or not is_loose else _with_any_content
    return run(program, launch, memory, arguments)


_OCTETS = 0, 0xFF, 0x5A
"""Bytes that registers and local memory may have where nothing has written them."""


def _with_any_content(
    program: Program, launch: Launch, memory: GlobalMemory, arguments: list[Any]
) -> int:
    """Run a kernel whose threads may read what nothing has written in registers and in memory of
    their own, where no result depends on it: it is the same for several contents."""
    local = memory.local
    buffers = [buffer.data for buffer in memory.allocations if buffer is not local]
    before, texts, say = [data.copy() for data in buffers], list[str](), launch.say
    launch.say = texts.append
    try:
        return run_grid(program, launch, memory, arguments)
    except ExecutionError as error:
        if not isinstance(error.__context__, Unwritten):
            raise
        results, executed, launch.runner = list[list[Any]](), 0, None
        for octet in _OCTETS:
            for data, given in zip(buffers, before, strict=True):
                data[:] = given
            texts.clear()
            if local is not None and local.unwritten is not None:
                local.data[:], local.unwritten[:] = octet, True
            token = OCTET.set(octet)
            try:
                executed = run_grid(program, launch, memory, arguments)
            except ExecutionError:
                raise error from None
            finally:
                OCTET.reset(token)
            results.append([*(data.tobytes() for data in buffers), *texts])
            if launch.share is None:
                launch.max_steps = launch.max_steps or 4 * executed + 1024
        if any(result != results[0] for result in results):
            raise
        return executed
    finally:
        launch.say = say
        for text in texts:
            say(text)
