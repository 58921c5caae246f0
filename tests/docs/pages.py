"""The commands of a page."""

import fnmatch
import re
from dataclasses import dataclass
from typing import List, Optional

FENCE = re.compile(r"^\s*(```|~~~)\s*(\w*)")
# What a command begins with, so that one in a block that is not run is seen.
LIKE_A_COMMAND = re.compile(r"^\s*(\$ |taskscale [a-z-]|cargo [a-z]|make [a-z]|git [a-z]|pip install|python3? -|node -|\./\w)")
INLINE = re.compile(r"`(taskscale(?: [^`]+)?)`")


@dataclass
class Command:
    line: int
    text: str
    # The lines that it prints, where the page shows them.
    expected: Optional[List[str]] = None
    # Whether it stands within a line; such a command is parsed alone.
    inline: bool = False


def commands(text, tables=False):
    """The commands in the order of the page, and what is wrong with its blocks. With `tables` those in tables are run."""
    found, problems = [], []
    fence, kind, part, begun = None, "", "", 0
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if mark and (fence is None or mark.group(1) == fence):
            fence, kind = (mark.group(1), mark.group(2)) if fence is None else (None, "")
            if part:
                problems.append((begun, "a command goes on behind the block"))
                part = ""
        elif fence is None:
            parsed = not (tables and line.startswith("|"))
            found += [Command(number, one, inline=parsed) for one in map(plain, INLINE.findall(line)) if one]
        elif kind == "sh" or (kind == "console" and (part or line.startswith("$ "))):
            begun = begun if part else number
            part += line[2:] if kind == "console" and line.startswith("$ ") else line
            if part.endswith("\\"):
                part = part[:-1]
                continue
            text_of = without_comment(part).strip()
            part = ""
            if text_of:
                found.append(Command(begun, re.sub(r"\s{2,}", " ", text_of), [] if kind == "console" else None))
        elif kind == "console":
            if not found or found[-1].expected is None:
                problems.append((number, "output in front of any command"))
            else:
                found[-1].expected.append(line)
        elif kind in ("", "bash", "shell") and LIKE_A_COMMAND.match(line):
            problems.append((number, f"a command in a block that nothing runs; mark the block ```sh or ```text: {line.strip()}"))
    return found, problems


def without_comment(line):
    """A line in front of ` #` outside of quotation marks."""
    quote = ""
    for at, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and (at == 0 or line[at - 1].isspace()):
            return line[:at]
    return line


def plain(text):
    """The command of a code span, up to a pipe; nothing where the span is no whole command."""
    text = text.split(" | ")[0].split(" > ")[0].strip()
    # `taskscale run SUITE ...`, `taskscale ... --format json`
    return "" if "..." in text or "[" in text or text.endswith("*") else text


def difference(expected, printed):
    """What differs from the lines that are expected, or nothing."""
    lines, at = printed.splitlines(), 0
    skip = False
    for want in expected:
        if want == "...":
            skip = True
            continue
        pattern = fnmatch.translate(want.replace("[..]", "\0").translate({ord(c): f"[{c}]" for c in "[*?"}).replace("\0", "*"))
        while skip and at < len(lines) and not re.match(pattern, lines[at]):
            at += 1
        if at >= len(lines) or not re.match(pattern, lines[at]):
            return f"the page says {want!r}, printed is {lines[at] if at < len(lines) else 'nothing more'!r}"
        at, skip = at + 1, False
    if at < len(lines) and not skip:
        return f"the page ends in front of {lines[at]!r}"
    return None
