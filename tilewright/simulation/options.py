"""The options of `tilewright.atom`, checked before any row is looked up."""

from collections.abc import Mapping
from operator import index
from typing import Any

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import MAJOR_MODES

_WORDS = "a word of PTX"
_LEGAL: dict[str, tuple[str, tuple[Any, ...] | type]] = {
    "satfinite": ("True or False", bool),
    "rounding": (_WORDS, str),
    "majors": ("two of row, col", ("row", "col")),
    "bit_op": (_WORDS, str),
    "kind": (_WORDS, str),
    "sparsity": (_WORDS, str),
    "scale_vector": ("an integer", int),
    "scale_type": (_WORDS, str),
    "ab_major": (f"two of {', '.join(MAJOR_MODES)}", MAJOR_MODES),
    "frag_kind": ("ss or ts", ("ss", "ts")),
    "cta_group": ("1 or 2", int),
    "idesc": ("an integer", int),
}
"""The options, what each takes in words, and the type of that or the values there are."""

_PAIRS = ("majors", "ab_major")


def checked_shape(name: str, shape: Any) -> tuple[int, int, int] | None:
    """The shape as a tuple of three integers. Raises AtomError."""
    if shape is None:
        return None
    try:
        m, n, k = map(index, shape)
    except (TypeError, ValueError):
        raise AtomError(f"'{name}' expected shape=(M, N, K), got {shape!r}") from None
    return m, n, k


def checked_types(name: str, types: Any) -> tuple[str, ...] | None:
    """The element types as a tuple of their names. Raises AtomError."""
    if types is None:
        return None
    if not isinstance(types, tuple | list) or not all(isinstance(word, str) for word in types):  # pyright: ignore
        wanted = "the names of three or four element types"
        raise AtomError(f"'{name}' expected {wanted} as elem_type, got {types!r}")
    return tuple(types)  # pyright: ignore


def checked_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options. Raises AtomError for one that no atom has, or a value that it cannot have."""
    for option, value in options.items():
        if option not in _LEGAL:
            raise AtomError(f"'{name}' expected options of {', '.join(_LEGAL)}, got {option}")
        words, legal = _LEGAL[option]
        if (value is not None or legal is not str) and not _takes(option, legal, value):
            raise AtomError(f"'{name}' expected {words} as {option}, got {value!r}")
    return {key: tuple(value) if key in _PAIRS else value for key, value in options.items()}


def _takes(option: str, legal: tuple[Any, ...] | type, value: Any) -> bool:
    if isinstance(legal, type):
        return isinstance(value, legal)
    if option not in _PAIRS:
        return value in legal
    return isinstance(value, tuple | list) and len(value) == 2 and all(v in legal for v in value)  # pyright: ignore
