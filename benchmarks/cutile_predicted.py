"""The latency model's order of configurations beside what a GPU measured: what a wrong one costs.

    python benchmarks/cutile_gpu.py FOLDER --json > rows.json                       # with the GPU
    python benchmarks/cutile_predicted.py rows.json ... --checkout CUTILE [--arch A] [--only WORD]

A line for each work of more than one configuration: the part of the best rate that the first
predicted one lacks, the place of the best one in the predicted order, both, and how many there are.
Then the largest loss, and in how many of the works the first three have the best one, or one that
lacks no more than a hundredth, which a measurement does not tell apart. Of several runs the mean
rates count, and in how many works the first three by one run have the best one by another is what a
predictor can be held to. A configuration takes the model a second or two; all processors have a
part.
"""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import permutations
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import cutile_cases
from cutile_problems import Case, Problem, host_array
from measured import parser, show

from tilewright.cutile.tuning import modelled
from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import chip_of
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.modelled_time import ModelledTimeWarning, ranked

FIRST, ALIKE = 3, 0.01
"""The predicted configurations that a search would measure, and what measurements differ by."""


def predicted(work: tuple[Case, Problem], checkout: Path, arch: str) -> float:
    """The microseconds of a case's launch by the model, on arrays of zeros but those of numbers
    that say where others are."""
    warnings.simplefilter("ignore", ModelledTimeWarning)
    case, problem = work
    grid = (*problem.grid, 1, 1)[:3]
    if grid[0] == 0:
        count = chip_of(divmod(target(arch).number, 10)).count // case.hints.get("num_ctas", 1)
        grid = min(count, grid[1]), 1, 1
    launch = cutile_cases.bytecode(case, checkout), problem.flat(host_array)
    return modelled(lambda *_: launch, arch)(None, grid, None, ())


def judged(rates: dict[str, float], times: dict[str, float]) -> dict[str, Any]:
    """The loss of who takes the first predicted configuration, and the best one's place."""
    names, best = list(times), max(rates, key=rates.__getitem__)
    order = [names[place] for place in ranked(list(times.values()))]
    return {
        "loss": 1 - rates[order[0]] / rates[best], "place": 1 + order.index(best),
        "first_lack": 1 - max(rates[name] for name in order[:FIRST]) / rates[best],
        "first": order[0], "best": best, "of": len(order),
    }  # fmt: skip


def measured(rows: Path, only: list[str]) -> dict[str, dict[str, float]]:
    """The rates of each work's configurations, as a run printed them."""
    works = defaultdict[str, dict[str, float]](dict)
    for row in json.loads(rows.read_text()):
        if "ours" in row and (not only or any(word in row["work"] for word in only)):
            works[row["work"]][row["configuration"]] = row["ours"]
    return works


def _best(rates: dict[str, float]) -> list[str]:
    return sorted(rates, key=rates.__getitem__, reverse=True)


def main() -> None:
    words = parser(__doc__)
    words.add_argument("rows", type=Path, nargs="+", help="what cutile_gpu.py --json printed")
    words.add_argument("--checkout", type=Path, required=True, help="a checkout of cutile-python")
    words.add_argument("--arch", default="sm_90a")
    words.add_argument("--only", nargs="*", default=[], help="words in a work's name")
    options = words.parse_args()
    known = {
        (case.configuration, problem.name): (case, problem)
        for case in cutile_cases.cases()
        for problem in case.problems
    }
    runs = [measured(path, options.only) for path in options.rows]
    several = {
        work: {name: geometric_mean(run[work][name] for run in runs) for name in rates}
        for work, rates in runs[0].items()
        if len(rates) > 1 and all(rates.keys() == run.get(work, {}).keys() for run in runs)
    }
    launches = [known[name, work.rpartition(" ")[2]] for work in several for name in several[work]]
    run = partial(predicted, checkout=options.checkout, arch=options.arch)
    with ProcessPoolExecutor() as pool:
        all_times = iter(pool.map(run, launches))
    rows = [
        {"work": work} | judged(rates, {name: next(all_times) for name in rates})
        for work, rates in several.items()
    ]
    lines = [
        f"{row['work']:44} {row['loss']:6.1%} {row['place']:3} of {row['of']:2}  "
        f"{row['first']}, best {row['best']}"
        for row in rows
    ]
    if rows:
        among = sum(row["place"] <= FIRST for row in rows)
        alike = sum(row["first_lack"] <= ALIKE for row in rows)
        lines.append(f"largest loss {max(row['loss'] for row in rows):.1%}; the first {FIRST} have "
                     f"the best of {among} of {len(rows)}, or one like it of {alike}")  # fmt: skip
    for one, other in permutations(runs, 2) if rows else ():
        among = sum(_best(other[work])[0] in _best(one[work])[:FIRST] for work in several)
        lines.append(f"the first {FIRST} by one run have the best by another of {among}")
    show(options, rows, lines)


if __name__ == "__main__":
    main()
