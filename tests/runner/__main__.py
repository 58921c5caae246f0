"""Runs the tests of the whole repository: `make test`, `make test-often`. Python 3.8 or newer, nothing else."""

import argparse
import sys

import often
import show
import suite
from steps import STEPS


def main():
    parser = argparse.ArgumentParser(
        prog="python3 tests/runner",
        description="Runs all tests, or those of some steps, and says how many passed, failed and were skipped.",
        epilog="examples: python3 tests/runner rust cpp        these steps alone, and what they need\n"
        "          python3 tests/runner --often           all of them 20 times, in three ways\n"
        "          python3 tests/runner --often 3 --way busy rust",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("step", nargs="*", help="of: " + ", ".join(step.name for step in STEPS))
    parser.add_argument("--often", nargs="?", type=int, const=20, metavar="N", help="run them N times (20) in each way")
    parser.add_argument("--way", action="append", choices=list(often.WAYS), help="with --often: this way alone")
    parser.add_argument("--verbose", action="store_true", help="print all that the tools say")
    args = parser.parse_args()
    unknown = [name for name in args.step if name not in {step.name for step in STEPS}]
    if unknown:
        parser.error(f"no step is named {unknown[0]}; there are {', '.join(step.name for step in STEPS)}")
    wanted = [step for step in STEPS if not args.step or step.name in args.step]
    try:
        if args.often:
            return often.main(wanted, args.often, args.way or list(often.WAYS), args.verbose)
        results = suite.run(wanted, verbose=args.verbose)
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    return show.summary(results)


if __name__ == "__main__":
    sys.exit(main())
