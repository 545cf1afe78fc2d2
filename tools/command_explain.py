"""Say what a PTX mnemonic is: its atom, operands, layouts, targets and PTX ISA version; for an
illegal one, why there is none such, and the nearest legal one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.lattice import CP_ASYNC
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS
from tilewright.dialects.cute_nvgpu.lookup import parse
from tilewright.dialects.cute_nvgpu.targets import TARGETS
from tilewright.tools.command_atoms import Listing, listings, version_text
from tilewright.tools.command_input import InputError, read_target
from tilewright.tools.render_illegal import canonical, why_illegal

_LABEL = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("mnemonic", metavar="MNEMONIC", help="as PTX spells it, without operands")
    parser.add_argument("--arch", metavar="TARGET", help="the target that must run it: sm_90a")


def run(options: argparse.Namespace) -> None:
    arch = None if options.arch is None else read_target(options.arch).name
    mnemonic: str = options.mnemonic.strip()
    reason = why_illegal(mnemonic, arch)
    if reason is not None:
        raise InputError(reason)
    mnemonic = canonical(mnemonic)
    row = listings()[mnemonic]
    print("\n".join([mnemonic, *_instruction(mnemonic, row), *_availability(row)]))


def _instruction(mnemonic: str, row: Listing) -> Iterator[str]:
    """What the instruction itself is, line by line."""
    if row.op == "cp.async":
        yield from _async_copy(mnemonic)
    elif row.op in ("ldmatrix", "stmatrix"):
        yield from _matrix_copy(mnemonic, row)
    else:
        yield from _mma(parse(mnemonic))


def _mma(atom: MmaAtom) -> Iterator[str]:
    m, n, k = atom.shape
    yield _line("computes", f"D = A * B + C: A is {m} x {k}, B {k} x {n}, C and D {m} x {n}")
    yield _line("atom", ir_spelling(atom))
    index = {"A": f"m + {m}*k", "B": f"n + {n}*k", "C": f"m + {m}*n", "D": f"m + {m}*n"}
    rows = [("operand", "registers", "elements", "layout (thread, value) -> index")]
    for operand in OPERANDS:
        register, count = atom.registers(operand)
        rows.append(
            (
                operand,
                f"{count} x .{register}",
                f"{atom.values(operand)} x {atom.element(operand).name}",
                f"{atom.tv_layout(operand)} -> {index[operand]}",
            )
        )
    yield from _table(rows)


def ir_spelling(atom: MmaAtom) -> str:
    """The atom as IR spells it, `cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32)>`."""
    return f"cute_nvgpu.{atom.op}<{atom.parameters}>"


def _matrix_copy(mnemonic: str, row: Listing) -> Iterator[str]:
    words = mnemonic.split(".")
    number, transposed = int(words[4][1:]), "trans" in words
    turned = ", transposed on the way" if transposed else ""
    matrices = "one 8x8 matrix" if number == 1 else f"{number} 8x8 matrices"
    if row.op == "ldmatrix":
        yield _line("computes", f"load {matrices} of 16-bit elements from shared memory{turned}")
    else:
        yield _line("computes", f"store {matrices} of 16-bit elements to shared memory{turned}")
    yield _line("op", f"cute_nvgpu.{row.op}{' ... trans' if transposed else ''}")
    layout = _matrix_layout(number, transposed)
    yield from _table(
        [
            ("operand", "registers", "elements", "layout (thread, value) -> index"),
            (
                "matrices",
                f"{number} x .b32",
                f"{2 * number} x b16",
                f"{layout} -> row + 8*column" + (" + 64*matrix" if number > 1 else ""),
            ),
        ]
    )
    yield _line("address", "thread 8*i + r gives row r of matrix i: 16 bytes, 16-byte aligned")


def _matrix_layout(number: int, transposed: bool) -> Layout:
    """`(T32, V) -> row + 8*column + 64*matrix`, rows as they lie in shared memory."""
    group, neighbour, lane = (8, 1, 2) if transposed else (1, 8, 16)
    if number == 1:
        return Layout(((4, 8), 2), ((lane, group), neighbour))
    return Layout(((4, 8), (2, number)), ((lane, group), (neighbour, 64)))


def _async_copy(mnemonic: str) -> Iterator[str]:
    cache = mnemonic.split(".")[2]
    sizes = " or ".join(map(str, CP_ASYNC.sizes[cache]))
    level = {"ca": "all cache levels", "cg": "L2 alone"}[cache]
    yield _line("computes", f"start a copy from global to shared memory, cached in {level}")
    yield _line("op", f"cute_nvgpu.cp.async ... cache {cache}")
    yield _line("operands", "[dst], [src], cp-size{, src-size}; the rest of cp-size is zeroed")
    yield _line("cp-size", f"{sizes} bytes, both addresses aligned to it")


def _availability(row: Listing) -> Iterator[str]:
    names = [each.name for each in TARGETS.values() if each.supports(row.target)]
    yield _line("targets", ", ".join(names))
    yield _line("PTX ISA", f"{version_text(row.ptx_version)} or later, section {row.section}")
    yield _line("modifiers", _modifiers(row))


def _modifiers(row: Listing) -> str:
    """The modifiers that the row takes; a rounding names its default."""
    roundings = [name for name in row.modifiers if name in ("rn", "rz", "rm", "rp")]
    others = [f".{name}" for name in row.modifiers if name not in roundings]
    if roundings:
        others.append(" | ".join(f".{name}" for name in roundings) + f" (none is .{roundings[0]})")
    return ", ".join(others) or "none"


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths[0] = _LABEL - 2
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield ("  " + "  ".join(cells)).rstrip()


def _line(label: str, text: str) -> str:
    return f"  {label.ljust(_LABEL)}{text}"
