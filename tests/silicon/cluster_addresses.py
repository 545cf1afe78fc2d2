"""The addresses that `mapa` gives of one place in the shared memory of each CTA of a cluster."""

from __future__ import annotations

RANKS = 8

_STORES = "\n".join(
    f"""  %r{rank} = ptx.const {rank} : !ptx.reg<b32>
  %a{rank} = ptx.mapa %place, %r{rank}
  ptx.st "global" "b32" %to, {4 * rank}, %a{rank} : !ptx.reg<b64>, !ptx.reg<b32>"""
    for rank in range(RANKS)
)

KERNEL = f"""ptx.entry @k(%out: u64) shared 16 align 16 reqntid(1, 1, 1) cluster({RANKS}, 1, 1) {{
  %to = ptx.cvta to.global.u64 %out
  %place = ptx.shared_address 0
{_STORES}
  ptx.ret
}}"""
"""Every CTA writes the same eight addresses."""
