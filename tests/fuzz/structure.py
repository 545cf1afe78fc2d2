"""Mutants of modules, which parse more often than those of text: ops twice, elsewhere or gone,
operands swapped, other types, attributes at the edges of what is meant."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from io import StringIO
from typing import Any

from mutate import WORDS
from xdsl.dialects.builtin import (
    ArrayAttr,
    Float16Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    f32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute

from tilewright.source.parsing import parse_module
from tilewright.source.printing import ShortPrinter

Ops = Sequence[Operation]
Edit = Callable[[random.Random, Ops, Sequence[Attribute]], None]

NAMES = (
    "", " ", "a b;", "a\0b", "a\nb", '"', "é漢", "%r1", "WARP_SZ", "x" * 3000, "\\", "$", "0", ".",
)  # fmt: skip
"""What nobody calls a thing."""
INTEGERS = (
    -1,
    0,
    1,
    2,
    *((1 << bits) + near for bits in (7, 16, 31, 32, 63, 64) for near in (-1, 0)),
)


@cache
def _module(text: str) -> ModuleOp:
    return parse_module(text)


@cache
def attributes(texts: Sequence[str]) -> tuple[Attribute, ...]:
    """The attributes and types of modules, once each."""
    ops = [op for text in texts for op in _module(text).walk()]
    values = (value for op in ops for value in (*op.properties.values(), *op.attributes.values()))
    return tuple(dict.fromkeys((*values, *(result.type for op in ops for result in op.results))))


def text_of(module: ModuleOp, *, generic: bool = False) -> str:
    """A module as text."""
    out = StringIO()
    ShortPrinter(out, print_generic_format=generic).print_op(module)
    return out.getvalue()


def mutant_module(rng: random.Random, text: str, others: Sequence[Attribute]) -> ModuleOp:
    """The module of a text after one to three edits; `others` are attributes of the corpus."""
    module = _module(text).clone()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        ops = [op for op in module.walk() if op is not module]
        if ops:
            rng.choice(EDITS)(rng, ops, others)
    return module


def _inner(rng: random.Random, ops: Ops) -> Operation:
    """An op, mostly one without a body."""
    plain = [op for op in ops if not op.regions]
    return rng.choice(plain if plain and rng.random() < 0.8 else ops)


def _values(op: Operation) -> list[SSAValue]:
    """The values of the ops and blocks beside an op and around it."""
    values: list[SSAValue] = []
    block = op.parent
    while block is not None:
        values += [*block.args, *(result for other in block.ops for result in other.results)]
        block = block.parent_block()
    return values


# Edits


def _duplicate(rng: random.Random, ops: Ops, others: Sequence[Attribute]) -> None:
    op = _inner(rng, ops)
    place = rng.choice(ops) if rng.random() < 0.2 else op
    if place.parent is not None and not op.is_ancestor(place):
        copy = op.clone()
        place.parent.insert_op_after(copy, place)
        for old, new in zip(op.results, copy.results, strict=True):
            if rng.random() < 0.5:
                old.replace_uses_with_if(new, lambda use: use.operation is not copy)


def _delete(rng: random.Random, ops: Ops, others: Sequence[Attribute]) -> None:
    op = _inner(rng, ops)
    alike = {value.type: value for value in _values(op) if value.owner is not op}
    for result in op.results:
        if result.first_use is not None:
            if (other := alike.get(result.type)) is None:
                return
            result.replace_all_uses_with(other)
    op.detach()
    op.erase(safe_erase=False)


def _move(rng: random.Random, ops: Ops, others: Sequence[Attribute]) -> None:
    op, place = _inner(rng, ops), rng.choice(ops)
    beside = list(op.parent.ops) if op.parent is not None and rng.random() < 0.8 else [place]
    place = rng.choice(beside)
    if place.parent is not None and not op.is_ancestor(place):
        op.detach()
        place.parent.insert_op_before(op, place)


def _swap(rng: random.Random, ops: Ops, others: Sequence[Attribute]) -> None:
    several = [op for op in ops if len(op.operands) > 1]
    if several:
        op = rng.choice(several)
        operands = list(op.operands)
        rng.shuffle(operands)
        op.operands = operands


def _operand(rng: random.Random, ops: Ops, others: Sequence[Attribute]) -> None:
    """Another value, mostly of the same type; one more, or one less."""
    op = _inner(rng, ops)
    values, operands = _values(op), list(op.operands)
    if not values:
        return
    place = rng.randrange(len(operands) + 1)
    if place == len(operands):
        operands = [*operands, rng.choice(values)] if rng.random() < 0.3 else operands[:-1]
    else:
        alike = [value for value in values if value.type == operands[place].type]
        operands[place] = rng.choice(alike if rng.random() < 0.7 and alike else values)
    op.operands = operands


def _type(rng: random.Random, ops: Ops, others: Sequence[Attribute]) -> None:
    op = _inner(rng, ops)
    values = [*op.results, *(arg for region in op.regions for block in region.blocks
                             for arg in block.args)]  # fmt: skip
    if values:
        value = rng.choice(values)
        types = [type_ for type_ in others if isinstance(type_, TypeAttribute)]
        alike = [type_ for type_ in types if type(type_) is type(value.type)]
        value._type = rng.choice(alike if alike and rng.random() < 0.7 else types)  # type: ignore


def _attribute(rng: random.Random, ops: Ops, others: Sequence[Attribute]) -> None:
    """A property changed, replaced, dropped or added."""
    op = _inner(rng, ops)
    named = op.properties if op.properties and rng.random() < 0.9 else op.attributes
    name = rng.choice(list(named)) if named else rng.choice(("value", "nvvm.minctasm", "sym_name"))
    if name in named and rng.random() < 0.1:
        del named[name]
    elif name in named and rng.random() < 0.7:
        named[name] = _edited(rng, named[name])
    else:
        alike = [other for other in others if type(other) is type(named.get(name))]
        named[name] = rng.choice(alike if alike and rng.random() < 0.7 else others)


def _edited(rng: random.Random, attribute: Attribute) -> Attribute:
    """An attribute like another, with a number or a word at the edge of what is meant."""
    match attribute:
        case IntegerAttr(value=value, type=type_):
            near = (value.data + 1, value.data - 1, value.data * 2, -value.data)
            number = rng.choice((*near, *INTEGERS))
            if isinstance(type_, IntegerType):
                number %= 1 << type_.bitwidth
            return IntegerAttr(number, type_)
        case FloatAttr():
            return FloatAttr(rng.choice((0.0, -0.0, 1e38, float("inf"), float("nan"))), f32)
        case StringAttr():
            return StringAttr(rng.choice((*NAMES, *WORDS[:-4], attribute.data + "x")))
        case SymbolRefAttr():
            return SymbolRefAttr(rng.choice(NAMES))
        case ArrayAttr(data=parts) if parts:
            edited = list(parts)
            place = rng.randrange(len(edited))
            edited[place] = _edited(rng, edited[place])
            return ArrayAttr(rng.choice((edited, edited[:-1], edited * 2)))
        case _:
            return rng.choice((UnitAttr(), Float16Type(), attribute))


def _name(rng: random.Random, ops: Ops, others: Sequence[Attribute]) -> None:
    named = [op for op in ops if isinstance(op.properties.get("sym_name"), StringAttr)]
    if named:
        rng.choice(named).properties["sym_name"] = StringAttr(rng.choice(NAMES))


def _block(rng: random.Random, ops: Ops, others: Sequence[Attribute]) -> None:
    """A block more, less, split, or with another order of arguments."""
    blocks = [block for op in ops for region in op.regions for block in region.blocks]
    if not blocks:
        return
    block = rng.choice(blocks)
    region = block.parent
    assert isinstance(region, Region)
    match rng.randrange(4):
        case 0:
            region.add_block(Block(arg_types=block.arg_types))
        case 1 if len(region.blocks) > 1 and block.first_use is None:
            region.detach_block(block)
        case 2 if inside := list(block.ops):
            block.split_before(rng.choice(inside))
        case _ if others:
            types: list[Any] = [other for other in others if isinstance(other, TypeAttribute)]
            block.insert_arg(rng.choice(types), rng.randrange(len(block.args) + 1))


def _regions(rng: random.Random, ops: Ops, others: Sequence[Attribute]) -> None:
    """The bodies of an op in another order, one more, or one less."""
    with_bodies = [op for op in ops if op.regions]
    if with_bodies:
        op = rng.choice(with_bodies)
        match rng.randrange(3):
            case 0 if len(op.regions) > 1:
                op.regions = tuple(reversed(op.regions))
            case 1:
                op.add_region(Region(Block()))
            case _:
                op.detach_region(rng.randrange(len(op.regions)))


EDITS: tuple[Edit, ...] = (
    _duplicate, _duplicate, _delete, _delete, _move, _move, _swap, _swap, _operand, _operand,
    _operand, _type, _type, _attribute, _attribute, _attribute, _attribute, _name, _block, _regions,
)  # fmt: skip
