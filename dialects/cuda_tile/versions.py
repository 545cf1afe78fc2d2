"""The versions of CUDA Tile IR, which say since when there is a type, an attribute or an op."""

from typing import NamedTuple


class Version(NamedTuple):
    """A version of CUDA Tile IR and of its bytecode, `13.4`."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


V13_1 = Version(13, 1)
V13_2 = Version(13, 2)
V13_3 = Version(13, 3)
V13_4 = Version(13, 4)
V13_5 = Version(13, 5)

VERSIONS = (V13_1, V13_2, V13_3, V13_4, V13_5)
"""Every version, the oldest first."""
