"""The texts of kernels that run on the CPU, in Triton's folder of such: those of a kernel are one
file, where Triton writes five, each in a folder that it makes and removes. They are of Triton's own
files as those are by their sizes and times, where Triton reads all of them in each process."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from os.path import splitext
from pathlib import Path
from typing import Any
from unittest import mock

from tilewright.dialects.frozen import entity, frozen

Group = dict[str, Any]
"""The texts of a kernel, by the names of files."""


@frozen
class _Text:
    """A text, as Triton reads the file that it would be."""

    content: bytes
    suffix: str

    def read_bytes(self) -> bytes:
        """The bytes of the text."""
        return self.content

    def read_text(self) -> str:
        """The text."""
        return self.content.decode()


@entity
class _KernelTexts:
    """The texts of one kernel, as Triton asks for them (`triton.runtime.cache.CacheManager`)."""

    _path: Path

    def get_group(self, _: str) -> Group | None:
        """All of them; None where they are not kept."""
        try:
            texts: dict[str, str] = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return None
        return {name: self.put(text, name) for name, text in texts.items()}

    def put(self, data: Any, filename: str, **_: Any) -> _Text:
        """A text, or a module of which it is the text, in place of the path of a file."""
        content = data if isinstance(data, bytes) else str(data).encode()
        return _Text(content, splitext(filename)[1])

    def put_group(self, _: str, group: Group) -> None:
        """Keep all of them. A folder that cannot be written keeps none."""
        raw = json.dumps({name: text.read_text() for name, text in group.items()}).encode()
        keep(self._path, raw)  # a part of it is no JSON, and so none


def keep(path: Path, raw: bytes) -> None:
    """Write a file of Triton's folder, which is there already but for the first."""
    with suppress(OSError):
        try:
            path.write_bytes(raw)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)


@cache
def _triton_key() -> str:
    triton: Any = import_module("triton")
    folder = Path(triton.__file__).parent
    files = ((file, file.stat()) for part in ("**/*.py", "_C/*") for file in folder.glob(part))
    return str((triton.__version__, sorted((str(x), y.st_size, y.st_mtime_ns) for x, y in files)))


@contextmanager
def kept_texts() -> Generator[None]:
    """Let Triton keep the texts of a kernel in one file."""
    compiler: Any = import_module("triton.compiler.compiler")
    knobs: Any = import_module("triton").knobs
    own: Callable[[str], Any] = compiler.get_cache_manager

    def manager(key: str) -> Any:
        if knobs.compilation.use_ir_loc:  # lines of the files are lines of the kernel
            return own(key)
        return _KernelTexts(Path(knobs.cache.dir, f"{key}.json"))

    def path(of: Any) -> Any:
        return of if isinstance(of, _Text) else Path(of)

    with (
        mock.patch.dict(compiler.get_cache_key.__globals__, triton_key=_triton_key),
        mock.patch.object(compiler, "get_cache_manager", manager),
        mock.patch.object(compiler, "Path", path),
    ):
        yield
