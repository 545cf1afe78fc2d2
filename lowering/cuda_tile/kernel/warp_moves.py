"""Tiles that change layout within warps, by shuffles: bits of an element's number change places,
one move after the other.

    swap       a register's bit with a lane's      half of the registers are sent to the lane across
    send       bits of lanes to others' and to     the registers that are then; each lane says of
               registers'                          which one it takes the element
    pick       a register's bit to a thread's      threads that held the same keep a half each
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute_nvgpu.ops import fragment
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.dialects.cute_nvgpu.ops.shuffle import ShflIdxOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.frozen import frozen
from tilewright.lowering.cuda_tile.kernel.threads import ThreadNumber
from tilewright.lowering.emit.emitter import Emitter
from tilewright.lowering.emit.registers import extracted, from_elements
from tilewright.lowering.tile.convert_reduce import by_words, shuffled
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS, TileLayout, log2

_WORD = 4
_BARRIERS = 3
"""The cost of the barriers of a way through shared memory, in words that a warp moves: on an
H200 8x8 of f32 is quicker by its 5 shuffles, 16x16 slower by its 20."""

Places = dict[int, SSAValue]
"""The registers of a thread by their part of the element's number."""


@frozen
class WarpMove:
    """A move: `bit` of the element's number goes to a thread's bit `to`."""

    kind: Literal["swap", "send", "pick"]
    bit: int = 0
    to: int = 0
    other: int = 0
    """Of a swap the bit that goes to the registers."""
    lanes: tuple[tuple[int | None, ...], tuple[int | None, ...]] = ((), ())
    """Of what is sent the bits of the lanes before and behind it; registers get the rest."""

    @property
    def spread(self) -> list[int]:
        """The bits that go from lanes to registers, of which lanes then hold the same."""
        before, after = self.lanes
        return [bit for bit in before if bit is not None and bit not in after]


@dataclass(frozen=True)
class WarpMoves:
    """The moves from one layout to another, and the shuffles of words that they take."""

    target: TileLayout
    moves: tuple[WarpMove, ...]
    packed: tuple[int, ...]
    """The bits of an element's number that tell the elements of one word apart."""
    shuffles: int

    @classmethod
    @cache
    def between(
        cls, source: TileLayout, target: TileLayout, size: int, *, packs: bool = True
    ) -> WarpMoves | None:
        """Those of elements of `size` bytes, which words may pack; None where elements leave their
        warp."""
        moves = _moves(source, target)
        if moves is None:
            return None
        still = set(source.registers).difference(move.bit for move in moves if move.kind != "send")
        still.difference_update(move.other for move in moves if move.kind == "swap")
        kept = [bit for bit in source.registers if bit in still and bit in target.registers]
        count = max(log2(_WORD) - log2(size), 0) if packs else 0
        packed = tuple(kept[:count]) if len(kept) >= count else ()
        words = max(size // _WORD, 1) << (len(source.registers) - len(packed))
        shuffles = 0
        for move in moves:
            match move.kind:
                case "swap":
                    shuffles += words // 2
                case "send":
                    words <<= len(move.spread)
                    shuffles += words
                case "pick":
                    words //= 2
        return cls(target, moves, packed, shuffles)

    @classmethod
    def paying(cls, source: TileLayout, target: TileLayout, element: Attribute) -> WarpMoves | None:
        """Those that cost less than the way through shared memory."""
        size = bytes_of(element)
        moves = cls.between(source, target, size, packs=element != i1)
        if moves is None:
            return None
        through = sum(-(-layout.count * size // _WORD) for layout in (source, target))
        return moves if moves.shuffles <= through + _BARRIERS else None

    def made(
        self, source: TileLayout, elements: Sequence[SSAValue], emitter: Emitter,
        threads: ThreadNumber,
    ) -> list[SSAValue]:  # fmt: skip
        """The elements, moved."""
        element = elements[0].type
        values = dict(zip(source.places, elements, strict=True))
        if self.packed:
            values = _packed(values, self.packed, element, emitter)
        for move in self.moves:
            values = _MOVES[move.kind](move, values, emitter, threads)
        if self.packed:
            values = _unpacked(values, self.packed, element, emitter)
        return [values[place] for place in self.target.places]


def _moves(source: TileLayout, target: TileLayout) -> tuple[WarpMove, ...] | None:
    """The moves from a layout to another; None where elements leave their warp."""
    now, wanted = list(source.threads), target.threads
    registers, moves = set(source.registers), list[WarpMove]()
    warps = zip(now[WARP_BITS:], wanted[WARP_BITS:], strict=True)
    if any(bit is not None and bit != other for bit, other in warps):
        return None

    def send(lanes: list[int | None]) -> None:
        move = WarpMove("send", lanes=(tuple(now[:WARP_BITS]), tuple(lanes)))
        if move.lanes[0] != move.lanes[1]:
            moves.append(move)
            registers.update(move.spread)
            now[:WARP_BITS] = lanes

    send([None if bit in wanted[WARP_BITS:] else bit for bit in now[:WARP_BITS]])
    while coming := [
        (now[place] is not None, place, bit)
        for place, bit in enumerate(wanted)
        if bit is not None and bit in registers and now[place] != bit
    ]:
        # Threads that hold the same first: registers are fewer then.
        _, place, bit = min(coming)
        gone = now[place]
        registers.remove(bit)
        now[place] = bit
        if gone is None:
            moves.append(WarpMove("pick", bit, place))
        else:
            moves.append(WarpMove("swap", bit, place, gone))
            registers.add(gone)
    send(list(wanted[:WARP_BITS]))
    return tuple(moves)


# --- moves ---


def _swap(move: WarpMove, values: Places, emitter: Emitter, threads: ThreadNumber) -> Places:
    there, moved = threads.is_set(move.to), Places()
    for place, low in values.items():
        if place >> move.bit & 1:
            continue
        high = values[place | 1 << move.bit]
        sent = emitter.select(there, low, high)
        got = shuffled(sent, 1 << move.to, sent.type, emitter)
        moved[place] = emitter.select(there, got, low)
        moved[place | 1 << move.other] = emitter.select(there, high, got)
    return moved


def _send(move: WarpMove, values: Places, emitter: Emitter, threads: ThreadNumber) -> Places:
    before, after = move.lanes
    weights = [0] * len(after)
    for lane, bit in enumerate(before):
        if bit is not None and bit in after:
            weights[after.index(bit)] = 1 << lane
    moved, own = Places(), threads.total([*weights, 0])
    for place, value in values.items():
        for number in range(1 << len(move.spread)):
            known = [bit for i, bit in enumerate(move.spread) if number >> i & 1]
            first = emitter.constant(sum(1 << before.index(bit) for bit in known), 32)
            lane = first if own is None else emitter.binary("add", own, first) if known else own
            moved[place | sum(1 << bit for bit in known)] = by_words(
                value, value.type, emitter, lambda word, lane=lane: ShflIdxOp(word, lane)
            )
    return moved


def _pick(move: WarpMove, values: Places, emitter: Emitter, threads: ThreadNumber) -> Places:
    there = threads.is_set(move.to)
    return {
        place: emitter.select(there, values[place | 1 << move.bit], value)
        for place, value in values.items()
        if not place >> move.bit & 1
    }


_MOVES: Mapping[str, Callable[[WarpMove, Places, Emitter, ThreadNumber], Places]] = {
    "swap": _swap,
    "send": _send,
    "pick": _pick,
}


# --- words ---


def _packed(values: Places, bits: tuple[int, ...], element: Attribute, emitter: Emitter) -> Places:
    """Words of elements."""
    parts, words = TileLayout((), bits).places, Places()
    type_ = FragmentType.get(len(parts), element)
    for place in values:
        if not any(place >> bit & 1 for bit in bits):
            whole = from_elements([values[place | part] for part in parts], type_, emitter)
            word = emitter.emit(fragment.CastOp(whole, FragmentType.get(1, i32)))
            words[place] = extracted(word, 0, emitter)
    return words


def _unpacked(
    values: Places, bits: tuple[int, ...], element: Attribute, emitter: Emitter
) -> Places:
    """The elements of words."""
    parts, elements = TileLayout((), bits).places, Places()
    type_ = FragmentType.get(len(parts), element)
    for place, value in values.items():
        word = from_elements([value], FragmentType.get(1, i32), emitter)
        whole = emitter.emit(fragment.CastOp(word, type_))
        elements |= {place | part: extracted(whole, i, emitter) for i, part in enumerate(parts)}
    return elements
