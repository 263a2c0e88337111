"""The grammar of paths once more, written for clarity alone: what the fast one must agree with."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from functools import cache

from hypothesis import strategies as st

from kbx_tui.errors import ConfigError


def in_scope(given: str, paths: Sequence[str]) -> list[str]:
    """Return the paths that `given` lets in, one by one."""
    given = given.strip()
    literal = _normal(given)
    if literal == ".":
        return list(paths)
    called_so = [path for path in paths if path == literal or path.startswith(literal + "/")]
    if called_so:
        return called_so
    return [path for path in paths if any(_fits(glob, path) for glob in _written_out(given))]


def _normal(text: str) -> str:
    normal = posixpath.normpath(text.lstrip("/") if text.strip("/") else "") if text else "."
    if normal.split("/")[0] == "..":
        raise ConfigError("out of the base")
    return normal


def _written_out(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        if text[at] == "[" and (end := _set_end(text, at)):
            at = end
        elif text[at] == "{" and (parts := _parts(text, at)):
            *choices, rest = parts
            for choice in choices:
                for inner in _written_out(choice):
                    for after in _written_out(rest):
                        yield text[:at] + inner + after
            return
        else:
            at += 1
    yield text


def _parts(text: str, at: int) -> list[str]:
    """Return the choices of the brace at `at` and what follows it, or nothing."""
    depth, choices, begin = 0, [], at + 1
    while at < len(text):
        if text[at] == "[" and (end := _set_end(text, at)):
            at = end
            continue
        if text[at] == "{":
            depth += 1
        elif text[at] == "," and depth == 1:
            choices.append(text[begin:at])
            begin = at + 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                closed = [*choices, text[begin:at], text[at + 1 :]]
                return closed if choices else []
        at += 1
    return []


def _set_end(text: str, at: int) -> int:
    """Return where the set that begins at `at` is over, 0 when it is not closed in its folder."""
    first = at + 2 if text[at + 1 : at + 2] == "!" else at + 1
    end = text.find("]", first + 1 if text[first : first + 1] == "]" else first)
    return 0 if end < 0 or "/" in text[at:end] else end + 1


def _fits(glob: str, path: str) -> bool:
    below = glob.endswith(("/", "/.", "/..")) or glob in (".", "..")
    normal = _normal(glob)
    if normal == ".":
        return below
    if not below:
        return _is(normal, path)
    folders = [at for at in range(len(path)) if at == 0 or path[at - 1] == "/"]
    return any(_is(normal + "/", path[:at]) for at in folders)


def _is(glob: str, path: str) -> bool:
    @cache
    def rest(i: int, j: int) -> bool:
        if i == len(glob):
            return j == len(path)
        if glob[i] == "*":
            end = i
            while glob[end : end + 1] == "*":
                end += 1
            ends = range(j, len(path) + 1)
            if end - i == 1:
                return any(rest(end, k) for k in ends if "/" not in path[j:k])
            if glob[end : end + 1] == "/" and (i == 0 or glob[i - 1] == "/"):
                return rest(end + 1, j) or any(
                    rest(end + 1, k) for k in ends if path[j:k][-1:] == "/"
                )
            return any(rest(end, k) for k in ends)
        if j == len(path):
            return False
        if glob[i] == "?":
            return path[j] != "/" and rest(i + 1, j + 1)
        if glob[i] == "[" and (end := _set_end(glob, i)):
            return path[j] != "/" and _holds(glob[i + 1 : end - 1], path[j]) and rest(end, j + 1)
        return glob[i] == path[j] and rest(i + 1, j + 1)

    return rest(0, 0)


def _holds(inside: str, character: str) -> bool:
    if inside.startswith("!"):
        return not _is_among(inside[1:], character)
    return _is_among(inside, character)


def _is_among(inside: str, character: str) -> bool:
    if not inside:
        return False
    if len(inside) > 2 and inside[1] == "-":
        return inside[0] <= character <= inside[2] or _is_among(inside[3:], character)
    return inside[0] == character or _is_among(inside[1:], character)


_NAMES = ["a", "b", "ab", "a1", "a[1]", "[", "]", "_", "%", "'", '"', "\\", "a b", "é", "!a", "*",
          "**", "{a,b}", "{", "a?", "漢", "a-b", "^", "..a", "a.md", "b.md", "1"]  # fmt: skip
_PIECES = [*_NAMES, "/", "/", "/", "*", "**", "**/", "?", "[1-3]", "[!a]", "[[]", "[]]", "[a-]",
           "[b-a]", "[a/b]", "{a,b}", "{a", "b}", ",", "{a/,}", "{{a,b},1}", "./", "../",
           "//"]  # fmt: skip

names = st.sampled_from(_NAMES) | st.text(alphabet="ab%_'\\[]{}!?*-,", min_size=1, max_size=3)
trees = st.lists(
    st.lists(names.filter(lambda name: name not in (".", "..")), min_size=1, max_size=4).map(
        "/".join
    ),
    max_size=8,
).map(lambda paths: sorted(set(paths)))
"""Paths of some documents, in order."""

patterns = st.lists(st.sampled_from(_PIECES) | names, max_size=6).map("".join)
"""Anything a person may type for a path."""


@st.composite
def trees_and_patterns(draw: st.DrawFn) -> tuple[list[str], str]:
    """Paths and a pattern, made from one of them more often than not."""
    tree = draw(trees)
    if not tree or draw(st.integers(0, 3)) == 0:
        return tree, draw(patterns)
    path = draw(st.sampled_from(tree))
    pattern, at = "", 0
    while at < len(path):
        width = draw(st.integers(1, 4))
        piece = path[at : at + width]
        at += width
        pattern += draw(st.sampled_from(_stand_ins(piece)))
    return tree, pattern + draw(st.sampled_from(["", "", "/", "*", "**", "/**"]))


def _stand_ins(piece: str) -> list[str]:
    choices = [piece, piece, f"{{{piece},x}}", f"{{,{piece}}}", "*", "**", "**/" + piece]
    return [*choices, f"[{piece}]", f"[!{piece}]", "?"] if len(piece) == 1 else choices
