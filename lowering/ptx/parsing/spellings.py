"""Instructions that PTX spells in several ways, as the one that the lattice has.

ptxas takes the qualifiers of an instruction in any order: only types, layouts, state spaces and the
like count by their own order.
"""

import re
from functools import cache

from tilewright.dialects.cute_nvgpu.atoms.lookup import canonical
from tilewright.dialects.cute_nvgpu.lattice.atomics import ADDRESSED, OPERATIONS
from tilewright.dialects.cute_nvgpu.lattice.atomics import mnemonic as atomic
from tilewright.dialects.cute_nvgpu.lattice.data_movement import GENERIC, SCOPES, SPACES
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, SCALE_TYPES
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF

_BOX = r"cp\.async\.bulk\.tensor\.\dd"
SPELLINGS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), spelling)
    for pattern, spelling in (
        (r"setp\.lo\.(u\d+)", r"setp.lt.\1"),
        (r"setp\.ls\.(u\d+)", r"setp.le.\1"),
        (r"setp\.hi\.(u\d+)", r"setp.gt.\1"),
        (r"setp\.hs\.(u\d+)", r"setp.ge.\1"),
        (r"(selp(?=\.u)|slct)\.[us](\d+)(.*)", r"\1.b\2\3"),
        (r"mad(\.r[nzmp](?:\.ftz)?(?:\.sat)?\.f\d\d)", r"fma\1"),
        (r"(cvt\.r[nmpz]i(?:\.ftz)?)\.sat(\.[us](?:16|32|64)\.f\d\d)", r"\1\2"),
        (r"(cvt\.r[nmpz]i(?:\.ftz)?)(\.[us]8\.f\d\d)", r"\1.sat\2"),
        (r"cvt\.(r[nzmp])\.ftz((?:\.sat)?\.f32\.[us]\d+)", r"cvt.\1\2"),
        (r"cvt\.r[zmp](\.f\d\d\.[us]8)", r"cvt.rn\1"),
        (r"cvt\.(f32|f64)\.\1", r"mov.\1"),
        (r"cvt\.(f16\.bf16|bf16\.f16)", r"cvt.rn.\1"),
        (r"cvt\.ftz((?:\.sat)?\.f32\.f16)", r"cvt\1"),
        (r"cvt\.(?:r[nmpz]\.)?f32\.bf16", "cvt.f32.bf16"),
        (r"cvt\.(r[nzmp])\.ftz((?:\.sat)?)\.f16\.f32", r"cvt.\1\2.f16.f32"),
        (r"shr\.b(\d+)", r"shr.u\1"),
        (r"cvt\.([us]8)\.[us]8", r"cvt.\1.u16"),
        (r"((?:ld|st)(?:\..*)?)\.b128", r"\1.v2.b64"),
        (r"st\.async\.weak(\..*)", r"st.async\1"),
        (r"(st\.async\..*)\.[us](\d\d)", r"\1.b\2"),
        (r"(red\.async\..*\.add)\.s64", r"\1.u64"),
        (
            r"(multimem\.(?:ld_reduce|st))\.(?!weak|relaxed|acquire|release|async)(.*)",
            r"\1.weak.\2",
        ),
        (r"(multimem\.red)\.(?!relaxed|release|async)(.*)", r"\1.relaxed.gpu.\2"),
        (
            r"(multimem\.[a-z_]+\.(?:async\.)?(?:weak|\w+\.(?:cta|cluster|gpu|sys)))\.(?!global)(.*)",
            r"\1.global.\2",
        ),
        (r"(multimem\.st\..*)\.[us](8|32|64)", r"\1.b\2"),
        (r"((?:multimem\.)?cp\.async\.bulk)\.weak(\..*)", r"\1\2"),
        (
            r"((?:multimem\.)?cp\.reduce\.async\.bulk)"
            r"\.relaxed\.(?:gpu(?=\.global)|cluster(?=\.shared))(\..*)",
            r"\1\2",
        ),
        (r"prefetchu\.L1", "prefetch.L1"),
        (r"prefetch\.const\.tensormap", "prefetch.tensormap"),
        (r"ldu\.(.*)", r"ld.\1"),
        (r"st\.bulk(?:\.weak)?(\.shared::cta)?", r"st.bulk.weak\1"),
        (r"membar\.proxy\.(alias|async)", r"fence.proxy.\1"),
        (r"fence(?:\.acquire|\.release)?\.(cta|cluster|gpu|sys)", r"fence.acq_rel.\1"),
        (r"membar\.cta", "fence.sc.cta"),
        (r"membar\.gl", "fence.sc.gpu"),
        (r"membar\.sys", "fence.sc.sys"),
        (r"barrier(?:\.cta)?\.sync\.aligned", "bar.sync"),
        (r"barrier(?:\.cta)?\.arrive\.aligned", "bar.arrive"),
        (r"bar\.cta\.(sync|arrive|red)(.*)", r"bar.\1\2"),
        (r"barrier\.cta\.(sync|arrive|red.*)", r"barrier.\1"),
        (r"barrier(?:\.cta)?\.red\.(popc|and|or)\.aligned\.(.*)", r"bar.red.\1.\2"),
        (r"(barrier\.cluster\.(?:arrive|wait))\.(?:release|acquire)(\.aligned)?", r"\1\2"),
        (r"bra\.uni", "bra"),
        (
            r"(mma(?:\.sp(?:::ordered_metadata)?)?\.sync\.aligned)\.(kind::.*?)"
            r"\.(m\d+n\d+k\d+\.row\.col)(\..*)",
            r"\1.\3.\2\4",
        ),
        (r"(mma\..*\.col)\.(s32\.\w+\.\w+\.s32)\.satfinite", r"\1.satfinite.\2"),
        (r"(mbarrier\..*)\.shared::cta(\..*)", r"\1.shared\2"),
        (r"(mbarrier\.(?:try|test)_wait(?:\.parity)?)\.acquire\.cta(\..*)", r"\1\2"),
        (r"(mbarrier\.arrive\w*(?:\.\w+)?)\.release\.cta(\.shared\.b64)", r"\1\2"),
        (r"(mbarrier\.\w+_tx)(\.shared.*)", r"\1.relaxed.cta\2"),
        (r"(cp\.async\.(?:c[ag]|mbarrier\..*)\.shared)::cta(\..*)", r"\1\2"),
        (r"(.*matrix\..*\.shared)::cta(\..*)", r"\1\2"),
        (r"(cvta(?:\.to)?\.(?:shared|param))::\w+(\..*)", r"\1\2"),
        (r"(cp\.async\.bulk)\.shared::cta(\.global\.(?!.*ignore).*)", r"\1.shared::cluster\2"),
        (r"(cp\.async\.bulk\.tensor\..*)\.cta_group::1(.*)", r"\1\2"),
        (
            rf"({_BOX}(?:\.tile[\w:]*|\.im2col[\w:]*)?)\.cta_group::2(\.shared.*?)"
            r"((?:\.L2::cache_hint)?)",
            r"\1\2.cta_group::2\3",
        ),
        (rf"({_BOX})\.((?:tile|im2col)[\w:]*)(\.shared::\w+\.global)(.*)", r"\1\3.\2\4"),
        (rf"({_BOX}\.shared::\w+\.global)(\.mbarrier.*?)(?:\.tile)?", r"\1.tile\2"),
        (rf"({_BOX}\.shared::)cta(.*\.cta_group.*)", r"\1cluster\2"),
        (r"(cp\..*\.tensor\..*\.shared::cta(?:\.[a-z]+)??)(?:\.tile)?(\.bulk.*)", r"\1.tile\2"),
        (r"(cp\.async\.bulk\.prefetch\.tensor\.\dd\.L2\.global)((?:\.L2.*)?)", r"\1.tile\2"),
    )
)
"""The spelling that others are read as: PTX ISA 9.7.6.2, 9.7.6.3, 9.7.8.8, 9.7.13."""


_OF_ANY_SPACE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), own)
    for pattern, own in (
        (r"(clusterlaunchcontrol\.try_cancel\.async)(\.mbarrier.*)", r"\1.shared::cta\2"),
        (r"((?:cp\.async\.)?mbarrier\.(?!.*shared).*)(\.b64)", r"\1.shared\2"),
        (r"(tcgen05\.alloc\..*\.aligned)(\.b32)", r"\1.shared::cta\2"),
        (r"st\.bulk(?:\.weak)?", "st.bulk.weak.shared::cta"),
    )
)
"""Instructions on generic addresses in the window of shared memory, and those on its own."""


def on_shared(mnemonic: str) -> str | None:
    """The instruction on shared memory that one on its generic addresses is; None of any other."""
    matches = ((pattern.fullmatch(mnemonic), own) for pattern, own in _OF_ANY_SPACE)
    return next((match.expand(own) for match, own in matches if match), None)


@cache
def normal(mnemonic: str) -> str:
    """The mnemonic as the lattice has it."""
    for pattern, spelling in SPELLINGS:
        if (match := pattern.fullmatch(mnemonic)) is not None:
            mnemonic = match.expand(spelling)
    if re.match(r"atom\.|red\.(?!async)", mnemonic):
        return atomic(*atomic_words(mnemonic))
    return mnemonic if mnemonic.startswith(("wgmma.", "tcgen05.")) else canonical(mnemonic)


_ORDERS = ("async", "mmio", "relaxed", "acquire", "release", "acq_rel")
_NAMES = {part for names in OPERATIONS.values() for name in names for part in name.split(".")}
_ON_BITS = ("exch", "cas", "and", "or", "xor")
"""The operations whose types are bits alone, whatever sign the text gives them."""


def atomic_words(mnemonic: str) -> tuple[str, str, str, str]:
    """The name of an atomic operation, its order, which it has if nothing is said, its space and
    the rest."""
    name, *words = re.sub(r"::cta\b", "", mnemonic).split(".")
    order = [word for word in words if word in _ORDERS] or ["relaxed"]
    order += [word for word in words if word in SCOPES] or ["gpu"]
    space = next((word for word in words if word in ADDRESSED), GENERIC)
    # A vector's length may stand before the operation.
    rest = sorted(
        (word for word in words if word not in (*order, space)),
        key=lambda word: (word in REGISTER_OF) - (word in _NAMES),
    )
    operation, *rest = rest or [""]
    if rest and operation in _ON_BITS:
        rest[-1] = f"b{rest[-1][1:]}"
    return name, ".".join(order), space, ".".join((operation, *rest))


_CLASSES = (
    {*ELEMENT_TYPES, *SCALE_TYPES, *REGISTER_OF, "lo", "hi", "wide"},
    {"row", "col"},
    {*SPACES},
    {"xor", "and", "popc"},
    {"ws", "sp"},
)
"""Words whose order among themselves has a meaning."""

_NAME_WORDS = {"wgmma": 2, "fence": 2, "tcgen05": 2}
"""How many words name the instruction and stand first, where that is more than one."""


def in_any_order(mnemonic: str) -> tuple[str, ...]:
    """The words of a mnemonic, the same for all orders that mean the same: its name, those whose
    order counts by class, and the others sorted."""
    words = mnemonic.split(".")
    named = _NAME_WORDS.get(words[0], 1)
    name, rest = words[:named], words[named:]
    classes = [[word for word in rest if word in group] for group in _CLASSES]
    others = sorted(word for word in rest if not any(word in group for group in _CLASSES))
    return (*name, *(word for group in classes for word in (*group, "")), *others)
