"""Sorted lists of intervals that do not overlap."""

from bisect import bisect_left


def insert_interval(intervals: list[tuple[int, int]], new: tuple[int, int]) -> None:
    """Add an interval that overlaps none to a sorted list, joined to those that it touches."""
    start, end = new
    place = bisect_left(intervals, new)
    if place < len(intervals) and intervals[place][0] == end:
        end = intervals.pop(place)[1]
    if place and intervals[place - 1][1] == start:
        start = intervals.pop(place - 1)[0]
        place -= 1
    intervals.insert(place, (start, end))
