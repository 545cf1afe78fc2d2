"""Modules of native code: how the threads of a gang take turns in it, and LLVM."""

from __future__ import annotations

from ctypes import CFUNCTYPE, c_int64, c_void_p
from functools import cache
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.compiled.blocks import GOING, BlockCode
from tilewright.lowering.interpreter.compiled.code import Code
from tilewright.lowering.interpreter.compiled.llvm import (
    I32,
    I64,
    LANES,
    POINTER,
    binding,
    constant,
    ir,
)
from tilewright.lowering.interpreter.compiled.memory import ACCESSES, Env, add_accesses
from tilewright.lowering.interpreter.compiled.stretches import CompiledBlocks
from tilewright.lowering.interpreter.compiled.words import numpy

NOWHERE = (1 << 31) - 1
"""The point of threads that there are none of."""

RUN = CFUNCTYPE(c_int64, c_int64, *[c_void_p] * 3)
"""`run(threads, registers, points, env)`: the threads take turns from their points on, those that
are furthest behind first, until these are where code stops, or ends."""


class Native:
    """A program's code, compiled when it first runs."""

    def __init__(self, blocks: CompiledBlocks):
        _accesses()
        module = new_module()
        _add_turns(Code(module, "run", [I64, *[POINTER] * 3]), BlockCode(blocks, module).functions)
        # The function is there as long as the engine is.
        self._engine = compiled(str(module))
        self.run = RUN(self._engine.get_function_address("run"))


def _add_turns(code: Code, functions: dict[int, Any]) -> None:
    code.function.linkage = ""
    builder = code.builder
    threads, _, points, env = code.arguments
    turn, stopped, none = (code.function.append_basic_block() for _ in range(3))
    builder.branch(turn)
    builder.position_at_end(turn)
    type_ = ir.VectorType(I32, LANES)
    least = code.variable(type_, constant(type_, NOWHERE))
    with code.vectors(threads) as first:
        at = code.load(points, np.int32, first)
        code.store(least, 0, numpy.minimum(at, code.load(least, np.int32)))
    place = builder.zext(code.least(code.word(builder.load(least, typ=type_), np.int32)), I64)
    limit = code.entry(env, Env.LIMIT)
    code.leave((code.entry(env, Env.TURNS) <= 0) | (limit <= code.word(place)), GOING)
    switch = builder.switch(place, none)
    builder.position_at_end(stopped)
    result = builder.phi(I64)
    for number, function in functions.items():
        block = code.function.append_basic_block()
        switch.add_case(ir.Constant(I64, number), block)
        builder.position_at_end(block)
        given = builder.call(function, code.arguments)
        builder.cbranch(builder.icmp_signed("==", given, ir.Constant(I64, GOING)), turn, stopped)
        result.add_incoming(given, block)
    builder.position_at_end(stopped)
    with code.vectors(threads) as first:
        at = code.load(points, np.int32, first)
        here, stop = (code.word(code.broadcast(one)).astype(np.int32) for one in (place, result))
        code.store(points, first, numpy.where(at == here, stop, at))
    builder.branch(none)
    builder.position_at_end(none)
    builder.ret(ir.Constant(I64, GOING))


def _machine() -> Any:
    target = binding.Target.from_default_triple()
    # LLVM 22.1 takes a select between x and x with the sign of y for another one with AVX-512.
    features = f"{binding.get_host_cpu_features().flatten()},-avx512f"
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features, opt=2, jit=True
    )


@cache
def _initialize() -> None:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()


@cache
def _accesses() -> Any:
    """The engine of the accesses of memory, which the code of all programs calls."""
    add_accesses(module := new_module())
    engine = compiled(str(module))
    for name in ACCESSES:
        binding.add_symbol(name, engine.get_function_address(name))
    return engine


def new_module() -> Any:
    """A module for this machine."""
    module = ir.Module()
    module.triple = binding.get_default_triple()
    return module


def compiled(text: str) -> Any:
    """The engine that has a module's code."""
    _initialize()
    module, machine = binding.parse_assembly(text), _machine()
    module.verify()
    options = binding.create_pipeline_tuning_options(speed_level=1)
    options.loop_interleaving = options.loop_unrolling = False
    passes = binding.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    # The engine takes a machine of its own, and ends with it.
    engine = binding.create_mcjit_compiler(module, _machine())
    engine.finalize_object()
    return engine
