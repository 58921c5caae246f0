"""What is seen."""

import asyncio
import concurrent.futures
import json
import os
import sys
import threading
import time
import unittest

import taskscale


async def child():
    await asyncio.sleep(0)


async def children(n):
    for task in [asyncio.create_task(child()) for _ in range(n)]:
        await task


def steps(d):
    """Steps by name."""
    return {name["name"]: name["tasks"] for name in d.data()["names"]["top"]}


class Digest(unittest.TestCase):
    def test_every_step_of_every_task_counts(self):
        with taskscale.observe() as d:
            asyncio.run(children(1_000))
        self.assertEqual(steps(d)["child"], 2_000)
        self.assertEqual((d.first_step.count, d.alive), (d.tasks, 0))
        self.assertGreaterEqual(d.tasks, 1_001)
        self.assertGreaterEqual(d.peak, 1_001)
        self.assertEqual(d.data()["workers"], 1)
        self.assertLessEqual(0, d.first_step.p50)
        self.assertLessEqual(d.first_step.p50, d.first_step.p99)
        self.assertLessEqual(d.first_step.p99, d.first_step.max)

    def test_it_is_shown_in_every_format(self):
        with taskscale.observe() as d:
            asyncio.run(children(100))
        self.assertLessEqual(len(str(d).encode()), 2_048)
        self.assertIn("first step after", str(d))
        data = json.loads(d.json())
        self.assertEqual(data["schema"], "taskscale.digest/1")
        self.assertEqual([pattern.name for pattern in d.patterns], [pattern["name"] for pattern in data["patterns"]])
        self.assertIn(d.patterns[0].name, repr(d))
        self.assertTrue(d.html().startswith("<!doctype html>"))
        # A notebook shows the page in a frame, so that its style stays its own.
        shown = d._repr_html_()
        self.assertTrue(shown.startswith("<iframe srcdoc=\"&lt;!doctype html&gt;"), shown[:60])
        self.assertEqual(shown.count("<"), 2)
        self.assertIn("|", d.markdown())

    def test_it_may_be_asked_while_tasks_run_and_cleared(self):
        async def main():
            await children(10)
            seen.append(d.tasks)
            d.clear()
            seen.append((d.tasks, d.alive))
            await children(5)
            seen.append(steps(d).get("child"))

        seen = []
        with taskscale.observe() as d:
            asyncio.run(main())
        # The task of main() itself is alive when all is forgotten.
        self.assertEqual(seen, [11, (1, 1), 10])

    def test_what_was_seen_stays_and_what_comes_later_is_not_seen(self):
        with taskscale.observe() as d:
            asyncio.run(children(10))
        text = str(d)
        asyncio.run(children(10))
        self.assertEqual(str(d), text)
        d.clear()
        self.assertEqual(d.data()["tasks"], 0)

    def test_a_loop_that_runs_already(self):
        async def main():
            with taskscale.observe() as d:
                await children(10)
            await children(10)
            return d

        self.assertEqual(steps(asyncio.run(main())), {"child": 20})

    def test_a_task_may_end_the_observation_it_is_seen_by(self):
        async def ends(d):
            d.stop()
            await children(3)

        d = taskscale.observe().start()
        asyncio.run(ends(d))
        notes = d.data()["dropped"]["notes"] + d.data()["notes"]
        self.assertTrue(any("still running" in note for note in notes), notes)
        self.assertNotIn("child", steps(d))

    def test_a_loop_made_before_and_one_in_a_thread(self):
        loop = asyncio.new_event_loop()
        begun, end = threading.Event(), threading.Event()
        other = asyncio.new_event_loop()

        async def waits():
            begun.set()
            while not end.is_set():
                await asyncio.sleep(0.001)
            await children(10)

        thread = threading.Thread(target=lambda: other.run_until_complete(waits()))
        thread.start()
        begun.wait()
        with taskscale.observe() as d:
            loop.run_until_complete(children(10))
            end.set()
            thread.join()
        loop.close()
        other.close()
        self.assertEqual(steps(d)["child"], 40)
        self.assertEqual(d.data()["workers"], 2)

    def test_loops_one_after_the_other_are_one_worker(self):
        with taskscale.observe() as d:
            for _ in range(3):
                asyncio.run(children(10))
            for _ in range(3):
                thread = threading.Thread(target=asyncio.run, args=(children(10),))
                thread.start()
                thread.join()
                # Python is done with a thread a moment before the system is, and only then its worker is free.
                while os.path.exists(f"/proc/self/task/{thread.native_id}"):
                    time.sleep(0.001)
        self.assertEqual(steps(d)["child"], 120)
        # This thread's, and the one that each thread gives back at its end.
        if os.path.exists("/proc/self/task"):
            self.assertEqual(d.data()["workers"], 2)

    @unittest.skipIf(sys.version_info < (3, 12), "asyncio.run has no loop_factory before Python 3.12 (install that)")
    def test_a_loop_factory(self):
        class Loop(asyncio.SelectorEventLoop):
            pass

        with taskscale.observe() as d:
            asyncio.run(children(10), loop_factory=Loop)
        self.assertEqual(steps(d)["child"], 20)

    @unittest.skipIf(sys.version_info < (3, 12), "eager tasks come with Python 3.12 (install that)")
    def test_eager_tasks_run_inside_the_step_that_makes_them(self):
        async def main():
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
            await children(10)

        with taskscale.observe() as d:
            asyncio.run(main())
        self.assertEqual(steps(d)["child"], 20)
        self.assertEqual(d.data()["nesting"]["nested"], 10)

    def test_uvloop(self):
        try:
            import uvloop
        except ImportError:
            self.skipTest("uvloop is not installed")

        for make in (uvloop.new_event_loop, uvloop.Loop):
            loop = make()
            with taskscale.observe() as d:
                loop.run_until_complete(children(10))
            self.assertEqual(steps(d)["child"], 20)
            loop.run_until_complete(children(1))
            loop.close()
        self.assertNotIn("create_task", vars(uvloop.Loop))

    def test_a_kind_of_loop_that_is_defined_later(self):
        with taskscale.observe() as d:

            class Loop(asyncio.AbstractEventLoop):
                def create_task(self, coro, **keywords):
                    return coro

            coroutine = Loop().create_task(child())
            self.assertEqual(type(coroutine).__name__, "Coroutine")
            coroutine.close()
        self.assertEqual((d.tasks, d.alive), (1, 0))
        plain = Loop().create_task(child())
        self.assertEqual(type(plain).__name__, "coroutine")
        plain.close()

    def test_a_step_that_blocks_is_named(self):
        async def blocks():
            begin = time.monotonic()
            # However late the thread that looks may come.
            while time.monotonic() < begin + 0.15 or d._recorder.looks() == 0: time.sleep(0.01)  # noqa: E701
            await asyncio.sleep(0)

        async def main():
            await children(50)
            await asyncio.create_task(blocks())

        d = taskscale.observe()
        with d:
            asyncio.run(main())
        (place,) = d.blocked
        self.assertTrue(place.coroutine.endswith("blocks") and place.function.endswith("blocks"), place)
        self.assertEqual(place.file, __file__)
        self.assertEqual(place.line, blocks.__code__.co_firstlineno + 3)
        self.assertEqual(place.steps, 1)
        self.assertGreaterEqual(place.max_ns, 100_000_000)
        self.assertIn(f"test_digest.py:{place.line}", d.json())


    def test_the_end_of_a_long_name_counts(self):
        async def name():
            pass

        for qualname, shown in (("é" * 40, "é" * 24), ("x" + "é" * 40, "é" * 24), ("é" * 24 + "x", "é" * 23 + "x")):
            name.__qualname__ = qualname
            with taskscale.observe() as d:
                asyncio.run(name())
            self.assertIn(shown, steps(d))


class Pools(unittest.TestCase):
    def test_work_items_are_tasks_of_their_threads(self):
        def work(n):
            time.sleep(0.001)
            return n * 2

        with taskscale.observe() as d:
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                self.assertEqual(list(pool.map(work, range(50))), [n * 2 for n in range(50)])
        self.assertEqual((d.pools.tasks, d.pools.alive, d.pools.first_step.count), (50, 0, 50))
        self.assertEqual(d.pools.data()["workers"], 2)
        self.assertEqual(list(steps(d.pools).values()), [50])
        self.assertTrue(list(steps(d.pools))[0].endswith("work"))
        # There is no event loop, so this is what is shown.
        self.assertEqual(str(d), str(d.pools))

    def test_threads_that_wait_for_items_are_workers_also_after_a_clearing(self):
        meet = threading.Barrier(4)
        with taskscale.observe() as d:
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda _: meet.wait(), range(4)))
                d.clear()
                pool.submit(time.sleep, 0.05).result()
                self.assertEqual(d.pools.data()["workers"], 4)
            # The pool's threads have ended.
            self.assertEqual(d.pools.data()["workers"], 4)
            self.assertEqual(d.pools.patterns[0].name, "UNDER_DECOMPOSITION")
            # A thread that was waited for has yet to give its place back.
            for _ in range(1_000):
                d.clear()
                if d.pools.data()["workers"] == 0:
                    break
                time.sleep(0.01)
            self.assertEqual(d.pools.data()["workers"], 0)

    def test_exceptions_and_arguments_pass(self):
        def fails(*arguments, **keywords):
            raise ValueError(arguments, keywords)

        with taskscale.observe() as d:
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                error = pool.submit(fails, 1, two=2).exception()
                cancelled = [pool.submit(time.sleep, 0.01) for _ in range(5)]
                cancelled[-1].cancel()
        self.assertEqual(error.args, ((1,), {"two": 2}))
        self.assertEqual(error.__traceback__.tb_next.tb_frame.f_code.co_name, "fails")
        self.assertEqual(d.pools.data()["tasks"], 5)
        self.assertEqual(d.pools.alive, 0)

    def test_threads_that_asyncio_uses_are_named_by_their_function(self):
        def work():
            return threading.get_ident()

        async def main():
            return await asyncio.to_thread(work)

        with taskscale.observe() as d:
            self.assertNotEqual(asyncio.run(main()), threading.get_ident())
        self.assertTrue(list(steps(d.pools))[0].endswith("work"), steps(d.pools))
        self.assertEqual(d.data()["workers"], 1)

    def test_submitting_after_the_end_is_as_ever(self):
        submit = concurrent.futures.ThreadPoolExecutor.submit
        with taskscale.observe() as d:
            kept = concurrent.futures.ThreadPoolExecutor.submit
            self.assertIsNot(kept, submit)
        self.assertIs(concurrent.futures.ThreadPoolExecutor.submit, submit)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            self.assertEqual(kept(pool, int, "7").result(), 7)
        self.assertEqual(d.pools.tasks, 0)


if __name__ == "__main__":
    unittest.main()
