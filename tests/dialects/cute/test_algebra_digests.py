"""The layout algebra gives what it gave, function by function, errors and their words included.

A change that means to change a result records them anew:

    cd tests/dialects/cute; python algebra_digests.py --count 40 > algebra_digests.txt
"""

from __future__ import annotations

from pathlib import Path

from algebra_digests import digests

COUNT = 40
RECORDED = Path(__file__).with_name("algebra_digests.txt")


def test_results():
    recorded = [line.split() for line in RECORDED.read_text().splitlines()]
    assert digests(COUNT) == {name: tuple(both) for name, *both in recorded}
