"""CompiledBlocks of a program as native code.

A function for each stretch of steps that has code runs them for all threads of a gang, or for some
by their indices: arithmetic in one loop over threads, of which LLVM makes vectors, each access of
memory in loops of its own. It returns where the threads go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from tilewright.dialects.ptx.data_movement import LdOp, StOp
from tilewright.dialects.row_ops import memory_operand
from tilewright.lowering.interpreter.builder import Pure, Step
from tilewright.lowering.interpreter.compiled.code import Code
from tilewright.lowering.interpreter.compiled.llvm import I1, I64, POINTER, ir
from tilewright.lowering.interpreter.compiled.memory import Accesses, Env
from tilewright.lowering.interpreter.compiled.stretches import (
    DIVERGED,
    VECTOR,
    CompiledBlocks,
    LaneRegisters,
    Stretch,
    bare,
    point,
    stopped,
)
from tilewright.lowering.interpreter.compiled.words import LaneWord, numpy
from tilewright.lowering.interpreter.program import CodeBlock, Fork, Jump
from tilewright.lowering.interpreter.register_builder import Moving


class BlockCode:
    """The functions of stretches in a module: `f(threads, indices, registers, points, env)`."""

    def __init__(self, blocks: CompiledBlocks, module: Any, *, indexed: bool):
        self.blocks, self.module, self.indexed = blocks, module, indexed
        self._accesses, self._choose = Accesses(module), self._choice()
        self.functions = {
            place: self._function(stretch, f"stretch_{place}")
            for place, stretch in blocks.stretches.items()
        }

    def _function(self, stretch: Stretch, name: str) -> Any:
        code = Code(self.module, name, [I64, *[POINTER] * 4], apart=True)
        block, first, run = stretch.block, stretch.first, list[Step]()
        for number, (op, step, _) in enumerate(block.steps[first : stretch.last], first):
            if isinstance(op, LdOp | StOp):
                self._add_run(code, run, stopped(point(block, number - len(run))))
                run = []
                self._add_access(code, op, stopped(point(block, number)))
            else:
                run.append(step)
        self._add_run(
            code, run, stopped(point(block, min(stretch.last, len(block.steps)) - len(run)))
        )
        if stretch.whole:
            self._add_ending(code, block)
        else:
            code.builder.ret(ir.Constant(I64, stopped(point(block, stretch.last))))
        return code.function

    # Arithmetic

    def _add_run(self, code: Code, steps: Sequence[Step], stop: int) -> None:
        """Steps on registers alone: none is done where a guard holds for a thread."""
        if not steps:
            return
        threads, indices, registers, *_ = code.arguments
        slots = sorted(self._touched(steps))
        pointers = [code.pointer(registers, slot) for slot in slots]
        name = f"{code.function.name}_{-stop}"
        effect, guarded = self._loop_of(f"{name}_run", steps, slots, guard=False)
        if guarded:
            check, _ = self._loop_of(f"{name}_check", steps, slots, guard=True)
            code.leave(code.call(check, threads, indices, *pointers) != 0, stop)
        code.call(effect, threads, indices, *pointers)

    def _touched(self, steps: Sequence[Step]) -> set[int]:
        """The registers of steps, and behind them the flags of those."""
        slots = set[int]()
        for step in map(bare, steps):
            assert isinstance(step, Pure | Moving)
            slots |= {*step.sources, *step.dests}
        return slots | {slot + self.blocks.count for slot in slots & self.blocks.loose}

    def _loop_of(
        self, name: str, steps: Sequence[Step], slots: Sequence[int], *, guard: bool
    ) -> tuple[Any, bool]:
        """The function of steps, or of whether a guard of theirs holds; whether they have any."""
        code = Code(self.module, name, [I64, POINTER, *[POINTER] * len(slots)], apart=True)
        threads, indices, *arrays = code.arguments
        for array in arrays:
            array.add_attribute("noalias")
        wrong = code.variable(I1, ir.Constant(I1, 0))
        with code.loop(threads) as index:
            lane = self._lane(code, indices, index)
            registers = LaneRegisters(
                code, lane, self.blocks, lambda slot: arrays[slots.index(slot)]
            )
            for step in steps:
                registers.run(step)
            if not guard:
                registers.store()
            else:
                total = code.builder.load(wrong, typ=I1)
                for condition in code.guards:
                    total = code.builder.or_(total, condition)
                code.builder.store(total, wrong)
        result = code.builder.load(wrong, typ=I1)
        code.builder.ret(code.builder.zext(result, I64))
        return code.function, bool(code.guards)

    def _lane(self, code: Code, indices: Any, index: Any) -> Any:
        if not self.indexed:
            return index
        return code.load(indices, np.int32, index).astype(np.int64).value

    # Endings

    def _add_ending(self, code: Code, block: CodeBlock) -> None:
        threads, indices, registers, points, env = code.arguments
        steps = len(block.steps)
        ending = block.ending
        if isinstance(ending, Fork) and ending.condition in self.blocks.loose:
            with code.loop(threads) as index:
                flags = code.pointer(registers, ending.condition + self.blocks.count)
                flag = code.load(flags, np.uint8, self._lane(code, indices, index))
                code.leave(flag != 0, stopped(point(block, steps)))
        for name, by in ((Env.TURNS, -1), (Env.EXECUTED, code.word(threads) * (steps + 1))):
            code.store(env, int(name), code.load(env, np.int64, int(name)) + by)
        if isinstance(ending, Jump):
            code.builder.ret(ir.Constant(I64, point(ending.target)))
            return
        assert isinstance(ending, Fork)
        then, other = (point(jump.target) for jump in (ending.then, ending.other))
        condition = code.pointer(registers, ending.condition)
        count = code.call(self._choose, threads, indices, condition, points, then, other)
        code.leave(count == code.word(threads), then)
        code.leave(count == 0, other)
        code.builder.ret(ir.Constant(I64, DIVERGED))

    def _choice(self) -> Any:
        """The function that says where each thread goes, and returns how many go one way."""
        code = Code(self.module, "choose", [I64, *[POINTER] * 3, I64, I64], apart=True)
        threads, indices, condition, points, then, other = code.arguments
        for array in (condition, points):
            array.add_attribute("noalias")
        total = code.variable(I64, ir.Constant(I64, 0))
        with code.loop(threads) as index:
            lane = self._lane(code, indices, index)
            goes = code.load(condition, bool, lane)
            code.store(points, lane, numpy.where(goes, code.word(then), code.word(other)))
            count = code.word(code.builder.load(total, typ=I64)) + goes.astype(np.int64)
            code.builder.store(count.value, total)
        code.builder.ret(code.builder.load(total, typ=I64))
        return code.function

    # Memory

    def _add_access(self, code: Code, op: LdOp | StOp, stop: int) -> None:
        threads, _, registers, _, env = code.arguments
        verb = "read" if isinstance(op, LdOp) else "write"
        key = memory_operand(op).is_shared, verb
        access = ThreadAccess(self, op, registers, env)
        number = ir.Constant(I64, self.blocks.number_of(op))
        if verb == "read":
            logged = code.load(env, np.int64, int(Env.LOGGED)) + code.word(threads) * VECTOR
            code.leave(logged > code.load(env, np.int64, int(Env.ROOM)), stop)
        accessing = partial(self._each, code, access)
        with_ = self._accesses
        for lane, address in accessing(stop):
            fine = code.call(with_.check[key], env, lane, address, access.size)
            code.leave(fine == 0, stop)
        if verb == "write":
            for lane, address in accessing():
                place = code.call(with_.place[key[0]], env, lane, address)
                access.store(code, lane, place)
            for lane, address in accessing():
                place = code.call(with_.place[key[0]], env, lane, address)
                code.leave(access.differs(code, lane, place, checked=not key[0]), stop)
        for lane, address in accessing():
            if verb == "read":
                access.load(code, lane, code.call(with_.place[key[0]], env, lane, address))
            code.call(with_.note[key], env, lane, address, access.size, number)

    def _each(
        self, code: Code, access: ThreadAccess, stop: int | None = None
    ) -> Iterator[tuple[Any, LaneWord]]:
        """Code for each thread that makes an access, with the address; of a load that one does not
        make the result is another register. Code before any access stops where operands are not
        defined."""
        threads, indices, *_ = code.arguments
        with code.loop(threads) as index:
            lane = self._lane(code, indices, index)
            registers = access.registers(code, lane)
            if stop is not None:
                for slot in access.operands:
                    code.leave(registers.flag(slot) != 0, stop)
            if access.predicate is None:
                yield lane, access.address(registers)
                return
            with code.where(registers.moved(access.predicate)):
                yield lane, access.address(registers)
            if access.otherwise is not None and stop is None:
                with code.where(~registers.moved(access.predicate)):
                    registers.write(access.data, registers.moved(access.otherwise))
                    registers.store()


class ThreadAccess:
    """An access of memory by one thread: `words` of so many bytes `width`."""

    def __init__(self, own: BlockCode, op: LdOp | StOp, pointers: Any, env: Any):
        blocks = own.blocks
        memory, _, self._offset = memory_operand(op)
        value = op.results[0] if isinstance(op, LdOp) else op.value
        self.width, self.env = op.access_bytes, env
        self.words = blocks.held[blocks.slots[value]].count
        self.size = self.width * self.words
        self.data, self._memory = blocks.slots[value], blocks.slots[memory]
        others = [op.predicate, op.otherwise if isinstance(op, LdOp) else None]
        self.predicate, self.otherwise = (
            None if one is None else blocks.slots[one] for one in others
        )
        self.operands = [blocks.slots[one] for one in op.operands]
        self._pointers, self._blocks = pointers, blocks

    def registers(self, code: Code, lane: Any) -> LaneRegisters:
        return LaneRegisters(
            code, lane, self._blocks, lambda slot: code.pointer(self._pointers, slot)
        )

    def address(self, registers: LaneRegisters) -> LaneWord:
        word = registers.moved(self._memory)
        moved = (word.astype(np.int64) + self._offset).astype(word.dtype)
        return moved.astype(np.int64)

    def load(self, code: Code, lane: Any, place: LaneWord) -> None:
        """Let the result have the words at a place."""
        registers, dtype = self.registers(code, lane), np.dtype(f"u{self.width}")
        pointer = code.builder.inttoptr(place.value, POINTER)
        words = [code.load(pointer, dtype, i) for i in range(self.words)]
        container = self._blocks.held[self.data]
        columns = [word.astype(container.dtype).value for word in words]
        registers.write(self.data, LaneWord(code, columns, container.dtype, 1 + (self.words > 1)))
        registers.store()

    def _stored(self, code: Code, lane: Any) -> list[LaneWord]:
        word, dtype = self.registers(code, lane).moved(self.data), np.dtype(f"u{self.width}")
        return [LaneWord(code, [value], word.dtype).astype(dtype) for value in word.columns]

    def store(self, code: Code, lane: Any, place: LaneWord) -> None:
        pointer = code.builder.inttoptr(place.value, POINTER)
        for number, word in enumerate(self._stored(code, lane)):
            code.store(pointer, number, word)

    def differs(self, code: Code, lane: Any, place: LaneWord, *, checked: bool) -> LaneWord:
        """True where another thread's word is there; where races are no errors that is fine."""
        pointer = code.builder.inttoptr(place.value, POINTER)
        result = code.word(0, bool)
        for number, word in enumerate(self._stored(code, lane)):
            result = result | (code.load(pointer, word.dtype, number) != word)
        return (
            result & (code.load(self.env, np.int64, int(Env.CHECKED)) != 0) if checked else result
        )
