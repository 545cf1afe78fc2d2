"""The `tileirbc` target of `-t tileirbc`."""

from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from tilewright.dialects.cuda_tile.bytecode.write_module import write_bytecode
from tilewright.dialects.cuda_tile.versions import VERSIONS, Version
from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import listed
from tilewright.source.diagnostic import OpError


@frozen
class TileIRTarget(Target):
    """Write a module of `cuda_tile` as Tile IR bytecode: as it was read, or in the lowest version
    that can hold it; with `version`, in that: `tileirbc{version=13.3}`."""

    name = "tileirbc"

    version: str | float | None = None

    def encoded(self, module: ModuleOp) -> bytes:
        """The file. Raises OpError."""
        return write_bytecode(module, self._version(module))

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        buffer = getattr(output, "buffer", None)
        if buffer is None:
            raise OpError(
                module,
                f"'{self.name}' expected a stream of bytes, got one of text (bytecode is no text); "
                "nearest legal: tilewright-opt -t tileirbc",
            )
        buffer.write(self.encoded(module))

    def _version(self, module: ModuleOp) -> Version | None:
        if self.version is None:
            return None
        for version in VERSIONS:
            if str(self.version) in (str(version), f"{version}.0"):
                return version
        legal = listed(VERSIONS)
        raise OpError(
            module, f"'{self.name}' expected a bytecode version, got {self.version}; legal: {legal}"
        )
