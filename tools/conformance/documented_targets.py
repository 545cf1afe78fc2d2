"""The targets that the ISA's notes speak of; ptxas of CUDA 13 knows none before sm_75."""

from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS

OLDEST = 75

KNOWN = tuple(name for name, target in TARGETS.items() if target.number >= OLDEST)


def since(number: int) -> frozenset[str]:
    """`sm_NN or higher`."""
    return frozenset(name for name in KNOWN if TARGETS[name].number >= number)


def targets_of(text: str) -> frozenset[str]:
    """`80+` is sm_80 or higher; any other text a name of SETS."""
    return since(int(text[:-1])) if text.endswith("+") else SETS[text]


# "sm_120a, and sm_120f or higher in the same family"
FAMILY_120 = frozenset({"sm_120a", "sm_120f", "sm_121a", "sm_121f"})
# "sm_120a, sm_121a"
ONLY_120A_121A = frozenset({"sm_120a", "sm_121a"})
# "sm_100a, sm_110a, sm_120a, and sm_100f, sm_110f, sm_120f or higher in the same family"
FAMILIES_100_110 = frozenset({"sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f"})
FAMILIES_100_110_120 = FAMILY_120 | FAMILIES_100_110
# "Requires sm_90a"
ONLY_90A = frozenset({"sm_90a"})

SETS = {
    "90a": ONLY_90A,
    "100-110": FAMILIES_100_110,
    "100-120": FAMILIES_100_110_120,
    "120f": FAMILY_120,
    "120a": ONLY_120A_121A,
    "103-110": FAMILIES_100_110 - {"sm_100a", "sm_100f"},
    "100a-110a": frozenset({"sm_100a", "sm_103a", "sm_110a"}),
}
"""Sets of targets by the names that tables of boxes have for them."""
