"""The playground's server: one page, a folder's files to read, and answers, for this machine alone.

It listens on the loopback address, and answers requests whose Host is that address and whose
Origin, if they have one, is its own page: another site open in the same browser gets nothing, not
even by a name that it lets point here.
"""

import json
import sys
from collections.abc import Iterable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from tilewright import __version__
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS
from tilewright.tools.commands.input import EXAMPLE, example_names
from tilewright.tools.language_server.outline import LANGUAGES
from tilewright.tools.output import last_words
from tilewright.tools.playground.answers import ANSWERS
from tilewright.tools.playground.layouts import OPERATIONS
from tilewright.tools.web_page import part, web_page
from tilewright.tools.worker import MEMORY, Unanswered, Worker

LOOPBACK = "127.0.0.1"
LARGEST = 1 << 18
"""Bytes of a question or of a file, at most."""
SECONDS = 20.0
_IDLE = 30
"""Seconds that a connection may say nothing."""
_SUFFIXES = (".mlir", ".ttir", ".ptx")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
_PAGES = {"/": ("html", "html"), "/page.css": ("css", "css"), "/page.js": ("js", "javascript")}
_PACKAGE = "tilewright.tools.playground"
_HEAD = '<link rel="stylesheet" href="page.css">\n<script src="page.js" defer></script>'


class Refusal(Exception):
    """A request that gets no answer, and why."""

    def __init__(self, status: HTTPStatus, why: str):
        super().__init__(why)
        self.status = status


class PlaygroundServer(ThreadingHTTPServer):
    """Serves the files of `folder`, none where it is None; with `python` texts of Python run, each
    in a process of its own."""

    daemon_threads = True

    def __init__(
        self, port: int, folder: Path | None, *, python: bool = False, seconds: float = SECONDS
    ):
        super().__init__((LOOPBACK, port), _Handler, bind_and_activate=False)
        try:
            self.server_bind()
            self.server_activate()
        except (OSError, OverflowError):
            self.socket.close()
            raise
        self.folder = None if folder is None else folder.resolve()
        self.python, self._seconds = python, seconds
        self.worker = self._worker()

    def _worker(self) -> Worker:
        return Worker(self._seconds, MEMORY, "tilewright.tools.playground.answers")

    def ask(self, name: str, fields: dict[str, str]) -> dict[str, Any]:
        """The answer to a question. Raises Unanswered, and Refusal for a script where none runs."""
        if name != "script":
            return self.worker.ask(name, fields)
        if not self.python:
            why = "expected IR or PTX, got Python; nearest legal: tilewright serve --python"
            raise Refusal(HTTPStatus.FORBIDDEN, why)
        worker = self._worker()
        try:
            return worker.ask(name, fields)
        finally:
            worker.stop()

    @property
    def hosts(self) -> frozenset[str]:
        """The Host headers that are answered."""
        return frozenset(f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost"))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A line in place of a traceback; nothing of a browser that went away."""
        error = sys.exception()
        if isinstance(error, Exception) and not isinstance(error, OSError):
            print(last_words(error), file=sys.stderr)

    def server_close(self) -> None:
        super().server_close()
        self.worker.stop()

    def files(self) -> dict[str, Any]:
        """The files that may be read, by their names in the folder, none that a link leads to
        outside of it; and the examples."""
        examples = files("tilewright.examples")
        known: dict[str, Any] = {
            EXAMPLE + name: examples.joinpath(f"{name}.mlir") for name in example_names()
        }
        if self.folder is None:
            return known
        suffixes = (*_SUFFIXES, ".py") if self.python else _SUFFIXES
        inside = (path for path in sorted(self.folder.iterdir()) if path.suffix in suffixes)
        own = {
            path.name: path
            for path in inside
            if path.is_file() and path.resolve().is_relative_to(self.folder)
        }
        return own | known


class _Handler(BaseHTTPRequestHandler):
    server_version, sys_version = f"tilewright/{__version__}", ""
    protocol_version = "HTTP/1.1"
    timeout = _IDLE

    @property
    def playground(self) -> PlaygroundServer:
        return cast(PlaygroundServer, self.server)

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, make: Any) -> None:
        try:
            self._check_sender()
            status, (content, kind) = HTTPStatus.OK, make()
        except Refusal as refusal:
            # What is left of the request is not read.
            self.close_connection = True
            status, content, kind = refusal.status, f"{refusal}\n".encode(), "text/plain"
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _check_sender(self) -> None:
        """Raise Refusal for a request that this machine's own page does not send."""
        hosts = self.playground.hosts
        host, origin = self.headers.get_all("Host") or [], self.headers.get("Origin")
        if len(host) != 1 or host[0] not in hosts:
            raise Refusal(HTTPStatus.FORBIDDEN, f"expected the Host {min(hosts)}")
        if origin is not None and origin not in {f"http://{name}" for name in hosts}:
            raise Refusal(HTTPStatus.FORBIDDEN, f"expected no Origin but http://{min(hosts)}")

    def _get(self) -> tuple[bytes, str]:
        asked = urlsplit(self.path)
        if asked.path in _PAGES:
            name, kind = _PAGES[asked.path]
            page = (
                web_page(_PACKAGE, "playground", _HEAD) if name == "html" else part(_PACKAGE, name)
            )
            return page.encode(), f"text/{kind}; charset=utf-8"
        if asked.path == "/setup":
            return _json(
                version=__version__,
                targets=list(TARGETS),
                operations=OPERATIONS,
                languages=LANGUAGES,
                python=self.playground.python,
                files=list(self.playground.files()),
            )
        if asked.path == "/file":
            return _json(text=self._file("".join(parse_qs(asked.query).get("name", []))))
        raise Refusal(HTTPStatus.NOT_FOUND, f"expected one of {', '.join(_PAGES)}, /setup, /file")

    def _file(self, name: str) -> str:
        known = self.playground.files()
        if name not in known:
            raise Refusal(HTTPStatus.NOT_FOUND, f"expected one of: {', '.join(known) or 'none'}")
        with known[name].open("rb") as stream:
            raw = stream.read(LARGEST + 1)
        if len(raw) > LARGEST:
            why = f"expected a file of at most {LARGEST} bytes"
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
        return raw.decode("utf-8", "replace")

    def _post(self) -> tuple[bytes, str]:
        name = self.path.removeprefix("/")
        if name not in ANSWERS:
            raise Refusal(HTTPStatus.NOT_FOUND, f"expected one of {_listed(ANSWERS)}")
        given = self._fields()
        wanted = signature(ANSWERS[name]).parameters
        fields = {field: value for field, value in given.items() if isinstance(value, str)}
        if not fields.keys() == given.keys() == wanted.keys():
            raise Refusal(HTTPStatus.BAD_REQUEST, f"expected texts: {_listed(wanted)}")
        if fields.get("arch", "") not in ("", *TARGETS):
            raise Refusal(HTTPStatus.BAD_REQUEST, f"expected a target of {_listed(TARGETS)}")
        if fields.get("operation", OPERATIONS[0]) not in OPERATIONS:
            raise Refusal(HTTPStatus.BAD_REQUEST, f"expected one of {_listed(OPERATIONS)}")
        try:
            return _json(**self.playground.ask(name, fields))
        except Unanswered as error:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, str(error)) from None

    def _fields(self) -> dict[str, object]:
        """The body of a question."""
        if self.headers.get_content_type() != "application/json":
            raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected application/json")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "expected a Content-Length")
        if len(length) > 9 or int(length) > LARGEST:
            why = f"expected a question of at most {LARGEST} bytes"
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, why)
        try:
            fields = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise Refusal(HTTPStatus.BAD_REQUEST, "expected JSON") from None
        if not isinstance(fields, dict):
            raise Refusal(HTTPStatus.BAD_REQUEST, "expected a JSON object")
        return cast(dict[str, object], fields)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the page says what is wrong."""


def _json(**content: Any) -> tuple[bytes, str]:
    return json.dumps(content).encode(), "application/json"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
