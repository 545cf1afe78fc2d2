"""Say what a PTX mnemonic is: its atom, operands, layouts, targets and PTX ISA version; for an
illegal one, why there is none such, and the nearest legal one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.lattice import CP_ASYNC, MOVMATRIX
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import SPACES
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS, shape_text
from tilewright.dialects.cute_nvgpu.lookup import parse
from tilewright.dialects.cute_nvgpu.matrix_copy import MatrixCopy, matrix_copies
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
    elif row.op == "movmatrix":
        yield from _matrix_move()
    elif mnemonic in matrix_copies():
        yield from _matrix_copy(matrix_copies()[mnemonic])
    else:
        yield from _mma(parse(mnemonic))


def _mma(atom: MmaAtom) -> Iterator[str]:
    m, n, k = atom.shape
    yield _line("computes", f"D = A * B + C: A is {m} x {k}, B {k} x {n}, C and D {m} x {n}")
    yield _line("atom", ir_spelling(atom))
    index = {"A": f"m + {m}*k", "B": f"n + {n}*k", "C": f"m + {m}*n", "D": f"m + {m}*n"}
    rows = [_HEADING]
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


def _matrix_copy(copy: MatrixCopy) -> Iterator[str]:
    row = copy.row
    bits = row.bits if row.source is None else row.source.bits
    count = "one" if copy.number == 1 else copy.number
    matrices = f"{count} {shape_text(row.shape)} {'matrix' if count == 'one' else 'matrices'}"
    verb, place = ("load", "from") if row.op == "ldmatrix" else ("store", "to")
    turned = ", transposed on the way" if copy.trans else ""
    yield _line(
        "computes", f"{verb} {matrices} of {bits}-bit elements {place} shared memory{turned}"
    )
    yield _line("op", f"cute_nvgpu.{row.op} ... {ir_form(copy)}".removesuffix(" ... "))
    yield from _table([_HEADING, _matrices(copy)])
    runs = row.runs(copy.trans)
    yield _line(
        "address", f"thread {runs}*i + r gives row r of matrix i: 16 bytes, 16-byte aligned"
    )
    if row.source is not None:
        padding = row.source.padding // 8
        yield _line("row", f"16 elements, low bits first, then {padding} bytes of padding")
        yield _line("", f"each element fills the low {bits} bits of a byte, with zeros above")
    yield _line("space", ", ".join(map(_space, SPACES.items())))


_HEADING: tuple[str, ...] = ("operand", "registers", "elements", "layout (thread, value) -> index")


def ir_form(copy: MatrixCopy) -> str:
    """How IR spells the form of a copy: `trans shape 16x16 src_fmt b6x16_p32`."""
    row = copy.row
    words = ["trans"] if copy.trans else []
    words += [] if row.shape == (8, 8) else [f"shape {shape_text(row.shape)}"]
    words += [] if row.source is None else [f"src_fmt {row.source.name}"]
    return " ".join(words)


def _matrices(copy: MatrixCopy) -> tuple[str, ...]:
    """The line of the table that says what a thread holds, rows as they lie in shared memory."""
    row = copy.row
    runs, elements = row.runs(copy.trans), row.shape[0] * row.shape[1]
    index = f"row + {runs}*column" + (f" + {elements}*matrix" if copy.number > 1 else "")
    return (
        "matrices",
        f"{copy.registers} x .b32",
        f"{copy.values} x b{row.bits}",
        f"{copy.tv_layout} -> {index}",
    )


def _space(space: tuple[str, tuple[int, int] | None]) -> str:
    name, version = space
    since = "" if version is None else f" (PTX ISA {version_text(version)})"
    return f".{name}{since}" if name else "none: a generic address into shared memory"


def _matrix_move() -> Iterator[str]:
    row = MOVMATRIX
    matrix = f"an {shape_text(row.shape)} matrix of {row.bits}-bit elements"
    yield _line("computes", f"transpose {matrix} across the warp")
    yield _line("op", "cute_nvgpu.movmatrix")
    index = f"row + {row.shape[0]}*column"
    sides = (("d", row.result_layout), ("a", row.source_layout))
    yield from _table(
        [
            _HEADING,
            *(
                (name, "1 x .b32", f"{row.values} x {row.type}", f"{layout} -> {index} of a")
                for name, layout in sides
            ),
        ]
    )


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
