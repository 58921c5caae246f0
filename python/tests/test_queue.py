"""How long steps wait in the queue of their loop, and that the queue stays what it is."""

import asyncio
import collections
import concurrent.futures
import gc
import threading
import time
import unittest
import weakref

import taskscale

MS = 1_000_000


def queue(view):
    return view.data()["queue"]


def is_plain(loop):
    return type(loop._ready) is collections.deque


class Delays(unittest.TestCase):
    def test_a_hundred_tasks_put_in_at_once_wait_for_those_before_them(self):
        async def work():
            time.sleep(0.001)

        async def main():
            for task in [asyncio.create_task(work()) for _ in range(100)]:
                await task

        with taskscale.observe(queue_delays=True) as d:
            asyncio.run(main())
        found = queue(d)
        self.assertEqual((found["delay"]["count"], found["known"]), (d.data()["tasks"], 1.0))
        # A sleep is not shorter than it says: each step lasts 1 ms or more.
        self.assertGreaterEqual(found["delay"]["max"], 99 * MS)
        self.assertGreaterEqual(found["delay"]["p50"], 40 * MS)
        self.assertLess(found["delay"]["min"], found["delay"]["p50"])
        self.assertLessEqual(found["delay"]["max"], d.data()["window_ns"])
        self.assertGreater(found["shares"]["saturated"], 0.5)
        self.assertIn("queue delay", str(d))

    def test_a_task_that_is_woken_waits_from_when_it_was_woken(self):
        async def waits(future):
            await future

        async def main():
            loop = asyncio.get_running_loop()
            futures = [loop.create_future() for _ in range(10)]
            tasks = [asyncio.create_task(waits(future)) for future in futures]
            await asyncio.sleep(0.1)
            d.clear()
            woken = time.monotonic_ns()
            for future in futures:
                future.set_result(None)
            time.sleep(0.05)
            await asyncio.gather(*tasks)
            return time.monotonic_ns() - woken

        with taskscale.observe(queue_delays=True) as d:
            since_woken = asyncio.run(main())
        delay = queue(d)["delay"]
        # They wait through the sleep that holds up the loop, and not since they began to await. A busy
        # machine makes the sleep longer.
        self.assertGreaterEqual(delay["max"], 50 * MS)
        self.assertLessEqual(delay["max"], 1.1 * since_woken + MS)
        self.assertGreaterEqual(delay["count"], 10)

    def test_a_loop_with_nothing_to_do_is_starved(self):
        async def main():
            for _ in range(20):
                await asyncio.sleep(0.01)

        with taskscale.observe(queue_delays=True) as d:
            asyncio.run(main())
        shares = queue(d)["shares"]
        self.assertGreater(shares["starved"], 0.5)
        self.assertGreater(shares["starved"], shares["dispatch"])

    def test_work_items_of_a_pool_wait_from_submit(self):
        # Nothing is done before the last is submitted: on a busy machine submitting takes its time.
        submitted = threading.Event()
        with taskscale.observe() as d:
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                pool.submit(submitted.wait)
                for _ in range(10):
                    pool.submit(time.sleep, 0.01)
                submitted.set()
        found = queue(d.pools)
        self.assertEqual((found["delay"]["count"], found["known"]), (11, 1.0))
        self.assertGreaterEqual(found["delay"]["max"], 90 * MS)

    def test_loops_in_two_threads_have_queues_of_their_own(self):
        async def work():
            time.sleep(0.001)

        async def main():
            for task in [asyncio.create_task(work()) for _ in range(20)]:
                await task

        with taskscale.observe(queue_delays=True) as d:
            threads = [threading.Thread(target=lambda: asyncio.run(main())) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        found = queue(d)
        # A step whose thread was interrupted between queue and step may be left out.
        self.assertGreater(found["known"], 0.9)
        self.assertGreaterEqual(found["delay"]["max"], 19 * MS)
        self.assertLessEqual(found["delay"]["max"], d.data()["window_ns"])

    def test_eager_tasks_wait_in_no_queue(self):
        if not hasattr(asyncio, "eager_task_factory"):
            self.skipTest("eager tasks came with 3.12")

        async def child():
            pass

        async def main():
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
            for _ in range(10):
                await asyncio.create_task(child())

        with taskscale.observe(queue_delays=True) as d:
            asyncio.run(main())
        data = d.data()
        self.assertEqual(data["queue"]["delay"]["count"], data["tasks"] - data["nesting"]["nested"])

    def test_a_queue_that_is_hidden_is_told(self):
        class Hidden(collections.deque):
            pass

        async def main():
            await asyncio.sleep(0)

        loop = asyncio.new_event_loop()
        loop._ready = Hidden()
        with taskscale.observe(queue_delays=True) as d:
            loop.run_until_complete(main())
        loop.close()
        self.assertIs(type(loop._ready), Hidden)
        self.assertIn("hides its queue", queue(d)["reason"])
        self.assertTrue(queue(d)["remedy"])


class NotAsked(unittest.TestCase):
    def test_no_queue_is_replaced_and_the_digest_says_how_to_ask(self):
        async def main():
            loop = asyncio.get_running_loop()
            for _ in range(3):
                await asyncio.create_task(asyncio.sleep(0))
                plain.append(is_plain(loop) and loop._ready is ready)

        # One that was asked before leaves nothing behind.
        for queue_delays in (False, True, False):
            plain, loop = [], asyncio.new_event_loop()
            ready = loop._ready
            with taskscale.observe(queue_delays=queue_delays) as d:
                loop.run_until_complete(main())
            loop.close()
            self.assertEqual(plain, [not queue_delays] * 3)
            if queue_delays:
                self.assertEqual(queue(d)["known"], 1.0)
            else:
                self.assertIn("not asked", queue(d)["reason"])
                self.assertIn("observe(queue_delays=True)", queue(d)["remedy"])
                self.assertNotIn("queue delay", str(d))

    def test_the_word_is_a_keyword(self):
        self.assertRaises(TypeError, taskscale.observe, True)
        self.assertRaises(TypeError, taskscale.Observation, True)

    def test_clearing_forgets_no_word(self):
        for queue_delays in (False, True):
            with taskscale.observe(queue_delays=queue_delays) as d:
                asyncio.run(asyncio.sleep(0))
            d.clear()
            self.assertEqual("not asked" in queue(d)["reason"], not queue_delays)


class Queue(unittest.TestCase):
    def test_it_is_put_back(self):
        async def main():
            loop = asyncio.get_running_loop()
            with taskscale.observe(queue_delays=True):
                done = loop.create_future()
                asyncio.create_task(asyncio.sleep(0))
                self.assertFalse(is_plain(loop))
                loop.call_soon(done.set_result, 7)
            # What was in it is in the plain one.
            self.assertTrue(is_plain(loop))
            return await done

        loop = asyncio.new_event_loop()
        self.assertEqual(loop.run_until_complete(main()), 7)
        self.assertTrue(is_plain(loop))
        loop.close()

    def test_what_others_have_put_there_stays_theirs(self):
        theirs = collections.deque()
        loop = asyncio.new_event_loop()
        with taskscale.observe(queue_delays=True):
            loop.run_until_complete(asyncio.sleep(0))
            loop._ready = theirs
        self.assertIs(loop._ready, theirs)
        loop.close()

    def test_a_second_observation_of_the_same_loop(self):
        loop = asyncio.new_event_loop()
        for _ in range(3):
            with taskscale.observe(queue_delays=True) as d:
                loop.run_until_complete(asyncio.sleep(0))
            self.assertEqual(queue(d)["known"], 1.0)
        loop.close()

    def test_handles_that_come_and_go_in_another_way_do_not_mix_up_the_others(self):
        async def main():
            loop = asyncio.get_running_loop()
            task = asyncio.create_task(asyncio.sleep(0))
            handle = loop._ready.pop()
            time.sleep(0.2)
            d.clear()
            begin = time.perf_counter_ns()
            loop._ready.append(handle)
            await task
            seen.append((queue(d)["delay"]["max"], time.perf_counter_ns() - begin))

        seen = []
        with taskscale.observe(queue_delays=True) as d:
            asyncio.run(main())
        # The handle waited from when it was put back, and not since the sleep before.
        longest, since = seen[0]
        self.assertLessEqual(longest, since + 10 * MS)

    def test_more_handles_than_there_is_room_for_at_first(self):
        async def main():
            for _ in range(3):
                for task in [asyncio.create_task(asyncio.sleep(0)) for _ in range(5_000)]:
                    await task

        with taskscale.observe(queue_delays=True) as d:
            begin = time.perf_counter_ns()
            asyncio.run(main())
            since = time.perf_counter_ns() - begin
        found = queue(d)
        self.assertEqual((found["delay"]["count"], found["known"]), (d.data()["tasks"], 1.0))
        self.assertLessEqual(found["delay"]["max"], since)

    def test_it_is_a_deque(self):
        with taskscale.observe(queue_delays=True):
            loop = asyncio.new_event_loop()
            loop.run_until_complete(asyncio.sleep(0))
            ready = loop._ready
            self.assertFalse(is_plain(loop))
            self.assertIsInstance(ready, collections.deque)
            ready.extend(["a", "b"])
            ready.rotate(1)
            self.assertEqual((ready.popleft(), ready[-1], len(ready)), ("b", "a", 1))
            self.assertRaises(TypeError, ready.append)
            ready.clear()
            self.assertRaises(IndexError, ready.popleft)
            ready.append(ready)
            ready.popleft()
            loop.run_until_complete(asyncio.sleep(0))
            loop.close()

    def test_nothing_is_held(self):
        loops = []
        with taskscale.observe(queue_delays=True):
            for _ in range(50):
                loop = asyncio.new_event_loop()
                loop.run_until_complete(asyncio.sleep(0))
                loop.close()
                loops.append(weakref.ref(loop))
            del loop
            gc.collect()
            self.assertEqual([loop for loop in loops if loop() is not None], [])


if __name__ == "__main__":
    unittest.main()
