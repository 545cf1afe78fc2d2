"""The demands of `cute.gemm` on its operands: partitions of one block of K.

d, c (V,M,N)    a, e, sfa (V,M,K) or (V,M)    b, sfb (V,N,K) or (V,N)
"""

from collections.abc import Mapping
from typing import Any

from tilewright.dialects.cute.atoms import OPERAND_MODES, Operand
from tilewright.dialects.cute.int_tuple import rank
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.rules import required
from tilewright.dialects.cute.rules.sharing import check_apart
from tilewright.dialects.cute.rules.tiled import (
    check_element,
    check_in_memory,
    check_values,
    words_of_ids,
)
from tilewright.dialects.cute.symbolic import layouts
from tilewright.dialects.cute.symbolic.tuples import is_static, product
from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.tiled_mma import TiledMma
from tilewright.dialects.cute.values import Typed


def extents(modes: Layout) -> tuple[Any, ...]:
    """The sizes of a layout's modes."""
    return tuple(product(mode.shape) for mode in layouts.modes(modes))


def check_gemm(mma: Typed, d: Typed, tensors: Mapping[Operand, Typed]) -> None:
    """Raises RuleError unless d = a b + c is what the MMA's atoms can do, block by block."""
    wanted = mma.value.traits.operands
    required(
        tensors.keys() == wanted.keys(),
        f"expected operands {', '.join(wanted)}, those of the atom of {mma.quoted}, got "
        f"{', '.join(tensors)}",
    )
    _check_operand("C", mma, d)
    check_apart("d", d, "each MMA of a K adds to sums of its own")
    for which, source in tensors.items():
        _check_operand(which, mma, source)
    c = tensors["C"]
    v, m, n = extents(d.value.modes)
    required(
        extents(c.value.modes) == (v, m, n),
        f"expected c of the shape of d, got {d.quoted} and {c.quoted}",
    )
    _check_blocks(d, tensors)


def _check_operand(which: Operand, mma: Typed, source: Typed) -> None:
    tiled: TiledMma = mma.value
    operand = tiled.traits.operand(which)
    required(source.kind == "memref", f"expected operand {which} as a memref, got {source}")
    tensor: Tensor = source.value
    required(
        tensor.space == operand.space,
        f"expected operand {which} in {operand.space}, as the atom of {mma.quoted} has it, got "
        f"{source.quoted}",
    )
    ranks = (3,) if which == "C" else (2, 3)
    required(
        rank(tensor.modes.shape) in ranks and is_static(tensor.modes.shape),
        f"expected operand {which} to have {' or '.join(map(str, ranks))} modes of static shape, "
        f"got {source.quoted}",
    )
    check_values(which, mma, source, tensor.modes)
    check_element(which, mma, source, tensor)
    if operand.space != "rmem":
        check_in_memory(which, mma, source, tensor)
    else:
        values, size = layouts.mode(tensor.modes, (0,)), operand.tv[1].size()
        required(
            (size == 1 or layouts.coalesce(values) == layouts.column_major(size))
            and words_of_ids(tensor.modes, operand.packed),
            f"expected operand {which} with the values of an atom side by side, as "
            f"cute.mma.make_fragment gives them, got {source.quoted}",
        )


def _check_blocks(d: Typed, tensors: Mapping[Operand, Typed]) -> None:
    _, *along = extents(d.value.modes)
    _, _, *steps = extents(tensors["A"].value.modes)
    for which, source in tensors.items():
        if which == "C":
            continue
        mode, name = OPERAND_MODES[which][0], which.lower()
        _, count, *k = extents(source.value.modes)
        required(
            count == along[mode],
            f"expected {name} with mode {mode + 1} of d, {along[mode]} atoms along {'MN'[mode]}, "
            f"got {count}: {d.quoted} and {source.quoted}",
        )
        required(
            k == steps,
            f"expected a and {name} with the same atoms along K, got {tensors['A'].quoted} and "
            f"{source.quoted}",
        )
