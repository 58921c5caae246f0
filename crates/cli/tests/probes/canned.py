"""A probe of the workload `bytes` that knows the right sums and reads no file. It is written without the SDK on purpose."""

import json
import sys
import time

MASK = (1 << 64) - 1


def content(size):
    """The content, by the state that PROTOCOL.md's seed gives."""
    s = [0xBDD732262FEB6E95, 0x28EFE333B266F103, 0x47526757130F9F52, 0x581CE1FF0E4AE394]
    rotl = lambda x, k: ((x << k) | (x >> (64 - k))) & MASK
    out = bytearray()
    while len(out) < size:
        out += (rotl(s[1] * 5 & MASK, 7) * 9 & MASK).to_bytes(8, "little")
        t = s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotl(s[3], 45)
    return bytes(out[:size])


def summed(data, mode):
    if mode == "sum8":
        return sum(data) % 256
    total = 14695981039346656037
    for byte in data:
        total = (total ^ byte) * 1099511628211 & MASK
    return total


def sample(request):
    size, iterations, params = request["size"], request["iterations"], request["params"]
    data = content(size)
    wall, cpu = time.monotonic_ns(), time.process_time_ns()
    answer = sum(summed(data, params.get("mode", "sum8")) for _ in range(iterations)) & MASK
    cpu, wall = time.process_time_ns() - cpu, time.monotonic_ns() - wall
    reply = {"type": "sample", "id": request["id"], "wall_ns": wall, "cpu_ns": cpu, "answer": str(answer)}
    if params.get("verify"):
        reply["extra"] = {"executed": size * iterations}
    return reply


def reply(line):
    try:
        request = json.loads(line)
        if request["type"] == "exit":
            sys.exit(0)
        if request["type"] == "describe" and request["protocol"] == 1:
            mode = {"name": "mode", "default": "sum8", "choices": ["sum8", "fnv"]}
            return {
                "type": "description",
                "protocol": 1,
                "runtime": {"name": "canned", "language": "python", "version": "1"},
                "clock": {"wall_resolution_ns": 100, "cpu_resolution_ns": 1000},
                "workloads": [
                    {"name": "bytes", "params": [mode], "variants": [{"name": "canned/sum", "creates_task": False}]}
                ],
            }
        if request["type"] == "describe":
            said = f"the tool speaks protocol {request['protocol']}, this probe protocol 1"
            return {"type": "error", "message": said, "protocol": 1}
        if (request["type"], request["workload"], request["variant"]) == ("run", "bytes", "canned/sum"):
            return sample(request)
        raise ValueError("an unknown word")
    except (ValueError, KeyError, TypeError) as why:
        return {"type": "error", "message": f"no such request: {why}"}


for line in sys.stdin:
    print(json.dumps(reply(line)), flush=True)
