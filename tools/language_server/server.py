"""The language server: LSP over stdio, by pygls. It answers while texts are analysed: that is done
in other processes, which are ended where one takes too long."""

import asyncio
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from tilewright import __version__
from tilewright.tools.language_server.complete import Proposal
from tilewright.tools.language_server.diagnose import Finding, LineStarts
from tilewright.tools.language_server.name_index import Range
from tilewright.tools.language_server.outline import KINDS, OutlineItem
from tilewright.tools.worker import MEMORY, Unanswered, Worker

PAUSE = 0.15
"""Seconds without a key before a text is looked at."""
SECONDS = 20.0
"""Seconds that the analysis of a text, or an answer, may take."""
IMPATIENT = 1.0
"""Seconds after which an analysis is ended where its text has changed."""
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "remark": types.DiagnosticSeverity.Information,
}


class Text:
    """A document as our functions take it: characters, where the protocol has code units."""

    def __init__(self, document: TextDocument):
        self.text = document.source
        self.name = document.filename or ""
        # What a file in Python imports from its folder is found by its path.
        self.is_python = self.name.endswith(".py")
        self.name = document.path if self.is_python else self.name
        self._lines = LineStarts(self.text)
        self._codec = document.position_codec

    def offset(self, position: types.Position) -> int:
        place = self._codec.position_from_client_units(self._lines.lines, position)
        return self._lines.offset(place.line, place.character)

    def range(self, start: int, end: int) -> types.Range:
        places = (types.Position(*self._lines.place(offset)) for offset in (start, end))
        return self._codec.range_to_client_units(self._lines.lines, types.Range(*places))


def make_server(arch: str | None, seconds: float, *, python: bool) -> LanguageServer:
    """A server whose texts are for that target where they name none, and which looks at one for so
    many seconds at most; with `python` it compiles the kernels of files in Python."""
    server = LanguageServer("tilewright", __version__)
    checks, queries = (
        Worker(seconds, MEMORY, "tilewright.tools.language_server.answers") for _ in range(2)
    )

    turn = asyncio.Lock()

    def document(uri: str) -> Text:
        return Text(server.workspace.get_text_document(uri))

    def is_now(uri: str, version: int | None) -> bool:
        known = server.workspace.text_documents.get(uri)
        return known is not None and known.version == version

    async def publish(uri: str, version: int | None) -> None:
        text = document(uri)
        if text.is_python and not python:
            return
        # An older text of the file that takes long is of no use any more.
        checks.interrupt(uri, IMPATIENT)
        fields = {"text": text.text, "name": text.name, "arch": arch}
        async with turn:
            if not is_now(uri, version):
                return
            try:
                findings: Any = await asyncio.to_thread(checks.ask, "diagnose", fields, uri)
            except Unanswered as error:
                findings = {"error": f"not analysed: {error}"}
        if hasattr(findings, "keys"):
            findings = [Finding(0, 1, str(findings["error"]), "warning")]
        if not is_now(uri, version):
            return
        diagnostics = [
            types.Diagnostic(
                text.range(one.start, one.end),
                one.message,
                _SEVERITIES[one.severity],
                source="tilewright",
            )
            for one in findings
        ]
        server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, diagnostics, version)
        )

    async def ask(what: str, text: Text, **more: Any) -> Any:
        """The answer to a request; None where there is none in time, and of Python."""
        if text.is_python:
            return None
        fields = {"text": text.text, "name": text.name, **more}
        asked = object()
        try:
            answer = await asyncio.to_thread(queries.ask, what, fields, asked)
        except Unanswered:
            return None
        except asyncio.CancelledError:
            queries.interrupt(asked, 0)
            raise
        return None if isinstance(answer, dict) else answer

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(parameters: types.DidOpenTextDocumentParams) -> None:
        await publish(parameters.text_document.uri, parameters.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(parameters: types.DidChangeTextDocumentParams) -> None:
        uri, version = parameters.text_document.uri, parameters.text_document.version
        await asyncio.sleep(PAUSE)
        if is_now(uri, version):
            await publish(uri, version)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(parameters: types.DidCloseTextDocumentParams) -> None:
        uri = parameters.text_document.uri
        checks.interrupt(uri, 0)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(parameters: types.HoverParams) -> types.Hover | None:
        text = document(parameters.text_document.uri)
        said = await ask("hover", text, offset=text.offset(parameters.position), arch=arch)
        if said is None:
            return None
        markdown = types.MarkupContent(types.MarkupKind.Markdown, said[0])
        return types.Hover(markdown, text.range(*said[1]))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def defined(parameters: types.DefinitionParams) -> types.Location | None:
        text = document(parameters.text_document.uri)
        at = await ask("definition", text, offset=text.offset(parameters.position))
        return at and types.Location(parameters.text_document.uri, text.range(*at))

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=[".", "<", "%", "@", "^", " "]),
    )
    async def completed(parameters: types.CompletionParams) -> types.CompletionList:
        text = document(parameters.text_document.uri)
        offset = text.offset(parameters.position)
        proposals: list[Proposal] | None = await ask("complete", text, offset=offset, arch=arch)
        items = [
            types.CompletionItem(
                one.text,
                sort_text=f"{place:04}",
                detail=one.about or None,
                text_edit=types.TextEdit(text.range(one.start, offset), one.text),
                filter_text=one.text,
            )
            for place, one in enumerate(proposals or [])
        ]
        incomplete = proposals is None or not all(one.complete for one in proposals)
        return types.CompletionList(incomplete, items)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def referred(parameters: types.ReferenceParams) -> list[types.Location]:
        text, uri = document(parameters.text_document.uri), parameters.text_document.uri
        offset = text.offset(parameters.position)
        spans: list[Range] = await ask("references", text, offset=offset) or []
        return [types.Location(uri, text.range(*span)) for span in spans]

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    async def renamed(parameters: types.RenameParams) -> types.WorkspaceEdit | None:
        text, new = document(parameters.text_document.uri), parameters.new_name.lstrip("%@^!#")
        offset = text.offset(parameters.position)
        spans: list[Range] = await ask("rename", text, offset=offset, new=new) or []
        edits = [types.TextEdit(text.range(*span), new) for span in spans]
        return types.WorkspaceEdit({parameters.text_document.uri: edits}) if edits else None

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def listed(parameters: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        text = document(parameters.text_document.uri)
        symbols: list[OutlineItem] = await ask("symbols", text) or []
        kind = types.SymbolKind.Function
        return [
            types.DocumentSymbol(one.name, kind, text.range(*one.whole), text.range(*one.at))
            for one in symbols
        ]

    @server.feature(
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, types.SemanticTokensLegend(list(KINDS), [])
    )
    async def coloured(parameters: types.SemanticTokensParams) -> types.SemanticTokens:
        text = document(parameters.text_document.uri)
        data, line, column = list[int](), 0, 0
        tokens: list[tuple[int, int, int]] = await ask("tokens", text) or []
        for start, end, kind in tokens:
            at = text.range(start, end)
            below = at.start.line - line
            ahead = at.start.character - (0 if below else column)
            data += [below, ahead, at.end.character - at.start.character, kind, 0]
            line, column = at.start.line, at.start.character
        return types.SemanticTokens(data)

    @server.feature(types.SHUTDOWN)
    def left(_: None) -> None:
        checks.stop()
        queries.stop()

    return server
