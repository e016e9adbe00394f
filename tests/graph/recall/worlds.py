"""Graphs with a recall index for tests, and random histories told to them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from graph.ledger.database import open_database
from graph.ledger.resolutions import Resolutions
from graph.recall.embedding.cache import VectorCache
from graph.recall.embedding.choosing import Choice
from graph.recall.embedding.hashing import HashingEmbedder
from graph.recall.feed import Feed
from graph.recall.index import Index
from graph.recall.recalling import Recall
from graph.recall.views import DEFAULTS, Arm, Hit, Kind, Recalled, RecallOptions
from graph.service import LedgerGraph
from graph.views import EVERYTHING, EpisodeView, StatementFilter
from ontology.episode import EpisodeDraft
from ontology.names import Keys
from ontology.vocabulary import Vocabulary
from tests.graph.belief.strategies import GRID
from tests.graph.ledger.conftest import EPOCH, NoProjection
from tests.graph.ledger.identity_operations import Operation
from tests.graph.ledger.identity_strategies import PLACES, facts, stories
from tests.graph.ledger.identity_worlds import NAMES, Story
from tests.graph.ledger.strategies import STEP, Told, at

EMBEDDER = HashingEmbedder(48)
"""Few dimensions, so that texts that share no word have something in common too."""

QUICK = 4
"""Examples of a property where nobody waits for more."""

WORDS = ("harbour", "ticket", "lisbon", "moved", "v3.12", "snake_case", "job", "café", "東京駅", "the", "not", "Ann", "Cy", "works")


def open_world(folder: Path, vocabulary: Vocabulary, *, vectors: bool = True, batch_rows: int = 20_000) -> LedgerGraph:
    """The graph of a folder with `ledger.db`; it need not survive a power cut. Opened again it goes on."""
    engine = open_database(f"sqlite:///{folder / 'ledger.db'}")
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
    engine.dispose()

    def recall(keys: Keys, resolutions: Resolutions) -> Recall:
        feed = Feed(engine, batch_rows=batch_rows)
        if not vectors:
            return Recall(Index(feed, None, None), None, resolutions)
        cache = VectorCache(folder / "vectors.db", secret=bytes.fromhex(keys.digest("vectors")), embedder=EMBEDDER.id)
        return Recall(Index(feed, EMBEDDER.id, cache), Choice(EMBEDDER.id, partial(HashingEmbedder, EMBEDDER.dim)), resolutions)

    ticks = _clock(engine)
    graph = LedgerGraph(engine, vocabulary, lambda _: NoProjection(), recall, clock=lambda: next(ticks))
    # What is asked follows by itself; a thread would only make runs differ.
    graph._recall.notify = lambda: None  # type: ignore[method-assign]
    return graph


def _clock(engine: Any) -> Any:
    with engine.connect() as connection:
        last = connection.exec_driver_sql("SELECT coalesce(max(at), 0) FROM transactions").scalar()
    return count(max(EPOCH, (last or 0) + 1_000_000), 1_000_000)


def embed(graph: LedgerGraph, most: int | None = None) -> None:
    """Make the vectors that are wanted, or the oldest of them."""
    texts = graph.unembedded(10**6 if most is None else most)
    if texts:
        graph.record_vectors(texts, EMBEDDER.embed_documents(texts))


def waiting(graph: LedgerGraph) -> Callable[[str], bool]:
    """Whether a text has no vector."""
    texts = frozenset(graph.unembedded(10**6))
    return lambda text: text in texts


# ---------------------------------------------------------------- stories


@dataclass(frozen=True)
class Accepted:
    """An episode that waits for extraction."""

    draft: EpisodeDraft


@dataclass(frozen=True)
class Held:
    """An episode that the threat scan holds back."""

    draft: EpisodeDraft


Event = Operation | Accepted | Held


class Tale(Story):
    """A story with episodes that are accepted or held back as well."""

    def tell(self, events: Iterable[Event]) -> Tale:
        """Do some events, one transaction each."""
        for one in events:
            if isinstance(one, Accepted):
                self.graph.accept(self.namespace, [(one.draft, ())])
            elif isinstance(one, Held):
                self.graph.record_extracted(self.namespace, [(one.draft, (), ())], extractor="test", quarantined=[True])
            else:
                self.do(one)
        return self


@st.composite
def contents(draw: st.DrawFn, label: str) -> str:
    """Words of an episode. Claims stand in one of the first letters, so their sentence is the first one."""
    words = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=0, max_size=4)))
    more = " ".join(draw(st.lists(st.sampled_from(WORDS), min_size=0, max_size=4)))
    return f"{PLACES} {draw(st.sampled_from([label, '']))} {words}. {more}".strip()


@st.composite
def tales(draw: st.DrawFn, vocabulary: Vocabulary, *, largest: int = 5, identity: bool = True, by_key: bool = True) -> list[Event]:
    """A random history: stories of who is who, with words, speakers, and episodes that are not extracted."""
    found: list[Event] = []
    told = draw(stories(vocabulary, largest=largest, identity=identity, by_key=by_key))
    for one in told:
        if isinstance(one, Told):
            label = one.draft.external_id or ""
            again = "again " if one.draft.revised_at else ""
            draft = replace(
                one.draft,
                content=draw(contents(label)) + (f" {again}" if again else ""),
                speaker=draw(st.sampled_from([None, "Ann", "Zoë"])),
            )
            found.append(replace(one, draft=draft))
        else:
            found.append(one)
    for number in range(draw(st.integers(0, 2))):
        kind = draw(st.sampled_from([Accepted, Accepted, Held]))
        label = f"w{number}"
        draft = EpisodeDraft(
            draw(contents(label)),
            draw(st.sampled_from(["chat", "notes"])),
            external_id=label,
            group=draw(st.sampled_from(["g", "h", None])),
            speaker=draw(st.sampled_from([None, "Bob"])),
            said_at=at(draw(st.integers(0, GRID))),
        )
        place = draw(st.integers(0, len(found)))
        found.insert(place, Held(draft) if kind is Held else Accepted(draft))
        after = draw(st.sampled_from(["waits", "is read", "is held back"]))
        if kind is Accepted and after != "waits":
            claims = tuple(draw(st.lists(facts(vocabulary, ["works_at", "likes"], 0), min_size=1, max_size=2)))
            found.insert(draw(st.integers(place + 1, len(found))), Told(draft, claims) if after == "is read" else Held(draft))
    return found


@st.composite
def queries(draw: st.DrawFn) -> str:
    """Words of the stories and others."""
    known = st.sampled_from((*NAMES, *WORDS, "likes", "works", "reports", "friend", "e0", "e1", "abcd", "born", "visited"))
    words = draw(st.lists(st.one_of(known, known, known, st.sampled_from(["zebra", "what", "is"])), min_size=1, max_size=5))
    return " ".join(words) + draw(st.sampled_from(["", "?", " 's"]))


@st.composite
def filters(draw: st.DrawFn) -> StatementFilter:
    """Mostly none."""
    if draw(st.integers(0, 2)):
        return StatementFilter(include_invalidated=draw(st.sampled_from([False, False, False, True])))
    return StatementFilter(
        group=draw(st.sampled_from([None, None, "g", "x"])),
        source=draw(st.sampled_from([None, None, "chat"])),
        speaker=draw(st.sampled_from([None, None, "Ann"])),
        polarity=draw(st.sampled_from([None, None, True, False])),
        min_confidence=draw(st.sampled_from([None, None, 0.95])),
    )


@st.composite
def choices(draw: st.DrawFn) -> RecallOptions:
    """Options of recall."""
    arms = draw(st.sampled_from([tuple(Arm)] * 4 + [(Arm.BM25,), (Arm.VECTOR,), (Arm.BM25, Arm.PAGERANK), (Arm.PAGERANK,)]))
    return RecallOptions(
        arms=arms,
        fusion=draw(st.sampled_from(list(DEFAULT_FUSIONS))),
        candidates=draw(st.sampled_from([50, 50, 1, 2, 3])),
        superseded_last=draw(st.booleans()),
        max_per_group=draw(st.sampled_from([None, None, 1, 2])),
        kinds=draw(st.sampled_from([(Kind.STATEMENT,), (Kind.EPISODE,), (Kind.STATEMENT, Kind.EPISODE)])),
    )


DEFAULT_FUSIONS = (DEFAULTS.fusion, DEFAULTS.fusion, *type(DEFAULTS.fusion))


def bases(data: st.DataObject, tale: Tale, *, until: bool = True) -> dict[str, Any]:
    """A random basis: an instant, often an earlier transaction, sometimes a limit of said time."""
    beside: int = data.draw(st.sampled_from([0, 0, 1]))
    basis: dict[str, Any] = {"valid_at": data.draw(st.integers(-1, GRID + 2)) * STEP + beside}
    numbers = numbers_of(tale)
    earlier: bool = data.draw(st.booleans())
    if numbers and earlier:
        basis["transaction"] = data.draw(st.sampled_from(numbers))
    if until and data.draw(st.integers(0, 3)) == 3:
        early: int = data.draw(st.sampled_from([0, 1]))
        basis["evidence_until"] = data.draw(st.integers(0, GRID)) * STEP - early
    return basis


def numbers_of(tale: Story) -> list[int]:
    """The transactions of a namespace, oldest first."""
    page = tale.graph.transactions(tale.namespace, first=1000)
    return sorted(view.number for view in page.items)


# ---------------------------------------------------------------- answers


def recalled(
    snapshot: Any, text: str, options: RecallOptions = DEFAULTS, filter: StatementFilter = EVERYTHING, *, first: int = 1000
) -> Recalled:
    """One page that has all."""
    found: Recalled = snapshot.recall(text, options=options, filter=filter, first=first)
    assert not found.page.has_next
    return found


def told(hits: Iterable[Hit]) -> list[tuple[Any, ...]]:
    """Hits as plain data: what is compared where nothing may have changed."""
    found = []
    for hit in hits:
        node = hit.node
        shown = (
            (node.key, node.revision, node.content) if isinstance(node, EpisodeView) else (node.key, node.v_from, node.v_to, node.polarity)
        )
        found.append((*shown, hit.score, hit.arms, hit.path))
    return found


def examined(check: Callable[[st.DataObject], None], number: int = QUICK) -> None:
    """Try a check on random data: the same ones in every run, unless there are very many."""

    @settings(
        max_examples=number,
        derandomize=number <= 20,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink] if number > 20 else [Phase.generate],
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        check(data)

    run()


def copied(empty_ledger: Path, folder: Path) -> Path:
    """A folder with an empty ledger."""
    shutil.copy(empty_ledger, folder / "ledger.db")
    return folder
