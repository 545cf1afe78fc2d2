"""The base of the errors that say why something is not legal."""


class Illegal(ValueError):
    """Something that is not legal: what was found, what is legal, and why. An op's verification
    says it of the op."""
