"""How scores add up, in words."""

from typing import Any

from kbx_tui.search.results.response import score_reasons

EXPLANATION: dict[str, Any] = {
    "final_score": 0.8649,
    "doc_relevance": 0.7821,
    "answered": 0.7821,
    "full_relevance": None,
    "parent_entity_score": 0.9477,
    "document_part": 0.391,
    "entity_part": 0.4739,
    "hotness_part": 0.0,
    "reranker_part": 0.0,
    "reranker_score": None,
    "lexical_score": 0.71,
    "lexical_weight": 0.5,
    "vector_score": 0.8542,
    "vector_weight": 0.5,
    "lent": 0.0,
    "lent_by": None,
    "cosine": 0.61,
    "date_part": 0.0,
    "date_reason": None,
    "lowered_reason": None,
    "exact": None,
    "entities": [
        {
            "name": "Alice Chen",
            "reason": "attendee",
            "answered": 1.0,
            "weight": 0.5,
            "share": 0.5,
        },
        {
            "name": "Migration",
            "reason": "title, 4 mentions",
            "answered": 1.0,
            "weight": 0.5,
            "share": 0.4477,
        },
    ],
    "matched_terms": [{"term": "migration", "body_count": 4}],
}


def test_rounded_parts_of_an_explanation_add_up_to_the_rounded_total() -> None:
    assert score_reasons(EXPLANATION).lines() == [
        "score .86 = .39 document + .47 entity",
        "document .78 = .35 words (migration ×4) + .43 meaning (cosine .61)",
        "entity .95 = .50 Alice Chen (attendee) + .45 Migration (title, 4 mentions)",
    ]


def test_explanation_shows_how_much_of_the_topic_is_answered() -> None:
    alice, migration = EXPLANATION["entities"]
    explained = {
        **EXPLANATION,
        "answered": 0.4877,
        "full_relevance": 1.2623,
        "entities": [
            {**alice, "answered": 0.6983, "weight": 0.5405},
            {**migration, "answered": 0.9, "weight": 0.4595},
        ],
    }
    assert score_reasons(explained).lines()[1:] == [
        "document .49 = .22 words (migration ×4) + .27 meaning (cosine .61)"
        " · relevance .78, 61 % of a full answer",
        "entity .95 = .50 Alice Chen (.54 × attendee × .70 answered)"
        " + .45 Migration (.46 × title, 4 mentions × .90 answered)",
    ]


def test_word_score_without_matches_in_the_text_names_title_and_frontmatter() -> None:
    document_line = score_reasons({**EXPLANATION, "matched_terms": []}).lines()[1]
    assert "words (in its title or frontmatter) +" in document_line
    document_line = score_reasons(
        {**EXPLANATION, "matched_terms": [], "lexical_score": 0.0}
    ).lines()[1]
    assert "title" not in document_line
    document_line = score_reasons({**EXPLANATION, "lexical_score": 0.0}).lines()[1]
    assert "words (not counted here) +" in document_line


def test_an_exact_match_is_first_and_vectors_not_used_are_not_missing() -> None:
    first, otherwise, *_ = score_reasons({**EXPLANATION, "exact": "title"}).lines()
    assert first == "title asked for: ranked first, with score 1.00"
    assert otherwise.startswith("otherwise .86 = ")

    without = {**EXPLANATION, "cosine": None, "vector_score": 0.0}
    assert "meaning (no vector yet)" in score_reasons(without).lines()[1]
    assert "meaning (not used)" in score_reasons(without, fast=True).lines()[1]
