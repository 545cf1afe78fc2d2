"""Elements of threads as the fragments that MMAs and tensor memory have."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.emit.emitter import Emitter
from tilewright.lowering.emit.registers import extracted, from_elements


def fragments_of(
    elements: Sequence[SSAValue], type_: FragmentType, emitter: Emitter, form: Hashable
) -> list[SSAValue]:
    """The fragments of a type that elements are, in order."""
    width = type_.count.data
    return [
        from_elements(elements[i : i + width], type_, emitter, form)
        for i in range(0, len(elements), width)
    ]


def elements_of(fragments: Sequence[SSAValue], emitter: Emitter) -> list[SSAValue]:
    """The elements of fragments, in order."""
    elements: list[SSAValue] = []
    for fragment in fragments:
        assert isinstance(fragment.type, FragmentType)
        elements += [extracted(fragment, i, emitter) for i in range(fragment.type.count.data)]
    return elements
