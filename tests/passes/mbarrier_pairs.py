"""mbarriers that are made anew, counted wrong, or left too early."""

from __future__ import annotations

from hazard_kernels import BARS, BOXES, INIT, MAP, SYNC, Pair, arrive, load, store, wait

INVAL = f"cute_nvgpu.mbarrier.inval %bar[%c0] : {BARS}"
AGAIN = f"""cute_nvgpu.mbarrier.init %bar[%c0] count 1 : {BARS}
    cute_nvgpu.fence.mbarrier_init"""
COPY = (
    f"cute_nvgpu.tma.load %map[%c0, %c0] to %x[%c0, %c0, %c0] mbarrier %bar[%c0] "
    f": {MAP} to {BOXES}, {BARS}"
)
EXPECT = f"cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 512 : {BARS}"

PAIRS = (
    Pair("made anew under a wait", "may still look at", f"""{INIT}  {SYNC}
  scf.if %is1 {{
    {wait()} // OTHER
  }}
  scf.if %first {{
    {arrive()}
  }}
  {SYNC} // RIGHT
  scf.if %first {{
    {INVAL} // HERE
    {AGAIN}
  }}
  {SYNC}"""),
    Pair("made anew once another mbarrier says so", "may still look at", f"""{INIT}
  scf.if %first {{
    cute_nvgpu.mbarrier.init %bar[%c1] count 32 : {BARS}
  }}
  {SYNC}
  scf.if %is1 {{
    {wait()} // OTHER
    {arrive(1)}
  }}
  scf.if %first {{
    {arrive()}
    {wait(1)} // RIGHT
    {INVAL} // HERE
    {AGAIN}
  }}
  {SYNC}
  scf.if %first {{
    {arrive()}
  }}
  {wait()}"""),
    Pair("looked at again behind the word that it was over", "may still look at", f"""{INIT}
  scf.if %first {{
    cute_nvgpu.mbarrier.init %bar[%c1] count 32 : {BARS}
  }}
  {SYNC}
  scf.if %is1 {{
    {wait()}
    {wait()} // RIGHT
    {arrive(1)}
    {wait()} // WRONG OTHER
  }}
  scf.if %first {{
    {arrive()}
    {wait(1)}
    {INVAL} // HERE
  }}"""),
    Pair("ended before it is known to be made", "expected an mbarrier that is made", f"""
{INIT.replace(BARS, f"{BARS} // OTHER")}
  {SYNC} // RIGHT
  scf.if %is1 {{
    scf.if %leads {{
      {INVAL} // HERE
    }}
  }}"""),
    Pair("ended under an arrival", "may still look at", f"""{INIT}  {SYNC}
  scf.if %is1 {{
    scf.if %leads {{
      {arrive()} // OTHER
    }}
  }}
  scf.if %first {{
    {wait()} // RIGHT
    {INVAL} // HERE
  }}"""),
    Pair("ended under a copy's bytes", "may still look at", f"""{INIT}  {SYNC}
  scf.if %first {{
    {EXPECT}
    {COPY} // OTHER
    {wait()} // RIGHT
    {INVAL} // HERE
  }}"""),
    Pair("more bytes than copies bring", "expects 512 bytes more", f"""{INIT}  {SYNC}
  scf.if %first {{
    {EXPECT} // RIGHT
    {EXPECT.replace("512", "1024")} // WRONG
    {COPY}
  }}
  {wait()} // HERE
  scf.if %half {{
    %v = memref.load %x[%c0, %c0, %lane] : {BOXES}
    memref.store %v, %p[%t] : memref<?xi32>
  }}"""),
    Pair("the phase behind", "expected shared memory that is copied", f"""{INIT}  {SYNC}
  scf.if %first {{
    {EXPECT}
    {COPY} // OTHER
  }}
  {wait()} // RIGHT
  {wait(parity="odd")} // WRONG
  scf.if %half {{
    %v = memref.load %x[%c0, %c0, %lane] : {BOXES} // HERE
    memref.store %v, %p[%t] : memref<?xi32>
  }}"""),
    Pair("told before it is written", "expected shared memory that other threads", f"""
{INIT}  {SYNC}
  scf.if %is0 {{
    scf.if %leads {{
      {arrive()} // WRONG
      {store(at="%c0")} // OTHER
      {arrive()} // RIGHT
    }}
  }} else {{
    {wait()}
    {load("v", at="%c0")} // HERE
    memref.store %v, %p[%t] : memref<?xi32>
  }}"""),
)  # fmt: skip
