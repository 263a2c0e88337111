"""Rich text of programs as markdown: that of ProseMirror, and simple HTML. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any

_DEEPEST = 50


def markdown_of(text: object) -> str:
    """Return rich text, an object of ProseMirror or a string that may be HTML, as markdown."""
    if not isinstance(text, str):
        return _markdown(text)
    return _markdown(_nodes_of(text)) if "</" in text else text.strip()


def _markdown(node: object, depth: int = 0) -> str:
    match node:
        case {"type": "text", "text": str(text), **others}:
            link = _link_in(others.get("marks"))
            return f"[{text}]({link})" if link else text
        case {"type": "hardBreak"}:
            return "\n"
        case {"type": "image", "attrs": {"src": str(address), **others}}:
            return f"![{others.get('alt') or ''}]({address})"
        case {"type": str(kind), "content": [*children], **others} if depth < _DEEPEST:
            parts = [_markdown(child, depth + 1) for child in children]
        case _:
            return ""
    if kind == "heading":
        return f"{'#' * _number(others, 'level', range(1, 7), 2)} {''.join(parts)}"
    if kind.endswith("List"):
        is_ordered = kind == "orderedList"
        numbered = enumerate(parts, _number(others, "start", range(10**6), 1))
        items = ((f"{number}. " if is_ordered else "- ", part) for number, part in numbered)
        return "\n".join(mark + part.replace("\n", "\n" + " " * len(mark)) for mark, part in items)
    if kind == "taskItem":
        mark = "x" if others.get("attrs") == {"checked": True} else " "
        parts[:1] = [f"[{mark}] {''.join(parts[:1])}"]
    apart = {"paragraph": "", "codeBlock": "", "listItem": "\n", "taskItem": "\n"}
    return apart.get(kind, "\n\n").join(filter(None, parts)).rstrip()


def _link_in(marks: object) -> str:
    """Return the address that one of the marks of a text leads to, empty without one."""
    for mark in marks if isinstance(marks, list) else ():
        match mark:
            case {"attrs": {"href": str(link)}}:
                return link
    return ""


def _number(node: Mapping[Any, Any], key: str, allowed: range, default: int) -> int:
    attributes = node.get("attrs")
    value = attributes.get(key) if isinstance(attributes, dict) else None
    return value if type(value) is int and value in allowed else default


_TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-z][a-z0-9]*+)(?P<attributes>[^<>]*)>", re.IGNORECASE)
_ADDRESS = re.compile(r"""\bhref\s*+=\s*+["']?([^\s"'<>]++)""", re.IGNORECASE)
_KINDS = {"ul": "bulletList", "ol": "orderedList", "li": "listItem"}
_KINDS |= dict.fromkeys(("blockquote", "div", "p", "section", "table", "tr"), "block")
_KINDS |= {f"h{level}": "heading" for level in range(1, 7)}


def _nodes_of(html: str) -> dict[str, Any]:
    """Return HTML as an object of ProseMirror, of whose tags blocks, breaks and links count."""
    opened = [("", _block("doc"))]
    link, at = "", 0

    def add(node: dict[str, Any]) -> None:
        content = opened[-1][1]["content"]
        if not (content and content[-1]["type"] == "paragraph"):
            content.append(_block("paragraph"))
        content[-1]["content"].append(node)

    def add_text(text: str) -> None:
        words = re.sub(r"\s+", " ", unescape(text))
        content = opened[-1][1]["content"]
        is_first = not (content and content[-1]["type"] == "paragraph")
        if words := words.lstrip() if is_first else words:
            add({"type": "text", "text": words, "marks": [{"attrs": {"href": link}}]})

    for tag in _TAG.finditer(html):
        add_text(html[at : tag.start()])
        at, name = tag.end(), tag["name"].lower()
        if name == "a":
            address = None if tag["end"] else _ADDRESS.search(tag["attributes"])
            link = unescape(address[1]) if address else ""
        elif name == "br":
            add({"type": "hardBreak"})
        elif name in _KINDS and not tag["end"]:
            level = int(name[1]) if _KINDS[name] == "heading" else 0
            block = _block(_KINDS[name], level=level)
            opened[-1][1]["content"].append(block)
            if len(opened) < _DEEPEST - 1:
                opened.append((name, block))
        elif any(name == each for each, _ in opened):
            while opened.pop()[0] != name:
                pass
    add_text(html[at:])
    return opened[0][1]


def _block(kind: str, **attributes: int) -> dict[str, Any]:
    return {"type": kind, "attrs": attributes, "content": []}
