"""Attaching and detaching: nothing is left behind, and nothing is held."""

import asyncio
import concurrent.futures
import gc
import json
import os
import subprocess
import sys
import tempfile
import tracemalloc
import unittest
import warnings
import weakref

import taskscale

HERE = os.path.dirname(os.path.abspath(__file__))


async def child():
    await asyncio.sleep(0)


async def children(n):
    await asyncio.gather(*(child() for _ in range(n)))


def resident():
    """Memory of this process in bytes (Linux)."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Life(unittest.TestCase):
    def test_all_is_put_back(self):
        def state():
            return list(gc.callbacks), {
                owner: dict(vars(owner))
                for owner in (
                    asyncio.BaseEventLoop,
                    asyncio.AbstractEventLoop,
                    asyncio.SelectorEventLoop,
                    concurrent.futures.ThreadPoolExecutor,
                )
            }

        before = state()
        with taskscale.observe():
            self.assertNotEqual(state(), before)
        self.assertEqual(state(), before)

    def test_what_others_have_patched_since_stays_theirs(self):
        original = asyncio.BaseEventLoop.create_task
        self.addCleanup(setattr, asyncio.BaseEventLoop, "create_task", original)
        with taskscale.observe() as d:
            ours, calls = asyncio.BaseEventLoop.create_task, []

            def theirs(self, coro, **keywords):
                calls.append(coro)
                return ours(self, coro, **keywords)

            asyncio.BaseEventLoop.create_task = theirs
            asyncio.run(children(3))
        self.assertIs(asyncio.BaseEventLoop.create_task, theirs)
        self.assertGreaterEqual(d.tasks, 4)
        seen = d.tasks
        asyncio.run(children(3))
        self.assertEqual((d.tasks, len(calls) >= 2 * seen), (seen, True))

    def test_what_others_had_patched_before_is_called(self):
        original, calls = asyncio.BaseEventLoop.create_task, []

        def theirs(self, coro, **keywords):
            calls.append(coro)
            return original(self, coro, **keywords)

        asyncio.BaseEventLoop.create_task = theirs
        self.addCleanup(setattr, asyncio.BaseEventLoop, "create_task", original)
        with taskscale.observe() as d:
            asyncio.run(children(3))
        self.assertEqual(len(calls), d.tasks)

    def test_one_observation_at_a_time(self):
        with taskscale.observe() as d:
            with self.assertRaisesRegex(RuntimeError, "being observed already"):
                taskscale.observe().start()
            asyncio.run(children(3))
        self.assertGreaterEqual(d.tasks, 4)
        with self.assertRaisesRegex(RuntimeError, "has ended"):
            d.start()
        with taskscale.observe():
            pass

    def test_a_thousand_times_without_a_leak(self):
        def once():
            with taskscale.observe(queue_delays=True) as d:
                loop.run_until_complete(children(20))
                pool.submit(int).result()
            self.assertGreaterEqual(d.tasks, 21)

        loop, pool = asyncio.new_event_loop(), concurrent.futures.ThreadPoolExecutor(1)
        self.addCleanup(loop.close)
        self.addCleanup(pool.shutdown)
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        # Until the interpreter's own caches are as full as they get.
        for _ in range(1_000):
            once()
        gc.collect()
        objects, traced = len(gc.get_objects()), tracemalloc.get_traced_memory()[0]
        memory = resident() if os.path.exists("/proc/self/statm") else None
        for _ in range(1_000):
            once()
        gc.collect()
        # Not one object per cycle, of which the smallest take 48 bytes here; the interpreter's free lists move by 20 KB.
        self.assertLess(len(gc.get_objects()) - objects, 100)
        self.assertLess(tracemalloc.get_traced_memory()[0] - traced, 40_000)
        if memory is not None:
            # An observation holds more than 4 KB for its workers alone.
            self.assertLess(resident() - memory, 4_000_000)

    def test_memory_does_not_grow_with_tasks(self):
        loop = asyncio.new_event_loop()
        self.addCleanup(loop.close)
        with taskscale.observe():
            loop.run_until_complete(children(100))
            gc.collect()
            objects = len(gc.get_objects())
            for _ in range(100):
                loop.run_until_complete(children(100))
            gc.collect()
            self.assertLess(len(gc.get_objects()) - objects, 100)

    def test_a_cycle_through_a_task_that_has_not_ended_is_collected(self):
        async def wait(holder):
            await asyncio.sleep(3600)

        def cycle(begin):
            # Holder, task, coroutine, holder.
            class Holder:
                pass

            holder, loop = Holder(), asyncio.new_event_loop()
            holder.task = loop.create_task(wait(holder))
            if begin:
                loop.run_until_complete(asyncio.sleep(0))
            holder.task._log_destroy_pending = False
            loop.close()
            return weakref.ref(holder)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gc.collect()
            with taskscale.observe() as d:
                for begin in (False, True):
                    seen = cycle(begin)
                    self.assertIsNotNone(seen())
                    gc.collect()
                    self.assertIsNone(seen(), "while it is observed")
                seen = cycle(True)
            self.assertEqual((d.tasks, d.alive), (5, 1))
            gc.collect()
            self.assertIsNone(seen(), "after the observation")

    def test_the_collector_learns_of_objects_when_a_full_collection_begins(self):
        async def main():
            task = asyncio.create_task(child())
            coroutine = task.get_coro()
            self.assertFalse(gc.is_tracked(coroutine))
            gc.collect(0)
            self.assertFalse(gc.is_tracked(coroutine))
            gc.collect()
            self.assertTrue(gc.is_tracked(coroutine))
            later = asyncio.create_task(child())
            self.assertFalse(gc.is_tracked(later.get_coro()))
            observation.stop()
            self.assertTrue(gc.is_tracked(later.get_coro()), "nobody tells it of this one any more")
            await asyncio.gather(task, later)

        with taskscale.observe() as observation:
            asyncio.run(main())

    def test_a_collection_begins_while_objects_are_taken_apart(self):
        collections = []

        class Collects:
            def __del__(self):
                collections.append(gc.collect())

        with taskscale.observe() as d, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(20):
                loop = asyncio.new_event_loop()
                for _ in range(40):
                    # Never runs, so that its argument dies with it.
                    loop.create_task(asyncio.sleep(0, Collects()))._log_destroy_pending = False
                loop.close()
        self.assertEqual((d.tasks, d.alive, len(collections)), (800, 0, 800))

    def test_more_tasks_than_a_chunk_holds_come_and_go(self):
        async def main(n):
            for _ in range(3):
                tasks = [asyncio.create_task(child()) for _ in range(n)]
                gc.collect()
                await asyncio.gather(*tasks)
                gc.collect()

        with taskscale.observe() as d:
            asyncio.run(main(30_000))
        self.assertEqual((d.tasks, d.alive, d.peak), (90_003, 0, 30_001))

    def test_tasks_that_outlive_the_observation(self):
        async def main():
            with taskscale.observe() as d:
                task = asyncio.create_task(asyncio.sleep(0, 7))
                await asyncio.sleep(0)
                self.assertEqual(d.alive, 1)
            with taskscale.observe() as other:
                result = await task
            return result, other.tasks, other.alive

        self.assertEqual(asyncio.run(main()), (7, 0, 0))

    @unittest.skipUnless(hasattr(os, "fork"), "this system does not fork")
    def test_a_fork_finds_no_thread_of_ours(self):
        with taskscale.observe() as d:
            asyncio.run(children(3))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                child = os.fork()
            if child == 0:
                try:
                    asyncio.run(children(3))
                    os._exit(0 if d.data()["tasks"] >= 14 else 1)
                finally:
                    os._exit(2)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.assertEqual([str(warning.message) for warning in caught], [])

    def test_an_interpreter_may_end_while_tasks_are_observed(self):
        program = "import taskscale, asyncio; taskscale.observe().start(); asyncio.run(asyncio.sleep(0.05))"
        done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Commands(unittest.TestCase):
    def observe(self, *arguments, program="import asyncio, sys\nprint(sys.argv, __name__)\nasyncio.run(asyncio.sleep(0))\n"):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "script.py"), "w", encoding="utf-8") as file:
                file.write(program)
            command = [sys.executable, "-m", "taskscale.observe", *arguments]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            written = os.path.join(folder, "digest.json")
            if os.path.exists(written):
                with open(written, encoding="utf-8") as file:
                    done.json = file.read()
            return done

    def test_a_script_that_knows_nothing_of_it(self):
        done = self.observe("--json", "digest.json", "script.py", "--json", "x")
        self.assertEqual((done.returncode, done.stdout), (0, "['script.py', '--json', 'x'] __main__\n"), done.stderr)
        self.assertRegex(done.stderr, r"^\d+ tasks on 1 worker")
        self.assertIn("taskscale.digest/1", done.json)

    def test_a_module(self):
        done = self.observe("-m", "script", "x")
        self.assertIn("'x'] __main__", done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_script_that_fails(self):
        done = self.observe("script.py", program="import asyncio\nasyncio.run(asyncio.sleep(0))\nraise SystemExit(3)\n")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"^\d+ tasks on 1 worker")
        done = self.observe("nothing.py")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nothing.py", done.stderr)

    def test_the_module_may_be_imported_and_called(self):
        program = "import taskscale.observe\nwith taskscale.observe() as d: pass\nprint(d.tasks)"
        done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))

    def test_queue_delays_are_asked_for_by_a_word(self):
        for words, asked in ((), False), (("--queue-delays",), True):
            done = self.observe(*words, "--json", "digest.json", "script.py")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("delay" in json.loads(done.json)["queue"], asked)
        program = "import taskscale.observe\nwith taskscale.observe(queue_delays=True) as d: pass\nprint(d.tasks)"
        done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))

    def test_manual_pages_and_completions_come_with_the_wheel(self):
        share = os.path.join(sys.prefix, "share")
        for path, words in {
            "man/man1/taskscale.1": ".SH SYNOPSIS",
            "man/man1/taskscale-digest.1": ".SH SYNOPSIS",
            "bash-completion/completions/taskscale": "complete ",
            "zsh/site-functions/_taskscale": "#compdef taskscale",
            "fish/vendor_completions.d/taskscale.fish": "complete ",
        }.items():
            with open(os.path.join(share, path), encoding="utf-8") as file:
                self.assertIn(words, file.read(), path)

    def test_the_command_line_tool_comes_with_the_wheel(self):
        tool = os.path.join(os.path.dirname(sys.executable), "taskscale")
        self.assertTrue(os.path.exists(tool), f"{tool} is not there; is the wheel installed in this environment?")
        done = subprocess.run([tool, "--version"], capture_output=True, text=True)
        self.assertTrue(done.stdout.startswith("taskscale "), done)


if __name__ == "__main__":
    unittest.main()
