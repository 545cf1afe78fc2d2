"""Campaigns: every seed once, whatever the batches; failures written down; a time limit."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import distributed
import pytest
from campaign import Campaign, add_options, in_time

TESTS = Path(__file__).parents[1]


def odd(kind: str, seeds: Sequence[int]) -> list[tuple[int, str]]:
    return [(seed, f"odd {kind}") for seed in seeds if kind == "b" and seed % 2]


def deadly(kind: str, seeds: Sequence[int]) -> list[tuple[int, str]]:
    if kind == "b" and 7 in seeds:
        os._exit(3)
    return []


def endless_at_5(kind: str, seeds: Sequence[int]) -> list[tuple[int, str]]:
    try:
        with in_time(1):
            while 5 in seeds:
                pass
    except TimeoutError as error:
        return [(5, str(error))]
    return []


def options(folder: Path, *arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser, "trials", "trials")
    return parser.parse_args([*arguments, "--failures", str(folder / "made" / "failures.jsonl")])


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_every_seed_is_tried_once(jobs: str, tmp_path: Path, capsys: object):
    given = options(tmp_path, "--count", "23", "--jobs", jobs, "--first", "100")
    campaign = Campaign(odd, given, batch=4)
    assert campaign.run(["a", "b"]) == 1
    assert campaign.tried == {"a": 12, "b": 11}
    assert sorted(campaign.seeds["b", "odd b"]) == [101, 103, 105, 107, 109]
    lines = [json.loads(line) for line in given.failures.read_text().splitlines()]
    assert sorted(line["seed"] for line in lines) == [101, 103, 105, 107, 109]
    printed = capsys.readouterr().out.splitlines()  # type: ignore[attr-defined]
    assert printed[-3].split() == ["a", "12", "tried", "0", "failed"]
    assert printed[-2].split() == ["b", "11", "tried", "5", "failed"]
    assert printed[-1].startswith("23 tried in ")


def test_nothing_begins_when_the_time_is_up(tmp_path: Path):
    campaign = Campaign(odd, options(tmp_path, "--seconds", "0.2", "--jobs", "1"), batch=2)
    campaign.run(["a"])
    assert campaign.tried["a"] > 2


def test_a_process_that_dies_is_a_failure_and_the_rest_goes_on(tmp_path: Path):
    campaign = Campaign(deadly, options(tmp_path, "--count", "60", "--jobs", "2"), batch=5)
    assert campaign.run(["a", "b"]) >= 1
    assert campaign.tried == {"a": 30, "b": 30}
    assert any("a process died among 5 to 9" in reason for _, reason in campaign.seeds)


def test_a_dask_cluster(tmp_path: Path):
    """Its workers run trials in threads, whose time is limited as well."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False,
                                  dashboard_address=None, scheduler_port=0) as cluster:  # fmt: skip
        name = f"dask:{cluster.scheduler_address}"
        given = options(tmp_path, "--count", "8", "--executor", name)
        campaign = Campaign(endless_at_5, given, batch=4)
        assert campaign.run(["a"]) == 1
    assert campaign.tried == {"a": 8}
    [(_, reason)] = campaign.seeds
    assert "test_campaign.py" in reason and campaign.seeds["a", reason] == [5]


def test_what_hangs_is_stopped():
    with pytest.raises(TimeoutError, match=r"test_campaign\.py"), in_time(1):
        while True:
            pass


@pytest.mark.parametrize("folder", ["differential", "fuzz"])
def test_campaigns_start_by_themselves(folder: str, tmp_path: Path):
    """Without pytest's folders of modules."""
    command = [sys.executable, str(TESTS / folder / "run.py"), "--help"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "--seconds" in shown.stdout, shown.stderr
