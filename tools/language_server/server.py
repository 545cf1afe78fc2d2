"""The language server: LSP over stdio, by pygls."""

from __future__ import annotations

import asyncio
import re

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from tilewright import __version__
from tilewright.tools.language_server.complete import complete
from tilewright.tools.language_server.diagnose import LineStarts, diagnose
from tilewright.tools.language_server.hover import hover
from tilewright.tools.language_server.name_index import NameIndex
from tilewright.tools.language_server.ptx_statements import PtxText

PAUSE = 0.15
"""Seconds without a key before a text is looked at."""


class Text:
    """A document as our functions take it: characters, where the protocol has code units."""

    def __init__(self, document: TextDocument):
        self.text = document.source
        self.name = document.filename or ""
        self._lines = LineStarts(self.text)
        self._codec = document.position_codec

    def offset(self, position: types.Position) -> int:
        place = self._codec.position_from_client_units(self._lines.lines, position)
        return self._lines.offset(place.line, place.character)

    def range(self, start: int, end: int) -> types.Range:
        places = (types.Position(*self._lines.place(offset)) for offset in (start, end))
        return self._codec.range_to_client_units(self._lines.lines, types.Range(*places))


def make_server(arch: str | None = None) -> LanguageServer:
    """A server whose texts are for that target where they name none."""
    server = LanguageServer("tilewright", __version__)

    def document(uri: str) -> Text:
        return Text(server.workspace.get_text_document(uri))

    def publish(uri: str, version: int | None) -> None:
        text = document(uri)
        diagnostics = [
            types.Diagnostic(
                text.range(one.start, one.end),
                one.message,
                types.DiagnosticSeverity.Error,
                source="tilewright",
            )
            for one in diagnose(text.text, text.name, arch)
        ]
        server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, diagnostics, version)
        )

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(parameters: types.DidOpenTextDocumentParams) -> None:
        publish(parameters.text_document.uri, parameters.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(parameters: types.DidChangeTextDocumentParams) -> None:
        uri, version = parameters.text_document.uri, parameters.text_document.version
        await asyncio.sleep(PAUSE)
        if server.workspace.get_text_document(uri).version == version:
            publish(uri, version)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(parameters: types.DidCloseTextDocumentParams) -> None:
        uri = parameters.text_document.uri
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(parameters: types.HoverParams) -> types.Hover | None:
        text = document(parameters.text_document.uri)
        said = hover(text.text, text.name, text.offset(parameters.position), arch)
        if said is None:
            return None
        markdown = types.MarkupContent(types.MarkupKind.Markdown, said[0])
        return types.Hover(markdown, text.range(*said[1]))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def defined(parameters: types.DefinitionParams) -> types.Location | None:
        text = document(parameters.text_document.uri)
        at = definition(text.text, text.name, text.offset(parameters.position))
        return at and types.Location(parameters.text_document.uri, text.range(*at))

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=[".", "<", "%", "@", "^", " "]),
    )
    def completed(parameters: types.CompletionParams) -> types.CompletionList:
        text = document(parameters.text_document.uri)
        offset = text.offset(parameters.position)
        proposals = complete(text.text, text.name, offset, arch)
        items = [
            types.CompletionItem(
                one.text,
                sort_text=f"{place:04}",
                detail=one.about or None,
                text_edit=types.TextEdit(text.range(one.start, offset), one.text),
                filter_text=one.text,
            )
            for place, one in enumerate(proposals)
        ]
        return types.CompletionList(not all(one.complete for one in proposals), items)

    return server


def definition(text: str, name: str, offset: int) -> tuple[int, int] | None:
    """Where the name at a place of a text is defined: a value, a block, a symbol or an alias of
    IR; a label, a register, a variable or a function of PTX."""
    words = re.finditer(r"[%@^!#]?[\w$.-]+" if not name.endswith(".ptx") else r"[\w$%]+", text)
    word = next((match for match in words if match.start() <= offset <= match.end()), None)
    if word is None:
        return None
    if name.endswith(".ptx"):
        return PtxText(text).declaration(word[0], offset)
    if word[0][0] in "!#":
        alias = re.search(rf"^{re.escape(word[0])}(?=\s*=)", text, re.MULTILINE)
        return None if alias is None else alias.span()
    index = NameIndex.of(text, name)
    if word[0][0] == "@":
        return index.symbol(word[0][1:])
    use = index.definition(offset)
    return None if use is None else use.at
