"""60 hashing tasks on two worker processes, and a task that joins them."""

import hashlib, json
from distributed import Client, LocalCluster
def work(n):
    h = b""
    for i in range(n): h = hashlib.sha256(h).digest()
    return h
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.get_task_stream()
        futures = client.map(work, [100_000 + 1000 * i for i in range(60)])
        total = client.submit(lambda parts: len(parts), futures)
        total.result()
        json.dump(client.get_task_stream(), open("dask.json", "w"), default=str)
