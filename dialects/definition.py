"""The base of the ops that are ours, and their definition."""

import re
import sys
from typing import Any, ClassVar, TypeVar

from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    OptOperandDef,
    VarOperandDef,
    irdl_op_definition,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.illegal import Illegal

_Op = TypeVar("_Op", bound=IRDLOperation)


class DefinedOp(IRDLOperation):
    """An op that says what it expected where it is wrong. Names in upper case are constants."""

    def __init_subclass__(cls) -> None:
        for name in filter(str.isupper, list(vars(cls))):
            cls.__annotations__.setdefault(name, ClassVar)

    @classmethod
    def fail(cls, rule: str) -> VerifyException:
        """The exception that says `'op' expected RULE, got VALUE`."""
        return VerifyException(f"'{cls.name}' expected {rule}")

    def refuse(self, why: str | None) -> None:
        """Raise VerifyException that says `'op' WHY`, unless that is None."""
        if why is not None:
            raise VerifyException(f"'{self.name}' {why}")


def define_op(class_: type[_Op]) -> type[_Op]:
    """Define an op by its class. Where several of its operands may be none or many, a property
    says how many each is."""
    fields: dict[str, Any] = {}
    for base in reversed(class_.mro()):
        fields |= vars(base)
    kinds = [getattr(field, "cls", None) for field in fields.values()]
    if sum(kind in (OptOperandDef, VarOperandDef) for kind in kinds) > 1:
        op: Any = class_
        op.irdl_options = (AttrSizedOperandSegments(as_property=True),)
    defined = irdl_op_definition(class_)
    verify = defined.verify_

    def verify_(self: _Op) -> None:
        try:
            verify(self)
        except Illegal as error:
            raise VerifyException(f"'{self.name}' {error}") from None

    defined.verify_ = verify_
    return defined


def class_of_row(format_: type[_Op], name: str, law: str) -> type[_Op]:
    """The class of an op of which a row says all that its format does not: it is called after the
    op, and is of the module in which the row stands, two calls above."""
    title = "".join(word.title() for word in re.split(r"[\W_]+", name.partition(".")[2]))
    module = sys._getframe(2).f_globals["__name__"]  # pyright: ignore[reportPrivateUsage]
    return type(format_)(f"{title}Op", (format_,), {"__doc__": law, "__module__": module})
