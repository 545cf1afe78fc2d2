"""`tilewright report`: a kernel as one HTML page, which needs nothing but itself.

`levels` are its texts with the lines of the source that their lines are of, `pictures` its layouts
and fragments, `memory` its shared memory, `resources` what an SM gives it, `watch` what a run
shows; `page` puts them together, and `page.js` draws.
"""
