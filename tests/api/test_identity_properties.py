"""Who is who through GraphQL: the properties of the ledger's own tests, with a client between, and some that only a client has."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import cast

import httpx
import pytest

from api.app import create_app
from api.schema.build import build_schema
from api.service import Service
from graph.service import LedgerGraph
from ontology.vocabulary import Vocabulary
from tests.api.clients import InProcess, OverHttp, served
from tests.api.conftest import Borrowed
from tests.api.identity_checks import a_simulation_foretells_what_stating_does, one_query_on_three_bases_is_as_the_oracle_says
from tests.api.over_graphql import GraphOverGraphQL
from tests.graph.ledger.conftest import empty_ledger, vocabulary
from tests.graph.ledger.identity_checks import Check, Twins, examined, two_ledgers
from tests.graph.ledger.test_identity_properties import CHECKS, a_join_that_is_taken_back_leaves_no_trace, order_and_batches_do_not_matter
from tests.workers.extracting import OneSecret, TripleExtractor, scan
from workers.ingestion import Ingestion
from workers.pool import ExtractionPool

__all__ = ["empty_ledger", "vocabulary"]
FEW, MANY = 4, 60
OWN: dict[str, Check] = {
    check.__name__: check for check in (one_query_on_three_bases_is_as_the_oracle_says, a_simulation_foretells_what_stating_does)
}
ALL = {**OWN, **CHECKS}
ALWAYS_RUN = [*OWN, order_and_batches_do_not_matter.__name__, a_join_that_is_taken_back_leaves_no_trace.__name__]
"""The others are run by the ledger's own tests as often, and here only where time is plenty."""


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[Twins]:
    """Two ledgers of one secret, each behind a client."""
    pool = ExtractionPool(TripleExtractor)
    schema = build_schema()
    with asyncio.Runner() as runner:
        for ledgers in two_ledgers(tmp_path_factory.mktemp("identity"), vocabulary, empty_ledger):
            faced = []
            for graph in (ledgers.one, ledgers.other):
                client = InProcess(schema, Service(graph, Ingestion(graph, pool, OneSecret(), scan)), runner)
                faced.append(cast(LedgerGraph, GraphOverGraphQL(graph, client)))
            yield Twins(*faced)
    pool.close()


@pytest.fixture(scope="module")
def far_twins(twins: Twins, http: httpx.Client) -> Iterator[Twins]:
    """The same two ledgers, each behind a server on loopback."""
    pool = ExtractionPool(TripleExtractor)
    with ExitStack() as servers:
        faced = []
        for near in (twins.one, twins.other):
            graph = cast(GraphOverGraphQL, near).graph
            service = Borrowed(graph, Ingestion(graph, pool, OneSecret(), scan))
            url = servers.enter_context(served(create_app(partial(_same, service))))
            faced.append(cast(LedgerGraph, GraphOverGraphQL(graph, OverHttp(http, url))))
        yield Twins(*faced)
    pool.close()


def _same(service: Service) -> Service:
    return service


@pytest.mark.parametrize("check", ALWAYS_RUN)
def test_of_random_stories(check: str, twins: Twins) -> None:
    examined(ALL[check], twins, FEW)


@pytest.mark.deep
@pytest.mark.parametrize("check", ALL)
def test_of_many_random_stories(check: str, twins: Twins) -> None:
    examined(ALL[check], twins, MANY)


@pytest.mark.deep
@pytest.mark.parametrize("check", ALL)
def test_of_random_stories_over_http(check: str, far_twins: Twins) -> None:
    examined(ALL[check], far_twins, FEW)
