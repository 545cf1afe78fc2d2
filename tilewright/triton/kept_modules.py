"""The Tile IR of kernels that ran on the CPU, in Triton's folder of such, for the next process: ops
as rows of their parts, pickled. Triton loads machine code from that folder."""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright import xdsl_patches
from tilewright.dialects.collection import no_collection
from tilewright.launch.compile_cache import key_of
from tilewright.pipeline import TRITON_STAGES, run_pipeline
from tilewright.source.parsing import default_context, parse_module
from tilewright.triton.kept_texts import keep

_Row = tuple[Any, ...]
_NOT_WHOLE = (OSError, ValueError, pickle.PickleError, AttributeError, TypeError, RecursionError)
_LOOP = re.compile(rb"scf\.(for|while)")
_TRANSLATION = TRITON_STAGES[:1]
"""Which makes what verifies: texts that are read elsewhere are verified behind it."""


def kept_module(code: bytes, name: str) -> ModuleOp:
    """The Tile IR of a text of TTIR that Triton has verified: as it was kept, else made and kept.
    Tiles of pointers are tiles of views there where there are loops, whose launches take long.
    Raises CompileError."""
    knobs: Any = import_module("triton").knobs
    path = Path(knobs.cache.dir, f"{key_of(code, xdsl=_xdsl())}.tileir")
    with no_collection(len(code)):
        if not knobs.compilation.always_compile:
            with suppress(*_NOT_WHOLE):
                digest, rows = path.read_bytes().split(b"\n", 1)
                if digest.decode() == hashlib.sha256(rows).hexdigest():
                    module: Any = _op(pickle.loads(rows), [])
                    return module
        xdsl_patches.install()
        module = parse_module(code.decode(), name)
        # Of which no file is: its ops stand in Python.
        run_pipeline(module, "", stages=TRITON_STAGES if _LOOP.search(code) else _TRANSLATION)
    with suppress(*_NOT_WHOLE):
        rows = pickle.dumps(_row(module, {}), pickle.HIGHEST_PROTOCOL)
        keep(path, hashlib.sha256(rows).hexdigest().encode() + b"\n" + rows)
    return module


@cache
def _xdsl() -> str:
    return version("xdsl")


def _row(op: Operation, numbers: dict[SSAValue, int]) -> _Row:
    """The parts of an op, whose operands are numbers of the values before them."""
    operands, results = [numbers[value] for value in op.operands], _defined(op.results, numbers)
    regions = [
        [(_defined(block.args, numbers), [_row(inner, numbers) for inner in block.ops])
         for block in region.blocks]
        for region in op.regions
    ]  # fmt: skip
    location = None if op.location is UNKNOWN_LOC else op.location
    return op.name, operands, results, op.properties, op.attributes, location, regions


def _defined(values: Sequence[SSAValue], numbers: dict[SSAValue, int]) -> list[Any]:
    numbers.update(zip(values, range(len(numbers), len(numbers) + len(values)), strict=True))
    return [(value.type, value.name_hint) for value in values]


def _op(row: _Row, values: list[Any]) -> Operation:
    """The op of a row, behind others that defined values."""
    name, operands, results, properties, attributes, location, regions = row
    first, taken = len(values), [values[number] for number in operands]
    values += results  # until they are there: the numbers of those in regions follow
    op = _class_of(name).create(
        operands=taken,
        result_types=[type_ for type_, _ in results],
        properties=properties,
        attributes=attributes,
        regions=[Region([_block(block, values) for block in region]) for region in regions],
    )
    op.location = location or UNKNOWN_LOC
    values[first : first + len(results)] = _named(op.results, results)
    return op


def _block(parts: tuple[list[Any], list[_Row]], values: list[Any]) -> Block:
    arguments, rows = parts
    block = Block(arg_types=[type_ for type_, _ in arguments])
    values += _named(block.args, arguments)
    for row in rows:
        block.add_op(_op(row, values))
    return block


def _named(values: Sequence[SSAValue], parts: list[Any]) -> Sequence[SSAValue]:
    for value, (_, hint) in zip(values, parts, strict=True):
        value.name_hint = hint
    return values


@cache
def _class_of(name: str) -> type[Operation]:
    return default_context().get_op(name)
