# SPDX-License-Identifier: MIT
import asyncio
import threading

from compiler_gym_explorer import log as module
from compiler_gym_explorer.log import Log
from compiler_gym_explorer.records import Event


async def numbers(log: Log, first: int = 0) -> list[int]:
    return [found[0] for found in [one async for one in log.read(first)] if found]


def test_events_of_other_threads_arrive_in_order_and_the_end_ends_it() -> None:
    log = Log()

    def write() -> None:
        for number in range(500):
            log.add(Event(kind="nodes", node=number))
        log.end()
        log.add(Event(kind="late"))

    async def read() -> tuple[list[int], list[int]]:
        thread = threading.Thread(target=write)
        reading = asyncio.gather(numbers(log), numbers(log, 490))
        thread.start()
        whole, rest = await reading
        thread.join()
        return whole, rest

    whole, rest = asyncio.run(read())
    assert whole == list(range(500))
    assert rest == list(range(490, 500))


def test_old_entries_are_dropped() -> None:
    log = Log()
    for number in range(10_000):
        log.add(Event(kind="nodes", node=number))
    log.end()
    found = asyncio.run(numbers(log))
    assert found[-1] == 9_999
    assert len(found) <= 4096
    assert log.next_number == 10_000


def test_silence_is_reported() -> None:
    log = Log()

    async def read() -> list[object]:
        found: list[object] = []
        async for one in log.read():
            found.append(one)
            log.end()
        return found

    before, module._ALIVE_SECONDS = module._ALIVE_SECONDS, 0.01  # pyright: ignore[reportPrivateUsage]
    try:
        assert asyncio.run(read()) == [None]
    finally:
        module._ALIVE_SECONDS = before  # pyright: ignore[reportPrivateUsage]
