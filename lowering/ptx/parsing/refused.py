"""Instructions of the PTX ISA that are not read, and what they are."""

REFUSED: dict[str, tuple[str, ...]] = {
    "of textures": ("tex", "tld4", "txq", "istypep"),
    "of surfaces": ("suld", "sust", "sured", "suq"),
    "of video": (
        *(f"v{name}{count}" for name in
          ("add", "sub", "min", "max", "set") for count in ("", "2", "4")), "vabsdiff",
        *(f"vavrg{count}" for count in "24"), "vshl", "vshr", "vmad",
    ),
}  # fmt: skip
"""Their names, by what they are instructions of. PTX ISA 9.7."""


def why_unread(mnemonic: str) -> str:
    """The rule that an instruction breaks which no rule reads."""
    name = mnemonic.partition(".")[0]
    kind = next((kind for kind, names in REFUSED.items() if name in names), None)
    words = "is read here" if kind is None else f"is read here, which none {kind} is"
    return f"expected an instruction that {words}, got {mnemonic}"
