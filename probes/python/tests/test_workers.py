"""Workloads about tasks that take turns, come from elsewhere, or come now and then."""

import unittest

from test_probe import RUNTIMES, Session, installed, sum_of_tasks, variants


class Whole(unittest.TestCase):
    """Every variant gives the whole answer of 51 tasks, twice, with each number of something."""

    def whole(self, workload, param, numbers, refused=None, **params):
        """`refused` is a number that is too many, and what is said of it."""
        for runtime in filter(installed, RUNTIMES):
            with Session(runtime) as session:
                for variant in variants(session.describe(), workload):
                    for number in numbers:
                        sample = session.run(workload, variant["name"], 51, 2, **{param: number}, **params)
                        self.assertEqual(sample.get("answer"), 102, f"{runtime} {variant['name']} {number}: {sample}")
                    if refused:
                        wrong, why = refused
                        said = session.run(workload, variant["name"], **{param: wrong}).get("message", "")
                        self.assertIn(why, said)
                self.assertEqual(session.end(), (b"", 0))
                self.assertEqual(session.complaints, b"", runtime)

    def test_all_trips_are_made_over_all_pairs(self):
        # 51 trips do not divide evenly; of 60 pairs some have none.
        self.whole("pingpong", "pairs", (1, 4, 60), workers="one")

    def test_all_tasks_of_all_producers_run(self):
        # 51 tasks do not divide evenly by 4; of 64 producers some have none.
        self.whole("remote", "producers", (1, 4, 64), (65, "producers is 65; give 1 to 64"))

    def test_every_variable_has_its_value_behind_each_await(self):
        self.whole("context", "variables", (0, 1, 8), (3, "variables is 3; give 0, 1 or 8"))


class Idle(unittest.TestCase):
    """Each task arrives, at its time."""

    def test_every_task_arrives_at_its_time(self):
        for runtime in filter(installed, RUNTIMES):
            with Session(runtime) as session:
                for variant in variants(session.describe(), "idle"):
                    for rate, size in ((1000, 20), (100, 20), (10, 100)):
                        sample = session.run("idle", variant["name"], size, 2, rate=rate)
                        self.assertEqual(sample.get("answer"), 2 * size, f"{runtime} {variant['name']} {rate}: {sample}")
                        self.assertGreaterEqual(sample["wall_ns"], 2e6 * size - 1e6, f"{runtime} {variant['name']} {rate}: {sample}")
                    said = session.run("idle", variant["name"], rate=50).get("message", "")
                    self.assertIn("rate is 50; give 1, 10, 100 or 1000", said)
                    said = session.run("idle", variant["name"], 15, rate=100).get("message", "")
                    self.assertIn("in 15 ms no whole number of tasks arrives at 100 a second", said)
                self.assertEqual(session.end(), (b"", 0))
                self.assertEqual(session.complaints, b"", runtime)


class Scale(unittest.TestCase):
    """Every call is made once, by no more threads than were asked for."""

    def test_any_number_of_threads_does_every_call_once(self):
        for runtime in filter(installed, ("asyncio", "uvloop")):
            with Session(runtime) as session:
                for workers, work in ((1, 0), (2, 5), (5, 5), (1, 5)):
                    sample = session.run("scale", "run_in_executor", 50, 2, workers=workers, work=work, verify=True)
                    case = f"{runtime} {workers}: {sample}"
                    right = 2 * sum_of_tasks(50, work) % 2**64
                    self.assertEqual((int(sample["answer"]), sample["extra"]["executed"]), (right, 100), case)
                    self.assertLessEqual(sample["extra"]["workers_seen"], workers, case)
                for workers in (0, 1001):
                    said = session.run("scale", "run_in_executor", workers=workers).get("message", "")
                    self.assertIn(f"workers is {workers}; give 1 to 1000", said)
                self.assertEqual(session.end(), (b"", 0))


if __name__ == "__main__":
    unittest.main()
