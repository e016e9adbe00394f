"""No secret passes, nothing else is touched, and scrubbing twice is scrubbing once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.scrubbing import MAX_DEPTH, Scrubber
from ontology.errors import InvalidInput

SCRUBBER = Scrubber(b"test key")
HEX = "0123456789abcdef" * 4
MIXED = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5" * 3
# Written in parts, so that no scanner of repositories takes the tests for leaks.
TOKENS = {
    "anthropic-key": "sk-" + "ant-api03-" + MIXED[:40],
    "openai-key": "sk-" + "proj-" + MIXED[:40],
    "github-token": "gh" + "p_" + MIXED[:36],
    "gitlab-token": "gl" + "pat-" + MIXED[:20],
    "aws-access-key": "AK" + "IAIOSFODNN7EXAMPLE",
    "google-key": "AI" + "za" + MIXED[:35],
    "slack-token": "xo" + "xb-123456789012-" + MIXED[:24],
    "stripe-key": "sk" + "_live_" + MIXED[:24],
    "npm-token": "np" + "m_" + MIXED[:36],
    "pypi-token": "py" + "pi-AgEIcHlwaS5vcmc" + MIXED[:40],
    "twilio-key": "S" + "K" + HEX[:32],
    "sendgrid-key": "S" + "G." + MIXED[:22] + "." + MIXED[:43],
    "mailgun-key": "ke" + "y-" + HEX[:32],
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0In0." + MIXED[:43],
    "telegram-token": "123456789:A" + "A" + MIXED[:33],
    "huggingface-token": "h" + "f_" + MIXED[:34],
    "digitalocean-token": "do" + "p_v1_" + HEX,
    "databricks-token": "da" + "pi" + HEX[:32],
    "shopify-token": "shp" + "at_" + HEX[:32],
    "vault-token": "hv" + "s." + MIXED[:30],
    "docker-token": "dck" + "r_pat_" + MIXED[:27],
    "grafana-token": "gls" + "a_" + MIXED[:32],
    "azure-secret": "abc8Q" + "~" + MIXED[:34],
    "tailscale-key": "ts" + "key-auth-" + MIXED[:30],
    "groq-key": "gs" + "k_" + MIXED[:50],
    "service-key": "bk" + "ua_" + HEX[:40],
}
AROUND = ["{}", "the key is {} for now", "KEY={}", '{{"note": "{}"}}', "see {}, ok?", "```\n{}\n```", "é{} ü", "curl -H 'X: {}'", "{}\n{}"]
PEM = "-----BEGIN {0}PRIVATE KEY-----\nMIIEpAIBAAKCAQEA" + MIXED[:48] + "\n" + MIXED[:20] + "==\n-----END {0}PRIVATE KEY-----"


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(("rule", "token"), TOKENS.items(), ids=TOKENS)
def test_a_provider_token_is_replaced_wherever_it_stands(rule: str, token: str, around: str) -> None:
    scrubbed = SCRUBBER.scrub(around.format(token, token))
    assert token not in scrubbed.text
    assert token[-12:] not in scrubbed.text
    assert re.search(r"\[REDACTED:[a-z-]+:[0-9a-f]{12}\]", scrubbed.text)
    if around == "{}":
        assert scrubbed.findings == (f"secret:{rule}",)
        assert re.fullmatch(rf"\[REDACTED:{rule}:[0-9a-f]{{12}}\]", scrubbed.text)


CONTEXTS = [
    ("export DB_PASSWORD=hunter2", "hunter2"),
    ("DB_PASSWORD=hunter", "hunter"),
    ("password: hunter2", "hunter2"),
    ("password = hunter2\nAlice left.", "hunter2"),
    ('"password": "correct horse battery"', "correct horse battery"),
    ("{'db_password': 'hunter2'}", "hunter2"),
    ('{\\"password\\": \\"hunter2\\"}', "hunter2"),
    ('"api_key": "abcdef12"', "abcdef12"),
    ("apiKey: 'abcd-efgh-1234'", "abcd-efgh-1234"),
    ("client_secret=abcdefgh1234", "abcdefgh1234"),
    ('config["SECRET_KEY"] = "s3cr3tvalue"', "s3cr3tvalue"),
    ("my password is hunter2, keep it", "hunter2"),
    ("I reset the password to Winter2024!", "Winter2024"),
    ("postgres://u:p@h/db", ":p@"),
    ("mysql+pymysql://root:hunter2@db.example.com:3306/app", "hunter2"),
    ("redis://:hunter2@localhost:6379", "hunter2"),
    ("postgres://u:p@ss@h/db", "p@ss"),
    ("Authorization: Bearer abc.def-123", "abc.def-123"),
    ("curl -H 'Authorization: Basic dXNlcjpwYXNz' x", "dXNlcjpwYXNz"),
    ("authorization: token 0123456789abcdef", "0123456789abcdef"),
    ("send it as Bearer abcdef1234567890", "abcdef1234567890"),
    ("curl -u admin:hunter2 https://x", "hunter2"),
    ("psql --password=hunter2", "hunter2"),
    ("Cookie: session=abcdef1234567890", "abcdef1234567890"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
    ("AccountKey=" + MIXED[:60] + "==;EndpointSuffix=core.windows.net", MIXED[:20]),
    ("https://hooks.slack.com/services/T0000/B0000/" + MIXED[:24], MIXED[:24]),
    ("https://a.blob.core.windows.net/c?sv=1&sig=" + MIXED[:40] + "%3D", MIXED[:20]),
    ("https://" + HEX[:40] + "@github.com/acme/billing.git", HEX[:40]),
    ("machine api.example.com login maya password hunter2", "hunter2"),
    ("SECRET_KEY_BASE=" + HEX[:64], HEX[:64]),
    ("STRIPE_KEY=abcd1234efgh", "abcd1234efgh"),
    (PEM.format(""), "MIIEpAIB"),
    (PEM.format("RSA "), "MIIEpAIB"),
    (PEM.format("OPENSSH ").replace("\n", "\\n"), "MIIEpAIB"),
]


@pytest.mark.parametrize(("text", "secret"), CONTEXTS)
def test_a_secret_known_by_its_place_is_replaced(text: str, secret: str) -> None:
    scrubbed = SCRUBBER.scrub(f"Alice left Acme.\n{text}\nBob stayed.")
    assert secret not in scrubbed.text
    assert len(scrubbed.findings) == 1
    assert scrubbed.text.startswith("Alice left Acme.\n")
    assert scrubbed.text.endswith("\nBob stayed.")


def test_a_private_key_that_was_cut_off_is_replaced_and_the_text_after_it_stays() -> None:
    cut = PEM.format("").partition("-----END")[0]
    scrubbed = SCRUBBER.scrub(f"{cut}\nAlice left Acme.\n{PEM.format('EC ')}\nBob stayed.")
    assert "MIIE" not in scrubbed.text
    assert scrubbed.text.count("[REDACTED:private-key:") == 2
    assert "\nAlice left Acme.\n" in scrubbed.text


HARMLESS = [
    "commit 4a5d8f2c1b9e8d7f6a5b4c3d2e1f0a9b8c7d6e5f fixes it",
    "request 550e8400-e29b-41d4-a716-446655440000 failed",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "my password is long",
    "the password is in the vault",
    "Our password: min 12 characters",
    "password reset: done",
    "The password was changed on 2024-01-02.",
    "a bearer token authentication",
    "the tokens: 4096, max_tokens: 8192, token count 12000",
    "token: string",
    "password: str | None",
    "password=os.environ['DB_PASSWORD']",
    'password="${DB_PASSWORD}"',
    "DB_PASSWORD=$SECRET",
    "API_KEY=<your key>",
    "const token = getToken();",
    "CACHE_KEY=user_profile_cache and PRIMARY_KEY=OTHER_KEY_2",
    "User(name=name, password=hashed_password)",
    "ssh://deploy@example.com and https://some-organisation-name@example.com",
    "the secret of the sauce: 5 apples",
    "sk-learn-contrib-metric-learn",
    "the disk-a1b2c3d4e5f6 volume",
    "postgres://db.example.com:5432/app",
    "https://user@example.com:8443/x",
    "postgres 15.4, node v20.11.1, build 1234567890",
    "the api_key: see README.md",
    "moved from 2023-05-01 to 2024-06-01",
    "key-value store, secret santa, token bucket",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert SCRUBBER.scrub(text).text == text


def test_equal_secrets_have_equal_tags_under_one_key_and_others_under_another() -> None:
    first = SCRUBBER.scrub("DB_PASSWORD=hunter2 and password: hunter2").text
    tags = re.findall(r":([0-9a-f]{12})\]", first)
    assert len(tags) == 2
    assert tags[0] == tags[1]
    assert Scrubber(b"test key").scrub("DB_PASSWORD=hunter2 and password: hunter2").text == first
    assert tags[0] not in Scrubber(b"another").scrub("DB_PASSWORD=hunter2").text


def test_a_scrubber_without_a_key_is_refused_and_a_long_key_is_taken() -> None:
    with pytest.raises(InvalidInput):
        Scrubber(b"")
    assert Scrubber(b"x" * 200).scrub("DB_PASSWORD=hunter2").findings == ("secret:password-assignment",)


def test_metadata_is_scrubbed_in_depth_and_by_the_names_of_its_keys() -> None:
    metadata: dict[str, Any] = {
        "cwd": "/srv/billing",
        "env": [{"DB_PASSWORD": "correct horse"}, "export API_TOKEN=abcd1234"],
        "n": 3,
        "none": None,
        TOKENS["github-token"]: "x",
    }
    scrubbed = SCRUBBER.scrub_metadata(metadata)
    text = repr(scrubbed.metadata)
    assert "correct horse" not in text and "abcd1234" not in text and TOKENS["github-token"] not in text
    assert scrubbed.metadata["cwd"] == "/srv/billing"
    assert scrubbed.metadata["n"] == 3
    assert set(scrubbed.findings) == {"secret:metadata", "secret:secret-assignment", "secret:github-token"}
    assert SCRUBBER.scrub_metadata(scrubbed.metadata).metadata == scrubbed.metadata


def test_metadata_nested_beyond_measure_is_refused() -> None:
    nested: Any = "x"
    for _ in range(MAX_DEPTH + 2):
        nested = [nested]
    with pytest.raises(InvalidInput) as refused:
        SCRUBBER.scrub_metadata({"a": nested})
    assert refused.value.reason == "TOO_DEEP"


MARK = re.compile(r"\[REDACTED:[a-z0-9-]+:[0-9a-f]{12}\]")
PIECES = st.sampled_from(
    [
        *TOKENS.values(),
        *(text for text, _ in CONTEXTS),
        *HARMLESS,
        "password=",
        "://a:",
        "@",
        "Bearer ",
        " ",
        "\n",
        '"',
        "'",
        "[REDACTED:",
        "]",
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=8).map("".join)))
def test_scrubbing_twice_is_scrubbing_once(text: str) -> None:
    once = SCRUBBER.scrub(text)
    twice = SCRUBBER.scrub(once.text)
    assert twice.text == once.text
    assert twice.findings == ()


@given(st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=8).map("".join)))
def test_a_text_without_findings_is_unchanged_and_one_with_findings_is_not(text: str) -> None:
    scrubbed = SCRUBBER.scrub(text)
    assert bool(scrubbed.findings) == (scrubbed.text != text)
    assert set(scrubbed.counts) == set(scrubbed.findings)


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=8).map("".join))
def test_what_stands_outside_the_marks_is_the_text_in_order(text: str) -> None:
    scrubbed = SCRUBBER.scrub(text)
    kept = MARK.split(scrubbed.text)
    at = 0
    for place, part in enumerate(kept):
        found = text.find(part, at)
        assert found >= 0
        assert place > 0 or found == 0
        at = found + len(part)
    assert text.endswith(kept[-1])
    assert sum(scrubbed.counts.values()) == len(MARK.findall(scrubbed.text)) - len(MARK.findall(text))


CLEAN = st.text(st.characters(exclude_characters="".join(map(chr, range(33, 127)))), max_size=60)
"""Anything but the signs, letters and digits that a key is made of: what stands beside a key in those may belong to it."""


@given(CLEAN, st.sampled_from(list(TOKENS.values())), CLEAN)
def test_a_secret_anywhere_in_other_text_is_gone_and_the_other_text_stays(before: str, token: str, after: str) -> None:
    scrubbed = SCRUBBER.scrub(f"{before} {token} {after}").text
    assert token not in scrubbed
    assert scrubbed.startswith(f"{before} [REDACTED:")
    assert scrubbed.endswith(f"] {after}")


@given(
    st.recursive(st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), PIECES), lambda inner: st.lists(inner, max_size=3))
)
def test_scrubbing_metadata_twice_is_scrubbing_it_once(value: Any) -> None:
    once = SCRUBBER.scrub_metadata({"a": value, "password": value})
    twice = SCRUBBER.scrub_metadata(once.metadata)
    assert twice.metadata == once.metadata
    assert twice.findings == ()


def test_all_that_stands_under_the_name_of_a_secret_is_one() -> None:
    scrubbed = SCRUBBER.scrub_metadata({"password": 123456, "tokens": 12, "api_key": ["abc", True, None, ""], "accessToken": {"note": "x"}})
    assert re.fullmatch(r"\[REDACTED:metadata:[0-9a-f]{12}\]", str(scrubbed.metadata["password"]))
    assert re.fullmatch(r"\[REDACTED:metadata:[0-9a-f]{12}\]", scrubbed.metadata["api_key"][0])
    assert (scrubbed.metadata["tokens"], scrubbed.metadata["api_key"][1:], scrubbed.metadata["accessToken"]) == (
        12,
        [True, None, ""],
        {"note": "x"},
    )
    assert scrubbed.counts == {"secret:metadata": 2}


def test_secrets_are_counted_by_rule_and_never_kept() -> None:
    token = TOKENS["github-token"]
    scrubbed = SCRUBBER.scrub(f"{token} and {token} and DB_PASSWORD=hunter2")
    assert scrubbed.counts == {"secret:github-token": 2, "secret:password-assignment": 1}
    assert scrubbed.findings == ("secret:github-token", "secret:password-assignment")
    assert "hunter2" not in repr(scrubbed)
    assert token not in repr(scrubbed)


def test_the_mark_of_a_rule_that_is_not_in_force_stays() -> None:
    mark = "password: [REDACTED:somebody-elses-rule:0123456789ab] is the old one"
    assert SCRUBBER.scrub(mark).text == mark


def test_where_two_rules_cover_one_place_the_earlier_one_names_it() -> None:
    text = "DB_PASSWORD=" + TOKENS["stripe-key"]
    assert SCRUBBER.scrub(text).findings == ("secret:stripe-key",)


@pytest.mark.parametrize(
    "unit", ["password=a1 ", "sk-", "-----BEGIN PRIVATE KEY-----\n", "://a:b@", "eyJ", "password is ", "mysql ", "secret='", "aws secret "]
)
def test_hostile_texts_are_scrubbed_to_their_end(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    assert SCRUBBER.scrub(f"{text}\n{TOKENS['github-token']}\n").text.endswith("]\n")


@pytest.mark.parametrize(
    "unit",
    [
        "rz" + "p_live_" + MIXED[:14],
        "ship" + "po_live_" + HEX[:40],
        "AWS_ACCESS_KEY_ID=ASIA" + "K7Q2M9X4T1B8R5W3api" + "_org_" + MIXED[:30],
        "v1.0-" + HEX[:24] + "-" + HEX * 2 + HEX[:18],
    ],
)
def test_secrets_that_show_one_behind_the_other_take_few_rounds(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = 0
    find = Scrubber._secrets

    def counting(self: Scrubber, text: bytes, *more: Any) -> Any:
        nonlocal searched
        searched += len(text)
        return find(self, text, *more)

    monkeypatch.setattr(Scrubber, "_secrets", counting)
    text = unit * 500
    scrubbed = SCRUBBER.scrub(f"Alice left. {text} Bob stayed.").text
    assert searched < 30 * len(text)
    assert unit not in scrubbed
    assert scrubbed.startswith("Alice left. [REDACTED:")
    assert scrubbed.endswith("] Bob stayed.")
