"""Files that went wrong: bytes changed, cut, doubled, within the sections or across them."""

from __future__ import annotations

from random import Random

from tilewright.dialects.cuda_tile.bytecode.container import (
    SectionId,
    read_header,
    read_sections,
    write_header,
    write_section,
)
from tilewright.dialects.cuda_tile.bytecode.cursor import Cursor
from tilewright.dialects.cuda_tile.bytecode.encoder import Encoder

NUMBERS = (0, 1, 2, 3, 127, 128, 255)


def mutated(seed: int, files: list[bytes]) -> bytes:
    """One of the files with one to sixteen changes; most leave the sections where they are."""
    random = Random(seed)
    data = random.choice(files)
    changes = random.choice((1, 1, 1, 2, 4, 16))
    if random.random() < 0.25:
        return _changed(random, data, changes)
    cursor = Cursor(data)
    version, tag = read_header(cursor)
    sections = read_sections(cursor)
    chosen = random.choice((SectionId.FUNCTION, *sections))
    out = Encoder()
    write_header(out, version, tag)
    for section, part in sections.items():
        payload = data[part.position : part.end]
        if section is chosen:
            payload = _changed(random, payload, changes, resize=random.random() < 0.3)
        write_section(out, section, payload)
    out.append(SectionId.END)
    return bytes(out)


def _changed(random: Random, data: bytes, changes: int, *, resize: bool = True) -> bytes:
    changed = bytearray(data)
    for _ in range(changes):
        if not changed:
            break
        place = random.randrange(len(changed))
        kind = random.randrange(7 if resize else 3)
        if kind == 0:
            changed[place] = random.choice(NUMBERS)
        elif kind == 1:
            changed[place] ^= 1 << random.randrange(8)
        elif kind == 2:
            changed[place] = (changed[place] + random.choice((-1, 1))) % 256
        elif kind == 3:
            del changed[place : place + random.randrange(1, 9)]
        elif kind == 4:
            changed[place:place] = random.randbytes(random.randrange(1, 9))
        elif kind == 5:
            del changed[place:]
        else:
            changed[place : place + 1] = b"\xff" * random.randrange(1, 12)
    return bytes(changed)
