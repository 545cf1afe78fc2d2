"""Copies to and from tensor memory, of views whose own elements share registers or cells."""

from __future__ import annotations

import numpy as np
from draw import Draw
from program import Expected, Program, Refused
from tile_levels import kernel, memref

THREADS, BLOCK, BLOCKS = 128, 8, 4
"""A thread has a lane; an instruction moves a block of 8 columns."""
SIZE = BLOCK * BLOCKS
COPIES = {"give": "tmem_store", "take": "tmem_load"}


def view_tensor_memory(draw: Draw) -> Program | Refused:
    """Some copies between registers and a tensor in tensor memory, blocks in any order."""
    given = draw.generator().integers(-99, 100, (THREADS, SIZE)).astype(np.float32)
    registers, cells = given.copy(), given.copy()
    lines, refused = list[str](), None
    for number in range(draw.number(1, 6)):
        count, takes = draw.number(1, BLOCKS), draw.chance(50)
        in_cells, in_registers = (draw.number(0, (BLOCKS - 1) // max(count - 1, 1)) for _ in "ab")
        lines += _copy(f"%o{number}_", takes, count, in_cells, in_registers)
        source, to = (cells, registers) if takes else (registers, cells)
        from_, into = (in_cells, in_registers) if takes else (in_registers, in_cells)
        if count > 1 and not into:
            refused = "whose elements lie apart"
            break
        read = [source[:, BLOCK * from_ * i :][:, :BLOCK].copy() for i in range(count)]
        for i, block in enumerate(read):
            to[:, BLOCK * into * i :][:, :BLOCK] = block
    row = memref("f32", "gmem", f"({THREADS},{SIZE}):({SIZE},1)", 16)
    text = kernel(f"%x: {row}, %y: {row}, %z: {row}", "\n".join(_body(lines)), THREADS)
    zeros = np.zeros_like(given)
    program = Program(
        text, [given, zeros, zeros.copy()], THREADS,
        {1: Expected(registers), 2: Expected(cells)}, arch="sm_100a",
    )  # fmt: skip
    return program if refused is None else Refused(program, refused)


def _copy(name: str, takes: bool, count: int, in_cells: int, in_registers: int) -> list[str]:
    """The text of one copy of so many blocks, each so many blocks behind the one before."""
    which, part = ("take", "S") if takes else ("give", "D")
    ends = f"{name}part, {name}r" if takes else f"{name}r, {name}part"
    return [
        f'{name}l = cute.static : !cute.layout<"({THREADS},({BLOCK},{count})):'
        f'(65536,(1,{BLOCK * in_cells}))">',
        f"{name}v = cute.make_view(%acc, {name}l)",
        f"{name}part = cute.tiled.copy.partition_{part}(%{which}, {name}v, %t)",
        f'{name}m = cute.static : !cute.layout<"(({BLOCK},1),1,{count}):'
        f'((1,0),0,{BLOCK * in_registers})">',
        f"{name}r = cute.make_view(%r, {name}m)",
        f"cute.copy(%{which}, {ends})",
    ]


def _body(lines: list[str]) -> list[str]:
    """A thread's row in registers and in its lane, the copies, and what both hold then."""
    whole = (BLOCKS, 1, 1)
    return [f"  {line}" for line in (
        f"%acc = cute.memref.alloc() : {memref('f32', 'tmem', f'({THREADS},{SIZE}):(65536,1)')}",
        *(f"%{name} = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<{kind}, f32, "
          f'32x32b, x{BLOCK}>, layout_tv = "((32,4),{BLOCK}):((1,32),{THREADS})", '
          f'tiler_mn = "[{THREADS};{BLOCK}]">' for name, kind in COPIES.items()),
        '%own = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">',
        *(f"%{name} = cute.slice(%{array}, %own)" for name, array in
          (("from", "x"), ("to", "y"), ("last", "z"))),
        f"%r = cute.memref.alloca() : {memref('f32', 'rmem', f'{SIZE}:1')}",
        "cute.copy(%from, %r)",
        *_copy("%all", False, *whole),
        *lines,
        "cute.copy(%r, %to)",
        *_copy("%rest", True, *whole),
        "cute.copy(%r, %last)",
    )]  # fmt: skip
