"""Modules of native code: how gangs take turns in it, and LLVM."""

from __future__ import annotations

from ctypes import CFUNCTYPE, c_int64, c_void_p
from functools import cache
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.compiled.blocks import BlockCode
from tilewright.lowering.interpreter.compiled.code import Code
from tilewright.lowering.interpreter.compiled.llvm import I64, POINTER, binding, ir
from tilewright.lowering.interpreter.compiled.memory import Env
from tilewright.lowering.interpreter.compiled.stretches import (
    DIVERGED,
    CompiledBlocks,
    stopped,
)
from tilewright.lowering.interpreter.compiled.words import numpy

LAST = (1 << 63) - 1

RUN = CFUNCTYPE(c_int64, c_int64, c_int64, *[c_void_p] * 4)
"""`run(point, threads, indices, registers, points, env)`: the point where all threads are then;
DIVERGED, where `points` says where each is; or where code has stopped."""


class Native:
    """A program's code: `together` of gangs whose threads are at one point, `apart` of others."""

    def __init__(self, blocks: CompiledBlocks):
        self._blocks = blocks
        self._functions: dict[bool, tuple[Any, Any]] = {}

    def run(self, apart: bool) -> Any:
        """The function of gangs; it is compiled when the first of its kind runs."""
        if apart not in self._functions:
            self._functions[apart] = self._compile(apart)
        return self._functions[apart][0]

    def _compile(self, apart: bool) -> tuple[Any, Any]:
        module = new_module()
        functions = BlockCode(self._blocks, module, indexed=apart).functions
        code = Code(module, "run", [I64, I64, *[POINTER] * 4])
        code.function.linkage = ""
        (_apart if apart else _together)(code, functions)
        engine = compiled(str(module), vectors=not apart)
        # The function is there as long as the engine is.
        return RUN(engine.get_function_address("run")), engine


def _dispatched(
    code: Code, functions: dict[int, Any], place: Any, threads: Any, indices: Any
) -> Any:
    """The result of a stretch, or that there is none."""
    builder, after = code.builder, code.function.append_basic_block()
    none = code.function.append_basic_block()
    result = code.variable(I64, ir.Constant(I64, DIVERGED))
    switch = builder.switch(place, none)
    for number, function in functions.items():
        block = code.function.append_basic_block()
        switch.add_case(ir.Constant(I64, number), block)
        builder.position_at_end(block)
        arguments = (threads, indices, *code.arguments[3:])
        builder.store(builder.call(function, arguments), result)
        builder.branch(after)
    builder.position_at_end(none)
    builder.store((stopped(0) - code.word(place)).value, result)
    builder.branch(after)
    builder.position_at_end(after)
    return code.word(builder.load(result, typ=I64))


def _may_go_on(code: Code, place: Any) -> Any:
    """True where threads at a point may take a turn."""
    env = code.arguments[-1]
    turns = code.load(env, np.int64, int(Env.TURNS))
    return (turns > 0) & (place < code.load(env, np.int64, int(Env.LIMIT)))


def _together(code: Code, functions: dict[int, Any]) -> None:
    """Turns of all threads, until they part or code ends."""
    builder = code.builder
    start, threads, indices, *_ = code.arguments
    before, turn = builder.block, code.function.append_basic_block()
    builder.branch(turn)
    builder.position_at_end(turn)
    place = builder.phi(I64)
    place.add_incoming(start, before)
    result = _dispatched(code, functions, place, threads, indices)
    code.leave((result < 0) | ~_may_go_on(code, result), result)
    place.add_incoming(result.value, builder.block)
    builder.branch(turn)


def _apart(code: Code, functions: dict[int, Any]) -> None:
    """Turns of the threads that are furthest behind, until they are all at one point."""
    builder = code.builder
    _, threads, indices, _, points, _ = code.arguments
    turn = code.function.append_basic_block()
    builder.branch(turn)
    builder.position_at_end(turn)
    least = code.variable(I64, ir.Constant(I64, LAST))
    with code.loop(threads) as index:
        now = code.word(builder.load(least, typ=I64))
        builder.store(numpy.minimum(now, code.load(points, np.int64, index)).value, least)
    place = code.word(builder.load(least, typ=I64))
    count = code.variable(I64, ir.Constant(I64, 0))
    with code.loop(threads) as index:
        number = code.word(builder.load(count, typ=I64))
        code.store(indices, number, code.word(index).astype(np.int32))
        here = code.load(points, np.int64, index) == place
        builder.store((number + here.astype(np.int64)).value, count)
    number = code.word(builder.load(count, typ=I64))
    code.leave(number == code.word(threads), place)
    code.leave(~_may_go_on(code, place), DIVERGED)
    result = _dispatched(code, functions, place.value, number.value, indices)
    going = numpy.where(result < DIVERGED, stopped(0) - result, result)
    with code.where(going != DIVERGED), code.loop(number) as index:
        code.store(points, code.load(indices, np.int32, index), going)
    code.leave(result < DIVERGED, DIVERGED)
    builder.branch(turn)


def _machine() -> Any:
    target = binding.Target.from_default_triple()
    features = binding.get_host_cpu_features().flatten()
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features, opt=2, jit=True
    )


@cache
def _initialize() -> None:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()


def new_module() -> Any:
    """A module for this machine."""
    module = ir.Module()
    module.triple = binding.get_default_triple()
    return module


def compiled(text: str, *, vectors: bool) -> Any:
    """The engine that has a module's code."""
    _initialize()
    module, machine = binding.parse_assembly(text), _machine()
    module.verify()
    options = binding.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = vectors
    options.loop_interleaving = options.loop_unrolling = False
    passes = binding.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    # The engine takes a machine of its own, and ends with it.
    engine = binding.create_mcjit_compiler(module, _machine())
    engine.finalize_object()
    return engine
