"""Properties of who is who that only a client has: bases in one query, claims as they are listed, what a simulation foretells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from hypothesis import strategies as st

from graph.views import StatedClaim
from ontology.claim import Modality
from ontology.instant import Instant, format_instant, parse_instant
from tests.api import answered
from tests.api.over_graphql import ASSERT, CHANGES_OF_PREVIEW, GraphOverGraphQL, statements_input, timeline
from tests.graph.ledger.identity_checks import Twins, begun, contents, drawn
from tests.graph.ledger.identity_operations import SAME, Divided, Merged, Operation, raw, said_at
from tests.graph.ledger.identity_oracle import affirms
from tests.graph.ledger.identity_picture import Picture
from tests.graph.ledger.identity_strategies import predicates_of, tales
from tests.graph.ledger.identity_worlds import NAMES, Story, thing
from tests.graph.ledger.strategies import POINTS, Told
from tests.graph.ledger.worlds import ALWAYS, pages

PAGE = 3
"""Statements of the first page; most stories have more."""
SIMULATE = (
    f"query($input: AssertStatementsInput!) {{ simulate(input: $input) {{ claims {{ subject predicate object }} {CHANGES_OF_PREVIEW} }} }}"
)
COUNTS = "{ stats { episodes entities statements current slots transactions } }"


def _parts(predicate: str, asked: list[tuple[str, str]]) -> str:
    """Fragments: what may be asked on any basis, and what on those without a limit of said time."""
    edges = f"edges {{ cursor node {{ {answered.STATEMENT} }} }} pageInfo {{ hasNextPage }}"
    lines = "subject { key name type aliases } predicate { name } qualifier segments { validTime { from to } statements { ...Told } }"
    fields = [
        f'{name}: entity(name: "{name}") {{ {answered.ENTITY} statements(first: 100, filter: {{validDuring: {{}}}}) {{ {edges} }} }} '
        f'{name}s: timeline(subject: {{name: "{name}"}}, predicate: "{predicate}") {{ {lines} }}'
        for name in NAMES
    ]
    fields += [
        f'ask{place}: ask(subject: {{name: "{one}"}}, predicate: "{predicate}", object: {{name: "{other}"}}) {{ value }}'
        for place, (one, other) in enumerate(asked)
    ]
    claims = f"claims(rejected: false, first: 100) {{ edges {{ node {{ {answered.CLAIM} }} }} }}"
    paged = f"statements(first: {PAGE}, filter: {{validDuring: {{}}}}) {{ {edges} }} entities(first: 100) {{ edges {{ node {{ key }} }} }}"
    return (
        f"fragment Told on Statement {{ {answered.STATEMENT} }} "
        f"fragment Who on Snapshot {{ basis {{ transaction }} {' '.join(fields)} {claims} }} "
        f"fragment All on Snapshot {{ {paged} }}"
    )


def one_query_on_three_bases_is_as_the_oracle_says(twins: Twins, data: st.DataObject) -> None:
    """The present, an earlier transaction and a limit of said time as aliases: statements, entities, timelines, answers and claims."""
    story = begun(twins, data, drawn(twins, data))
    operations = [one.operation for one in story.done]
    predicates = predicates_of(operations) or ["works_at"]
    predicate, at = data.draw(st.sampled_from(predicates)), data.draw(st.sampled_from(POINTS))
    asked = data.draw(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=3, max_size=3))
    numbers = sorted({one.transaction for one in story.done}) or [0]
    number = data.draw(st.sampled_from(numbers))
    until = data.draw(st.sampled_from(_said(operations) or [0])) - data.draw(st.integers(0, 1))
    (recorded,) = [row.at for row in story.graph.transactions(story.namespace).items if row.number == number] or [0]
    bases = {"at": at, "recorded": recorded, "until": until}
    query = f"""query($at: DateTime, $recorded: DateTime, $until: DateTime) {{ now: asOf(validAt: $at) {{ ...Who ...All }}
      then: asOf(validAt: $at, recordedAt: $recorded) {{ ...Who ...All }} by: asOf(validAt: $at, evidenceUntil: $until) {{ ...Who }} }}
      {_parts(predicate, asked)}"""
    client = cast(GraphOverGraphQL, story.graph).client.at(story.namespace)
    found = client.ok(query, **{name: format_instant(instant) for name, instant in bases.items()})
    assert [found[scope]["basis"]["transaction"] for scope in ("now", "then", "by")] == [numbers[-1], number, numbers[-1]]
    pictures = {"now": story.picture(), "then": story.picture(transaction=number), "by": story.picture(until=until)}
    for scope, picture in pictures.items():
        _agrees(story, picture, found[scope], at, predicate, asked)
    for scope, transaction in (("now", None), ("then", number)):
        # A page begins in the query of aliases and goes on in queries of one scope.
        page = found[scope]["statements"]
        views = [answered.statement(edge["node"]) for edge in page["edges"]]
        if page["pageInfo"]["hasNextPage"]:
            snapshot = story.snapshot(valid_at=at, transaction=transaction)
            last = (page["edges"][-1]["cursor"],)
            views += pages(lambda after, s=snapshot, last=last: s.statements(ALWAYS, first=PAGE, after=after or last))
        things = story.things(pictures[scope])
        rows = [story.row(view, things) for view in views if view.predicate != SAME]
        differing = _differences(rows, pictures[scope].statements())
        assert not differing, (scope, differing)
        # That no entity is missing is held against the oracle by the ledger's own properties.
        listed = [edge["node"]["key"] for edge in found[scope]["entities"]["edges"]]
        assert len(set(listed)) == len(listed), scope
        assert set(listed) <= things.keys(), scope


def _said(operations: list[Operation]) -> list[Instant]:
    told = [said_at(one) for one in operations if isinstance(one, Told)]
    return told + [one.said for one in operations if isinstance(one, Merged | Divided)]


def _agrees(story: Story, picture: Picture, found: Any, at: Instant, predicate: str, asked: list[tuple[str, str]]) -> None:
    things, identity = story.things(picture), picture.identity
    for name in NAMES:
        node, mine = found[name], identity.found(raw(name))
        assert (node and node["key"]) == (identity.key(mine) if mine in identity.entities else None), name
        if node is not None:
            rows = [story.row(answered.statement(edge["node"]), things) for edge in node["statements"]["edges"]]
            facts = {row for row in rows if row[1] != SAME}
            assert facts == {row for row in picture.statements() if mine in (row[0], row[3])}, name
        segments = [
            (part.v_from, part.v_to, frozenset((thing(view.object, things), view.polarity) for view in part.statements))
            for part in timeline(found[f"{name}s"]).segments
        ]
        assert segments == picture.timeline(raw(name), predicate), (name, segments)
    for place, (one, other) in enumerate(asked):
        assert found[f"ask{place}"]["value"] == picture.ask(raw(one), predicate, raw(other), at), (one, other)
    _claims_agree(story, picture, [answered.claim(edge["node"]) for edge in found["claims"]["edges"]])


def _claims_agree(story: Story, picture: Picture, views: list[Any]) -> None:
    """All claims of episodes that are in the set, each about the entities that its names denote there."""
    identity = picture.identity
    # The episodes of merges and splits have names of the ledger's own.
    told = {said.episode for said in identity.claims if not said.by_key}
    listed = [
        (one.evidence.episode.external_id, one.evidence.start, one.candidate, _ends(one))
        for one in views
        if one.evidence.episode.source in ("chat", "notes") or one.evidence.episode.external_id in told
    ]
    wanted = []
    for said in identity.claims:
        if said.by_key:
            continue
        candidate = not said.believed
        if said.draft.predicate == SAME and said.believed and said.told and affirms(said):
            # A join that its own group alone tells, unless the names are one by what others say.
            candidate = len({identity.component(name) for name in identity.pair(said)}) == 2
        ends = None
        if said.draft.predicate != SAME:
            ends = frozenset(identity.key(identity.denoted(end, said)) for end in said.ends if end is not None)
        wanted.append((said.episode, said.place, candidate, ends))
    assert not _differences(listed, wanted), _differences(listed, wanted)


def _differences(found: Iterable[object], wanted: Iterable[object]) -> list[Counter[object]]:
    """What is found too often, and what is missing."""
    one, other = Counter(found), Counter(wanted)
    return [one - other, other - one] if one != other else []


def _ends(view: Any) -> frozenset[str] | None:
    """Keys of what a claim is about. An identity claim stands between names as they were told."""
    if view.predicate == SAME:
        return None
    return frozenset(end.key for end in (view.subject, view.object) if hasattr(end, "aliases"))


def a_simulation_foretells_what_stating_does(twins: Twins, data: st.DataObject) -> None:
    """Nothing is stored by it; the mutation begins and ends the same, and the snapshot after it holds that."""
    story = begun(twins, data, drawn(twins, data))
    predicates = predicates_of(one.operation for one in story.done) or ["works_at"]
    told = data.draw(tales(story.graph.vocabulary(), predicates, "new", identity=True))
    stated = [
        StatedClaim(replace(each, modality=Modality.ASSERTED), quote=told.draft.content[place]) for place, each in enumerate(told.claims)
    ]
    input = statements_input(told.draft, stated)
    client = cast(GraphOverGraphQL, story.graph).client.at(story.namespace)
    before = contents(story), client.ok(COUNTS), story.graph.transactions(story.namespace)
    foretold = client.ok(SIMULATE, input=input)["simulate"]
    assert (contents(story), client.ok(COUNTS), story.graph.transactions(story.namespace)) == before
    done = client.ok(ASSERT, input=input)["assertStatements"]
    assert done["__typename"] == "AssertStatementsPayload"
    for part in ("asserted", "invalidated"):
        differing = _differences(map(_foretold, foretold[part]), map(_happened, done[part]))
        assert not differing, (part, differing)
    recorded = parse_instant(client.ok("{ asOf { basis { recordedAt } } }")["asOf"]["basis"]["recordedAt"])
    now = pages(lambda after: story.snapshot().statements(ALWAYS, first=100, after=after))
    # Of an inverse pair and a symmetric relation the list shows one side and the payload may show the other.
    things = story.things(story.picture())
    opened, ended = ({story.row(answered.statement(node), things) for node in done[part]} for part in ("asserted", "invalidated"))
    held = {story.row(view, things): view.tx_from_at for view in now}
    assert opened <= held.keys(), ("not held", opened - held.keys())
    # What has an end now is told among what ended.
    begun_now = {row for row, since in held.items() if since == recorded}
    assert begun_now <= opened | ended, ("not told", begun_now - opened - ended, opened, ended)


def _foretold(node: answered.Node) -> tuple[Any, ...]:
    return (
        *(node[part] for part in ("subject", "predicate", "qualifier", "object", "polarity")),
        *_span(node),
        node["reason"],
        node["rule"],
    )


def _happened(node: answered.Node) -> tuple[Any, ...]:
    target, ending = node["object"], node.get("invalidation") or {}
    value = target["name"] if target["__typename"] == "Entity" else target["value"]
    names = (node["subject"]["name"], node["predicate"]["name"], node["qualifier"], value, node["polarity"])
    return (*names, *_span(node), ending.get("reason"), ending.get("rule"))


def _span(node: answered.Node) -> tuple[Any, ...]:
    return tuple(node["validTime"][side] for side in ("from", "to", "fromStated", "toStated"))
