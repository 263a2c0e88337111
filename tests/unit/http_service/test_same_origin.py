"""Which hosts and origins are those of a server."""

import pytest

from kbx_tui.http_service.hosts import HostRules, host_rules, is_loopback, refusal

LOCAL = host_rules("127.0.0.1", secure=False)
PROXIED = host_rules("127.0.0.1", secure=False, public_url="https://Notes.example.org/kbx")
OPEN = host_rules("0.0.0.0", secure=True)


@pytest.mark.parametrize(
    ("rules", "host", "expected"),
    [
        (LOCAL, "127.0.0.1:8800", True),
        (LOCAL, "localhost:9000", True),  # a port that ssh forwards
        (LOCAL, "LOCALHOST", True),
        (LOCAL, "[::1]:8800", True),
        (LOCAL, "[::1]evil.example", False),
        (LOCAL, "[::1", False),
        (LOCAL, "localhost:99999", False),
        (LOCAL, "192.168.1.5:8800", False),
        (LOCAL, "localhost.evil.example", False),
        (LOCAL, "evil.example", False),
        (LOCAL, "localhost:port", False),
        (LOCAL, "localhost:8800/x", False),
        (LOCAL, "a@localhost", False),
        (LOCAL, "local host", False),
        (LOCAL, "", False),
        (PROXIED, "notes.example.org", True),
        (PROXIED, "notes.example.org:444", False),
        (PROXIED, "127.0.0.1:8800", True),
        (OPEN, "192.168.1.5:8800", True),
        (OPEN, "[fe80::1]", True),
        (OPEN, "evil.example:8800", False),
    ],
)
def test_hosts(rules: HostRules, host: str, expected: bool) -> None:
    assert rules.accepts_host(host) is expected


@pytest.mark.parametrize(
    ("rules", "origin", "host", "expected"),
    [
        (LOCAL, "http://127.0.0.1:8800", "127.0.0.1:8800", True),
        (LOCAL, "http://localhost:9000", "localhost:9000", True),
        (LOCAL, "http://localhost:9001", "localhost:9000", False),
        (LOCAL, "https://localhost:9000", "localhost:9000", False),
        (LOCAL, "null", "localhost", False),
        (PROXIED, "https://notes.example.org", "notes.example.org", True),
        (PROXIED, "https://notes.example.org", "127.0.0.1:8800", True),  # nginx without Host
        (PROXIED, "http://notes.example.org", "notes.example.org", False),
        (PROXIED, "http://127.0.0.1:8800", "127.0.0.1:8800", False),
        (OPEN, "https://192.168.1.5:8800", "192.168.1.5:8800", True),
    ],
)
def test_origins(rules: HostRules, origin: str, host: str, expected: bool) -> None:
    assert rules.accepts_origin(origin, host) is expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True),
     ("0.0.0.0", False), ("::", False), ("example.org", False), ("", False)],
)  # fmt: skip
def test_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


OWN = ("HOST", "localhost:8800")


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ([], "a request without a host, or with several"),
        ([OWN, ("Host", "evil.example")], "a request without a host, or with several"),
        ([OWN, ("Origin", "http://localhost:8800"), ("origin", "null")], "of another page"),
        ([OWN, ("Sec-Fetch-Site", "same-origin"), ("sec-fetch-site", "cross-site")], "of another"),
        ([OWN, ("sec-fetch-site", "same-origin")], ""),
        ([OWN], ""),
    ],
)
def test_a_header_counts_in_any_case_and_as_often_as_it_is_sent(
    headers: list[tuple[str, str]], reason: str
) -> None:
    assert reason in (refusal(LOCAL, headers, navigates=False, from_page=False) or "")
