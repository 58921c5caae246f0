"""A GitHub of one pull request: its API on a port of this machine, and the files that a runner gives to a step."""

import http.server
import json
import re
import threading
from pathlib import Path


class Api:
    """Comments are kept in `comments`; `refuses` is a method that is answered by 403."""

    def __init__(self):
        self.comments, self.calls, self.refuses = [], [], ()
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"null")
                status, value = api.answer(self.command, self.path, body, self.headers["Authorization"])
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method, path, body, authorization):
        self.calls.append((method, path))
        if authorization != "Bearer a-token":
            return 401, {"message": "Bad credentials"}
        if method in self.refuses:
            return 403, {"message": "Resource not accessible by integration"}
        listed = re.fullmatch(r"/repos/me/mine/issues/7/comments\?per_page=100&page=(\d+)", path)
        if method == "GET" and listed:
            first = (int(listed[1]) - 1) * 100
            return 200, self.comments[first : first + 100]
        if method == "POST" and path == "/repos/me/mine/issues/7/comments":
            self.comments.append({"id": 1000 + len(self.comments), **body})
            return 201, self.comments[-1]
        one = re.fullmatch(r"/repos/me/mine/issues/comments/(\d+)", path)
        for there in self.comments:
            if method == "PATCH" and one and there["id"] == int(one[1]):
                there.update(body)
                return 200, there
        return 404, {"message": "Not Found"}


class Runner:
    """What a runner sets for a step, in a folder of its own."""

    def __init__(self, folder, checkout, api, event):
        self.folder = Path(folder)
        self.env = {
            "GITHUB_WORKSPACE": str(checkout),
            "GITHUB_REPOSITORY": "me/mine",
            "GITHUB_API_URL": api.url,
            "GITHUB_EVENT_PATH": self.file("event.json", json.dumps(event)),
            "GITHUB_STEP_SUMMARY": self.file("summary.md"),
            "GITHUB_OUTPUT": self.file("output"),
            "RUNNER_TEMP": str(self.folder),
        }

    def file(self, name, text=""):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def summary(self):
        return (self.folder / "summary.md").read_text(encoding="utf-8")

    def outputs(self):
        lines = (self.folder / "output").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)
