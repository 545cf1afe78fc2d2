"""Loads, stores, atomic operations, copies of matrices and of boxes, as ops."""

import re
from dataclasses import replace
from functools import cache
from typing import Any

from xdsl.dialects.builtin import UnitAttr

from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import matrix_copies
from tilewright.dialects.cute_nvgpu.atoms.operands import matrix_copy_operands
from tilewright.dialects.cute_nvgpu.lattice import tma
from tilewright.dialects.cute_nvgpu.lattice.atomics import INSTRUCTIONS
from tilewright.dialects.cute_nvgpu.lattice.data_movement import (
    ACCESS_TYPES,
    CP_ASYNC,
    LOADS,
    SPACES,
    STORES,
    WEAK,
)
from tilewright.dialects.cute_nvgpu.lattice.multimem import MULTIMEM
from tilewright.dialects.cute_nvgpu.lattice.operand_text import read
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF
from tilewright.dialects.ptx import atomics, bulk_copy, data_movement, matrix_copy, multimem
from tilewright.lowering.ptx.parsing.instructions import by_fields, reads
from tilewright.lowering.ptx.parsing.names import Symbol
from tilewright.lowering.ptx.parsing.reader import Reader, ReadingRule
from tilewright.lowering.ptx.parsing.ssa import Variable

_SPACE = r"global|shared::cluster|shared"
_ACCESS = re.compile(
    rf"(?:ld|st)(?:\.(?P<semantics>weak|(?:relaxed|acquire|release)\.\w+))?\.(?P<space>{_SPACE})"
    r"(?:\.v(?P<count>\d))?\.(?P<type>\w+)"
)
_ATOMIC = re.compile(rf"\w+\.(?P<semantics>\w+\.\w+)\.(?P<space>{_SPACE})\.(?P<form>.*)")


@reads("ld", "st")
def _access(mnemonic: str) -> ReadingRule | None:
    name, *_, type_ = mnemonic.split(".")
    access = type_ if type_ in ACCESS_TYPES else f"b{type_[1:]}"
    if access not in ACCESS_TYPES:
        return None
    if ".param." in mnemonic:
        return _resizing(ReadingRule(_parameter if name == "ld" else _argument), type_)
    match = _ACCESS.fullmatch(mnemonic)
    if match is None:
        return None
    op, rows = (data_movement.LdOp, LOADS) if name == "ld" else (data_movement.StOp, STORES)
    space, semantics = match["space"], match["semantics"] or WEAK
    properties = {"space": space, "access": access, "semantics": semantics}
    forms = rows[0].operands(ACCESS_TYPES[access], int(match["count"] or 1))
    return _resizing(by_fields(op, properties, forms, SPACES.get(space, "b32")), type_)


def _resizing(rule: ReadingRule, type_: str) -> ReadingRule:
    """The rule of an access of a type, or of a conversion, whose registers may be wider."""

    def read(reader: Reader, operands: str) -> None:
        reader.resizes = type_
        rule.read(reader, operands)
        reader.resizes = ""

    return replace(rule, read=read, kind=type_ if type_[0] == "f" else "")


def _parameter(reader: Reader, operands: str) -> None:
    dest, source = read(operands)
    reader.give(dest.text, reader.parameter(source))


def _argument(reader: Reader, operands: str) -> None:
    """A part of a parameter of a function that is called, or of its result."""
    dest, source = read(operands)
    symbol = reader.scope.find(dest.items[0].text)
    if not isinstance(symbol, Symbol) or symbol.space != "param":
        raise reader.fail(f"expected a parameter, got {dest.text}")
    type_ = reader.resizes
    value = reader.take(source.text, type_)
    part = symbol.parts.setdefault(dest.value, Variable(REGISTER_OF[type_]))
    reader.ssa.write(reader.block, part, value)


@reads("atom", "red")
def _atomic(mnemonic: str) -> ReadingRule | None:
    if (row := INSTRUCTIONS.get(mnemonic)) is None:
        return None
    match = _ATOMIC.fullmatch(mnemonic)
    assert match is not None
    op = atomics.AtomOp if mnemonic.startswith("atom") else atomics.RedOp
    return by_fields(op, match.groupdict(), row.operands, SPACES[match["space"]])


@reads("multimem")
def _multimem(mnemonic: str) -> ReadingRule | None:
    _, name, form = mnemonic.split(".", 2)
    if (row := MULTIMEM.get(f"{name}.{form}")) is None:
        return None
    ops = multimem.MultimemLoadReduceOp, multimem.MultimemStoreOp, multimem.MultimemReduceOp
    op = next(op for op in ops if op.name == f"ptx.multimem.{name}")
    return by_fields(op, {"form": form}, row.operands, "b64")


@reads("ldmatrix", "stmatrix")
def _matrix_copy(mnemonic: str) -> ReadingRule | None:
    if (copy := matrix_copies().get(mnemonic)) is None:
        return None
    op = matrix_copy.LdmatrixOp if copy.row.op == "ldmatrix" else matrix_copy.StmatrixOp
    properties = {"form": copy.row.form, "trans": copy.trans}
    return by_fields(op, properties, matrix_copy_operands(copy))


@cache
def _copies() -> dict[str, tuple[type[bulk_copy.TensorCopyOp], tma.TensorCopyRow]]:
    ops = bulk_copy.TensorLoadOp, bulk_copy.TensorStoreOp, bulk_copy.TensorReduceOp
    rows = [(op, row) for op in ops for row in vars(op)["ROWS"]]
    return {mnemonic: (op, row) for op, row in rows for mnemonic in row.forms}


@reads("cp")
def _copy(mnemonic: str) -> ReadingRule | None:
    for cache_, _ in CP_ASYNC.sizes.items():
        if mnemonic == CP_ASYNC.mnemonic(cache_):
            return by_fields(data_movement.CpAsyncOp, {"cache": cache_}, CP_ASYNC.operands(cache_))
    if mnemonic not in _copies():
        return None
    op, row = _copies()[mnemonic]
    properties = dict[str, Any]()
    if row is tma.TENSOR_LOAD_PAIR:
        properties["pair"] = UnitAttr()
    if op is bulk_copy.TensorReduceOp:
        properties["kind"] = next(k for k, of in tma.TENSOR_REDUCE.items() if of is row)
    return by_fields(op, properties, row.forms[mnemonic])
