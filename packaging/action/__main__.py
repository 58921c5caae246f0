"""What the steps of action.yml run: `source` says from what taskscale is built, `measure` measures, shows and gates."""

import sys

import measure
import source

STEPS = {"source": source.main, "measure": measure.main}

if __name__ == "__main__":
    if sys.argv[1:2] == [] or sys.argv[1] not in STEPS:
        sys.exit(f"which step? there are {', '.join(STEPS)}")
    sys.exit(STEPS[sys.argv[1]]())
