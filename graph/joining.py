"""What people say about who is who: joining entities, and telling two of one name apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from sqlalchemy import Connection, select

from graph.belief.identity import IDENTITY, Split
from graph.ledger.chunks import among, rows_among
from graph.ledger.committing import Commit
from graph.ledger.identity import SOURCE, Identity
from graph.ledger.preparing import Preparer
from graph.ledger.readings import rejected_among
from graph.ledger.rejecting import checked_reason
from graph.ledger.schema import OPEN, claims, episodes
from graph.ledger.standing import believed_at
from graph.ledger.stored_identity import StoredIdentity
from graph.reviewing import Reviewing
from graph.views import ChangeReceipt, EntityRef, StatedClaim
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.echo import echo
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput, NotFound
from ontology.names import checked_name, normalise

MAX_ENTITIES = 100
MAX_DISCRIMINATOR = 128

_TOLD = select(claims.c.id, claims.c.tx_to).where(among(claims.c.episode)).order_by(claims.c.row)


class Joining(Reviewing):
    """Implements its part of `graph.facade.Graph`: joins and splits are claims of episodes of their own."""

    def merge(self, namespace: str, entities: Sequence[str], *, reason: str | None = None, actor: str = "local") -> ChangeReceipt:
        """State that entities are one."""
        names = self._names(namespace, entities, "ids")
        if not 2 <= len(names) <= MAX_ENTITIES:
            few = "TOO_FEW" if len(names) < 2 else "TOO_MANY"
            raise InvalidInput(f"name 2 to {MAX_ENTITIES} different entities to join; these are {len(names)}", path=("ids",), reason=few)
        first, *others = sorted(names)
        stated = [_related(first, other, "merge") for other in others]
        return self._state(namespace, "merge", ("merge", first, *others), stated, names, actor, reason, first)

    def split(
        self,
        namespace: str,
        entity: str,
        *,
        groups: Sequence[str] = (),
        sources: Sequence[str] = (),
        discriminator: str,
        name: str | None = None,
        reason: str | None = None,
        actor: str = "local",
    ) -> ChangeReceipt:
        """State that the evidence of episodes of some groups and sources speaks of another entity of the same name."""
        self._names(namespace, [entity], "id")
        within = _scopes(groups, sources)
        apart = _checked_discriminator(discriminator)
        raws = self._told_within(namespace, entity, within) if name is None else [self._one_of_its_names(namespace, entity, name)]
        names = {raw: name for raw in raws if (name := self._entity_name(namespace, raw)) is not None}
        others = {raw: self.keys.entity(namespace, name, apart) for raw, name in names.items()}
        stated = [
            _related(raw, other, "split", polarity=False, scope=scope, apart=apart)
            for (raw, other), scope in product(sorted(others.items()), within)
        ]
        first, *rest = (other for _, other in sorted(others.items()))
        stated += [_related(first, other, "split") for other in rest]
        names |= {other: names[raw] for raw, other in others.items()}
        what = ("split", *sorted(others), *(repr(scope) for scope in within), apart)
        return self._state(namespace, "split", what, stated, names, actor, reason, first)

    def _told_within(self, namespace: str, entity: str, within: Sequence[tuple[str | None, str | None]]) -> list[str]:
        """The names by which episodes of the scopes call an entity; where they do not, that of its key."""
        last = self.snapshot(namespace).basis.transaction
        with self._engine.connect() as connection:
            identity = self._identity(connection, namespace, last)
            found = _told_within(connection, identity, entity, within, last)
            return found or sorted(identity.told(entity) - identity.members(entity)) or [entity]

    def _identity(self, connection: Connection, namespace: str, transaction: int) -> Identity:
        return StoredIdentity(connection, self.keys, namespace, self._vocabulary, transaction)

    def _one_of_its_names(self, namespace: str, entity: str, name: str) -> str:
        key = self.keys.entity(namespace, checked_name(name, path=("name",)))
        with self._engine.connect() as connection:
            identity = self._identity(connection, namespace, self.snapshot(namespace).basis.transaction)
            identity.load([entity])
            if key not in identity.raws(entity):
                raise InvalidInput(f"{name!r} is no name of this entity", path=("name",), reason="NO_SUCH_NAME")
        return key

    def _names(self, namespace: str, entities: Sequence[str], path: str) -> dict[str, str]:
        """The names of entities by key; NotFound where there is none."""
        found: dict[str, str] = {}
        for key in entities:
            name = self._entity_name(namespace, key)
            if name is None:
                raise NotFound(f"there is no entity with the ID {echo(key, 80)} in this namespace; `entities` lists them", id=key)
            found[key] = name
        return found

    def _state(
        self,
        namespace: str,
        kind: str,
        what: tuple[str, ...],
        stated: Sequence[StatedClaim],
        names: dict[str, str],
        actor: str,
        reason: str | None,
        about: str,
    ) -> ChangeReceipt:
        """Record an episode that states claims; one that stands and acts already answers.

        What was rejected since, or outweighed by what was stated later, is stated anew.
        """
        why = None if reason is None else checked_reason(reason)
        preparer = Preparer(namespace, self.keys, self._vocabulary, self._clock(), names.get)
        external = self.keys.digest(kind, namespace, *what)

        def act(connection: Connection, commit: Commit) -> ChangeReceipt:
            acting = _act(self._identity(connection, namespace, commit.number), stated)
            last: ChangeReceipt | None = None
            for number in range(1, 1_000_000):
                episode = EpisodeDraft("", SOURCE, external_id=f"{external}#{number}")
                prepared = preparer.stated(episode, stated, drop_bad_dates=False)
                told = tuple(claim["id"] for claim in prepared.claims)
                known = _standing(connection, prepared.row["key"])
                if known:
                    last = ChangeReceipt(known, True, told, about)
                elif known is None:
                    if last is not None and acting:
                        return last
                    return ChangeReceipt(commit.record([prepared])[0].transaction, False, told, about)
            raise InvalidInput("this was stated and rejected too often", path=("ids",), reason="TOO_MANY")

        receipt = self._change(namespace, act, kind, actor, why)
        entity = self.snapshot(namespace).key_of(EntityRef(about))
        return ChangeReceipt(receipt.transaction, receipt.deduplicated, receipt.claims, entity)


def _standing(connection: Connection, key: str) -> int | None:
    """The transaction of an episode whose claims all stand; 0 where it is withdrawn or some are rejected, None where there is none."""
    row = connection.execute(select(episodes.c.tx_recorded, episodes.c.tx_to).where(episodes.c.key == key)).first()
    if row is None:
        return None
    told = {claim.id for claim in rows_among(connection, _TOLD, [key])}
    return row.tx_recorded if row.tx_to == OPEN and not rejected_among(connection, told) else 0


def _act(identity: Identity, stated: Sequence[StatedClaim]) -> bool:
    """Whether what is stated is so already."""
    told = [(claim.subject_key or "", claim.object_key or "", claim) for claim in stated]
    identity.load({key for one, other, _ in told for key in (one, other)})
    for one, other, claim in told:
        if claim.draft.polarity:
            if identity.root(one) != identity.root(other):
                return False
        elif next((split.target for split in identity.state.splits.get(one, ()) if _overlap(split, claim)), None) != other:
            return False
    return True


def _overlap(split: Split, claim: StatedClaim) -> bool:
    """Whether an episode may lie in the scopes of both."""
    pairs = ((split.scope_group, claim.scope_group), (split.scope_source, claim.scope_source))
    return all(one is None or other is None or one == other for one, other in pairs)


def _related(
    subject: str,
    object: str,
    rule: str,
    *,
    polarity: bool = True,
    scope: tuple[str | None, str | None] = (None, None),
    apart: str = "",
) -> StatedClaim:
    # The qualifier of a split is its discriminator: keys do not tell it.
    draft = ClaimDraft("", IDENTITY, ObjectDraft(""), qualifier=apart, polarity=polarity, rule=rule)
    return StatedClaim(draft, subject_key=subject, object_key=object, scope_group=scope[0], scope_source=scope[1])


def _scopes(groups: Sequence[str], sources: Sequence[str]) -> list[tuple[str | None, str | None]]:
    """Every combination of a group and a source that a split is about."""
    if not groups and not sources:
        raise InvalidInput("say of which groups or sources the evidence speaks of another", path=("groups",), reason="MISSING")
    named_groups = [checked_name(group, path=("groups", str(place))) for place, group in enumerate(groups)]
    named_sources = [checked_name(source, path=("sources", str(place))) for place, source in enumerate(sources)]
    every: list[str | None] = [None]
    return list(product([*sorted(set(named_groups))] or every, [*sorted(set(named_sources))] or every))


def _checked_discriminator(discriminator: str) -> str:
    folded = normalise(checked_name(discriminator, path=("discriminator",)))
    if len(folded) > MAX_DISCRIMINATOR:
        raise InvalidInput(f"a discriminator has at most {MAX_DISCRIMINATOR} characters", path=("discriminator",), reason="TOO_LONG")
    return folded


def _told_within(
    connection: Connection, identity: Identity, entity: str, within: Sequence[tuple[str | None, str | None]], transaction: int
) -> list[str]:
    identity.load([entity])
    found: set[str] = set()
    for side in (claims.c.subject, claims.c.object):
        told = (claims.c.source != SOURCE, believed_at(claims, transaction))
        query = select(side, claims.c.grp, claims.c.source).distinct().where(among(side), *told)
        for row in rows_among(connection, query, identity.raws(entity)):
            raw, group, source = row[0], row.grp, row.source
            inside = any(one in (None, group) and other in (None, source) for one, other in within)
            if inside and identity.denoted(raw, group, source) == identity.root(entity):
                found.add(raw)
    return sorted(found)
