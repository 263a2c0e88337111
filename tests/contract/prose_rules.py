"""Words and patterns that prose of the project does not use, each with what to write instead.

Patterns are regular expressions, matched without regard to letter case. Add the right word beside a
new pattern: a failing test shows it.
"""

RULES: tuple[tuple[str, str], ...] = (
    (r"\btells? (whether|if|how|what|which|where|who|why|apart|the|people|them)\b",
     "return, report, show; distinguish"),
    (r"\b(is|are|was|were|be|been) told\b|\btold (by|of|apart|from|in|what|how)\b",
     "reported, shown; recognised by"),
    (r"\banew\b", "again, from scratch"),
    (r"\blet(s|ting)? in\b", "accepts, matches, includes"),
    (r"\bdr(aw|aws|awn|ew) (to|towards)\b", "moved towards"),
    (r"\b(lend|lends|lent|lending|lender|lenders)\b", "propagate, propagated"),
    (r"\b(bears?|bearers?|bearing)\b", "has, carries; name variant; disambiguation"),
    (r"\bdear\b", "expensive"),
    (r"\bhears?\b|\bheard\b", "receives, is called with"),
    (r"\bwhat there is\b|\ball there (is|are)\b", "name the thing"),
    (r"\bonce more\b", "again"),
    (r"\bworded (anew|again)\b", "rephrased"),
    (r"\bat (most|least) so (many|much)\b|\bso (many|much) at (most|least)\b", "at most N"),
    (r"\btak(e|en|es|ing) in\b", "indexes, picks up"),
    (r"\band the like\b", "and similar"),
    (r"\bmuch the same\b|\b(what|that|which) (is|are) (like|alike)\b", "similar"),
    (r"\bwhat stands\b|\bstands? there\b|\bnames? stands?\b|\bwords? stands?\b", "is, appears"),
    (r"\bat the side\b", "in parallel"),
    (r"\bbe it\b", "whether"),
    (r"\bbut for\b", "except for"),
    (r"\bgo(es)? on (to|reading|with|from)\b", "continues"),
    (r"\bwhom\b", "rephrase"),
    (r"\ba person (wants|types|typed|asks|asked|said|says|does|did|reads|goes|looks|turns)\b",
     "the user ..."),
    (r"\bsomebody\b", "someone, another process, the user"),
    (r"\bquick(er|est)\b", "faster, fastest"),
    (r"\bdue any ?more\b", "stale"),
    (r"\bhalf value\b", "half-saturation constant"),
    (r"\bwhat was asked for\b", "what was requested"),
    (r"(?<!there )\b(is|are) no (?!longer\b|more\b|older\b|newer\b|less\b|other\b)\w+",
     "is not a ..., does not ..."),
    (r"\bunder way\b", "in progress, active"),
    (r"\bpresent (width|size|text|query)\b", "current"),
    (r"\bfrom which on\b", "from which, above which"),
    (r"\bonce no further\b", "after a pause"),
    (r"\b(mode|screen) in front\b", "current mode, topmost screen"),
    (r"\bthe rooms\b|\brooms of\b", "packages"),
    (r"\d(\.\d+)? (ms|s|MB|GB|seconds) for \d", "X, down from Y"),
)  # fmt: skip

MEASUREMENT = (
    r"\b\d[\d,]*(\.\d+)?\s?(ms|milliseconds?|µs|MB|GB)\b"  # times and sizes
    r"|(?<![\w.])\.\d{3}\b"  # nDCG
    r"|\b\d+(\.\d+)? times (slower|faster|more|worse|better)\b"
)
"""A measurement, which ages in a docstring or comment: it belongs in docs/quality.md."""
