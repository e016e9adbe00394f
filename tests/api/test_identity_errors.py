"""What cannot be merged, split, rejected, restored, listed or simulated: a typed error that says where, and nothing is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.api.clients import Client
from tests.api.stating import state

ERRORS = """__typename ... on Error { code message } ... on InvalidInputError { path reason } ... on NotFoundError { id }"""
REJECT = f"mutation($ids: [ID!]!, $reason: String!) {{ done: rejectClaims(ids: $ids, reason: $reason) {{ {ERRORS} }} }}"
RESTORE = f"mutation($ids: [ID!]!, $reason: String) {{ done: restoreClaims(ids: $ids, reason: $reason) {{ {ERRORS} }} }}"
MERGE = f"mutation($ids: [ID!]!, $reason: String) {{ done: mergeEntities(ids: $ids, reason: $reason) {{ {ERRORS} }} }}"
SPLIT = f"""mutation($id: ID!, $as: String!, $groups: [String!], $sources: [String!], $name: String, $reason: String) {{
  done: splitEntity(id: $id, discriminator: $as, groups: $groups, sources: $sources, name: $name, reason: $reason) {{ {ERRORS} }} }}"""
KNOWN = """{ asOf { ada: entity(name: "Ada") { id key } acme: entity(name: "Acme") { id key }
  statements { edges { node { id } } } episodes { edges { node { id } } } claims { edges { node { id evidence { claim } } } } } }"""
STORED = """{ stats { episodes entities statements current slots transactions } transactions { edges { node { kind reason } } }
  asOf { claims(first: 100) { edges { node { rejected evidence { claim } } } } entities { edges { node { key aliases } } } } }"""


@dataclass(frozen=True)
class Known:
    """IDs of one namespace, of each kind, and two of another."""

    ada: str
    acme: str
    ada_key: str
    statement: str
    episode: str
    claim: str
    claim_key: str
    foreign_ada: str
    foreign_claim: str


@pytest.fixture
def known(client: Client) -> Known:
    def there(namespace: Client) -> Any:
        state(namespace, "1", "2023-01-01", ("Ada", "works_at", "Acme"), group="team")
        return namespace.ok(KNOWN)["asOf"]

    here, other = there(client), there(client.at(f"{client.namespace}-other"))
    (statement, episode), claim = (here[part]["edges"][0]["node"]["id"] for part in ("statements", "episodes")), here["claims"]["edges"][0]
    ids = here["ada"]["id"], here["acme"]["id"], here["ada"]["key"], statement, episode, claim["node"]["id"]
    return Known(*ids, claim["node"]["evidence"]["claim"], other["ada"]["key"], other["claims"]["edges"][0]["node"]["id"])


Variables = Callable[[Known], dict[str, Any]]
MANY = [f"{number:032x}" for number in range(1001)]
LONG = "x" * 1001
ID_CASES: dict[str, tuple[Variables, str | list[str]]] = {
    "none": (lambda k: {"ids": []}, ["ids"]),
    "too many": (lambda k: {"ids": MANY}, ["ids"]),
    "unknown": (lambda k: {"ids": [MANY[1], MANY[2]]}, MANY[1]),
    "no ID at all": (lambda k: {"ids": ["", "Ada"]}, ""),
}
CLAIM_CASES: dict[str, tuple[Variables, str | list[str]]] = {
    **ID_CASES,
    "one known, one not": (lambda k: {"ids": [k.claim, MANY[1]]}, MANY[1]),
    "an entity": (lambda k: {"ids": [k.ada]}, "ada"),
    "an entity's key": (lambda k: {"ids": [k.ada_key]}, "ada_key"),
    "a statement": (lambda k: {"ids": [k.claim, k.statement]}, "statement"),
    "an episode": (lambda k: {"ids": [k.episode]}, "episode"),
    "another namespace's": (lambda k: {"ids": [k.foreign_claim]}, "*"),
    "a blank reason": (lambda k: {"ids": [k.claim], "reason": " \t"}, ["reason"]),
    "an unseen reason": (lambda k: {"ids": [k.claim], "reason": "\u200b"}, ["reason"]),
    "a long reason": (lambda k: {"ids": [k.claim], "reason": LONG}, ["reason"]),
}
MERGE_CASES: dict[str, tuple[Variables, str | list[str]]] = {
    **ID_CASES,
    "over a hundred": (lambda k: {"ids": MANY[:101]}, ["ids"]),
    "itself": (lambda k: {"ids": [k.ada, k.ada]}, ["ids"]),
    "itself by ID and key": (lambda k: {"ids": [k.ada, k.ada_key]}, ["ids"]),
    "one alone": (lambda k: {"ids": [k.ada]}, ["ids"]),
    "one known, one not": (lambda k: {"ids": [k.ada, MANY[1]]}, MANY[1]),
    "a claim": (lambda k: {"ids": [k.ada, k.claim]}, "claim"),
    "a claim's key": (lambda k: {"ids": [k.ada, k.claim_key]}, "claim_key"),
    "a statement": (lambda k: {"ids": [k.statement, k.ada]}, "statement"),
    "an episode": (lambda k: {"ids": [k.episode, k.ada]}, "episode"),
    "another namespace's": (lambda k: {"ids": [k.ada, k.foreign_ada]}, "foreign_ada"),
    "a name": (lambda k: {"ids": [k.ada, "Acme"]}, "Acme"),
    "a blank reason": (lambda k: {"ids": [k.ada, k.acme], "reason": " "}, ["reason"]),
    "a long reason": (lambda k: {"ids": [k.ada, k.acme], "reason": LONG}, ["reason"]),
}
SPLIT_CASES: dict[str, tuple[Variables, str | list[str]]] = {
    "unknown": (lambda k: {"id": MANY[1]}, MANY[1]),
    "no ID at all": (lambda k: {"id": ""}, ""),
    "a claim": (lambda k: {"id": k.claim}, "claim"),
    "a statement": (lambda k: {"id": k.statement}, "statement"),
    "an episode": (lambda k: {"id": k.episode}, "episode"),
    "another namespace's": (lambda k: {"id": k.foreign_ada}, "foreign_ada"),
    "no discriminator": (lambda k: {"as": ""}, ["discriminator"]),
    "a blank discriminator": (lambda k: {"as": " \u200b "}, ["discriminator"]),
    "a discriminator of 129": (lambda k: {"as": "d" * 129}, ["discriminator"]),
    "a discriminator of 1,001": (lambda k: {"as": LONG}, ["discriminator"]),
    "no scope": (lambda k: {"groups": None}, ["groups"]),
    "an empty scope": (lambda k: {"groups": [], "sources": []}, ["groups"]),
    "a blank group": (lambda k: {"groups": ["team", " "]}, ["groups", "1"]),
    "a long group": (lambda k: {"groups": [LONG]}, ["groups", "0"]),
    "a long source": (lambda k: {"sources": ["test", LONG]}, ["sources", "1"]),
    "a name of another": (lambda k: {"name": "Acme"}, ["name"]),
    "a blank name": (lambda k: {"name": ""}, ["name"]),
    "a long name": (lambda k: {"name": LONG}, ["name"]),
    "a blank reason": (lambda k: {"reason": ""}, ["reason"]),
    "a long reason": (lambda k: {"reason": LONG}, ["reason"]),
}
SPLIT_GIVEN: Variables = lambda k: {"id": k.ada, "as": "two", "groups": ["team"]}  # noqa: E731
WRITES: dict[str, tuple[str, Variables, dict[str, tuple[Variables, str | list[str]]]]] = {
    "reject": (REJECT, lambda k: {"reason": "wrong"}, CLAIM_CASES),
    "restore": (RESTORE, lambda k: {}, CLAIM_CASES),
    "merge": (MERGE, lambda k: {}, MERGE_CASES),
    "split": (SPLIT, SPLIT_GIVEN, SPLIT_CASES),
}


@pytest.mark.parametrize("write", WRITES)
def test_what_cannot_be_done_is_a_typed_error_and_stores_nothing(write: str, client: Client, known: Known) -> None:
    mutation, given, cases = WRITES[write]
    before = client.ok(STORED)
    wrong = {}
    for case, (variables, wanted) in cases.items():
        found = client.ok(mutation, **{**given(known), **variables(known)})["done"]
        named = getattr(known, wanted, wanted) if isinstance(wanted, str) else wanted
        if isinstance(wanted, list):
            fits = (found["__typename"], found.get("code"), found.get("path")) == ("InvalidInputError", "BAD_USER_INPUT", wanted)
            fits = fits and bool(found.get("reason"))
        else:
            fits = (found["__typename"], found.get("code")) == ("NotFoundError", "NOT_FOUND") and named in ("*", found.get("id"))
        if not (fits and found["message"]):
            wrong[case] = (wanted, found)
    assert wrong == {}
    assert client.ok(STORED) == before


def test_what_is_just_short_enough_is_done(client: Client, known: Known) -> None:
    fits = {"id": known.ada, "as": "d" * 128, "groups": ["g" * 1000], "sources": ["s" * 1000], "reason": "r" * 1000}
    assert client.ok(SPLIT, **fits)["done"]["__typename"] == "EntityPayload"
    assert client.ok(REJECT, ids=[known.claim] * 2000, reason="r" * 1000)["done"]["__typename"] == "ClaimsPayload"


STATEMENT = {"predicate": "works_at", "object": {"name": "Acme"}}
SIMULATE = "query($input: AssertStatementsInput!) { simulate(input: $input) { warnings } }"
READS: dict[str, tuple[str, Callable[[Known], dict[str, Any]], str, list[str] | None]] = {
    "a page of no claims": ("{ asOf { claims(first: 0) { edges { cursor } } } }", lambda k: {}, "BAD_USER_INPUT", ["first"]),
    "a page of too many claims": ("{ asOf { claims(first: 101) { edges { cursor } } } }", lambda k: {}, "BAD_USER_INPUT", ["first"]),
    "a page of too many suspects": ("{ asOf { suspects(first: 101) { edges { cursor } } } }", lambda k: {}, "BAD_USER_INPUT", ["first"]),
    "a foreign cursor": ('{ asOf { suspects(after: "abc") { edges { cursor } } } }', lambda k: {}, "BAD_USER_INPUT", ["after"]),
    "claims during a time": (
        "{ asOf { claims(filter: {validDuring: {}}) { edges { cursor } } } }",
        lambda k: {},
        "BAD_USER_INPUT",
        ["filter", "validDuring"],
    ),
    "claims that ended": (
        "{ asOf { claims(filter: {includeInvalidated: true}) { edges { cursor } } } }",
        lambda k: {},
        "BAD_USER_INPUT",
        ["filter", "includeInvalidated"],
    ),
    "predicates used by none": ("{ asOf { undeclaredPredicates(least: 0) { name } } }", lambda k: {}, "BAD_USER_INPUT", ["least"]),
    "a simulation of nothing": (
        SIMULATE,
        lambda k: {"input": {"source": "test", "statements": []}},
        "BAD_USER_INPUT",
        ["input", "statements"],
    ),
    "a simulation of the unknown": (
        SIMULATE,
        lambda k: {"input": {"source": "test", "statements": [{**STATEMENT, "subject": {"id": MANY[1]}}]}},
        "NOT_FOUND",
        None,
    ),
    "a simulation of another namespace's": (
        SIMULATE,
        lambda k: {"input": {"source": "test", "statements": [{**STATEMENT, "subject": {"id": k.foreign_ada}}]}},
        "NOT_FOUND",
        None,
    ),
    "a simulation with a bad date": (
        SIMULATE,
        lambda k: {"input": {"source": "test", "statements": [{**STATEMENT, "subject": {"name": "Ada"}, "validFrom": "2023-02-30"}]}},
        "BAD_USER_INPUT",
        ["input", "statements", "0", "validFrom"],
    ),
    "a preview of nothing": (
        'query { preview(input: {content: " ", source: "test"}) { flags } }',
        lambda k: {},
        "BAD_USER_INPUT",
        ["input", "content"],
    ),
}


@pytest.mark.parametrize("read", READS)
def test_what_cannot_be_read_is_an_error_of_the_field(read: str, client: Client, known: Known) -> None:
    query, variables, code, argument = READS[read]
    before = client.ok(STORED)
    answer = client.send(query, variables(known))
    assert answer.codes == [code], answer
    error = answer.errors[0]
    assert error["path"]
    assert error["extensions"].get("argument") == argument
    assert client.ok(STORED) == before
