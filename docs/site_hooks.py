"""MkDocs hooks: the repository's pages as one site, with the pictures that its commands draw.

A page lies where it does in the repository, those of docs/ on top, the README as the index. Links
lead to the same files, which become part of the site. A console block with the command `tilewright
layout ... --svg FILE` is followed by what that command draws.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from tilewright.tools.tilewright import main

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")
"""Pages outside of docs/."""

_LINK = re.compile(r"(\]\()(?!\w+:|#)([^)#\s]+)")
_ELSEWHERE = re.compile(r'<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="(?:https?:)?//[^>]*>')
_CONSOLE = re.compile(r"^```console\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_DRAWS = re.compile(r"^\$ tilewright (layout .* --svg (\S+\.svg))$", re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """The pages outside of docs/, and every file that a page links to."""
    waiting = [*PAGES, *(f"docs/{file.src_uri}" for file in files.documentation_pages())]
    seen = set(waiting)
    while waiting:
        path = waiting.pop()
        if files.get_file_from_path(site_path(path)) is None:
            generated = File.generated(config, site_path(path), abs_src_path=str(ROOT / path))
            files.append(generated)
        if path.endswith(".md"):
            linked = set(links((ROOT / path).read_text(), path)) - seen
            waiting += sorted(linked)
            seen |= linked
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """A page's text, with its links and pictures."""
    source = page.file.src_uri
    path = repository_path(source)

    def led(match: re.Match[str]) -> str:
        target = resolved(match[2], path)
        if not (ROOT / target).is_file():
            return match[0]
        folder = PurePosixPath(source).parent
        return match[1] + os.path.relpath(site_path(target), folder).replace(os.sep, "/")

    def drawn(match: re.Match[str]) -> str:
        pictures = (draw(*command.groups()) for command in _DRAWS.finditer(match[1]))
        added = match[0]
        for name, picture in pictures:
            uri = f"pictures/{PurePosixPath(source).stem}-{name}"
            files.append(File.generated(config, uri, content=picture))
            added += f"\n![{name}]({os.path.relpath(uri, PurePosixPath(source).parent)})\n"
        return added

    return _CONSOLE.sub(drawn, _LINK.sub(led, markdown))


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The page as it is. Raises PluginError where it loads anything from elsewhere."""
    if (match := _ELSEWHERE.search(output)) is not None:
        raise PluginError(f"expected a page that loads nothing from elsewhere, got {match[0]}")
    return output


def draw(command: str, name: str) -> tuple[str, str]:
    """The name and the content of the file that a command draws."""
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / name
        main([str(picture) if word == name else word for word in shlex.split(command)])
        return name, picture.read_text()


def links(markdown: str, path: str) -> Iterator[str]:
    """The files of the repository that a page of it links to."""
    targets = (resolved(match[2], path) for match in _LINK.finditer(markdown))
    return (target for target in targets if (ROOT / target).is_file())


def resolved(link: str, path: str) -> str:
    """The path in the repository that a link of the page at `path` leads to."""
    return os.path.normpath(PurePosixPath(path).parent / link).replace(os.sep, "/")


def site_path(path: str) -> str:
    """Where a file of the repository lies in the site."""
    return "index.md" if path == "README.md" else path.removeprefix("docs/")


def repository_path(uri: str) -> str:
    """Where a page of the site lies in the repository."""
    if uri == "index.md":
        return "README.md"
    return f"docs/{uri}" if (ROOT / "docs" / uri).is_file() else uri
