"""Faster reading of dense attributes by xDSL."""

from collections.abc import Sequence
from functools import cache
from itertools import repeat
from math import prod
from operator import is_
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.irdl import base
from xdsl.parser import attribute_parser

from tilewright.xdsl_patches.assignments import Patches

_from_any_list: Any = DenseIntOrFPElementsAttr.from_list


def _from_list(type: Any, data: Sequence[Any]) -> Any:
    """A dense attribute of elements; where they are one for all, it is packed once."""
    same = len(data) == prod(type.get_shape()) > 1 and all(map(is_, data, repeat(data[0])))
    return _from_any_list(type, data[:1] if same else data)


PATCHES: Patches = {
    "dense_types": ((attribute_parser, "base", cache(base)),),
    "splats": ((DenseIntOrFPElementsAttr, "from_list", staticmethod(_from_list)),),
}
