"""Hazards by role and by event: does synchronisation order every pair of accesses that conflict?

A kernel is followed once for all threads of a cluster, without its data (`follow`), and what is
left of each thread is the list of its *events*: accesses, arrivals, waits, fences. Threads of a
warp that have the same list are a *role* (`roles`), however far apart in the text the branches of
two roles are. Roles then run against each other under vector clocks (`happens_before`), not to see
one schedule, but to learn which events must be before which in all of them:

    launch      threads, arguments: how often each loop goes round                    (`launches`)
      |  follow the text once for all threads                                           (`follow`)
    events      one list, each event with the threads that have it                      (`events`)
      |  the same list: one role                                                         (`roles`)
    roles       run against each other, from event to event                     (`happens_before`)
      |                                 phases of mbarriers by counting                 (`phases`)
    accesses    who may touch what while somebody else does                           (`accesses`)
      |
    hazard      two accesses, their roles and rounds, and what would order them         (`report`)

*Clocks.* A clock of a role counts the times that it let go of something (arrived, synchronised);
one of an mbarrier counts the phases that are complete. An access is stamped with the clock that
tells when it is over: one of threads with its role's; one that is asynchronous with nothing until
its completion event comes: the phase that a TMA load or a `tcgen05.commit` arrives at, the wait for
the group that a `cp.async`, a TMA store or a wgmma is in. Whoever comes to the same bytes without
knowing that stamp races with it.

*Phases.* A wait for a parity learns of the least that any schedule would tell it: of the phase
behind the last one that the thread knows of, and of nothing where that one has the parity already.
An arrival must be behind the phase before, that of each thread by itself, and a phase may not
complete before everybody who waits for the one before has seen it, or that it was over. So the
result does not depend on the order in which roles run here: one order stands for all alignments of
phases that the synchronisation allows.

*Any number of steps.* Stages and parities are functions of the number of the use, and every clock
relation is one between uses at most one ring apart. A loop of unknown length goes round until each
stage of the longest ring was used twice and a parity came again, and once more; from there on
everything repeats with clocks that are larger by a constant. A loop goes round once as well.

*Instructions.* What `ptx` has is rows of the same table (`events`): an address is a number in
a register of each thread, shared memory one run of bytes, tensor memory begins at column 0, and a
tensor map's box is what the parameter says. Threads that part between blocks meet again where all
ways on do (`blocks`).

*Whole warps.* Which threads come to an instruction of a whole warp is known as it is followed, and
those are no events (`aligned`). Whose tensor memory it is, instructions are asked at their turn
(`tensor_lifetimes`).

*Global memory* is not followed, but for arguments of the tile level that threads and tensor maps
reach (`arrays`), and for strong accesses, where the scope of one is narrow (`scopes`).

*What is not decided* is said, not guessed: an index, a count or a condition that was loaded from
memory. A hazard is an execution that the text allows for some arguments, so that what is right is
not refused.
"""
