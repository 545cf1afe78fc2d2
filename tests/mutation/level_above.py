"""Mutants that are the lowering of one at the level above: a proof there holds for them too."""

from __future__ import annotations

from functools import cache

from equivalences import rule_for
from mutants import Mutant, mutants
from subjects import SUBJECTS, Level
from xdsl.dialects.builtin import ModuleOp

import tilewright as tw
from tilewright.pipeline import lower_tiles, run_pipeline


@cache
def mutants_at(example: str, level: Level) -> tuple[ModuleOp, dict[str, Mutant]]:
    """A kernel at a level and its mutants by name, without a run."""
    module, _ = SUBJECTS[example].module(example, level)
    return module, {mutant.name: mutant for mutant in mutants(example, level, module)}


def rule_at(name: str, mutated: ModuleOp) -> str:
    """The rule that proves a mutant equivalent at its level, or one of which it is the lowering at
    the level above; or ''."""
    example, place = name.split("/")[:2]
    levels = SUBJECTS[example].levels
    level = next(level for level in levels if level == place)
    module, named = mutants_at(example, level)
    if rule := rule_for(named[name], module, mutated):
        return rule
    if level == levels[0]:
        return ""
    above = levels[levels.index(level) - 1]
    source, candidates = mutants_at(example, above)
    for candidate in candidates.values():
        if _line(candidate.name) != _line(name) or candidate.kind != named[name].kind:
            continue
        edited = candidate.of(source)
        if edited is None or _lowered(edited.clone(), example, level) != str(mutated.clone()):
            continue
        if rule := rule_at(candidate.name, edited):
            return rule
    return ""


def _line(name: str) -> str:
    return name.split("/")[2].partition(":")[0]


def _lowered(module: ModuleOp, example: str, level: Level) -> str:
    try:
        (run_pipeline if level == "ptx" else lower_tiles)(module, SUBJECTS[example].arch)
    except tw.CompileError:
        return ""
    return str(module.clone())
