"""Timelines: when each warp of a run executed what, and waited for what, by a model of a chip.

`latencies` is the model, one table; `record` watches a program run and gives it times; `chrome`
writes them as trace events.
"""
