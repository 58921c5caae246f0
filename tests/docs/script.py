"""A program that knows nothing of taskscale."""

import asyncio


async def main():
    await asyncio.gather(*(asyncio.sleep(0) for _ in range(1_000)))


asyncio.run(main())
