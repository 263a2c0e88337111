"""What the panes of the tune mode show, in sentences for the help. Pure."""

from __future__ import annotations

Meanings = tuple[tuple[str, str], ...]

NDCG = (
    "How good the first ten results are, 0 to 1: graded documents count by their grade, and more"
    " the higher they stand. 1 is the best order there is."
)
QUERIES: Meanings = (
    ("nDCG@10", NDCG),
    ("3 2 1 0 ?", "How many documents of the query have each grade; ? is not sure."),
    ("A → now", "nDCG@10 under the settings A, and under the current ones: ▲ better, ▼ worse."),
    ("judged@10", "The share of the first ten that have a grade; the rest count as not relevant."),
    ("(.61 to .77)", "The 95 % interval: with other queries of this kind it would lie in there."),
)
CURVE: Meanings = (
    ("the line", "The measure at each value of the knob, over all judged queries."),
    ("dots", "Its 95 % interval. Values whose intervals overlap widely are hardly different."),
    ("● and ◆", "The current value, and the best one."),
    ("┴", "Values at which the first ten of the query under the cursor change; none between them."),
    (
        "p",
        "How probable so large a gain is, if both values were equally good: .05 and less counts.",
    ),
)
THRESHOLDS: Meanings = (
    ("bars", "Your past queries by the score of their best entity; the line is the threshold."),
    ("two-pass, flat", "How many are answered with entities, and how many without."),
    ("changes", "Queries that the threshold of A answers otherwise than the current one."),
)
SNAPSHOTS: Meanings = (
    ("wins, ties, losses", "On how many judged queries the current settings are better or worse."),
    ("+.02 (-.01 to .05)", "The mean difference in nDCG@10, with its 95 % interval."),
    ("p", "As for the curve, made stricter for the number of snapshots (Holm)."),
)
DECISION: Meanings = (
    (
        "queries that did not choose it",
        "Each fifth of the queries is measured with the settings that the rest chooses: what is"
        " chosen and measured by the same queries always looks too good.",
    ),
    ("keep what you have", "No setting is better on those, or it may be chance (p above .05)."),
)
