"""Versions of propositions in transaction time, and the times of transactions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from sqlalchemy import Connection, bindparam, select

from graph.belief.identity import IDENTITY
from graph.ledger.chunks import among, rows_among
from graph.ledger.identity import Identity, Place
from graph.ledger.rectangles import COLUMNS, IdentityAt, Rectangle, read_as, rectangle
from graph.ledger.schema import OPEN, components, statements, transactions
from graph.views import VersionView
from ontology.instant import Instant

Replay = Callable[[Iterable[Place]], Iterable[Rectangle]]
"""All rectangles that some propositions ever had."""

_TIMES = select(transactions.c.number, transactions.c.at).where(among(transactions.c.number))
_VERSIONS = select(*COLUMNS).where(among(statements.c.base), statements.c.tx_from <= bindparam("transaction"))
_EVER = select(components.c.member, components.c.root, components.c.tx_from, components.c.tx_to).where(
    components.c.tx_from <= bindparam("transaction")
)
_MEMBERSHIPS, _WITH_ROOTS = _EVER.where(among(components.c.member)), _EVER.where(among(components.c.root))


def transaction_times(connection: Connection, numbers: Collection[int]) -> dict[int, Instant]:
    """When transactions were recorded; 0, before the first, is 1970."""
    wanted = {number for number in numbers if 0 < number < OPEN}
    return {0: 0} | {row.number: row.at for row in rows_among(connection, _TIMES, wanted)}


def versions(
    connection: Connection, transaction: int, shown: Sequence[Rectangle], identity_at: IdentityAt, replay: Replay | None = None
) -> dict[Rectangle, tuple[VersionView, ...]]:
    """Every interval of the propositions of some statements up to a transaction, in transaction order.

    `replay` gives them where the stored ones are not meant.

    They are read through the identity of the basis: at an earlier transaction a proposition has the intervals that its parts then
    had, so what was joined since was never removed and added.
    """
    identity = identity_at(transaction)
    identity.load({key for row in shown for key in (row.subject, row.object)})
    read = {row: read_as(identity, row) for row in shown}
    places = {row.place.proposition: row.place for row in read.values()}
    found = _stored(connection, transaction, places, identity_at) if replay is None else replay(places.values())
    spans: dict[tuple[str, bool], dict[tuple[Instant, Instant], list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for row in found:
        spans[row.base, row.polarity][row.v_from, row.v_to].append((row.tx_from, row.tx_to))
    joined = {value: sorted((*life, *span) for span, lives in each.items() for life in _merged(lives)) for value, each in spans.items()}
    times = transaction_times(connection, {at for each in joined.values() for life in each for at in life[:2]})
    histories = {}
    for row, known in read.items():
        lives = sorted(joined.get((known.base, known.polarity), ()), key=lambda life: (life[0], life[2]))
        histories[row] = tuple(
            VersionView(v_from, v_to, times[begun], times[ended] if ended <= transaction else None) for begun, ended, v_from, v_to in lives
        )
    return histories


def _stored(connection: Connection, transaction: int, places: Mapping[str, Place], identity_at: IdentityAt) -> Iterator[Rectangle]:
    """Stored rectangles of propositions, and of what their parts belonged to at earlier transactions, as rectangles of them."""
    identity = identity_at(transaction)
    sides = {key: identity.members(key) for place in places.values() for key in (place.subject, place.object)}
    named = {member for members in sides.values() for member in members}
    epochs = [(transaction, OPEN)] if identity.nothing_joined else _epochs(connection, identity, named, transaction)
    for begun, ended in epochs:
        then = identity_at(begun)
        then.load(named)
        # All keys of whatever the members belonged to.
        whole = {key: {other for root in set(map(then.root, members)) for other in then.members(root)} for key, members in sides.items()}
        under: dict[str, set[str]] = defaultdict(set)
        for base, place in places.items():
            apart = place.predicate == IDENTITY
            for key in [base] if apart else then.stored_between(place, whole[place.subject], whole[place.object]):
                under[key].add(base)
        for row in rows_among(connection, _VERSIONS, under.keys(), transaction=transaction):
            kept = rectangle(row)
            life = (kept.tx_from, kept.tx_to)
            if len(epochs) > 1:
                life = (max(kept.tx_from, begun), min(kept.tx_to, ended))
            if life[0] < life[1]:
                yield from (replace(kept, base=base, tx_from=life[0], tx_to=life[1]) for base in under[kept.base])


def _epochs(connection: Connection, identity: Identity, keys: set[str], transaction: int) -> list[tuple[int, int]]:
    """Stretches of transactions, each begun at its first, in which some keys were joined with the same others.

    One, seen from the transaction, where none was ever joined with what it is apart from now: then all that is stored under their
    keys is theirs.
    """
    changes = {0}
    fresh, seen = set(keys), set(keys)
    apart = False
    while fresh:
        rows = list(rows_among(connection, _MEMBERSHIPS, fresh, transaction=transaction))
        roots = {row.root for row in rows}
        rows += rows_among(connection, _WITH_ROOTS, roots, transaction=transaction)
        apart = apart or any(identity.root(row.member) != identity.root(row.root) for row in rows)
        changes |= {at for row in rows for at in (row.tx_from, row.tx_to) if at <= transaction}
        fresh = {row.member for row in rows} - seen
        seen |= fresh
    return list(pairwise([*sorted(changes), OPEN])) if apart else [(transaction, OPEN)]


def _merged(lives: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Stretches of transactions without overlaps and seams."""
    current: tuple[int, int] | None = None
    for begun, ended in sorted(lives):
        if current is not None and begun <= current[1]:
            current = (current[0], max(current[1], ended))
        else:
            if current is not None:
                yield current
            current = (begun, ended)
    if current is not None:
        yield current
