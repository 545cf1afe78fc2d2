"""Functions of raw bits that look at what a run asks for (`checks`), where it does."""

from collections.abc import Iterable, Sequence

import numpy as np

from tilewright.lowering.interpreter.arithmetic.typed_words import FLOATS, Function
from tilewright.lowering.interpreter.checks import ASKED, check_finite
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.numerics.formats import FORMATS, Floats, decode
from tilewright.lowering.interpreter.values import Bits


def floats(values: Iterable[tuple[Bits, str | None]]) -> list[Floats]:
    """Those of some raw bits, [rows, ...], that are floats by the names of their types."""
    rows: list[Floats] = []
    for bits, type_ in values:
        name = (type_ or "").removesuffix("x2")
        if name in FORMATS:
            words = np.ascontiguousarray(bits)[..., None].view(np.uint16) if name != type_ else bits
            rows.append(decode(words, FORMATS[name]))
    return rows


def finite(compute: Function, sources: Sequence[str | None], result: str | None) -> Function:
    """A function of operands of some types, which makes finite floats of finite ones: it is not
    asked where an operand is of no such type, or packed, of 8 bits or fewer."""
    known = all(type_ and not type_.startswith(("e", "ue")) for type_ in sources)
    is_float = (result or "").removesuffix("x2") in FLOATS
    if "nan" not in ASKED.get() or not sources or not known or not is_float:
        return compute

    def run(*given: Bits) -> Bits:
        made = compute(*given)
        check_finite(floats(zip(given, sources, strict=False)), floats([(made, result)]))
        return made

    return run


def within_width(shift: Function, width: int) -> Function:
    """A shift, whose amount is to be less than the width."""
    if "integers" not in ASKED.get():
        return shift

    def run(a: Bits, amount: Bits) -> Bits:
        wide = np.argwhere(amount >= width)
        if len(wide):
            got = amount[tuple(wide[0])]
            raise Fault(f"expected a shift below {width}, got {got}", int(wide[0, 0]))
        return shift(a, amount)

    return run
