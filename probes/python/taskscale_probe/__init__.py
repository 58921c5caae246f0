"""The Python probe: performs taskscale's workloads on asyncio, uvloop, trio and anyio, and times them.

| module | holds |
|---|---|
| sdk | the protocol and the clocks; import it for a probe of your own |
| workloads | fanout, nop and spin, one file each |
| runtimes | the runtimes: how each is found and driven |
"""
