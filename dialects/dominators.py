"""Dominators in a graph of blocks."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from tilewright.dialects.sequences import numbered

Node = TypeVar("Node")
"""A block, or what stands for all of them that end."""


def immediate_dominators(
    entry: Node, successors: Callable[[Node], Iterable[Node]]
) -> dict[Node, Node]:
    """The immediate dominator of each node that paths from the entry reach, these in reverse
    post-order; that of the entry is itself.

    After Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm": a dominator of a node
    is where the paths up from its predecessors meet.
    """
    order = _post_order(entry, successors)
    number = numbered(order)
    predecessors: dict[Node, list[Node]] = {node: [] for node in order}
    for node in order:
        for successor in successors(node):
            predecessors[successor].append(node)
    above = {entry: entry}

    def meet(a: Node, b: Node) -> Node:
        while a is not b:
            if number[a] < number[b]:
                a = above[a]
            else:
                b = above[b]
        return a

    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            known = [other for other in predecessors[node] if other in above]
            best = known[0]
            for other in known[1:]:
                best = meet(best, other)
            changed |= node not in above or above[node] is not best
            above[node] = best
    return above


def _post_order(entry: Node, successors: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The nodes that paths from the entry reach, each behind those that it leads to."""
    order: list[Node] = []
    seen, stack = {entry}, [(entry, iter(successors(entry)))]
    while stack:
        node, rest = stack[-1]
        following = next((other for other in rest if other not in seen), None)
        if following is None:
            order.append(node)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(successors(following))))
    return order
