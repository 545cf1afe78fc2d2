"""The moves of an edge, which all happen at once, one after another."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush

from tilewright.lowering.ptx.registers import RegisterMove


def in_order(moves: Sequence[RegisterMove], spare: Callable[[str], str]) -> Iterator[RegisterMove]:
    """The moves in an order that overwrites nothing still to be read: of those that may come next
    the first. What moves in a circle goes through a spare register of its kind."""
    readers = Counter(move.source for move in moves)
    into = {move.dest: place for place, move in enumerate(moves)}
    waiting = dict(enumerate(moves))
    ready = [place for place, move in waiting.items() if not readers[move.dest]]
    heapify(ready)
    while waiting:
        if ready:
            move = waiting.pop(heappop(ready))
            yield move
        else:
            place, (kind, dest, source) = next(iter(waiting.items()))
            move = RegisterMove(kind, spare(kind), source)
            yield move
            waiting[place] = RegisterMove(kind, dest, move.dest)
        readers[move.source] -= 1
        if not readers[move.source] and (free := into.get(move.source)) in waiting:
            heappush(ready, free)
