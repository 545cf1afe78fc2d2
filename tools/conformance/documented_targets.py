"""The targets that the ISA's notes speak of; ptxas of CUDA 13 knows none before sm_75."""

from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS

OLDEST = 75

KNOWN = tuple(name for name, target in TARGETS.items() if target.number >= OLDEST)


def since(number: int) -> frozenset[str]:
    """`sm_NN or higher`."""
    return frozenset(name for name in KNOWN if TARGETS[name].number >= number)


# "sm_120a, and sm_120f or higher in the same family"
FAMILY_120 = frozenset({"sm_120a", "sm_120f", "sm_121a", "sm_121f"})
# "sm_120a, sm_121a"
ONLY_120A_121A = frozenset({"sm_120a", "sm_121a"})
# "sm_100a, sm_110a, sm_120a, and sm_100f, sm_110f, sm_120f or higher in the same family"
FAMILIES_100_110_120 = FAMILY_120 | {
    "sm_100a",
    "sm_100f",
    "sm_103a",
    "sm_103f",
    "sm_110a",
    "sm_110f",
}
# "Requires sm_90a"
ONLY_90A = frozenset({"sm_90a"})
