"""A slow reference implementation of path filters, and strategies for paths and patterns."""

import posixpath
from collections.abc import Iterator, Sequence
from functools import cache

from hypothesis import strategies as st

from kbx_tui.errors import ConfigError


def in_scope(text: str, paths: Sequence[str]) -> list[str]:
    """Return the paths that the filter `text` selects."""
    text = text.strip()
    literal = _normalized(text)
    if literal == ".":
        return list(paths)
    exact = [path for path in paths if path == literal or path.startswith(literal + "/")]
    if exact:
        return exact
    return [path for path in paths if any(_matches(glob, path) for glob in _expanded(text))]


def _normalized(text: str) -> str:
    normal = posixpath.normpath(text.lstrip("/") if text.strip("/") else "") if text else "."
    if normal.split("/")[0] == "..":
        raise ConfigError("out of the base")
    return normal


def _expanded(text: str) -> Iterator[str]:
    """Yield the expansions of the braces in `text`."""
    index = 0
    while index < len(text):
        if text[index] == "[" and (end := _set_end(text, index)):
            index = end
        elif text[index] == "{" and (parts := _brace_parts(text, index)):
            *choices, rest = parts
            for choice in choices:
                for inner in _expanded(choice):
                    for after in _expanded(rest):
                        yield text[:index] + inner + after
            return
        else:
            index += 1
    yield text


def _brace_parts(text: str, start: int) -> list[str]:
    """Return the choices of the brace at `start` and the text after it; empty for a literal one."""
    depth, choices, begin, index = 0, [], start + 1, start
    while index < len(text):
        if text[index] == "[" and (end := _set_end(text, index)):
            index = end
            continue
        if text[index] == "{":
            depth += 1
        elif text[index] == "," and depth == 1:
            choices.append(text[begin:index])
            begin = index + 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                parts = [*choices, text[begin:index], text[index + 1 :]]
                return parts if choices else []
        index += 1
    return []


def _set_end(text: str, start: int) -> int:
    """Return the end of the set that begins at `start`, 0 when it is not closed in its folder."""
    first = start + 2 if text[start + 1 : start + 2] == "!" else start + 1
    end = text.find("]", first + 1 if text[first : first + 1] == "]" else first)
    return 0 if end < 0 or "/" in text[start:end] else end + 1


def _matches(glob: str, path: str) -> bool:
    below = glob.endswith(("/", "/.", "/..")) or glob in (".", "..")
    normal = _normalized(glob)
    if normal == ".":
        return below
    if not below:
        return _matches_all(normal, path)
    folder_ends = [end for end in range(len(path)) if end == 0 or path[end - 1] == "/"]
    return any(_matches_all(normal + "/", path[:end]) for end in folder_ends)


def _matches_all(glob: str, path: str) -> bool:
    """Return whether the glob matches the whole path, by trying all ways."""

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
            is_in_set = path[j] != "/" and _set_matches(glob[i + 1 : end - 1], path[j])
            return is_in_set and rest(end, j + 1)
        return glob[i] == path[j] and rest(i + 1, j + 1)

    return rest(0, 0)


def _set_matches(content: str, character: str) -> bool:
    if content.startswith("!"):
        return not _is_listed(content[1:], character)
    return _is_listed(content, character)


def _is_listed(content: str, character: str) -> bool:
    if not content:
        return False
    if len(content) > 2 and content[1] == "-":
        return content[0] <= character <= content[2] or _is_listed(content[3:], character)
    return content[0] == character or _is_listed(content[1:], character)


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
"""Sorted paths of some documents."""

patterns = st.lists(st.sampled_from(_PIECES) | names, max_size=6).map("".join)
"""Arbitrary path filters."""


@st.composite
def trees_and_patterns(draw: st.DrawFn) -> tuple[list[str], str]:
    """Draw paths, and a pattern that is usually derived from one of them."""
    tree = draw(trees)
    if not tree or draw(st.integers(0, 3)) == 0:
        return tree, draw(patterns)
    path = draw(st.sampled_from(tree))
    pattern, index = "", 0
    while index < len(path):
        width = draw(st.integers(1, 4))
        pattern += draw(st.sampled_from(_replacements(path[index : index + width])))
        index += width
    return tree, pattern + draw(st.sampled_from(["", "", "/", "*", "**", "/**"]))


def _replacements(piece: str) -> list[str]:
    """Return patterns to use in place of a piece of a path; most of them match it."""
    choices = [piece, piece, f"{{{piece},x}}", f"{{,{piece}}}", "*", "**", "**/" + piece]
    return [*choices, f"[{piece}]", f"[!{piece}]", "?"] if len(piece) == 1 else choices
