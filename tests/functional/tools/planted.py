"""A base with a secret in every place that can be redacted."""

import re
from pathlib import Path

_MARK = re.compile("⟦(.*?)⟧", re.DOTALL)

LONG = "the lighthouse keeper walked along the shore in the rain and counted the boats " * 4

PERSON = f"""---
aliases:
  - Vee
  - Zqalias Sand⟦ #redacted⟧
role: Keeper of zqrole⟦ # redacted⟧
codename: [Zqcodename Sand]⟦ #redacted⟧
team: Zqhomes⟦ # redacted⟧
email: zqmail@example.org⟦ #redacted⟧
quoted: "lighthouse of zqquoted⟦ (redacted)⟧"
plan: |
  the lighthouse plan
  names zqblock⟦ (redacted)⟧
nested:
  of: zqnestedfield⟦ # redacted⟧
⟦# redacted
⟧beside: zqbeside
date: 2026-05-05
---
# Vera Sand

Vera keeps the lighthouse ledger.

## Recent Facts
- [2026-01-01] Lighthouse keeper since the spring
- [2026-01-02] Lighthouse key lies in zqfact⟦ (status: redacted)⟧
  - the spare one too, in zqnested
- [2026-01-03] Lighthouse oil comes from zqsourced (source: x)⟦ (redacted)⟧
- [2026-01-04] Lighthouse lamp was changed
- [2026-01-05]⟦ (REDACTED)⟧ Lighthouse rope of zqcase
- ~~Lighthouse flag was zqstruck~~⟦ #redacted⟧
- [2026-01-06] Lighthouse boat of zqbelow
  ⟦- status: redacted⟧

## Open Items
- [ ] Paint the lighthouse for zqitem⟦ #redacted⟧
- [x] Clean the lighthouse for zqdone⟦ [redacted]⟧
- [ ] Polish the lighthouse brass

## Notes
- The zqlist affair of the lighthouse⟦ #redacted⟧

  with a lighthouse paragraph zqwithin

The lighthouse plan names zqpara
over two lines⟦ #redacted⟧

The lighthouse cellar holds zqalone.

⟦#redacted⟧

| lighthouse | zqrow⟦ #redacted⟧ |

> the lighthouse was called zqquote
> in the storm⟦ (redacted)⟧

```
lighthouse zqcode

set⟦ (redacted)⟧
```

{LONG} zqlong {LONG}⟦ #redacted⟧

## Past⟦ #redacted⟧

### Facts
- Lighthouse lamps came from zqsection

Prose on the lighthouse of zqsectionprose
"""
PAGES = {
    "people/vera-sand.md": PERSON,
    "people/vera-kane.md": "# Vera Kane\n\nMends the lighthouse with [[Vera Sand]].\n\n"
    "## Facts\n- Mends the lighthouse nets\n",
    "people/zqstatus-kane.md": "---\n⟦status: redacted\n⟧team: Zqteam\n---\n"
    "# Zqstatus Kane\n\nOf the lighthouse.\n\n## Facts\n- Lighthouse rota is in zqstatus\n",
    "projects/zqlisted.md": "---\n⟦status: [active, redacted]\n⟧role: zqlisted\n---\n"
    "# Zqlisted Project\n\nThe lighthouse of zqlisted, with [[Vera Sand]]\n\n"
    "## Facts\n- Lighthouse plan of zqlisted\n",
    "projects/zqblocklist.md": '---\nname: Zqblocklist\n⟦Status:\n  - "Redacted"\n⟧---\n'
    "# Zqblocklist Project\n\nOf the lighthouse.\n",
    "notes/zqtagged.md": "---\ntitle: Lighthouse zqtagged\n⟦tags: [a, Redacted]\n⟧---\n"
    "Of the lighthouse.\n",
    "notes/zqflag.md": "---\ntitle: Lighthouse zqflag\n⟦redacted: true\n⟧---\nOf the lighthouse.\n",
    "notes/zqtitle.md": "# Lighthouse zqtitle⟦ (redacted)⟧\n\nOf the lighthouse.\n",
    "notes/zqunder.md": "# Lighthouse zqunder\n⟦#redacted⟧\n\nOf the lighthouse.\n",
    "notes/zqfield.md": "---\ntitle: Lighthouse zqfield⟦ # redacted⟧\n---\nOf the lighthouse.\n",
    "notes/zqopen.md": "---\n⟦status: redacted\n⟧title: Lighthouse zqopen\n\n"
    "No end, the lighthouse.\n",
    "notes/zqyaml.md": "---\ntitle: Lighthouse: of: zqyaml: [\n⟦status: 'redacted'\n⟧---\n"
    "Lighthouse.\n",
    "misc/zqkind.md": "---\ntype: zqkind\n⟦status: redacted\n⟧---\n# Lighthouse\n\nA lighthouse.\n",
    "notes/tags.md": "---\ntags: [zqtag]⟦ #redacted⟧\n---\n# Log of tags\n\nThe lighthouse.\n",
    "notes/crlf.md": "# Log of lines\r\n\r\nThe lighthouse of zqcrlf⟦ (redacted)⟧\r\n\r\nOpen.\r\n",
    "meetings/2026-02-03-talk.md": "---\ntitle: Talk\nplace: zqplace⟦ # redacted⟧\n---\n"
    "Vera Sand: the lighthouse oil is low\n\nZqspeaker Kane: the lamp of zqturn⟦ #redacted⟧\n\n"
    "Vera Kane: the lighthouse nets\n\n- ask [[zqlinked]] about #zqinline by night⟦ (redacted)⟧\n",
    "meetings/2026-02-02-night.md": "---\nattendees: [Zqattendee]⟦ # redacted⟧\n---\n# Night\n\n"
    "The lighthouse at night.\n",
}
SECRETS = tuple(sorted(set(re.findall(r"zq\w+", "".join((*PAGES, *PAGES.values())).lower()))))


def text_of(template: str, *, marked: bool) -> bytes:
    """Return a page with or without its marks."""
    return _MARK.sub(r"\1" if marked else "", template).encode()


def write_pages(root: Path, *, marked: bool) -> None:
    for name, template in PAGES.items():
        file = root / "memory" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text_of(template, marked=marked))
