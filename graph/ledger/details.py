"""From rectangles to statements as readers see them: support, conflict, certainty, words, endings, history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, and_, bindparam, func, select

from graph.belief.identity import IDENTITY
from graph.belief.lasting import last_attested
from graph.belief.weighing import Verdict, Weighed
from graph.ledger.beginnings import Beginnings
from graph.ledger.chunks import among, rows_among
from graph.ledger.directory import Directory, Names
from graph.ledger.endings import Ending, ending_of
from graph.ledger.evidence import Evidence, Units
from graph.ledger.history import transaction_times, versions
from graph.ledger.identity import ClaimRow, Identity, KnownIdentity, Place, Visibility
from graph.ledger.known_identity import IdentityCache
from graph.ledger.rectangles import COLUMNS, Rectangle, load, read_as, rectangle, replayed
from graph.ledger.scenes import Cited, Scene, SharedScenes
from graph.ledger.schema import OPEN, claims, episodes, statements
from graph.ledger.sources import episode_views
from graph.ledger.standing import standing
from graph.ledger.stored_identity import StoredIdentity
from graph.ledger.told_identity import ToldIdentity, nothing_told
from graph.views import Basis, EntityView, EvidenceView, InvalidationView, LiteralView, StatementView, VersionView, Want
from ontology.instant import UNBOUNDED_FUTURE, Instant
from ontology.names import Keys, normalise
from ontology.vocabulary import Vocabulary

VocabularyAt = Callable[[int], Vocabulary]
"""The vocabulary in force at a transaction."""

_QUOTES = (
    select(claims.c.row, func.substr(episodes.c.content, claims.c.start + 1, claims.c.end - claims.c.start).label("quote"))
    .join(episodes, and_(episodes.c.key == claims.c.episode, episodes.c.revision == claims.c.revision))
    .where(among(claims.c.row), claims.c.end > claims.c.start)
)
_AROUND = select(*COLUMNS).where(
    among(statements.c.base),
    statements.c.polarity == bindparam("polarity"),
    statements.c.v_from <= bindparam("at"),
    statements.c.v_to > bindparam("at"),
    standing(statements),
)


_DATED = frozenset({Want.TRANSACTION, Want.INVALIDATION})
"""What tells when something was first believed: under a said-time limit that is not stored."""
_UNTOLD = Cited(Weighed(Verdict.HOLDS), (), (), None)


@dataclass(frozen=True, slots=True)
class Beforehand:
    """What is looked up once for many bases: what things are called on them, and times of transactions."""

    names: Names
    times: Mapping[int, Instant]


class Describer:
    """Makes statement views on one basis."""

    def __init__(
        self,
        connection: Connection,
        keys: Keys,
        vocabulary_at: VocabularyAt,
        basis: Basis,
        identities: IdentityCache | None = None,
        limited: Callable[[], Connection] | None = None,
        beforehand: Beforehand | None = None,
    ) -> None:
        """`identities` keeps what is looked up; none for what is not committed. `limited` gives the rows under a said-time limit."""
        self.connection = connection
        self._limited = limited
        self._times: Mapping[int, Instant] = {} if beforehand is None else beforehand.times
        self._keys = keys
        self._vocabulary_at = vocabulary_at
        self.vocabulary = self._vocabulary = vocabulary_at(basis.transaction)
        self.basis = self._basis = basis
        self._until = UNBOUNDED_FUTURE if basis.evidence_until is None else basis.evidence_until
        self._kept = identities
        self._identities: dict[int, Identity] = {}
        self._nothing_told: bool | None = None
        self._replayed: dict[str, list[Rectangle]] = {}
        self._beginnings: Beginnings | None = None
        self.identity = self.identity_at(basis.transaction)
        names = None if beforehand is None else beforehand.names
        self.directory = Directory(connection, basis.namespace, basis.transaction, basis.evidence_until, self.identity, names)

    def identity_at(self, transaction: int) -> Identity:
        """Who is who as of a transaction, under the basis' said-time limit."""
        found = self._identities.get(transaction)
        if found is None:
            of = (self.connection, self._keys, self._basis.namespace, self._vocabulary_at(transaction))
            if self._basis.evidence_until is not None:
                found = ToldIdentity(*of, self.visibility(transaction), self._untold())
            else:
                known = None if self._kept is None else self._kept.at(self.connection, self._basis.namespace, transaction)
                found = StoredIdentity(*of, transaction, known)
            self._identities[transaction] = found
        return found

    @property
    def rows(self) -> Connection:
        """Where the rectangles that are believed on the basis stand, by rows of `statements`, and who is called what and who is who.

        Under a said-time limit that is a database of its own (`graph.ledger.limited`), in which all rows begin with the transaction;
        what is asked of anything but `statements`, `things`, `components` and `denotations` is asked of `connection`. Raises
        QueryTooComplex where the namespace is too large for that, LookupError where nobody said where to find it.
        """
        if self._basis.evidence_until is None:
            return self.connection
        if self._limited is None:
            raise LookupError("nothing tells where rows under a said-time limit are found")
        return self._limited()

    def _untold(self) -> KnownIdentity | None:
        """What is known of who is who where nobody ever told it; None elsewhere."""
        if self._nothing_told is None:
            self._nothing_told = nothing_told(self.connection, self._basis.namespace)
        return KnownIdentity(empty=True) if self._nothing_told else None

    def visibility(self, transaction: int) -> Visibility:
        """What counts at a transaction under the basis' said-time limit."""
        return Visibility(transaction, self._until)

    def told(self, places: Collection[Place]) -> list[Rectangle]:
        """The rectangles of some propositions that are believed on the basis under its said-time limit, in terms of its entities.

        As if they began with its transaction: when this evidence first said so `replay` tells, at a greater cost.
        """
        transaction, identity = self._basis.transaction, self.identity
        identity.load({key for place in places for key in (place.subject, place.object)})
        here = {place.proposition: place for place in map(identity.here, places)}
        evidence = Evidence(self.connection, self._vocabulary, self.visibility(transaction), identity)
        load(evidence, list(here.values()))
        units = Units(evidence)
        found: list[Rectangle] = []
        for base, place in here.items():
            for polarity, spans in units.spans(place):
                key = base if polarity else self._keys.denial(base)
                where = (key, base, place.slot, place.inverse_slot, place.subject, place.predicate, place.qualifier, place.object)
                found += [Rectangle(*where, polarity, *span, transaction, OPEN) for span in spans]
        return found

    def replay(self, places: Iterable[Place]) -> list[Rectangle]:
        """Every rectangle that the evidence said by the limit has made of some propositions up to the basis, each once.

        Raises QueryTooComplex where too many transactions changed one of them.
        """
        places = list(places)
        self.identity.load({key for place in places for key in (place.subject, place.object)})
        here = {place.proposition: place for place in map(self.identity.here, places)}
        for base, place in here.items():
            if base not in self._replayed:
                # Each by itself: together all would be resolved again at every transaction that changed one of them.
                by = (self.connection, self._keys, self._vocabulary, [place], self._basis.transaction, self._until)
                self._replayed[base] = replayed(*by, self.identity_at)
        return [row for base in here for row in self._replayed[base]]

    def begun(self, rows: Collection[Rectangle]) -> dict[Rectangle, int]:
        """The transactions with which this evidence first said so, of rectangles that are believed on the basis.

        Raises QueryTooComplex where too much would have to be weighed again.
        """
        if self._beginnings is None:
            by = (self.connection, self._vocabulary, self.identity, self._basis.transaction, self._until)
            self._beginnings = Beginnings(*by, self.replay)
        return self._beginnings.of(rows)

    def _dated(self, rows: Sequence[Rectangle]) -> list[Rectangle]:
        """Rectangles with the transactions with which this evidence first said so; those no longer believed have been replayed."""
        found = self.begun([row for row in rows if row.tx_to > self._basis.transaction])
        return [replace(row, tx_from=found[row]) if row in found else row for row in rows]

    def scene(self, transaction: int, shown: Collection[Rectangle], *, who: int | None = None) -> Scene:
        """The evidence as of a transaction, by the vocabulary of then; `who`: with everyone as they were at another one."""
        identity = self.identity_at(transaction if who is None else who)
        return Scene(self.connection, self._vocabulary_at(transaction), self.visibility(transaction), identity, shown)

    def cited(self, shown: Iterable[Rectangle]) -> dict[Rectangle, Cited]:
        """The evidence of rectangles; of those that are no longer believed, as of the last transaction that believed them."""
        moments: dict[int, list[Rectangle]] = defaultdict(list)
        for row in shown:
            moments[min(row.tx_to - 1, self._basis.transaction)].append(row)
        found: dict[Rectangle, Cited] = {}
        for moment, rows in moments.items():
            scene = self.scene(moment, rows)
            found.update({row: scene.cited(row, self._basis.valid_at) for row in rows})
        return found

    def views(
        self,
        shown: Sequence[Rectangle],
        want: frozenset[Want] = frozenset(),
        swapped: frozenset[str] = frozenset(),
        *,
        sided: bool = False,
    ) -> list[StatementView]:
        """Views of rectangles in their order.

        `swapped` names propositions to show from their other side; `sided`: all others are wanted as they are stored.
        """
        if not shown:
            return []
        self.directory.load({key for row in shown for key in (row.subject, row.object)})
        if self._basis.evidence_until is not None and want & _DATED:
            shown = self._dated(shown)
        if not sided:
            swapped |= {row.base for row in shown if row.base not in swapped and self.backwards(row)}
        if want - {Want.TRANSACTION} == {Want.BARE}:
            times = self._times_of({at for row in shown for at in (row.tx_from, row.tx_to)})
            return [self._view(row, _UNTOLD, {}, times, row.base in swapped) for row in shown]
        cited = self.cited(shown)
        endings = self._endings(shown, want)
        told = [cite.rows if Want.PROVENANCE in want else cite.rows[:1] for cite in cited.values()]
        quotes = self._quotes({claim.row: claim for rows in told for claim in rows})
        histories = self._histories(shown) if Want.HISTORY in want else {}
        times = self._times_of({at for row in shown for at in (row.tx_from, row.tx_to)} | {ending.decided for ending in endings.values()})
        provenance = self._provenance(cited, quotes) if Want.PROVENANCE in want else {}
        invalidations = self._invalidations(endings, times)
        views = []
        for row in shown:
            view = self._view(row, cited[row], quotes, times, row.base in swapped)
            views.append(
                replace(
                    view,
                    invalidation=invalidations.get(row),
                    history=histories.get(row, ()),
                    provenance=provenance.get(row, ()),
                )
            )
        return views

    def _times_of(self, numbers: Collection[int]) -> Mapping[int, Instant]:
        """When transactions up to that of the basis were recorded."""
        wanted = {number for number in numbers if number <= self._basis.transaction}
        return self._times if wanted <= self._times.keys() else transaction_times(self.connection, wanted)

    def backwards(self, row: Rectangle) -> bool:
        """Whether a symmetric relation is stored from the side of the greater name, as one of the names that were joined told it."""
        if row.inverse_slot is None or not self._vocabulary.predicate(row.predicate).symmetric:
            return False
        one, other = self.directory.required(row.subject), self.directory.required(row.object)
        if isinstance(one, LiteralView) or isinstance(other, LiteralView):
            return False
        return _place(other) < _place(one)

    def _view(self, row: Rectangle, cite: Cited, quotes: Mapping[int, str], times: Mapping[int, Instant], swapped: bool) -> StatementView:
        subject, object = self.directory.required(row.subject), self.directory.required(row.object)
        if row.predicate == IDENTITY and subject.key == object.key:
            object = self.directory.other_name(row.subject, row.object)
            swapped = False
        predicate = row.predicate
        if swapped:
            subject, object = object, subject
            known = self._vocabulary.predicate(row.predicate)
            predicate = known.inverse or predicate
        quote = quotes.get(cite.rows[0].row, "") if cite.rows else ""
        name = object.name if hasattr(object, "name") else object.value
        denied = "" if row.polarity else "not "
        return StatementView(
            read_as(self.identity, row).proposition,
            subject,  # type: ignore[arg-type]
            predicate,
            row.qualifier,
            object,
            row.polarity,
            row.v_from,
            row.v_to,
            _stated_start(cite.rows, row.v_from),
            cite.to_text,
            times[row.tx_from],
            times[row.tx_to] if row.tx_to <= self._basis.transaction else None,
            cite.outcome.support,
            cite.outcome.conflict,
            cite.outcome.certain,
            quote or f"{subject.name} {denied}{predicate.replace('_', ' ')} {name}",  # type: ignore[union-attr]
            max((claim.confidence for claim in cite.rows), default=0.0),
            last_attested(cite.atoms, row.v_from, row.v_to),
            len({claim.episode for claim in cite.rows}),
            swapped=swapped,
            stored_key=row.proposition,
        )

    def _quotes(self, told: Mapping[int, ClaimRow]) -> dict[int, str]:
        """The words of claims by their rows."""
        found = rows_among(self.connection, _QUOTES, list(told))
        return {row.row: row.quote or "" for row in found}

    def _provenance(self, cited: Mapping[Rectangle, Cited], quotes: Mapping[int, str]) -> dict[Rectangle, tuple[EvidenceView, ...]]:
        views = episode_views(
            self.connection, {(claim.episode, claim.revision) for cite in cited.values() for claim in cite.rows}, self._basis.transaction
        )
        found = {}
        for row, cite in cited.items():
            ordered = sorted(cite.rows, key=lambda claim: (claim.said, claim.episode, claim.place))
            found[row] = tuple(
                EvidenceView(
                    claim.id, views[claim.episode, claim.revision], quotes.get(claim.row, ""), claim.start, claim.end, claim.extractor
                )
                for claim in ordered
            )
        return found

    def evidence(self, claim: ClaimRow) -> EvidenceView:
        """The words of one claim."""
        return self.words([claim])[claim.row]

    def words(self, told: Collection[ClaimRow]) -> dict[int, EvidenceView]:
        """The words of claims by their rows."""
        copies = episode_views(self.connection, {(claim.episode, claim.revision) for claim in told}, self._basis.transaction)
        quotes = self._quotes({claim.row: claim for claim in told})
        return {
            claim.row: EvidenceView(
                claim.id, copies[claim.episode, claim.revision], quotes.get(claim.row, ""), claim.start, claim.end, claim.extractor
            )
            for claim in told
        }

    def _endings(self, shown: Collection[Rectangle], want: frozenset[Want]) -> dict[Rectangle, Ending]:
        if Want.INVALIDATION not in want:
            return {}
        scenes = SharedScenes(self, shown)
        # In order of time, as units are read best.
        ordered = sorted(shown, key=lambda row: row.v_to)
        found = {row: ending_of(scenes, row, self._basis.transaction) for row in ordered}
        return {row: ending for row, ending in found.items() if ending is not None}

    def _invalidations(self, endings: Mapping[Rectangle, Ending], times: Mapping[int, Instant]) -> dict[Rectangle, InvalidationView]:
        if not endings:
            return {}
        taken = {row: found for row, ending in endings.items() if (found := self._taken(ending)) is not None}
        over = list(dict.fromkeys(taken.values()))
        views = dict(zip(over, self.views(over), strict=True))
        words = self.words(list({ending.claim.row: ending.claim for ending in endings.values() if ending.claim is not None}.values()))
        return {
            row: InvalidationView(
                ending.reason,
                ending.rule,
                views[taken[row]] if row in taken else None,
                words[ending.claim.row] if ending.claim is not None else None,
                times[ending.decided],
                ending.decided,
            )
            for row, ending in endings.items()
        }

    def _taken(self, ending: Ending) -> Rectangle | None:
        return None if ending.by is None else self.rectangle_at(ending.by, ending.at, ending.shown)

    def rectangle_at(self, value: tuple[Place, bool], at: Instant, transaction: int) -> Rectangle | None:
        """The believed rectangle of a proposition with a polarity around an instant."""
        if self._basis.evidence_until is not None:
            told = (row for row in self.replay([value[0]]) if row.tx_from <= transaction < row.tx_to)
            return next((row for row in told if row.polarity == value[1] and row.holds(at)), None)
        keys = self.identity_at(transaction).kept_under(value[0])
        values = {"polarity": value[1], "at": at, "transaction": transaction}
        row = next(iter(rows_among(self.connection, _AROUND, keys, **values)), None)
        return rectangle(row) if row is not None else None

    def _histories(self, shown: Sequence[Rectangle]) -> dict[Rectangle, tuple[VersionView, ...]]:
        replay = self.replay if self._basis.evidence_until is not None else None
        return versions(self.connection, self._basis.transaction, shown, self.identity_at, replay)


def _place(entity: EntityView) -> tuple[str, str, str]:
    return normalise(entity.name), entity.discriminator or "", entity.key


def _stated_start(rows: Iterable[ClaimRow], start: Instant) -> str | None:
    return next((row.from_text for row in rows if row.from_lo == start and row.from_text is not None), None)
