"""What is wrong with bytecode, and at which byte of the file."""

from __future__ import annotations


class BytecodeError(Exception):
    """Bytes that are no Tile IR bytecode. `offset` counts from the start of the file."""

    def __init__(self, offset: int, message: str):
        super().__init__(f"{message} (at byte {offset})")
        self.offset = offset
