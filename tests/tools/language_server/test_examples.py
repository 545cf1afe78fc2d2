"""The language server on the examples: every name is resolved, what `compile` emits is not blamed,
and the mistakes of one character are blamed as `tilewright-opt` does."""

from __future__ import annotations

import re

import pytest
from example_files import EXAMPLES

import tilewright as tw
from tilewright.tools.language_server.diagnose import diagnose
from tilewright.tools.language_server.hover import hover
from tilewright.tools.language_server.name_index import NameIndex
from tilewright.tools.language_server.ptx_statements import PtxText

SOME = {"gemm_sm80": "sm_80", "gemm_sm90": "sm_90a", "gemm_sm100_2sm": "sm_100a", "axpy": "sm_80"}


@pytest.mark.parametrize("name", SOME)
def test_every_name_leads_to_its_definition(name: str):
    text = (EXAMPLES / f"{name}.mlir").read_text()
    index = NameIndex.of(text, name)
    code = re.sub(r"//[^\n]*", lambda match: " " * len(match[0]), text)
    assert {use.at for use in index.uses} == {
        match.span() for match in re.finditer(r"[%^][A-Za-z_\d]\w*", code)
    }
    for use in index.uses:
        assert use.definition is not None
        assert text[slice(*use.at)] == text[slice(*use.definition.at)]


@pytest.mark.parametrize("name", SOME)
def test_emitted_ptx_is_not_blamed(name: str):
    ptx = tw.compile((EXAMPLES / f"{name}.mlir").read_text(), SOME[name]).ptx
    assert diagnose(ptx, f"{name}.ptx") == []
    lines = [line.strip().removesuffix(" }") for line in ptx.splitlines()]
    written = [line for line in lines if line.endswith(";") and line[0] not in "./{"]
    assert [one.text for one in PtxText(ptx).instructions] == written


@pytest.mark.parametrize("place", range(0, 800, 37))
def test_a_torn_text_has_diagnostics_and_no_traceback(place: int):
    """Each place of a text that ends there, as one that is being typed."""
    text = (EXAMPLES / "mma.mlir").read_text()[:place]
    try:
        tw.compile(text, "sm_90a", name="mma.mlir")
        expected = []
    except tw.CompileError as error:
        expected = [error.message]
    diagnostics = diagnose(text, "mma.mlir", "sm_90a")
    assert [one.message for one in diagnostics[:1]] == expected
    for one in diagnostics:
        assert 0 <= one.start <= one.end <= len(text)
    hover(text, "mma.mlir", place)
