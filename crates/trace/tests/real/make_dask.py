"""Writes a Dask task stream, and what the scheduler itself has summed up per task prefix.

    python make_dask.py        gives dask.json and dask.totals.json
"""

import json
import time

from dask.distributed import Client, LocalCluster


def inc(x):
    time.sleep(0.002)
    return x + 1


def add(a, b):
    time.sleep(0.001)
    return a + b


if __name__ == "__main__":
    local = {"n_workers": 2, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    with LocalCluster(**local) as cluster, Client(cluster) as client:
        client.get_task_stream()
        first = client.map(inc, range(24))
        second = client.map(add, first, first[::-1])
        client.gather(second)
        stream = client.get_task_stream()
        prefixes = cluster.scheduler.task_prefixes
        totals = {
            "threads": sum(client.nthreads().values()),
            "prefixes": {
                name: {
                    "tasks": prefix.state_counts["memory"],
                    # In whole microseconds: the scheduler rounds each entry and adds integers.
                    "us": {action: round(s * 1e6) for action, s in prefix.all_durations.items()},
                }
                for name, prefix in prefixes.items()
            },
        }
    with open("dask.json", "w") as file:
        json.dump(list(stream), file, default=str)
    with open("dask.totals.json", "w") as file:
        json.dump(totals, file)
        file.write("\n")
