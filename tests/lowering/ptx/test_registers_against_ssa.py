"""Random control flow, executed twice: as SSA values, and as the registers of its text. What both
store has to be the same, whatever was joined."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

import tilewright as tw
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp, EntryOp
from tilewright.dialects.ptx.data_movement import StOp
from tilewright.dialects.ptx.functions import RetOp
from tilewright.dialects.ptx.registers import ConstOp, ListGetOp, ListMakeOp
from tilewright.dialects.ptx.scalars import AddOp, SetpOp
from tilewright.dialects.ptx.types import RegType, reg
from tilewright.lowering.ptx.edges import edges_of
from tilewright.lowering.ptx.text import module_text

WORD = 1 << 32
STORES = 60
B32 = reg("b32")
PAIR = reg("b32", 2)


def kernel(seed: int) -> EntryOp:
    """Some blocks that branch anywhere but to the entry, with arguments and lists; every block
    stores something, and uses values of the blocks that dominate it."""
    pick = random.Random(seed)
    blocks = [Block(arg_types=[reg("b64"), B32])]
    for _ in range(pick.randint(1, 5)):
        blocks.append(Block(arg_types=pick.choices([B32, B32, PAIR], k=pick.randint(0, 4))))
    ways = {
        block: pick.sample(blocks[1:], min(pick.choice((1, 2, 2)), len(blocks) - 1))
        for block in blocks
    }
    above = dominators(blocks, ways)
    inside: dict[Block, list[SSAValue]] = {}
    for block in blocks:
        inside[block] = [each for each in block.args if each.type != reg("b64")]
        seen = [value for each in above[block] if each in inside for value in inside[each]]
        fill(block, seen, inside[block], pick)
    for block in blocks:
        seen = [value for each in above[block] for value in inside[each]]
        store(block, blocks[0], seen, pick)
        branch(block, ways[block], seen, pick)
    return EntryOp("k", [("p", "u64"), ("n", "u32")], Region(blocks))


def dominators(blocks: list[Block], ways: dict[Block, list[Block]]) -> dict[Block, list[Block]]:
    """The blocks that every path to a block passes, in order, itself last."""
    above = {block: set(blocks) for block in blocks} | {blocks[0]: {blocks[0]}}
    for _ in blocks:
        for block in blocks[1:]:
            before = [above[each] for each in blocks if block in ways[each]]
            above[block] = {block} | (set.intersection(*before) if before else set(blocks))
    return {block: [each for each in blocks if each in above[block]] for block in blocks}


def value_of(type_: RegType, seen: list[SSAValue], block: Block, pick: random.Random) -> SSAValue:
    """One of the values in sight of that type, or a new one."""
    fits = [each for each in seen if each.type == type_]
    if fits and pick.random() < 0.85:
        return pick.choice(fits)
    constants = [ConstOp(pick.randrange(100), "b32") for _ in range(type_.count.data)]
    block.add_ops(constants)
    if type_ == B32:
        return constants[0].results[0]
    block.add_op(made := ListMakeOp([each.results[0] for each in constants], type_))
    return made.results[0]


def fill(block: Block, seen: list[SSAValue], mine: list[SSAValue], pick: random.Random) -> None:
    for _ in range(pick.randint(1, 4)):
        sight = [*seen, *mine]
        kind = pick.random()
        if kind < 0.2:
            op: Operation = ListMakeOp([value_of(B32, sight, block, pick) for _ in "ab"], PAIR)
        elif kind < 0.4:
            op = ListGetOp(value_of(PAIR, sight, block, pick), pick.randint(0, 1))
        else:
            op = AddOp("s32", [value_of(B32, sight, block, pick) for _ in "ab"])
        block.add_op(op)
        mine.append(op.results[0])


def store(block: Block, first: Block, seen: list[SSAValue], pick: random.Random) -> None:
    for value in pick.sample(seen, min(2, len(seen))):
        block.add_op(StOp("global", "b32", first.args[0], value))


def branch(block: Block, ways: list[Block], seen: list[SSAValue], pick: random.Random) -> None:
    passed = [[value_of(each.type, seen, block, pick) for each in way.args] for way in ways]  # type: ignore[arg-type]
    if pick.random() < 0.1:
        block.add_op(RetOp())
    elif len(ways) == 1:
        block.add_op(BraOp(ways[0], passed[0]))
    else:
        compared = [value_of(B32, seen, block, pick) for _ in "ab"]
        block.add_op(test := SetpOp("lt.u32", compared))
        block.add_op(CondBraOp(test.results[0], *ways, *passed))


def stores_of_values(entry: EntryOp) -> Iterator[list[int]]:
    """What the SSA form stores."""
    block: Block | None = entry.body.blocks[0]
    held: dict[SSAValue, list[int]] = {entry.body.blocks[0].args[1]: [40]}
    while block is not None:
        for op in block.ops:
            given = [held.get(each, [0]) for each in op.operands]
            match op:
                case ConstOp():
                    held[op.results[0]] = [op.bits.value.data]
                case AddOp():
                    held[op.results[0]] = [(given[0][0] + given[1][0]) % WORD]
                case SetpOp():
                    held[op.results[0]] = [int(given[0][0] < given[1][0])]
                case ListMakeOp():
                    held[op.results[0]] = [word for part in given for word in part]
                case ListGetOp():
                    held[op.results[0]] = [given[0][op.position.value.data]]
                case StOp():
                    yield given[1]
                case _:
                    ways = edges_of(op)
                    if isinstance(op, CondBraOp):
                        ways = ways[:1] if given[0][0] else ways[1:]
                    for way in ways:
                        passed = [held[each] for each in way.values]
                        held |= dict(zip(way.dest.args, passed, strict=True))
                    block = ways[0].dest if ways else None


def stores_of_text(text: str) -> Iterator[list[int]]:
    """What the text stores."""
    body = [line.strip() for line in text[text.index("{\n") + 2 :].splitlines()]
    code = [line for line in body if line and not line.startswith((".reg", "//", "}"))]
    labels = {line[:-1]: place for place, line in enumerate(code) if line.endswith(":")}
    held = {"%n": 40}

    def read(name: str) -> int:
        return held.get(name, 0) if name.startswith("%") else int(name) % WORD

    place = 0
    while place < len(code):
        line = code[place].rstrip(";")
        place += 1
        guard = re.match(r"@(!?)(%p\d+) ", line)
        if guard is not None:
            if bool(held[guard[2]]) is bool(guard[1]):
                continue
            line = line[guard.end() :]
        name, _, rest = line.partition(" ")
        into, *given = re.findall(r"%\w+|-?\b\d+\b|\$\w+|\[\w+\]", rest) or [""]
        match name.split(".")[0]:
            case "ld":
                held[into] = 40 if "n" in given[0].removeprefix("[k_") else 0
            case "mov":
                held[into] = read(given[0])
            case "add":
                held[into] = (read(given[0]) + read(given[1])) % WORD
            case "setp":
                held[into] = int(read(given[0]) < read(given[1]))
            case "st":
                yield [read(each) for each in given]
            case "bra":
                place = labels[into]
            case "ret":
                return
            case _:
                assert name.endswith(":"), line


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_registers_hold_what_the_values_are(start: int) -> None:
    for seed in range(start, start + 50):
        entry = kernel(seed)
        module = ModuleOp([entry])
        module.verify()
        text = module_text(module)
        values = list(islice(stores_of_values(entry), STORES))
        assert list(islice(stores_of_text(text), STORES)) == values, (seed, text)


@pytest.mark.parametrize("seed", [*range(3), 185])
def test_the_interpreter_finds_each_where_the_text_has_it(seed: int) -> None:
    """Of 185 a name that nothing reads has the register of another value."""
    entry = kernel(seed)
    args = [np.zeros(2, np.uint32), 40]
    try:
        [left] = tw.interpret(ModuleOp([entry]), grid=(1,), block=(1,), args=args, arch="sm_80")
    except tw.ExecutionError as error:
        assert "is reached for ever" in str(error)
        return
    stored = [0, 0]
    for words in stores_of_values(entry):
        stored[: len(words)] = words
    assert list(left) == stored
