"""What the experts mode shows where it ranks nobody."""

from kbx_tui.tui.experts.screen import no_experts


def text_of(*, has_claims: bool, weight: str = "count") -> str:
    lines = no_experts("compost", weight, "s", has_claims=has_claims)(80)
    return " ".join("".join(span.text for span in line) for line in lines)


def test_the_empty_list_explains_facts_and_advises_a_weight_that_counts_documents() -> None:
    assert "No fact mentions “compost”" in text_of(has_claims=True)
    without = text_of(has_claims=False)
    assert "There are no facts yet." in without
    assert "## Facts" in without

    assert "or s until the weight is relevance" in text_of(has_claims=True)
    assert text_of(has_claims=True, weight="relevance").endswith("Try another word.")
