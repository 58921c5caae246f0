"""A preprocessor of mdBook: mends links that lead out of docs/, where the book has no pages.

A page of another folder that a chapter of `whole/` includes is linked there; of any other file the name stays. Links within
an included page count from that page's own folder. Python 3.8 or newer, nothing else.
"""

import json
import os.path
import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
INCLUDE = re.compile(r"^\{\{#include (\S+)\}\}$")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"(^[ \t]*```.*?^[ \t]*```)", re.M | re.S)


def included():
    """The pages of other folders that are chapters: file, and chapter."""
    chapters = {}
    for stub in sorted((DOCS / "whole").glob("*.md")):
        include = INCLUDE.match(stub.read_text(encoding="utf-8").strip())
        if include:
            chapters[os.path.normpath(stub.parent / include.group(1))] = str(stub)
    return chapters


def mend(text, chapter, chapters):
    """The text of a chapter, whose path is relative to docs/, with links that work in the book."""
    here = str(DOCS / chapter)
    sources = {stub: source for source, stub in chapters.items()}
    base = os.path.dirname(sources.get(here, here))

    def link(found):
        mark, words, target = found.groups()
        path, anchor = (target.split("#", 1) + [""])[:2]
        if not path or re.match(r"\w+:", target):
            return found.group(0)
        file = os.path.normpath(os.path.join(base, path))
        # The contents are beside every page of the book, and no page of their own.
        file = os.path.join(DOCS, "start.md") if file == os.path.join(DOCS, "SUMMARY.md") else file
        file = chapters.get(file, file)
        if os.path.relpath(file, DOCS).startswith(".."):
            name = os.path.relpath(file, DOCS.parent)
            return words if os.path.basename(name) in words else f"{words} (`{name}`)"
        path = os.path.relpath(file, os.path.dirname(here))
        # mdBook makes a folder's first page of its README.
        path = re.sub(r"(^|/)README\.md$", r"\1index.md", path)
        return f"{mark}[{words}]({path}{'#' if anchor else ''}{anchor})"

    # What is within fences is at odd places; the words of a link may go on in the next line.
    parts = FENCE.split(text)
    return "".join(part if at % 2 else LINK.sub(link, part) for at, part in enumerate(parts))


def sections(items, chapters):
    for item in items:
        chapter = item.get("Chapter") if isinstance(item, dict) else None
        if chapter and chapter.get("path"):
            chapter["content"] = mend(chapter["content"], chapter["path"], chapters)
            sections(chapter["sub_items"], chapters)


if __name__ == "__main__":
    if sys.argv[1:2] == ["supports"]:
        sys.exit(0)
    _, book = json.load(sys.stdin)
    sections(book.get("items") or book.get("sections") or [], included())
    json.dump(book, sys.stdout)
