"""Conversations with assistants: the exports of ChatGPT and Claude, `conversations.json`."""

from __future__ import annotations

from typing import Any

from kbx_tui.importing.imported_document import ImportedDocument
from kbx_tui.importing.reading_help import local_date, objects_in, text_in

FOLDER = "chats"
TITLE_LENGTH = 60
"""Characters of the first message that name a conversation without a title."""


def is_chatgpt(data: object) -> bool:
    chats = objects_in(data)
    return bool(chats) and all(isinstance(chat.get("mapping"), dict) for chat in chats)


def is_claude(data: object) -> bool:
    chats = objects_in(data)
    return bool(chats) and all(isinstance(chat.get("chat_messages"), list) for chat in chats)


def read_chatgpt(data: object) -> list[ImportedDocument]:
    """Return the conversations that have a message, each on its last branch."""
    documents = []
    for chat in objects_in(data):
        messages = [_chatgpt_message(message) for message in _branch(chat)]
        chat_id = text_in(chat, "conversation_id", "id")
        documents += _document("chatgpt", chat_id, chat, "title", "create_time", messages)
    return documents


def read_claude(data: object) -> list[ImportedDocument]:
    documents = []
    for chat in objects_in(data):
        messages = [_claude_message(message) for message in objects_in(chat["chat_messages"])]
        documents += _document(
            "claude", text_in(chat, "uuid"), chat, "name", "created_at", messages
        )
    return documents


def _document(
    program: str,
    chat_id: str,
    chat: dict[str, Any],
    title_key: str,
    time_key: str,
    messages: list[tuple[str, str]],
) -> list[ImportedDocument]:
    body = "\n\n".join(f"## {who}\n\n{text}" for who, text in messages if text)
    if not (body and chat_id):
        return []
    title = " ".join(text_in(chat, title_key).split())
    if not title:
        first = next(text for _, text in messages if text).split("\n")[0]
        title = " ".join(first.split())[:TITLE_LENGTH].strip()
    return [
        ImportedDocument(
            import_id=f"{program}:{chat_id}",
            kind="note",
            title=title,
            date=local_date(chat.get(time_key)),
            fields={"tags": ["chat", program]},
            folder=FOLDER,
            body=body + "\n",
        )
    ]


def _branch(chat: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages from the first to the current one."""
    nodes = chat["mapping"]
    node_id = chat.get("current_node")
    if not isinstance(node_id, str) or node_id not in nodes:
        # older exports: the last node that nothing follows
        leaves = [key for key, node in nodes.items() if _is_leaf(node)]
        node_id = leaves[-1] if leaves else None
    messages: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(node_id, str) and node_id not in seen and isinstance(nodes.get(node_id), dict):
        seen.add(node_id)
        message = nodes[node_id].get("message")
        if isinstance(message, dict):
            messages.append(message)
        node_id = nodes[node_id].get("parent")
    return messages[::-1]


def _is_leaf(node: object) -> bool:
    return isinstance(node, dict) and not node.get("children")


def _chatgpt_message(message: dict[str, Any]) -> tuple[str, str]:
    author = message.get("author")
    role = text_in(author, "role")
    content = message.get("content")
    if role not in ("user", "assistant") or not isinstance(content, dict):
        return "", ""
    metadata = message.get("metadata")
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return "", ""
    if content.get("content_type") not in ("text", "multimodal_text", "code"):
        return "", ""  # thoughts, results of tools
    parts = content.get("parts")
    texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    if code := text_in(content, "text"):
        texts.append(f"```\n{code}\n```")
    return ("Me" if role == "user" else "Assistant"), "\n\n".join(filter(str.strip, texts)).strip()


def _claude_message(message: dict[str, Any]) -> tuple[str, str]:
    who = "Me" if text_in(message, "sender") == "human" else "Assistant"
    texts = [
        text_in(part, "text")
        for part in objects_in(message.get("content"))
        if part.get("type", "text") == "text"
    ]
    text = "\n\n".join(filter(None, texts)) or text_in(message, "text")
    for attachment in objects_in(message.get("attachments")):
        name = text_in(attachment, "file_name") or "attachment"
        extract = text_in(attachment, "extracted_content")
        if extract:
            text = f"{text}\n\n### {name}\n\n{extract}".strip()
    return who, text
