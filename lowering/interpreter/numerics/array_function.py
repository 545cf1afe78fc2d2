"""Functions of arrays that array-likes may have a way of their own to compute. NumPy's NEP 18."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])


def array_function(function: Function) -> Function:
    """A function that asks its first operand, where that is no array."""

    @wraps(function)
    def dispatched(*operands: Any, **options: Any) -> Any:
        first: Any = operands[0]
        if isinstance(first, np.ndarray | np.generic):
            return function(*operands, **options)
        return first.__array_function__(dispatched, (type(first),), operands, options)

    return cast(Function, dispatched)
