"""Five rounds of 20 hashing tasks, one of them ten times as long, and a task that joins them."""

import ray, time, hashlib
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
@ray.remote
def digest(n):
    h = b""
    for i in range(n): h = hashlib.sha256(h).digest()
    return h
@ray.remote
def join(*parts): return len(parts)
for step in range(5):
    parts = [digest.remote(100_000 if i else 1_000_000) for i in range(20)]
    ray.get(join.remote(*parts))
time.sleep(2)
ray.timeline(filename="ray.json")
