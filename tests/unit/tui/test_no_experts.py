"""What the experts mode shows where it ranks nobody."""

from kbx_tui.tui.experts.screen import no_experts


def text_of(*, has_claims: bool, weight: str = "count") -> str:
    lines = no_experts("compost", weight, "s", has_claims=has_claims)(80)
    return " ".join("".join(span.text for span in line) for line in lines)


def test_without_any_facts_the_list_explains_what_a_fact_is() -> None:
    assert "No fact mentions “compost”" in text_of(has_claims=True)
    without = text_of(has_claims=False)
    assert "There are no facts yet." in without
    assert "## Facts" in without


def test_another_weight_is_advised_only_where_documents_do_not_count_yet() -> None:
    assert "or s until the weight is relevance" in text_of(has_claims=True)
    assert text_of(has_claims=True, weight="relevance").endswith("Try another word.")
