"""Mutants that nothing catches and no rule proves equivalent, by name. The list may only shrink: a
mutant that is caught or proven is taken out. It names those that were judged (docs/hazards.md)."""

from __future__ import annotations

KNOWN: frozenset[str] = frozenset()
