"""The runner's files and the pull request's comments, by GitHub's API."""

import json
import os
import urllib.error
import urllib.request

# GitHub takes comments of 65,536 characters and summaries of 1 MiB.
COMMENT, SUMMARY = 65_000, 1_000_000
TIMEOUT_S = 30
# Pages of 100 comments that are looked through.
PAGES = 30


class Refused(Exception):
    """The API did not do it; the text says why."""


def output(name, value):
    """Sets an output of the step. No value of ours has more than one line."""
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as file:
        file.write(f"{name}={str(value).splitlines()[0] if str(value) else ''}\n")


def summary(text):
    """Adds to the summary of the job."""
    with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as file:
        file.write(cut(text, SUMMARY) + "\n")


def notice(kind, text):
    """Prints a line that GitHub shows with the job: `notice`, `warning` or `error`."""
    print(f"::{kind} title=taskscale::" + text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"), flush=True)


def event():
    """What started the workflow."""
    path = os.environ.get("GITHUB_EVENT_PATH", "")
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def comment(number, marker, text, token):
    """Puts a text on a pull request: over the comment of before that begins with `marker`, else in a new one. Says which."""
    comments = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    body = {"body": cut(f"{marker}\n{text}", COMMENT)}
    for page in range(1, PAGES + 1):
        there = call("GET", f"{comments}/{number}/comments?per_page=100&page={page}", token)
        ours = [one for one in there if (one.get("body") or "").startswith(marker)]
        if ours:
            try:
                call("PATCH", f"{comments}/comments/{ours[0]['id']}", token, body)
                return "updated"
            except Refused:
                # Somebody else's, who began it alike.
                break
        if len(there) < 100:
            break
    call("POST", f"{comments}/{number}/comments", token, body)
    return "written"


def call(method, path, token, body=None):
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    request = urllib.request.Request(
        api + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {token}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "taskscale-action",
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        raise Refused(f"{error.code} {error.reason}") from error
    except (OSError, ValueError) as error:
        raise Refused(str(error)) from error


def cut(text, most):
    """Cuts at a line, and says so."""
    if len(text.encode()) <= most:
        return text
    kept = text.encode()[: most - 200].decode(errors="ignore").rpartition("\n")[0]
    return kept + "\n\n…cut here; all of it is in the run file."
