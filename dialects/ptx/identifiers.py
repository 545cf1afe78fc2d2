"""Names that PTX takes. PTX ISA 4.4.

A kernel's name, by which the driver finds it, is refused where PTX does not take it; all others
are spelled as identifiers. What else comes from the input stands in comments alone.
"""

import re
from collections.abc import Collection, Iterable

_IDENTIFIER = re.compile(r"(?!WARP_SZ$)(?:[A-Za-z][A-Za-z0-9_$]*|[_$][A-Za-z0-9_$]+)")
"""Names that PTX does not define itself, as it does WARP_SZ and many that begin with %."""


def identifier(name: str) -> str:
    """The name where PTX takes it, else the nearest that it takes."""
    spelled = re.sub("[^A-Za-z0-9_$]", "_", name)
    spellings = (name, spelled, f"{spelled}_", f"_{spelled}_")
    return next(filter(_IDENTIFIER.fullmatch, spellings))


def why_no_identifier(name: str, kind: str) -> str | None:
    """Why an op may not give a `kind` of thing that name; None where it may."""
    if (near := identifier(name)) == name:
        return None
    return f"expected {kind}, got '{name}'; nearest legal: '{near}'"


def unique(names: Iterable[str], taken: Collection[str] = ()) -> list[str]:
    """The names as identifiers, no two alike and none of those that are taken."""
    spellings: list[str] = []
    used, counts = set(taken), dict[str, int]()
    for name in names:
        spelled = stem = identifier(name)
        while spelled in used:
            counts[stem] = counts.get(stem, 0) + 1
            spelled = f"{stem}_{counts[stem]}"
        used.add(spelled)
        spellings.append(spelled)
    return spellings


def comment(text: str) -> str:
    """The text as a comment of one line, what is not printable escaped: ptxas stops at a NUL."""
    shown = (c if c.isprintable() else ascii(c)[1:-1] for c in text)
    return f"// {''.join(shown)}"
