"""`interp`: its semantics in every encoding, what an instrumented run counts, and mistakes that it must show.

What is right is written here a second time; the tool has it a third time, and judges by that."""

import asyncio
import hashlib
import pathlib
import sys
import unittest
import warnings
from types import SimpleNamespace

from test_probe import FOLDER, Session, variants

sys.path.insert(0, str(FOLDER))

from taskscale_probe.sdk.timing import Timed
from taskscale_probe.workloads import interp
from taskscale_probe.workloads.interp import coroutines, pending, program, values
from taskscale_probe.workloads.interp.observe import Count, Once, counted_nodes, fnv1a, together

ORDER, OUTPUT = "2153812598003189471", "5476290587449551085"


def encodings():
    return [one for one in interp.ENCODINGS if not interp.unavailable("asyncio", one.needs)]


def in_process(session):
    return [one for one in variants(session.describe(), "interp") if one["name"] != "constant"]


def counts(requests, pause=0):
    each = dict(nodes=1804, builtins=603, applications=100, extensions=101, suspended=pause, consumed_twice=0)
    summed = {name: requests * value for name, value in each.items()}
    return dict(summed, deepest=8, order=ORDER, output=OUTPUT)


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Process(unittest.TestCase):
    def test_every_variant_counts_what_is_right(self):
        with Session() as session:
            for variant in in_process(session):
                name = variant["name"]
                self.assertEqual(variant["creates_task"], name.startswith("task"))
                for pause in (0, 6, 100):
                    for lookup in ("by_name", "prelinked"):
                        params = dict(pause=pause, lookup=lookup)
                        sample = session.run("interp", name, 3, 2, verify=True, **params)
                        case = f"{name} {params}: {sample}"
                        self.assertEqual((sample.get("answer"), sample.get("extra")), (6, counts(6, pause)), case)
                        sample = session.run("interp", name, 3, 2, **params)
                        self.assertEqual((sample.get("answer"), sample.get("extra")), (6, None), case)
            self.assertEqual(session.end(), (b"", 0))
            self.assertEqual(session.complaints, b"")

    def test_workers_share_the_requests_and_are_counted_together(self):
        with Session() as session:
            for variant in in_process(session):
                name = variant["name"]
                sample = session.run("interp", name, 3, 2, verify=True, pause=6, workers=2)
                extra = sample["extra"]
                self.assertEqual((sample["answer"], extra.pop("worker_requests")), (6, [4, 2]), name)
                walls = extra.pop("worker_wall_ns")
                self.assertTrue(len(walls) == 2 and min(walls) > 0, f"{name}: {walls}")
                self.assertEqual(extra, counts(6, 6), name)
            sample = session.run("interp", "async", 3, 2, workers=5)
            self.assertEqual((sample["answer"], sample["extra"]["worker_requests"]), (6, [2, 2, 2, 0, 0]))
            said = session.run("interp", "async", workers=1001)["message"]
            self.assertEqual(said, "workers is 1001; give at most 1000")
            said = session.run("interp", "async", workers=2, pause=7)["message"]
            self.assertEqual(said, "pause is 7; give 0, 6 or 100")
            self.assertEqual(session.end(), (b"", 0))
            self.assertEqual(session.complaints, b"")

    def test_nested_lets_are_as_deep_as_asked_for(self):
        with Session() as session:
            for variant in in_process(session):
                extra = session.run("interp", variant["name"], 3, 2, depth=50, verify=True)["extra"]
                counted = dict(nodes=6 * 101, builtins=0, applications=0, extensions=300, deepest=51, suspended=0)
                hashes = dict(consumed_twice=0, order=str(fnv1a(b"")), output=str(fnv1a(b"1")))
                self.assertEqual(extra, dict(counted, **hashes), variant["name"])

    def test_other_numbers_of_pauses_are_refused(self):
        with Session() as session:
            self.assertEqual(session.run("interp", "sync", pause=7)["message"], "pause is 7; give 0, 6 or 100")

    def test_other_loops_do_not_have_it(self):
        with Session("trio") as session:
            description = session.describe()
            if "workloads" in description:
                self.assertNotIn("interp", [one["name"] for one in description["workloads"]])


class Semantics(unittest.TestCase):
    def outputs(self, text):
        """The output of a program in every encoding, or what is said of it. Every element of a map suspends."""
        values.PAUSE.every = 1
        said = []
        for encoding in encodings():
            root = program.parse(text, encoding.nodes)
            run = SimpleNamespace(params=dict(pause=100, depth=0), size=1)
            run.time = lambda one: dict(answer=one(None), extra={})

            async def time_async(one):
                return dict(answer=await one(None), extra={})

            run.time_async = time_async
            try:
                interp.performed("asyncio", encoding, run, root)
            except LookupError as error:
                said.append(str(error))
        self.assertEqual(len(said), len(encodings()))
        return said

    def test_they_are_the_same_in_every_encoding(self):
        each = '["call","List::map",[["call","Int::range",[["int",1],["int",3]]],["lambda",["i"],%s]]]'
        ones = each % '["int",1]'
        differs = "a request's output differs from byte %d on: '%s', right is "
        for text, right in (
            ('["bin","Int::%",["int",7],["int",0]]', differs % (0, "0")),
            ('["var","a"]', "a request's output is no value: no variable a"),
            ('["call","Int::none",[]]', "a request's output is no value: no such function"),
            # The error of an argument is the call's, whether the function is there or not.
            ('["call","Int::none",[["var","a"]]]', "a request's output is no value: no variable a"),
            ('["if",["int",1],["int",2],["int",3]]', "a request's output is no value: a condition must be a boolean"),
            # A binding alters no environment: the inner `a` is gone behind its body.
            ('["let","a",["int",1],["let","b",["let","a",["int",2],["var","a"]],["var","a"]]]', differs % (0, "1")),
            # A lambda has the environment in which it was written.
            (
                '["let","a",["int",5],["let","f",["lambda",["i"],["var","a"]],["let","a",["int",6],'
                '["call","List::map",[["call","Int::range",[["int",1],["int",2]]],["var","f"]]]]]]',
                differs % (1, "5,5]"),
            ),
            (each % '["var","i"]', differs % (1, "1,2,3]")),
            # The first error of a list is the map's.
            (
                each % '["if",["bin","Int::==",["var","i"],["int",1]],["int",0],["var","c"]]',
                "a request's output is no value: no variable c",
            ),
            (each % each % '["bin","Int::%",["var","i"],["int",2]]', differs % (1, "[1,0,1],[1,0,1],[1,0,1]]")),
            ('["bin","Int::%",["var","a"],["int",1]]', "a request's output is no value: no variable a"),
            ('["bin","Int::%",["int",1],["var","a"]]', "a request's output is no value: no variable a"),
            # What suspends may stand in every place.
            ('["let","a",%s,["var","a"]]' % ones, differs % (1, "1,1,1]")),
            ('["let","a",%s,%s]' % (ones, each % '["var","a"]'), differs % (1, "[1,1,1],[1,1,1],[1,1,1]]")),
            ('["call","List::map",[%s,["lambda",["i"],["int",2]]]]' % ones, differs % (1, "2,2,2]")),
            ('["bin","Int::%%",%s,["int",2]]' % ones, "a request's output is no value: Int::% needs two integers"),
            ('["bin","Int::%%",["int",2],%s]' % ones, "a request's output is no value: Int::% needs two integers"),
            ('["if",%s,["int",1],["int",2]]' % ones, "a request's output is no value: a condition must be a boolean"),
        ):
            for said in self.outputs(text):
                self.assertTrue(said.startswith(right), f"{text}: {said!r} is not {right!r}")

    def test_the_program_and_its_output_are_those_of_all_languages(self):
        digest = "2afafbdc1160a3a282ac3d064f285c2ca6ef0fef6967814b02e194e22d6b9028"
        self.assertEqual((len(program.PROGRAM), sha256(program.PROGRAM)), (428, digest))
        digest = "812dce4f4fa16015bfb38a37fc7b6f7b34bc7d243fd9f95c65e71252f017b764"
        self.assertEqual((len(program.output()), sha256(program.output())), (614, digest))
        shared = pathlib.Path(FOLDER).parent / "interp" / "program.json"
        # Taken out of the repository there is no other program to agree with.
        if shared.exists():
            self.assertEqual(program.PROGRAM, shared.read_text().rstrip())


class Mistakes(unittest.TestCase):
    """A map with a mistake gives the right output, which is why it is not enough to look at that."""

    def extra(self, nodes, count, request):
        run = SimpleNamespace(params=dict(pause=6, depth=0), size=3, iterations=2, phases=False)
        run.time_async = lambda one: Timed.time_async(run, one)
        encoding = interp.Encoding("broken", "", nodes, request, None)
        timing = interp.performed("asyncio", encoding, run, program.parse(program.PROGRAM, nodes), count)
        self.assertEqual(timing["answer"], 6)
        return dict(timing["extra"], **count.report())

    def awaiting(self, list_map):
        class Call(coroutines.KnowingCall):
            __slots__ = ()
            functions = dict(coroutines.MARKED, **{"List::map": (list_map, True)})

        count = Count()
        nodes = counted_nodes(dict(coroutines.KNOWING_NODES, call=Call), count, count.once)
        return self.extra(nodes, count, interp.awaited)

    def test_none_is_none(self):
        self.assertEqual(self.awaiting(coroutines.list_map), counts(6, 6))

    def test_two_elements_at_a_time_are_seen_in_the_order(self):
        async def list_map(elements, closure):
            results = []
            for i in range(0, len(elements), 2):
                results += await asyncio.gather(*(together(closure, one) for one in elements[i : i + 2]))
            return results

        async def together(closure, element):
            return await closure.apply(element)

        extra = self.awaiting(list_map)
        self.assertNotEqual(extra["order"], ORDER)
        self.assertEqual(dict(extra, order=ORDER, deepest=8), counts(6, 6))

    def test_a_swallowed_pending_value_is_seen(self):
        def list_map(elements, closure):
            results = []
            for element in elements:
                result = closure.apply(element)
                if type(result) is Once:
                    result = closure.body.eval((closure.param, element, closure.env))
                results.append(result)
            return results

        count = Count()
        inner = pending.nodes_of(Once, count.once)

        class Call(inner["call"]):
            __slots__ = ()
            functions = dict(inner["call"].functions, **{"List::map": list_map})

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # Python itself says what was never awaited.
            extra = self.extra(counted_nodes(dict(inner, call=Call), count, count.once), count, interp.maybe)
        # A pause is two results here: what suspends, and what is logged when it is there.
        self.assertEqual((extra["suspended"], extra["consumed_twice"]), (0, 6 * 6 * 2))
        self.assertNotEqual(extra["order"], ORDER)

    def test_a_result_that_is_used_twice_is_seen(self):
        async def list_map(elements, closure):
            results = []
            for element in elements:
                result = closure.apply(element)
                results.append(await result)
                if element == 50:
                    await result
            return results

        self.assertEqual(self.awaiting(list_map), dict(counts(6, 6), consumed_twice=6))

    def test_workers_that_differ_have_no_order_and_no_output(self):
        def worked(log, output):
            count = Count()
            count.nodes, count.log = 1, [log]
            count.answered(output)
            return count

        def of(*workers):
            whole = together([*workers, Count()])  # one that had no request
            return whole["nodes"], whole["order"], whole["output"]

        right = worked("B 1\n", b"1")
        order, output = str(fnv1a(b"B 1\n")), str(fnv1a(b"1"))
        self.assertEqual(of(right, worked("B 1\n", b"1")), (2, order, output))
        self.assertEqual(of(right, worked("B 2\n", b"1")), (2, "0", output))
        self.assertEqual(of(right, worked("B 1\n", b"2")), (2, order, "0"))

    def test_a_worker_says_what_is_wrong_with_its_output(self):
        encoding = interp.Encoding("wrong", "", coroutines.NODES, interp.awaited, None)
        params = dict(pause=0, depth=0, workers=2)
        run = SimpleNamespace(params=params, size=3, iterations=2, phases=False)
        run.time = lambda one: Timed.time(run, one)
        roots = [program.parse('["int",1]', coroutines.NODES)] * 2
        with self.assertRaisesRegex(LookupError, "^a request's output differs from byte 0 on: '1', right is"):
            interp.performed_together("asyncio", encoding, run, roots, [None, None])

    def test_every_node_but_the_root_is_spawned_by_another(self):
        for encoding in (one for one in encodings() if one.name.startswith("task")):
            count = Count()
            self.extra(encoding.counted(count), count, encoding.request)
            self.assertEqual(count.made, 6 * 1803, encoding.name)

    def test_a_wrong_output_says_where(self):
        with self.assertRaisesRegex(LookupError, r"differs from byte 3 on: '2,3\]', right is '3\]' \(7 bytes"):
            interp.judge(b"[1,3]")([1, 2, 3])


if __name__ == "__main__":
    unittest.main()
