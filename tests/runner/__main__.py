"""Runs the tests of the whole repository: `make test`, `make test-often`. Python 3.8 or newer, nothing else."""

import argparse
import signal
import sys
import time

import often
import show
import suite
from steps import STEPS


def main():
    parser = argparse.ArgumentParser(
        prog="python3 tests/runner",
        description="Runs all tests, or those of some steps, and says how many passed, failed and were skipped.",
        epilog="examples: python3 tests/runner rust cpp        these steps alone\n"
        "          python3 tests/runner --often           all of them 20 times, in three ways\n"
        "          python3 tests/runner --often 3 --way busy rust",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("step", nargs="*", help="of: " + ", ".join(step.name for step in STEPS))
    parser.add_argument("--often", nargs="?", type=times, const=20, metavar="N", help="run them N times (20) in each way")
    parser.add_argument("--way", action="append", choices=list(often.WAYS), help="with --often: this way alone")
    parser.add_argument("--verbose", action="store_true", help="print all that the tools say")
    args = parser.parse_args()
    unknown = [name for name in args.step if name not in {step.name for step in STEPS}]
    if unknown:
        parser.error(f"no step is named {unknown[0]}; there are {', '.join(step.name for step in STEPS)}")
    if args.way and not args.often:
        parser.error("--way is a way of --often")
    # Also where a shell has started this behind the scenes, and where a service is stopped: what was seen so far is told.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    wanted = [step for step in STEPS if not args.step or step.name in args.step]
    if args.often:
        return often.main(wanted, args.often, args.way or list(often.WAYS), args.verbose)
    begun, results = time.monotonic(), []
    try:
        suite.run(wanted, verbose=args.verbose, results=results)
    except KeyboardInterrupt:
        suite.stop()
        show.summary(results, time.monotonic() - begun)
        print("interrupted: the steps that had not ended are missing above", file=sys.stderr)
        return 130
    return show.summary(results, time.monotonic() - begun)


def times(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least once")
    return number


if __name__ == "__main__":
    sys.exit(main())
