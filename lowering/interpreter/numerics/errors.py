"""The error that the arithmetic models raise."""


class NumericsError(ValueError):
    """No known arithmetic for what was asked: a type, a chip, or a combination of the two."""
