"""How failures look from outside: union members in mutations, codes at the top level in queries, nothing of the inside."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from graphql import get_introspection_query

from api.requests import Request
from api.schema.build import build_schema
from api.service import Service
from ontology.errors import IdempotencyConflict, InvalidInput, OntologyViolation, Overloaded, Unavailable
from tests.api.clients import Client
from tests.api.stating import refused, state

ADA = {"subject": {"name": "Ada"}, "predicate": "works_at", "object": {"name": "Acme"}}


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        ({"validFrom": "2023-02-30"}, "INVALID_DATE"),
        ({"validFrom": "yesterday"}, "UNPARSEABLE"),
        ({"validFrom": "2023", "validTo": "2021"}, "INVERTED_INTERVAL"),
        ({"validFrom": "Y999999-01-01"}, "OUT_OF_RANGE"),
    ],
)
def test_a_bad_date_is_an_invalid_input_error_with_its_path(client: Client, times: dict[str, str], reason: str) -> None:
    found = refused(client, "1", "2023-01-01", statements=[{**ADA, **times}])
    assert (found["__typename"], found["code"], found["reason"]) == ("InvalidInputError", "BAD_USER_INPUT", reason)
    assert found["path"][:3] == ["input", "statements", "0"]
    assert client.ok("{ asOf { basis { transaction } } }") == {"asOf": {"basis": {"transaction": 0}}}


def test_drop_date_keeps_the_statement_and_warns(client: Client) -> None:
    found = state(client, "1", "2023-01-01", statements=[{**ADA, "validFrom": "2023-02-30"}], onBadDate="DROP_DATE")
    assert [warning.rsplit(" ", 1)[-1] for warning in found["warnings"]] == ["INVALID_DATE"]


def test_an_ontology_violation_has_its_own_code(client: Client) -> None:
    claim = {"subject": {"name": "Ada"}, "predicate": "works_at", "object": {"literal": {"value": "1", "datatype": "xsd:integer"}}}
    for predicate in client.ok("{ ontology { predicates { name } } }")["ontology"]["predicates"]:
        found = refused(client, "1", "2023-01-01", statements=[{**claim, "predicate": predicate["name"]}])
        if found["__typename"] == "InvalidInputError":
            assert found["code"] == "ONTOLOGY_VIOLATION"
            return
    pytest.skip("no predicate of this vocabulary has an entity type as its range")


def test_a_quote_must_stand_in_the_content(client: Client) -> None:
    found = refused(client, "1", "2023-01-01", content="Ada works at Acme.", statements=[{**ADA, "quote": "Ada is at Acme"}])
    assert (found["__typename"], found["path"]) == ("InvalidInputError", ["input", "statements", "0", "quote"])


def test_statements_are_1_to_1000(client: Client) -> None:
    assert refused(client, "1", "2023-01-01", statements=[])["path"] == ["input", "statements"]


@pytest.mark.parametrize(
    "query",
    [
        "{ asOf(validAt: \"2023-01-01\") { basis { transaction } } }",
        "{ asOf(validAt: \"2023-01-01T00:00:00\") { basis { transaction } } }",
        "{ asOf(validAt: 5) { basis { transaction } } }",
        "{ asOf { nothing } }",
        "{ asOf",
        "mutation { assertStatements(input: {}) { __typename } }",
        '{ asOf { timeline(subject: {id: "a", name: "b"}, predicate: "p") { qualifier } } }',
        '{ asOf { timeline(subject: {name: ""}, predicate: "p") { qualifier } } }',
    ],
)  # fmt: skip
def test_malformed_queries_are_bad_user_input(client: Client, query: str) -> None:
    assert set(client.send(query).codes) == {"BAD_USER_INPUT"}


def test_a_variable_that_is_no_time_is_bad_user_input(client: Client) -> None:
    answer = client.send("query($t: DateTime) { asOf(validAt: $t) { basis { validAt } } }", {"t": "2023-13-01T00:00:00Z"})
    assert answer.codes == ["BAD_USER_INPUT"]
    assert answer.errors[0]["extensions"]["reason"] == "INVALID_DATE"


def test_years_beyond_four_digits_go_in_and_come_out(client: Client) -> None:
    for text in ("Y20000-01-01T00:00:00Z", "-0043-03-15T00:00:00Z", "2025-03-01T12:00:00.000001Z"):
        basis = client.ok("query($t: DateTime) { asOf(validAt: $t) { basis { validAt } } }", t=text)["asOf"]["basis"]
        assert basis == {"validAt": text}
    basis = client.ok('{ asOf(validAt: "2025-03-01T12:00:00+02:00") { basis { validAt } } }')["asOf"]["basis"]
    assert basis == {"validAt": "2025-03-01T10:00:00Z"}


@pytest.mark.parametrize(
    "query",
    [
        "{ asOf { entities { edges { node { " + "neighbors { edges { node { " * 7 + "id" + " } } }" * 8 + " } }",
        "{ asOf { " + " ".join(f"a{number}: basis {{ transaction }}" for number in range(100)) + " } }",
        "{ asOf { " + "basis { transaction } " * 2000 + "} }",
    ],
    ids=["depth", "aliases", "tokens"],
)
def test_queries_beyond_the_limits_are_too_complex(client: Client, query: str) -> None:
    assert set(client.send(query).codes) == {"QUERY_TOO_COMPLEX"}


def test_the_introspection_query_is_within_the_limits(client: Client) -> None:
    assert client.ok(get_introspection_query())["__schema"]["queryType"]["name"] == "Query"


def test_a_malformed_namespace_is_refused(client: Client) -> None:
    answer = client.at("n" * 10_000).send("{ asOf { basis { transaction } } }")
    assert answer.codes == ["BAD_USER_INPUT"]
    assert client.at("a b").send("{ asOf { basis { transaction } } }").codes == ["BAD_USER_INPUT"]


def test_await_is_a_number_and_lets_reads_through_when_it_is_there(client: Client) -> None:
    done = state(client, "1", "2023-01-01", ("Ada", "likes", "tea"))
    query = "{ asOf { basis { transaction } } }"
    assert client.send(query, headers={"Erstwhile-Await": str(done["transaction"])}).errors == []
    for wrong in ("soon", "-1", "9" * 30, ""):
        assert client.send(query, headers={"Erstwhile-Await": wrong}).codes == ["BAD_USER_INPUT"]


def test_retracting(client: Client) -> None:
    retract = """mutation($id: ID, $ref: EpisodeRef) { retractEpisode(id: $id, ref: $ref, reason: "test") { __typename
      ... on RetractEpisodePayload { transaction episode { status externalId } restored { object { ... on Entity { name } } } }
      ... on InvalidInputError { path } ... on NotFoundError { id } ... on Error { code message } } }"""
    state(client, "1", "2023-01-01", ("Ada", "works_at", "Acme"))
    second = state(client, "2", "2024-01-01", ("Ada", "works_at", "Globex"))
    done = client.ok(retract, id=second["episode"]["id"])["retractEpisode"]
    assert done["episode"] == {"status": "RETRACTED", "externalId": "2"}
    assert [row["object"]["name"] for row in done["restored"]] == ["Acme"]
    waiting = client.ok(retract, ref={"source": "test", "externalId": "not yet"})["retractEpisode"]
    assert (waiting["__typename"], waiting["episode"]) == ("RetractEpisodePayload", None)
    unknown = client.ok(retract, id="nothing")["retractEpisode"]
    assert (unknown["__typename"], unknown["code"], unknown["id"]) == ("NotFoundError", "NOT_FOUND", "nothing")
    assert client.ok(retract)["retractEpisode"]["__typename"] == "InvalidInputError"


class _Failing:
    """A graph whose every method raises."""

    def __init__(self, failure: Exception) -> None:
        self._failure = failure

    def __getattr__(self, name: str) -> Any:
        def fail(*args: object, **named: object) -> None:
            raise self._failure

        return fail


def _run(service: Service, failure: Exception, query: str, **headers: Any) -> Any:
    request = Request(_Failing(failure), service.ingestion, id="req-7", **headers)
    return asyncio.run(build_schema().execute(query, context_value=request))


def test_an_unexpected_failure_is_masked_logged_and_named(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        result = _run(service, RuntimeError("password is swordfish"), "{ stats { episodes } }")
    error = result.errors[0].formatted
    assert error["extensions"] == {"code": "INTERNAL_SERVER_ERROR", "requestId": "req-7"}
    assert "swordfish" not in str(error)
    assert "req-7" in caplog.text
    assert "Traceback" in caplog.text


def test_a_part_that_is_missing_is_named_and_logged(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        error = _run(service, Unavailable("there is no index; build one"), "{ stats { episodes } }").errors[0].formatted
    assert error["message"] == "there is no index; build one"
    assert error["extensions"] == {"code": "INTERNAL_SERVER_ERROR", "requestId": "req-7"}
    assert "req-7" in caplog.text


@pytest.mark.parametrize(
    ("failure", "extensions"),
    [
        (Overloaded("the graph is at 3", retry_after=2), {"code": "OVERLOADED", "retryAfter": 2}),
        (
            InvalidInput("no", path=("valid_from",), reason="INVALID_DATE"),
            {"code": "BAD_USER_INPUT", "argument": ["validFrom"], "reason": "INVALID_DATE"},
        ),
        (OntologyViolation("no"), {"code": "ONTOLOGY_VIOLATION"}),
        (IdempotencyConflict("no", idempotency_key="k"), {"code": "IDEMPOTENCY_CONFLICT", "idempotencyKey": "k"}),
    ],
)
def test_domain_errors_keep_their_code_in_queries(service: Service, failure: Exception, extensions: dict[str, Any]) -> None:
    assert _run(service, failure, "{ stats { episodes } }").errors[0].extensions == extensions


def test_a_watermark_that_is_not_reached_is_overloaded(service: Service) -> None:
    result = _run(service, Overloaded("the graph has followed to 3, not 9"), "{ stats { episodes } }", awaiting="9")
    assert result.errors[0].extensions["code"] == "OVERLOADED"
    assert "3" in result.errors[0].message
