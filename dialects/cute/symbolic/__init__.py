"""The layout algebra on values that are known only in part.

A leaf is an integer, or a `Dynamic`: an integer that the program will know when it runs, of which
only the width is known here. The laws are those of the pure algebra; what differs is that a rule
fires only where its condition is known to hold, so that modes with unknown leaves stay apart.

    scalar      arithmetic on one leaf
    tuples      arithmetic on nested tuples
    evaluate    coordinates to indices and back
    layouts     coalesce, composition, orders
    complements complement and the inverses
    tiling      divides and products
    composed    the same through `inner o offset o outer`
    text        what all of these are written as

A subclass of `Dynamic` says what becomes of an operation on it: the base class only finds the width
of the result, which is type inference.
"""
