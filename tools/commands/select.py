"""List the MMA atoms that can compute an M x N x K tile on a target, best first, and why in that
order.

The first criterion in which two atoms differ decides: the accumulators asked for, whether the chip
has the MMA or emulates it, whether others than its own loads can feed it, multiply-adds (padding
included), instructions, machine instructions,
ordered before plain metadata, registers a thread, targets that run it, the PTX ISA version.
"""

import argparse
import json
from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.lattice.row import shape_text
from tilewright.dialects.cute_nvgpu.select.contraction import FAMILIES, ScaleBlock
from tilewright.dialects.cute_nvgpu.select.select_atom import AtomChoice, select_atoms
from tilewright.tools.commands.input import add_options, read_target


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        """
m M: the tile's extent in M
n N: the tile's extent in N
k K: the tile's extent in K
--types A,B,ACC: element types of a, b and the accumulators (or of a, b, c, d): f16,f16,f32
--arch TARGET: the target: sm_90a
--sparse: A is structured sparse
--scale SIZE,TYPE: block scaling: elements of K that share a scale factor, and its type: 32,ue8m0
--bit-op: what single bits do before they are counted
--any-accumulator: list atoms with other accumulators, too, behind those asked for
--only INSTRUCTION: atoms of this instruction alone: mma, wmma, wgmma, tcgen05; may be given again
--json: a JSON list instead of lines
""",
        **{name: {"type": int} for name in "mnk"},
        **{name: {"required": True} for name in ("types", "arch")},
        scale={"type": _scale},
        bit_op={"choices": ("xor", "and")},
        only={"action": "append", "choices": tuple(FAMILIES)},
    )


def _scale(text: str) -> ScaleBlock:
    size, _, type_ = text.partition(",")
    if not size.isdecimal():
        raise argparse.ArgumentTypeError(f"expected SIZE,TYPE such as 32,ue8m0, got '{text}'")
    return ScaleBlock(int(size), type_)


def run(options: argparse.Namespace) -> None:
    arch = read_target(options.arch).name
    types = [name.strip() for name in options.types.split(",")]
    choices = select_atoms(
        options.m, options.n, options.k, types, arch, sparse=options.sparse, scale=options.scale,
        bit_op=options.bit_op, any_accumulator=options.any_accumulator,
        families=options.only or tuple(FAMILIES),
    )  # fmt: skip
    if options.json:
        print("[\n" + ",\n".join(json.dumps(_json(choice)) for choice in choices) + "\n]")
    else:
        print("\n".join(line for i, choice in enumerate(choices, 1) for line in _lines(i, choice)))


def _lines(number: int, choice: AtomChoice) -> Iterator[str]:
    """A choice as it is printed: its mnemonic, how it covers the tile, and why it stands there."""
    padding = f"{choice.padding:.1%} padding" if choice.padding else "no padding"
    issued = f"{choice.instructions} instruction{'' if choice.instructions == 1 else 's'}"
    yield f"{number}. {choice.atom.mnemonic}"
    yield (
        f"   {shape_text(choice.tiles)} tiles of {shape_text(choice.atom.shape)}: "
        f"{issued}, {padding}, {choice.registers} registers a thread"
    )
    yield f"   {choice.machine_code.how}: {choice.machine_code.words}"
    yield f"   {choice.reason}"


def _json(choice: AtomChoice) -> dict[str, object]:
    return {
        "mnemonic": choice.atom.mnemonic,
        "op": choice.atom.op,
        "shape": choice.atom.shape,
        "types": choice.atom.types,
        "tiles": choice.tiles,
        "instructions": choice.instructions,
        "padding": choice.padding,
        "registers": choice.registers,
        "machine_code": choice.machine_code.how,
        "runs_as": choice.machine_code.words,
        "reason": choice.reason,
    }
