"""Observed tasks behave as tasks do."""

import asyncio
import contextvars
import gc
import inspect
import io
import sys
import traceback
import types
import unittest
import warnings
import weakref

import taskscale

VARIABLE = contextvars.ContextVar("VARIABLE", default="unset")


def observed(main):
    """Runs main() observed; its result, and what was seen."""
    with taskscale.observe() as d:
        result = asyncio.run(main())
    return result, d


class Same(unittest.TestCase):
    """Each program gives the same plain and observed."""

    def same(self, main):
        plain = asyncio.run(main())
        ours, d = observed(main)
        self.assertEqual(plain, ours)
        self.assertGreater(d.tasks, 0)
        self.assertEqual(d.alive, 0)
        return ours

    def test_results_and_names(self):
        async def child(n):
            await asyncio.sleep(0)
            return n * 2

        async def main():
            tasks = [asyncio.create_task(child(n), name=f"child {n}") for n in range(5)]
            unnamed = asyncio.create_task(child(9))
            named = unnamed.get_name().startswith("Task-")
            return [await task for task in tasks], [task.get_name() for task in tasks], named, await unnamed

        self.assertTrue(self.same(main)[2])

    def test_cancellation(self):
        async def child(log):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError as error:
                log.append(("cancelled", error.args))
                await asyncio.sleep(0)
                raise
            finally:
                log.append("finally")

        async def main():
            log = []
            task = asyncio.create_task(child(log))
            await asyncio.sleep(0)
            task.cancel("because")
            try:
                await task
            except asyncio.CancelledError as error:
                log.append(error.args)
            never = asyncio.create_task(child(log))
            never.cancel()
            await asyncio.wait([never])
            return log, task.cancelled(), never.cancelled(), task.cancelling()

        self.same(main)

    def test_exceptions_and_their_tracebacks(self):
        async def inner():
            await asyncio.sleep(0)
            raise ValueError("inner")

        async def outer():
            try:
                await inner()
            except ValueError as error:
                raise KeyError("outer") from error

        async def main():
            task = asyncio.create_task(outer())
            try:
                await task
            except KeyError as error:
                frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
                causes = [frame.name for frame in traceback.extract_tb(error.__cause__.__traceback__)]
                return frames, causes, type(task.exception()).__name__

        self.assertEqual(self.same(main)[1], ["outer", "inner"])

    def test_task_groups_and_timeouts(self):
        async def fails():
            await asyncio.sleep(0)
            raise ValueError

        async def main():
            found = []
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(asyncio.sleep(60))
                    group.create_task(fails(), name="fails")
            except* ValueError as group:
                found.append(len(group.exceptions))
            try:
                async with asyncio.timeout(0.001):
                    await asyncio.sleep(60)
            except TimeoutError:
                found.append("timeout")
            try:
                await asyncio.wait_for(asyncio.create_task(asyncio.sleep(60)), 0.001)
            except TimeoutError:
                found.append("wait_for")
            return found

        self.assertEqual(self.same(main), [1, "timeout", "wait_for"])

    def test_context_variables(self):
        async def child():
            before = VARIABLE.get()
            VARIABLE.set("child")
            await asyncio.sleep(0)
            return before, VARIABLE.get()

        async def main():
            VARIABLE.set("main")
            given = contextvars.copy_context()
            given.run(VARIABLE.set, "given")
            tasks = [asyncio.create_task(child()), asyncio.create_task(child(), context=given)]
            return [await task for task in tasks], VARIABLE.get(), given[VARIABLE]

        self.same(main)

    def test_generators_close_and_throw(self):
        async def numbers(log):
            try:
                for n in range(10):
                    yield n
            finally:
                await asyncio.sleep(0)
                log.append("closed")

        async def main():
            log = []
            generator = numbers(log)
            async for n in generator:
                if n == 3:
                    break
            await generator.aclose()
            return log

        self.same(main)

    def test_task_factories_of_the_program(self):
        async def main():
            loop, made = asyncio.get_running_loop(), []

            def factory(loop, coro, **keywords):
                made.append((coro.__qualname__.rsplit(".")[-1], inspect.iscoroutine(coro), sorted(keywords)))
                return asyncio.Task(coro, loop=loop, **keywords)

            before = loop.get_task_factory()
            loop.set_task_factory(factory)
            same = loop.get_task_factory() is factory
            await asyncio.create_task(asyncio.sleep(0))
            loop.set_task_factory(None)
            return before, same, made

        self.same(main)

    @unittest.skipIf(sys.version_info < (3, 12), "eager tasks come with Python 3.12 (install that)")
    def test_eager_tasks(self):
        async def child(n):
            if n % 2:
                await asyncio.sleep(0)
            return n

        async def main():
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
            tasks = [asyncio.create_task(child(n)) for n in range(4)]
            return [task.done() for task in tasks], [await task for task in tasks]

        self.assertEqual(self.same(main)[0], [True, False, True, False])

    def test_what_is_not_a_coroutine_is_refused_in_the_same_words(self):
        async def main():
            words = []
            for wrong in (1, None, "x", asyncio.sleep):
                try:
                    asyncio.get_running_loop().create_task(wrong)
                except TypeError as error:
                    words.append(str(error).split(" at 0x")[0])
            for arguments, keywords in (((), {}), ((asyncio.sleep(0), 1), {}), ((asyncio.sleep(0),), {"colour": 1})):
                try:
                    asyncio.get_running_loop().create_task(*arguments, **keywords)
                except TypeError as error:
                    words.append(str(error))
                for coroutine in arguments[:1]:
                    coroutine.close()
            return words

        self.same(main)

    def test_a_closed_loop_makes_no_tasks(self):
        loop = asyncio.new_event_loop()
        loop.close()
        with taskscale.observe():
            coroutine = asyncio.sleep(0)
            with self.assertRaisesRegex(RuntimeError, "Event loop is closed"):
                loop.create_task(coroutine)
            coroutine.close()

    def test_debug_mode_remembers_the_same_place(self):
        async def main():
            asyncio.get_running_loop().set_debug(True)
            task = asyncio.create_task(asyncio.sleep(0))
            await task
            return [(frame.filename, frame.name) for frame in task._source_traceback][-2:]

        self.same(main)


class Object(unittest.TestCase):
    """The object around a coroutine."""

    def setUp(self):
        self.observation = taskscale.observe().start()
        self.addCleanup(self.observation.stop)
        self.loop = asyncio.new_event_loop()
        self.addCleanup(self.loop.close)

    async def waits(self, future):
        """A coroutine's text."""
        return await future

    def test_it_is_like_its_coroutine(self):
        coroutine = self.waits(self.loop.create_future())
        task = self.loop.create_task(coroutine)
        around = task.get_coro()
        self.assertEqual(type(around).__name__, "Coroutine")
        self.assertEqual(around, coroutine)
        self.assertEqual(len({around, coroutine}), 1)
        self.assertNotEqual(around, self.loop)
        self.assertEqual(repr(around), repr(coroutine))
        self.assertIsInstance(around, types.CoroutineType)
        self.assertTrue(inspect.iscoroutine(around) and asyncio.iscoroutine(around) and inspect.isawaitable(around))
        for name in ("__name__", "__qualname__", "cr_code", "cr_running", "cr_origin", "__class__"):
            self.assertIs(getattr(around, name), getattr(coroutine, name), name)
        self.assertEqual(inspect.getcoroutinestate(around), inspect.CORO_CREATED)
        self.loop.run_until_complete(asyncio.sleep(0))
        self.assertEqual(inspect.getcoroutinestate(around), inspect.CORO_SUSPENDED)
        self.assertIs(around.cr_frame, coroutine.cr_frame)
        self.assertIs(around.cr_await, coroutine.cr_await)
        with self.assertRaises(AttributeError):
            around.nothing
        around.__name__ = "renamed"
        self.assertEqual(coroutine.__name__, "renamed")
        self.assertIsNotNone(weakref.ref(around)())
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            self.loop.run_until_complete(task)

    def test_stacks_and_listings_show_the_coroutine(self):
        task = self.loop.create_task(self.waits(self.loop.create_future()))
        self.loop.run_until_complete(asyncio.sleep(0))
        self.assertIn("waits() running at", repr(task))
        self.assertEqual([frame.f_code.co_name for frame in task.get_stack()], ["waits"])
        text = io.StringIO()
        task.print_stack(file=text)
        self.assertIn("return await future", text.getvalue())
        self.assertEqual(asyncio.all_tasks(self.loop), {task})
        task.cancel()
        self.loop.run_until_complete(asyncio.wait([task]))

    def test_it_can_be_driven_by_hand(self):
        future = self.loop.create_future()
        around = taskscale._taskscale.observed(self.waits(future))
        self.assertIs(around.send(None), future)
        with self.assertRaises(TypeError):
            around.throw(1, 2, 3, 4)
        with self.assertRaises(ZeroDivisionError):
            around.throw(ZeroDivisionError())
        with self.assertRaises(RuntimeError):
            around.send(None)
        future.set_result((1, 2))
        around = taskscale._taskscale.observed(self.waits(future))
        with self.assertRaises(StopIteration) as stop:
            around.send(None)
        self.assertEqual(stop.exception.value, (1, 2))
        around = taskscale._taskscale.observed(self.waits(self.loop.create_future()))
        around.send(None)
        around.close()
        self.assertEqual(inspect.getcoroutinestate(around), inspect.CORO_CLOSED)

        async def awaits():
            return await taskscale._taskscale.observed(self.waits(future))

        self.assertEqual(self.loop.run_until_complete(awaits()), (1, 2))

    def test_a_coroutine_that_never_ran_is_warned_of_as_ever(self):
        around = taskscale._taskscale.observed(self.waits(None))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del around
        self.assertEqual(["waits' was never awaited" in str(warning.message) for warning in caught], [True])

    def test_nothing_is_held_longer(self):
        class Thing:
            pass

        async def holds(thing):
            await asyncio.sleep(0)
            return sys.getrefcount(thing)

        thing = Thing()
        before, gone = sys.getrefcount(thing), weakref.ref(thing)
        task = self.loop.create_task(holds(thing))
        self.loop.run_until_complete(task)
        del task
        self.assertEqual(sys.getrefcount(thing), before)
        del thing
        self.assertIsNone(gone())

    def test_cycles_through_it_are_collected(self):
        class Thing:
            pass

        async def holds(thing):
            await thing.future

        gc.collect()
        for started, ended in ((False, False), (True, False), (True, True)):
            thing = Thing()
            thing.loop, thing.future = asyncio.new_event_loop(), None
            thing.future = thing.loop.create_future()
            thing.task = thing.loop.create_task(holds(thing))
            thing.task._log_destroy_pending = False
            if started:
                thing.loop.run_until_complete(asyncio.sleep(0))
            thing.loop.close()
            if ended:
                # What is alive when the observation ends is collected, too.
                self.observation.stop()
            gone = weakref.ref(thing)
            del thing
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                gc.collect()
            self.assertIsNone(gone(), (started, ended))
            self.assertEqual(self.observation.alive, 1 if ended else 0)


if __name__ == "__main__":
    unittest.main()
