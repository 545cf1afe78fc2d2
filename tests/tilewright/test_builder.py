"""Attributes by their text and ops by their names: what front ends are built of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_levels import at_levels
from xdsl.builder import Builder
from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import FileLineColLoc, i32
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

import tilewright as tw
from tilewright.builder import (
    array_type,
    attribute,
    beneath,
    block_id,
    building,
    coord,
    cute,
    for_loop,
    if_then,
    kernel,
    leaves,
    lines_of,
    located,
    thread_id,
)  # fmt: skip

MMA = "!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32)>>"
TILE = '!cute.memref<bf16, smem, align<16>, "(16,16):(16,1)">'


def value(type_: object) -> SSAValue:
    return AnyOp(result_types=[type_]).results[0]  # type: ignore[list-item]


def test_attributes_are_read_once():
    assert attribute(MMA) is attribute(MMA) and str(attribute(MMA)) == MMA
    assert attribute("i32") == i32


@pytest.mark.parametrize("text, words", [
    ("!cute.nothing", "'cute.nothing' is not registered"),
    ('!cute.layout<"(4,8">', "expected ',' or ')'"),
    (MMA.replace("16x8x16", "16x8x12"), "nearest legal: 16x8x8, 16x8x16"),
    ("i32 i32", "expected one attribute in 'i32 i32'"),
    ('!cute.memref<f32, nowhere, "4:1">', "expected gmem, smem, dsmem, rmem, tmem, got nowhere"),
])  # fmt: skip
def test_wrong_attributes(text: str, words: str):
    with pytest.raises(tw.CompileError, match=re.escape(words)):
        attribute(text)


def test_results_are_inferred():
    mma, thread = cute("make_tiled_mma", MMA).results[0], value(i32)
    part = cute("tiled.mma.partition", mma, value(attribute(TILE)), thread, operand_id="A")
    part.verify()
    assert part.name == "cute.tiled.mma.partition"
    assert str(part.results[0].type).startswith(
        '!cute.memref<bf16, smem, align<4>, "((2,2,2),1,1):'
    )


def test_ops_of_a_type_and_ops_with_constructors():
    source = cute("memref.alloca", attribute('!cute.memref<f32, rmem, "4:1">')).results[0]
    target = value(attribute('!cute.memref<f32, gmem, align<16>, "4:1">'))
    copy = cute("copy", None, source, target)
    copy.verify()
    assert str(copy).startswith("cute.copy(")


def test_properties_are_numbers_and_words():
    registers = value(attribute('!cute.memref<f32, rmem, "4:1">'))
    reduce = cute("reduce", registers, registers, kind="add", lanes=[1, 2])
    reduce.verify()
    assert str(reduce).startswith("cute.reduce<add, [1, 2]> (")
    tiles = leaves("shape", "(?,4)", value(i32)).results[0]
    schedule = cute("tile_scheduler.coord", value(i32), tiles, swizzle=8)
    schedule.verify()
    assert "cute.tile_scheduler.coord<8> (" in str(schedule)


def test_operands_that_an_op_does_not_take():
    with pytest.raises(ValueError, match=r"'cute.make_view' expected a tensor, got .*layout"):
        layout = value(attribute('!cute.layout<"4:1">'))
        cute("make_view", layout, layout)
    words = "expected an op of the cute dialect, got 'cute.tile'; nearest legal: cute.make_tile"
    with pytest.raises(ValueError, match=words):
        cute("tile")


@pytest.mark.parametrize("name, keyword, words", [
    ("tiled.mma.partition", {"operand": "A"}, "expected operand_id, got operand; nearest"),
    ("local_tile", {"projection": "A"}, "expected proj, got projection; nearest legal: proj"),
    ("copy", {"bonds": 3}, "expected tiled, source, destination, bounds, pipeline, mask, cache_h"),
    ("make_tma_copy", {"atom": "load"}, "expected a TMA atom, got load"),
    ("make_tma_copy", {}, "expected atom to be a TMA atom, got none"),
])  # fmt: skip
def test_keywords_that_an_op_does_not_take(name: str, keyword: dict[str, Any], words: str):
    tensor = value(attribute('!cute.memref<f32, gmem, align<16>, "4:1">'))
    with pytest.raises(tw.CompileError, match=re.escape(f"'cute.{name}' {words}")):
        cute(name, tensor, tensor, tensor, **keyword)


def test_coordinates():
    i = value(i32)
    assert str(coord(i, None, 3).results[0].type) == '!cute.coord<"(?,_,3)">'
    assert coord(i, None).name == "cute.make_coord" and list(coord(i, 1).operands) == [i]
    assert coord(None, 0).name == "cute.static"
    shape = leaves("shape", "(128,?{div=4})", i)
    shape.verify()
    assert str(shape.results[0].type) == '!cute.shape<"(128,?{div=4})">'


@pytest.mark.parametrize("element, rank, text", [
    ("bf16", 2, '!cute.memref<bf16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">'),
    ("f32", 1, '!cute.memref<f32, gmem, align<16>, "(?{div=4}):(1)">'),
    ("i8", 3,
     '!cute.memref<i8, gmem, align<16>, "(?,?,?{div=16}):(?{i64 div=16},?{i64 div=16},1)">'),
])  # fmt: skip
def test_types_of_arrays(element: str, rank: int, text: str):
    assert str(array_type(element, rank)) == text


COPY = (
    '!cute.tiled_copy<#cute_nvgpu.copy<universal, f32, 128>, layout_tv = "((4,8),4):((32,1),8)", '
    'tiler_mn = "[8;16]">'
)


@at_levels("tile", "atom", "ptx")
def test_a_kernel_that_copies_a_matrix(level: Any):
    """It runs at every level, and only as far as the matrix goes."""
    module, body = kernel("copy", [array_type("f32", 2)] * 2, 32)
    end = Builder(InsertPoint.before(body.last_op))  # type: ignore[arg-type]

    def emit(op: Operation) -> Any:
        end.insert(op)
        return op.results[0] if op.results else None

    wide = emit(gpu.ThreadIdOp(gpu.DimensionAttr(gpu.DimensionEnum.X)))
    thread = emit(arith.IndexCastOp(wide, i32))
    tiler, origin, copy = (
        emit(op) for op in (leaves("tile", "[8;16]"), coord(0, 0), cute("make_tiled_copy", COPY))
    )
    shape = emit(cute("get_shape", body.args[0]))
    identity = emit(cute("make_identity_tensor", shape))
    source, target, places = (
        emit(cute(f"tiled.copy.partition_{side}", copy, tile, thread))
        for side, tile in zip(
            "SDS",
            [emit(cute("local_tile", x, tiler, origin)) for x in (*body.args, identity)],
            strict=True,
        )
    )
    held = emit(cute("make_fragment_like", source))
    emit(cute("copy", copy, source, held, bounds=(places, shape)))
    emit(cute("copy", copy, held, target, bounds=(places, shape)))
    x, y = np.arange(60, dtype=np.float32).reshape(5, 12), np.full((5, 12), -1, np.float32)
    found = tw.interpret(module, grid=(1,), block=(32,), args=[x, y], level=level)[1]
    assert (found == x).all()


def test_ops_are_located_at_the_line_that_made_them():
    op = cute("memref.alloca", '!cute.memref<f32, rmem, "4:1">')
    location = op.location
    assert isinstance(location, FileLineColLoc)
    line = Path(__file__).read_text().splitlines()[location.line.data - 1]
    assert location.filename.data == __file__
    assert line[location.column.data - 1 :].startswith('cute("memref.alloca"')


@beneath
def of_a_front_end(*operands: Any) -> Operation:
    return next(cute("memref.load", *given) for given in [operands])


def test_a_front_end_has_no_lines():
    registers = cute("memref.alloca", '!cute.memref<f32, rmem, "(4):(1)">')
    op = of_a_front_end(registers, coord(0))
    with pytest.raises(tw.CompileError, match=r"expected 2 arguments .*; missing: coord") as caught:
        of_a_front_end(registers)
    lines = Path(__file__).read_text().splitlines()
    assert isinstance(op.location, FileLineColLoc)
    assert "op = of_a_front_end(" in lines[op.location.line.data - 1]
    assert caught.value.diagnostic.text == "        of_a_front_end(registers)"


@at_levels("tile", "ptx")
def test_loops_branches_and_threads(level: Any):
    """Each thread of each block sums so many steps, the odd ones of 10 times as much."""
    vector = attribute('!cute.memref<i32, gmem, "(?,?):(?,1)">')
    module, body = kernel("sums", [vector, i32], 4)
    with building(body):
        thread, block = thread_id(), block_id("x")
        ten, one, zero = (located(arith.ConstantOp.from_int_and_width(n, 32)).result
                          for n in (10, 1, 0))  # fmt: skip
        odd = arith.CmpiOp(arith.AndIOp(thread, one), zero, "ne").result
        factor = if_then(odd, lambda: [ten], lambda: [one])[0]

        def step(i: SSAValue, total: SSAValue) -> list[SSAValue]:
            return [arith.AddiOp(total, arith.MuliOp(i, factor)).result]

        (total,) = for_loop(body.args[1], step, zero)
        if_then(odd, lambda: for_loop(2, lambda _: None))
        cute("memref.store", total, body.args[0], coord(block, thread))
    (sums,) = tw.interpret(module, grid=(2,), block=(4,), args=[np.zeros((2, 4), np.int32), 5],
                           level=level)  # fmt: skip
    assert sums.tolist() == [[10, 100, 10, 100]] * 2


def test_wrong_operands_are_reported_at_the_line():
    with pytest.raises(tw.CompileError, match=r"expected a !cute\.memref") as caught:
        cute("memref.load", value(i32), value(i32))
    assert caught.value.diagnostic.file == __file__
    assert 'cute("memref.load", value(i32)' in str(caught.value)


def test_lines_of_a_kernel_count_whoever_builds():
    def front_end() -> Operation:
        return located(arith.ConstantOp.from_int_and_width(1, 32))

    with lines_of(front_end):
        op = front_end()
    assert isinstance(op.location, FileLineColLoc)
    with pytest.raises(tw.CompileError, match="nothing of the kind") as caught, lines_of(front_end):
        raise ValueError("nothing of the kind")
    assert 'raise ValueError("nothing of the kind")' in str(caught.value)
