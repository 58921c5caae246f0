"""A probe whose clocks tell a part of the time: WALL and CPU say one in how many, and 0 tells nothing.

With a third word it does so in one of so many answers only. Where that word is `helper`, another process works, which
it starts for the first request, and the CPU time is its own.
"""

import json
import os
import sys
import time

WALL, CPU = int(sys.argv[1]), int(sys.argv[2])
HELPED = sys.argv[3:] == ["helper"]
EVERY = int(sys.argv[3]) if len(sys.argv) > 3 and not HELPED else 1
CLOCK = {"wall_resolution_ns": 1, "cpu_resolution_ns": 1}
VARIANT = {"name": "loop", "creates_task": False}
WORKLOADS = [{"name": "fanout", "params": [{"name": "order", "default": "ordered"}], "variants": [VARIANT]}]
ABOUT = {"protocol": 1, "runtime": {"name": "clocks", "language": "python", "version": "1"}, "clock": CLOCK}


def work(iterations, size):
    total = 0
    for _ in range(iterations):
        for task in range(size):
            total += 31 * task
    return total


def helped(iterations, size, pipes=[]):
    if not pipes:
        (asked, ask), (answers, tell) = os.pipe(), os.pipe()
        if os.fork() == 0:
            os.setsid()
            os.close(ask)
            for line in os.fdopen(asked):
                os.write(tell, f"{work(*map(int, line.split()))}\n".encode())
            os._exit(0)
        pipes += [ask, os.fdopen(answers)]
    os.write(pipes[0], f"{iterations} {size}\n".encode())
    return int(pipes[1].readline())


def answer(request):
    if request["type"] == "describe":
        return {"type": "description", **ABOUT, "workloads": WORKLOADS}
    wall, cpu = time.monotonic_ns(), time.process_time_ns()
    total = (helped if HELPED else work)(request["iterations"], request["size"])
    wall, cpu = time.monotonic_ns() - wall, time.process_time_ns() - cpu
    part = lambda ns, of: ns if request["id"] % EVERY else ns // of if of else 0
    times = {"wall_ns": part(wall, WALL), "cpu_ns": part(cpu, CPU)}
    return {"type": "sample", "id": request["id"], **times, "answer": total % 2**64}


for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "exit":
        break
    print(json.dumps(answer(request)), flush=True)
