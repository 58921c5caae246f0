"""A probe that serves `interp` over HTTP and is right but for one thing, named by its argument."""

import json
import os
import socketserver
import sys
import threading
import time

MODE = sys.argv[1]
RIGHT = json.dumps(
    ["fizzbuzz" if i % 15 == 0 else "buzz" if i % 5 == 0 else "fizz" if i % 3 == 0 else str(i) for i in range(1, 101)],
    separators=(",", ":"),
).encode()
DESCRIPTION = {
    "type": "description",
    "protocol": 1,
    "runtime": {"name": "served", "language": "python", "version": "1"},
    "clock": {"wall_resolution_ns": 1, "cpu_resolution_ns": 1},
    "workloads": [
        {
            "name": "interp",
            "params": [
                {"name": "mode", "default": "inproc", "choices": ["inproc", "http-closed", "http-open"]},
                {"name": "rate", "default": 50},
            ],
            "variants": [{"name": "sync", "creates_task": False}],
        }
    ],
}
answered = 0
lock = threading.Lock()


def response():
    body, status, length = RIGHT, 200, True
    if MODE == "wrong":
        body = RIGHT.replace(b"fizzbuzz", b"FIZZBUZZ", 1)
    if MODE == "status":
        body, status = b"out of memory", 500
    if MODE == "short":
        body = RIGHT[:-1]
    head = "HTTP/1.1 %d OK\r\n" % status
    if MODE == "no-length":
        return head.encode() + b"\r\n" + body
    return (head + "Content-Length: %d\r\n\r\n" % len(body)).encode() + body


class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        global answered
        requests = 0
        while True:
            data = b""
            while not data.endswith(b"\r\n\r\n"):
                part = self.request.recv(4096)
                if not part:
                    return
                data += part
            requests += 1
            if MODE == "hangs":
                continue
            if MODE == "closes" and requests > 2:
                return
            if MODE == "dies" and requests > 2:
                sys.stderr.write("ValueError: a server at sea\n")
                sys.stderr.flush()
                os._exit(3)
            if MODE == "speaks" and requests == 2:
                print("a request!", flush=True)
            while MODE == "floods":
                self.request.sendall(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 65536)
            with lock:
                answered += 1
            self.request.sendall(response())


class Server(socketserver.ThreadingTCPServer):
    daemon_threads, request_queue_size = True, 128


def say(message):
    print(json.dumps(message), flush=True)


def serve(run):
    global answered
    server = Server(("127.0.0.1", 0), Handler)
    port = server.server_address[1]
    if MODE == "deaf":
        server.server_close()
    else:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    if MODE == "no-server":
        return {"type": "sample", "id": run["id"], "wall_ns": 1, "cpu_ns": 1, "answer": 4}
    if MODE == "refuses":
        return {"type": "error", "message": "no port is free"}
    say({"type": "serving", "id": run["id"] + (MODE == "other-id"), "port": port, "server": "threads 1"})
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "begin":
            if MODE == "never-begins":
                time.sleep(3600)
            answered, wall, cpu = 0, time.monotonic_ns(), time.process_time_ns()
            say({"type": "began", "id": run["id"]})
        elif message["type"] == "stop":
            cpu, wall = time.process_time_ns() - cpu, time.monotonic_ns() - wall
            server.shutdown()
            server.server_close()
            return {
                "type": "sample",
                "id": run["id"],
                "wall_ns": wall,
                "cpu_ns": cpu,
                "answer": answered - (MODE == "miscounts"),
            }


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "exit":
        break
    say(DESCRIPTION if message["type"] == "describe" else serve(message))
