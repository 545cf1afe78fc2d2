"""The table of strings, which names, messages, files and hints are indices into."""

from collections.abc import Sequence

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
