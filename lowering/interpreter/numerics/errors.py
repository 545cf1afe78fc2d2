"""The error that the arithmetic models raise."""

from tilewright.lowering.interpreter.errors import Fault


class NumericsError(Fault, ValueError):
    """No known arithmetic for what was asked: a type, a chip, or a combination of the two."""
