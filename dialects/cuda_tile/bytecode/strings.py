"""The table of strings, which names, messages, files and hints are indices into."""

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import StringAttr

from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor


class StringReader:
    """The strings of one file."""

    def __init__(self, entries: Sequence[Cursor]):
        self.strings = [_decoded(entry) for entry in entries]
        self.attributes = [StringAttr(text) for text in self.strings]

    def index(self, cursor: Cursor) -> str:
        """The string whose index stands at the cursor."""
        return self.strings[cursor.index(len(self.strings), "strings")]

    def attribute(self, cursor: Cursor) -> StringAttr:
        """The same as an attribute."""
        return self.attributes[cursor.index(len(self.attributes), "strings")]

    def name(self, cursor: Cursor, what: str) -> str:
        """The string whose index stands at the cursor, which may not be empty."""
        start = cursor.position
        name = self.index(cursor)
        if not name:
            cursor.fail(f"expected {what} with a name, got an empty one", start)
        return name


def _decoded(entry: Cursor) -> str:
    start = entry.position
    try:
        return entry.bytes(entry.remaining, "a string").decode()
    except UnicodeDecodeError as error:
        entry.fail(f"expected UTF-8 text, got {error.reason}", start + error.start)


class StringWriter:
    """The strings of a file that is being written; `seed` is what they begin with."""

    def __init__(self, seed: Iterable[str] = ()):
        self._strings = list(seed)
        self._indices = {text: index for index, text in reversed(list(enumerate(self._strings)))}

    def index(self, text: str) -> int:
        """The index of a string."""
        index = self._indices.setdefault(text, len(self._strings))
        if index == len(self._strings):
            self._strings.append(text)
        return index

    def entries(self) -> list[bytes]:
        """The encoded strings."""
        return [text.encode() for text in self._strings]
