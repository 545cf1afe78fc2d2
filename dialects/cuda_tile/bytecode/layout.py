"""A file's content beside its module: the order of its sections and of the entries of its tables.

A module that was read remembers it, so that it is written as it was: tables begin with the entries
they had, used or not.
"""

from weakref import WeakKeyDictionary

from xdsl.ir import Attribute, Operation

from tilewright.dialects.cuda_tile.bytecode.container import SectionId
from tilewright.dialects.cuda_tile.versions import Version
from tilewright.dialects.frozen import frozen

DEFAULT_ORDER = (
    SectionId.GLOBAL, SectionId.FUNCTION, SectionId.CONSTANT, SectionId.DEBUG, SectionId.TYPE,
    SectionId.PRODUCER, SectionId.STRING,
)  # fmt: skip
"""The order in which NVIDIA's `cuda-tile-translate` writes sections."""


@frozen
class FileLayout:
    """How a file is laid out. `sections` are those it has, in order; `padded_functions` says that
    the FUNCTION section is filled up to 8 bytes, `numbers_all_functions` that functions have
    debug info even where nothing is known (cuTile's writer does the second, not the first)."""

    version: Version
    tag: int = 0
    sections: tuple[SectionId, ...] = ()
    strings: tuple[str, ...] = ()
    types: tuple[Attribute, ...] = ()
    constants: tuple[bytes, ...] = ()
    debug_entries: tuple[Attribute, ...] = ()
    padded_functions: bool = True
    numbers_all_functions: bool = False

    def order(self) -> tuple[SectionId, ...]:
        """The order of all sections: those of the file, the others where they are by default."""
        others = (section for section in DEFAULT_ORDER if section not in self.sections)
        return (*self.sections, *others)


_LAYOUTS: WeakKeyDictionary[Operation, FileLayout] = WeakKeyDictionary()


def remember(module: Operation, layout: FileLayout) -> None:
    """Note the layout of the file that a `cuda_tile.module` was read from."""
    _LAYOUTS[module] = layout


def layout_of(module: Operation) -> FileLayout | None:
    """The layout of the file that a `cuda_tile.module` was read from, if it was."""
    return _LAYOUTS.get(module)
