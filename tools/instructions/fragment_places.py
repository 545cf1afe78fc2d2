"""Which thread gives each element of an operand, and in which of its values.

Elements that several threads or bytes hold are chosen among as the atom's selectors do: the n-th
thread that holds one, and in it the n-th of its values.
"""

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom, Selector
from tilewright.dialects.cute_nvgpu.atoms.traits import FragmentAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.lattice.row import Operand

"""An MMA of a warp or of a warpgroup."""

_SELECTORS: dict[str, tuple[str, ...]] = {
    "E": ("sparsity selector",),
    "SFA": ("byte-id-a", "thread-id-a"),
    "SFB": ("byte-id-b", "thread-id-b"),
}


def fragment_operands(atom: FragmentAtom) -> tuple[Operand, ...]:
    """The operands that registers hold, or may hold."""
    if isinstance(atom, MmaAtom):
        return (*atom.inputs, "D")
    return ("A", "C", "D", "E") if atom.row.sparse else ("A", "C", "D")


def selectors(atom: FragmentAtom, operand: Operand) -> tuple[Selector, ...]:
    """Those of the atom's selectors that speak of the operand."""
    if isinstance(atom, WgmmaAtom):
        return tuple(
            Selector("sp-sel", selector.legal) for selector in atom.selectors if operand == "E"
        )
    names = _SELECTORS.get(operand, ())
    return tuple(selector for selector in atom.selectors if selector.name in names)


def places(
    atom: FragmentAtom, operand: Operand, choice: tuple[int, ...] = ()
) -> dict[int, tuple[int, int]]:
    """The (thread, value) of every index of the operand's layout.

    `choice` are legal values of its `selectors`, nothing stands for their first ones. Where an
    operand without selectors holds an element several times, the first thread counts.
    """
    chosen = choice or tuple(selector.legal[0] for selector in selectors(atom, operand))
    *bytes_, thread_choice = chosen or (0,)
    scale = atom.row.scale if isinstance(atom, MmaAtom) else None
    value_choice = bytes_[0] // scale.vector if bytes_ and scale is not None else 0
    first: dict[int, tuple[int, int]] = {}
    for index, holders in _holders(atom, operand).items():
        thread = sorted(holders)[thread_choice]
        first[index] = thread, holders[thread][value_choice]
    return first


def contributing_threads(
    atom: FragmentAtom, operand: Operand, choice: tuple[int, ...]
) -> tuple[int, ...]:
    """The threads of the warp or warpgroup whose values count."""
    return tuple(sorted({thread for thread, _ in places(atom, operand, choice).values()}))


def _holders(atom: FragmentAtom, operand: Operand) -> dict[int, dict[int, list[int]]]:
    """Of each index, the values that hold it by thread."""
    import numpy as np

    layout = atom.tv_layout(operand)
    threads, values = np.arange(layout[0].size()), np.arange(atom.values(operand))
    image = layout[0](threads)[:, None] + layout[1](values)
    by_index: dict[int, dict[int, list[int]]] = {}
    for thread, indices in enumerate(image.tolist()):
        for value, index in enumerate(indices):
            by_index.setdefault(index, {}).setdefault(thread, []).append(value)
    return by_index
