"""Mutants that are the lowering of one at the level above, or of nothing: a proof there holds for
them too."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache

from equivalences import rule_for
from mutants import Mutant, mutants
from subjects import SUBJECTS, Level
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

import tilewright as tw
from tilewright.pipeline import lower_tiles, run_pipeline

Skeleton = tuple[Hashable, ...]
"""The ops of a module that have effects, in order, and what they compute their operands from."""

SAME = "same instructions"
"""The rule by which a mutant of tiles is lowered to the very same ops."""


@cache
def mutants_at(example: str, level: Level) -> tuple[ModuleOp, dict[str, Mutant]]:
    """A kernel at a level and its mutants by name, without a run."""
    module, _ = SUBJECTS[example].module(example, level)
    return module, {mutant.name: mutant for mutant in mutants(example, level, module)}


def rule_at(name: str, mutated: ModuleOp) -> str:
    """The rule that proves a mutant equivalent at its level, or one of which it is the lowering at
    the level above; or ''. A fence that may go may stand anywhere: it keeps nobody waiting."""
    if (rule := _rule_at(name, mutated)) or name.rpartition("/")[2] not in ("earlier", "later"):
        return rule
    example, place, op, _ = name.split("/")
    level = next(level for level in SUBJECTS[example].levels if level == place)
    module, named = mutants_at(example, level)
    gone = named.get(f"{example}/{place}/{op}/remove")
    without = gone.of(module) if gone is not None and "fence" in op else None
    return "" if gone is None or without is None else _rule_at(gone.name, without)


def _rule_at(name: str, mutated: ModuleOp) -> str:
    example, place = name.split("/")[:2]
    levels = SUBJECTS[example].levels
    level = next(level for level in levels if level == place)
    module, named = mutants_at(example, level)
    if rule := rule_for(named[name], module, mutated):
        return rule
    if level == "tile" and _lowered(mutated, example, "atom") == _unmutated(example):
        return SAME
    if level == levels[0]:
        return ""
    above, found = levels[levels.index(level) - 1], skeleton(mutated)
    source, candidates = mutants_at(example, above)
    for candidate in candidates.values():
        if _line(candidate.name) != _line(name):
            continue
        edited = candidate.of(source)
        if edited is None or _lowered(edited, example, level) != found:
            continue
        if rule := rule_at(candidate.name, edited):
            return rule
    return ""


def _line(name: str) -> str:
    return name.split("/")[2].partition(":")[0]


@cache
def _unmutated(example: str) -> Skeleton:
    return skeleton(SUBJECTS[example].module(example, "atom")[0])


def _lowered(module: ModuleOp, example: str, level: Level) -> Skeleton:
    copy = module.clone()
    try:
        (run_pipeline if level == "ptx" else lower_tiles)(copy, SUBJECTS[example].arch)
    except tw.CompileError:
        return ()
    return skeleton(copy)


def skeleton(module: ModuleOp) -> Skeleton:
    """The skeleton of a module: two modules with the same do the same."""
    values: dict[SSAValue, int] = {}
    numbers: dict[Hashable, int] = {}
    blocks: dict[Block | None, int] = {}
    steps: list[Hashable] = []

    def number_of(key: Hashable) -> int:
        return numbers.setdefault(key, len(numbers))

    def content(op: Operation) -> Hashable:
        fields = {**op.properties, **op.attributes}.items()
        parts = tuple(sorted((name, str(value)) for name, value in fields))
        ends = tuple(blocks.setdefault(block, len(blocks)) for block in op.successors)
        return op.name, parts, tuple(map(number, op.operands)), ends

    def number(value: SSAValue) -> int:
        if value not in values:
            owner = value.owner
            assert isinstance(owner, Operation)
            place = owner.results.index(value)  # type: ignore[arg-type]
            values[value] = number_of((content(owner), place))
        return values[value]

    for op in module.walk():
        if not op.regions and is_side_effect_free(op) and not op.successors:
            continue
        place = blocks.setdefault(op.parent_block(), len(blocks))
        steps.append((place, content(op)))
        for block in (block for region in op.regions for block in region.blocks):
            inside = blocks.setdefault(block, len(blocks))
            for argument in block.args:
                values[argument] = number_of(("argument", inside, argument.index))
        for result in op.results:
            values[result] = number_of(("result", len(steps), result.index))
    return tuple(steps)
