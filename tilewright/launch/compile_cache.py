"""Compiled kernels on disk: from one process to the next, and for several at once.

An entry is one file, named after the digest of what decides its content: the input's bytes, the
target, the options, and the release and the files of tilewright. It appears whole or not at all (a
rename), begins with the digest of the rest, and is none where that does not fit. Where entries are
more than the limit, those that were used longest ago go.

- `TILEWRIGHT_CACHE_DIR`: the folder; by default `tilewright` in `$XDG_CACHE_HOME` or `~/.cache`.
- `TILEWRIGHT_CACHE_MIB`: the limit, by default 512; 0 turns the cache off.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER, LIMIT = "TILEWRIGHT_CACHE_DIR", "TILEWRIGHT_CACHE_MIB"
_MIB = 1 << 20
_USUAL = 512
_SUFFIX, _UNFINISHED = ".kernel", ".unfinished"
_ABANDONED = 3600.0
"""Seconds after which a file that nobody renamed is one of a process that died."""


def folder() -> Path:
    """Where entries are."""
    if named := os.environ.get(FOLDER):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tilewright")


def limit() -> int:
    """The bytes that all entries may take. Raises ValueError where the variable is no number."""
    given = os.environ.get(LIMIT, str(_USUAL))
    try:
        return int(float(given) * _MIB)
    except (ValueError, OverflowError):
        raise ValueError(f"expected a number of MiB as {LIMIT}, got '{given}'") from None


@cache
def _fingerprint() -> str:
    """The release of tilewright and, of a checkout, which of its files were changed when."""
    digest = hashlib.sha256(version("tilewright").encode())
    for name in ("", ".dialects", ".lowering", ".passes"):
        package = find_spec(f"tilewright{name}")
        for root in package.submodule_search_locations or () if package else ():
            for path in sorted(Path(root).rglob("*.py")):
                status = path.stat()
                digest.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def key_of(content: bytes, **options: object) -> str:
    """The name of the entry of an input compiled with options."""
    digest = hashlib.sha256(f"{_fingerprint()} {sorted(options.items())}\n".encode())
    digest.update(content)
    return digest.hexdigest()


def cached(key: str, make: Callable[[], Any]) -> Any:
    """The content of an entry, as JSON holds it; made and written where there is none."""
    known = _read(key)
    if known is None:
        known = make()
        _write(key, known)
    return known


def _path(key: str) -> Path:
    return folder() / f"{key}{_SUFFIX}"


def _read(key: str) -> Any:
    """The content of an entry, used now; None where there is none, or none that is whole."""
    if not limit():
        return None
    try:
        digest, _, content = _path(key).read_bytes().partition(b"\n")
        if digest.decode() != hashlib.sha256(content).hexdigest():
            return None
        known = json.loads(content)
    except (OSError, ValueError):
        return None
    with suppress(OSError):
        os.utime(_path(key))
    return known


def _write(key: str, content: Any) -> None:
    """Write an entry. A cache that cannot be written is none."""
    most, raw = limit(), json.dumps(content).encode()
    if len(raw) > most:
        return
    with suppress(OSError):
        write_whole(_path(key), hashlib.sha256(raw).hexdigest().encode() + b"\n" + raw)
        trim(most)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(_UNFINISHED, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def entries() -> list[tuple[float, int, Path]]:
    """When each entry was used last, its bytes, and its file; used longest ago first."""
    return sorted(_files(_SUFFIX))


def _files(suffix: str) -> Iterator[tuple[float, int, Path]]:
    for path in folder().glob(f"*{suffix}"):
        with suppress(OSError):  # another process may take it away
            status = path.stat()
            yield status.st_mtime, status.st_size, path


def trim(most: int) -> int:
    """Delete the entries that were used longest ago until the rest takes no more than so many
    bytes, and what processes that died left unfinished; how many entries were deleted."""
    known = entries()
    total, deleted = sum(size for _, size, _ in known), 0
    for _, size, path in known:
        if total <= most:
            break
        path.unlink(missing_ok=True)
        total, deleted = total - size, deleted + 1
    newest = known[-1][0] if known else float("inf")
    for used, _, path in _files(_UNFINISHED):
        if used < newest - _ABANDONED or not most:
            path.unlink(missing_ok=True)
    return deleted
