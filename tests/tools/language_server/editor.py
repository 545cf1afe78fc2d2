"""An editor that talks to the language server: JSON-RPC on the stdin and stdout of one process."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from typing import Any


class Editor:
    """The client's end: requests with their answers, and the diagnostics published last."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "tilewright.tools.tilewright", "lsp", "--arch", "sm_90a"]
        command += options
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.numbers = itertools.count(1)
        self.diagnostics: dict[str, dict[str, Any]] = {}
        self.texts: dict[str, str] = {}

    def send(self, method: str, parameters: Any, **more: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": parameters, **more}
        body = json.dumps(message).encode()
        assert self.server.stdin is not None
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.server.stdin.flush()

    def read(self) -> dict[str, Any]:
        """The next message; what is published is kept."""
        assert self.server.stdout is not None
        length = 0
        while (line := self.server.stdout.readline().strip()) or not length:
            assert line, "the server left"
            name, _, value = line.partition(b":")
            length = int(value) if name == b"Content-Length" else length
        message = json.loads(self.server.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]
        return message

    def ask(self, method: str, parameters: Any) -> Any:
        """The result of a request."""
        number = next(self.numbers)
        self.send(method, parameters, id=number)
        while (message := self.read()).get("id") != number:
            pass
        assert "error" not in message, message
        return message["result"]

    def open(self, name: str, text: str) -> list[dict[str, Any]]:
        """Open a file: its diagnostics."""
        return self.published(self.show(name, text), 1)

    def show(self, name: str, text: str) -> str:
        """Open a file: its address."""
        uri = f"file:///folder/{name}"
        self.texts[uri] = text
        item = {"uri": uri, "languageId": "x", "version": 1, "text": text}
        self.send("textDocument/didOpen", {"textDocument": item})
        return uri

    def published(self, uri: str, version: int) -> list[dict[str, Any]]:
        while self.diagnostics.get(uri, {}).get("version") != version:
            self.read()
        return self.diagnostics[uri]["diagnostics"]

    def at(self, name: str, what: str, more: int = 0) -> dict[str, Any]:
        """The place of a text's piece, in UTF-16 code units as the protocol counts."""
        uri = f"file:///folder/{name}"
        ahead = self.texts[uri][: self.texts[uri].index(what) + more]
        line = ahead.rpartition("\n")[2]
        place = {"line": ahead.count("\n"), "character": len(line.encode("utf-16-le")) // 2}
        return {"textDocument": {"uri": uri}, "position": place}

    def piece(self, name: str, place: dict[str, Any]) -> tuple[int, str]:
        """The line (from 1) and the text of a range."""
        start, end = place["start"], place["end"]
        line = self.texts[f"file:///folder/{name}"].split("\n")[start["line"]].encode("utf-16-le")
        assert start["line"] == end["line"]
        return start["line"] + 1, line[2 * start["character"] : 2 * end["character"]].decode(
            "utf-16-le"
        )
