"""No secret passes, nothing else is touched, and scrubbing twice is scrubbing once."""

from __future__ import annotations

import re
import time
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


@given(st.text())
def test_a_text_without_findings_is_unchanged(text: str) -> None:
    scrubbed = SCRUBBER.scrub(text)
    assert scrubbed.findings or scrubbed.text == text


@pytest.mark.parametrize(
    "unit", ["password=a1 ", "sk-", "-----BEGIN PRIVATE KEY-----\n", "://a:b@", "eyJ", "password is ", "mysql ", "secret='", "aws secret "]
)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    started = time.process_time()
    SCRUBBER.scrub(text)
    assert time.process_time() - started < 4
