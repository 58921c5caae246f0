"""The book: that its table of contents has every page, that every link and anchor leads somewhere, and, where mdBook is
here, that the book is built and has no dead link either."""

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r"^[ \t]*```.*?^[ \t]*```", re.M | re.S)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
CHAPTER = re.compile(r"^\s*(?:- )?\[[^\]]+\]\(([^)]+)\)$")
EXTERNAL = re.compile(r"^(\w+:|//)")


def contents(docs):
    """What is wrong with docs/SUMMARY.md."""
    lines = (docs / "SUMMARY.md").read_text(encoding="utf-8").splitlines()
    listed = [found.group(1) for found in map(CHAPTER.match, lines) if found]
    pages = {page.relative_to(docs).as_posix() for page in docs.rglob("*.md")} - {"SUMMARY.md"}
    problems = [f"docs/SUMMARY.md lists {page}, which is not there" for page in listed if page not in pages]
    problems += [f"docs/SUMMARY.md does not list {page}" for page in sorted(pages.difference(listed))]
    problems += [f"docs/SUMMARY.md lists {page} twice" for page in sorted({page for page in listed if listed.count(page) > 1})]
    included = (docs / "whole").glob("*.md")
    includes = {stub: re.fullmatch(r"\{\{#include (\S+)\}\}\n", stub.read_text(encoding="utf-8")) for stub in included}
    for stub, include in sorted(includes.items()):
        if not include or not (stub.parent / include.group(1)).is_file():
            problems.append(f"docs/whole/{stub.name} includes no page that is there")
    return problems


def prose(text):
    """A page without fences, whose lines keep their numbers."""
    return FENCE.sub(lambda fence: "\n" * fence.group(0).count("\n"), text)


def anchors(text):
    """The anchors of a page's headings."""
    found = set()
    for heading in re.finditer(r"^#{1,6}\s+(.*?)\s*#*$", prose(text), re.M):
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
        slug = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words))
        name, more = slug, 0
        while name in found:
            more += 1
            name = f"{slug}-{more}"
        found.add(name)
    return found


def links(root, names):
    """Links of those pages that lead nowhere."""
    problems = []
    for name in names:
        page = root / name
        text = prose(page.read_text(encoding="utf-8"))
        for found in LINK.finditer(text):
            target = found.group(1)
            number = text.count("\n", 0, found.start()) + 1
            path, _, anchor = target.partition("#")
            if EXTERNAL.match(target):
                continue
            file = Path(os.path.normpath(page.parent / path)) if path else page
            if not file.exists():
                problems.append(f"{name}:{number}: {target} is not there")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
                problems.append(f"{name}:{number}: {target}: the page has no such heading")
    return problems


class Html(HTMLParser):
    """The links and anchors of a page of the book."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        if tag in ("a", "img"):
            self.links += [attrs[name] for name in ("href", "src") if attrs.get(name)]


def built(folder):
    """Links of a book that was built that lead nowhere."""
    # All chapters on one page, whose links mdBook makes itself; and a page that is shown at any address.
    files = [file for file in folder.rglob("*.html") if file.name not in ("print.html", "404.html", "toc.html")]
    pages = {file: Html(file.read_text(encoding="utf-8")) for file in files}
    problems = []
    for file, page in sorted(pages.items()):
        for target in page.links:
            path, _, anchor = target.partition("#")
            if EXTERNAL.match(target):
                continue
            to = Path(os.path.normpath(file.parent / unquote(path))) if path else file
            if not to.exists() or (anchor and to in pages and unquote(anchor) not in pages[to].ids):
                problems.append(f"the book: {file.relative_to(folder)}: {target} leads nowhere")
    return problems


def program(target):
    """mdBook, from the PATH or from the environment that tests/run/docs makes; or nothing."""
    ours = target / "mdbook" / "bin" / "mdbook"
    return str(ours) if ours.exists() else shutil.which("mdbook")


def main(root, target):
    names = subprocess.run(["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True, check=True).stdout.split()
    names = [name for name in names if (root / name).exists() and not name.startswith("docs/whole/")]
    parts = [("the table of contents", contents(root / "docs")), ("links and anchors of all pages", links(root, names))]
    mdbook = program(target)
    if mdbook:
        folder = target / "book"
        shutil.rmtree(folder, ignore_errors=True)
        done = subprocess.run([mdbook, "build", "-d", str(folder), str(root / "docs")], capture_output=True, text=True)
        parts.append(("mdbook build docs", [done.stderr] if done.returncode else built(folder)))
    print("== book")
    for name, problems in parts:
        for problem in problems:
            print(f"FAILED: {name}: {problem}")
        if not problems:
            print(f"ok: {name}")
    if not mdbook:
        print("skipped: mdbook build docs: there is no mdbook (pip install -r docs/requirements.txt)")
    return 1 if any(problems for _, problems in parts) else 0


if __name__ == "__main__":
    sys.exit(main(ROOT, Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()))
