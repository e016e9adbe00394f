"""One commit while it is put together: which claims come and go, then the names and statements that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, func, insert, select, update

from graph.ledger.bulk import BulkInsert
from graph.ledger.chunks import among, rows_among
from graph.ledger.deliveries import begin_waiting, end_failures, end_waiting
from graph.ledger.evidence import Evidence
from graph.ledger.identifying import Reread, Shift, reread, shift
from graph.ledger.identity import Place, Visibility
from graph.ledger.labels import LabelChanges
from graph.ledger.preparing import PreparedEpisode
from graph.ledger.readings import rejected_among
from graph.ledger.resolving import resolve
from graph.ledger.schema import OPEN, claims, episodes, idempotency, retractions, transactions
from graph.views import Receipt
from ontology.echo import echo
from ontology.errors import IdempotencyConflict, InvalidInput
from ontology.instant import UNBOUNDED_FUTURE, Instant
from ontology.names import Keys
from ontology.vocabulary import Vocabulary

MAX_IDEMPOTENCY_KEY = 256

Clock = Callable[[], Instant]
"""The present as an instant."""

_LAST = select(transactions.c.number, transactions.c.at).order_by(transactions.c.number.desc()).limit(1)
_COPIES = select(
    episodes.c.row,
    episodes.c.key,
    episodes.c.revision,
    episodes.c.revised,
    episodes.c.said,
    episodes.c.order_text,
    episodes.c.flags,
    episodes.c.status,
    episodes.c.tx_recorded,
    episodes.c.tx_extracted,
    episodes.c.tx_from,
    episodes.c.tx_to,
    episodes.c.tx_released,
).where(among(episodes.c.key))
# An episode that was given up may still be completed.
_WAITING = ("PENDING", "FAILED")
_COMPLETED = ("status", "tx_extracted", "tx_from", "tx_to", "flags")
_WITHDRAWN = select(retractions.c.key, retractions.c.tx).where(among(retractions.c.key))
_NEW_EPISODES, _NEW_CLAIMS, _NEW_TRANSACTION = insert(episodes), BulkInsert(claims), insert(transactions)
_EVIDENCE_OF = select(claims).where(among(claims.c.episode), claims.c.tx_to == OPEN)


@dataclass(slots=True)
class _Copy:
    """One revision of a key while a commit decides which is current."""

    revision: str
    order: tuple[Instant, str]
    row: int | None
    counts: bool
    prepared: PreparedEpisode | None


def _tells_nothing(episode: PreparedEpisode, waiting: Row[Any]) -> bool:
    """Whether a copy that waits stays as it is when it is handed in again."""
    return not episode.extracted or (episode.row["status"] == "QUARANTINED" and waiting.tx_released is not None)


class Commit:
    """One transaction while it is put together. `needed`: something is to be recorded."""

    def __init__(self, connection: Connection, keys: Keys, vocabulary: Vocabulary, namespace: str, clock: Clock) -> None:
        last = connection.execute(_LAST).first()
        self.number = (last.number if last else 0) + 1
        # Strictly increasing, also where the machine's clock steps back.
        self.at = max(clock(), last.at + 1 if last else 0)
        self.needed = False
        self._connection = connection
        self._keys = keys
        self._vocabulary = vocabulary
        self._namespace = namespace
        self._labels = LabelChanges()
        self._changed: dict[str, Any] = {}

    def claim_key(self, key: str, episode: PreparedEpisode) -> None:
        """Note what an idempotency key was used with; what it was used with first answers by being known."""
        if not 1 <= len(key) <= MAX_IDEMPOTENCY_KEY:
            raise InvalidInput(
                f"an idempotency key has 1 to {MAX_IDEMPOTENCY_KEY} characters", path=("idempotencyKey",), reason="INVALID_KEY"
            )
        payload = f"{episode.row['key']}{episode.row['revision']}"
        used = select(idempotency.c.payload).where(idempotency.c.namespace == self._namespace, idempotency.c.key == key)
        known = self._connection.execute(used).scalar()
        if known is None:
            row = {"namespace": self._namespace, "key": key, "payload": payload, "tx": self.number}
            self._connection.execute(insert(idempotency), row)
        elif known != payload:
            raise IdempotencyConflict(
                f"the idempotency key {echo(key, 80)} was used with another episode or other statements", idempotency_key=key
            )

    def claimed(self, key: str) -> tuple[str, str]:
        """Key and revision of the episode that an idempotency key was used with."""
        used = select(idempotency.c.payload).where(idempotency.c.namespace == self._namespace, idempotency.c.key == key)
        payload = self._connection.execute(used).scalar_one()
        return payload[: len(payload) // 2], payload[len(payload) // 2 :]

    def record(self, prepared: Sequence[PreparedEpisode], *, queue: str = "live", trace: str | None = None) -> list[Receipt]:
        """Record episodes with their claims; what is known answers with the first transaction.

        Those without wait in `queue`. One that was given up is completed by its claims as one that waits.
        """
        keys = {episode.row["key"] for episode in prepared}
        copies: dict[str, list[_Copy]] = {key: [] for key in keys}
        first: dict[tuple[str, str], int] = {}
        pending: dict[tuple[str, str], Row[Any]] = {}
        for row in rows_among(self._connection, _COPIES, keys):
            if row.status in _WAITING:
                pending[row.key, row.revision] = row
            else:
                first[row.key, row.revision] = row.tx_extracted or row.tx_recorded
            if row.tx_extracted is not None:
                counts = row.tx_to == OPEN and row.tx_from is not None
                copies[row.key].append(_Copy(row.revision, (row.revised, row.order_text), row.row, counts, None))
        withdrawn = {row.key for row in rows_among(self._connection, _WITHDRAWN, keys)}
        receipts: list[Receipt] = []
        new: list[PreparedEpisode] = []
        for episode in prepared:
            name = (episode.row["key"], episode.row["revision"])
            # A pending copy that is handed in again unextracted is known; with its claims it is what was waited for. One that was
            # released is not held back again.
            if name in first or (name in pending and _tells_nothing(episode, pending[name])):
                receipts.append(Receipt(name[0], True, first.get(name, 0), episode.warnings))
                continue
            first[name] = self.number if episode.extracted else 0
            receipts.append(Receipt(name[0], False, self.number if episode.extracted else 0, episode.warnings))
            new.append(episode)
            if episode.extracted:
                # One without a stated time was said, and so revised, when it was accepted: not when it is extracted.
                revised = pending[name].revised if name in pending else episode.row["revised"]
                copies[name[0]].append(_Copy(name[1], (revised, episode.row["order_text"]), None, False, episode))
        if new:
            self.needed = True
            self._choose(copies, withdrawn, new, pending)
            begin_waiting(self._connection, self.number, self.at, queue, trace)
        return receipts

    def _choose(
        self,
        copies: dict[str, list[_Copy]],
        withdrawn: set[str],
        new: list[PreparedEpisode],
        pending: dict[tuple[str, str], Row[Any]],
    ) -> None:
        """Write the new episodes; of each key the greatest copy is evidence, the others are kept."""
        overtaken: list[str] = []
        current: dict[str, str | None] = {}
        for key, known in copies.items():
            best = max(known, key=lambda copy: copy.order, default=None)
            current[key] = best.revision if best is not None and key not in withdrawn else None
            if best is not None and best.prepared is not None and any(copy.counts for copy in known):
                overtaken.append(key)
        if overtaken:
            self._withdraw(overtaken)
        # An ID holds its episode's key: only what is on record can have been rejected.
        again = [episode for episode in new if any(copy.prepared is None for copy in copies[episode.row["key"]])]
        rejected = rejected_among(self._connection, {claim["id"] for episode in again for claim in episode.claims})
        rows, updates, claim_rows = [], [], []
        for episode in new:
            key, revision = episode.row["key"], episode.row["revision"]
            counts = episode.extracted and current[key] == revision
            status = "RETRACTED" if key in withdrawn and episode.row["status"] != "QUARANTINED" else episode.row["status"]
            end = OPEN if counts or not episode.extracted else self.number
            begun = self.number if episode.extracted else None
            held = self.number if episode.row["status"] == "QUARANTINED" else None
            life = {"status": status, "tx_extracted": begun, "tx_from": begun, "tx_to": end, "tx_held": held}
            said = episode.row["said"]
            if (key, revision) in pending:
                waiting = pending[key, revision]
                at, said = waiting.row, waiting.said
                updates.append(
                    {
                        "at": at,
                        **{f"new_{name}": value for name, value in life.items()},
                        # What was found before scrubbing cannot be found again.
                        "new_flags": list(dict.fromkeys((*waiting.flags, *episode.row["flags"]))),
                    }
                )
            else:
                rows.append({**episode.row, **life, "tx_recorded": self.number})
            for claim in episode.claims:
                stays = counts and claim["id"] not in rejected
                claim = {**claim, "said": said, "tx_from": self.number, "tx_to": OPEN if stays else self.number}
                claim_rows.append(claim)
                if stays:
                    self.enter(claim)
        if rows:
            self._connection.execute(_NEW_EPISODES, rows)
        if updates:
            values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _COMPLETED}
            values["tx_held"] = func.coalesce(bindparam("new_tx_held"), episodes.c.tx_held)
            waited = [change["at"] for change in updates]
            end_waiting(self._connection, waited)
            end_failures(self._connection, waited, self.number)
            self._connection.execute(update(episodes).where(episodes.c.row == bindparam("at")).values(values), updates)
        _NEW_CLAIMS(self._connection, claim_rows)

    def retract(self, key: str, reason: str | None) -> Receipt:
        """Withdraw an episode, for good."""
        known = self._connection.execute(select(retractions.c.tx).where(retractions.c.key == key)).first()
        if known is not None:
            return Receipt(key, True, known.tx)
        self.needed = True
        self._withdraw([key])
        self._connection.execute(insert(retractions), {"namespace": self._namespace, "key": key, "tx": self.number, "reason": reason})
        # What was held back stays so in the past; readers see the retraction itself.
        said = and_(episodes.c.key == key, episodes.c.status.in_([*_WAITING, "EXTRACTED"]))
        end_waiting(self._connection, list(self._connection.scalars(select(episodes.c.row).where(said))))
        self._connection.execute(update(episodes).where(said).values(status="RETRACTED"))
        return Receipt(key, False, self.number)

    def _withdraw(self, keys: Sequence[str]) -> None:
        """Take the claims of episodes out of the set."""
        for row in rows_among(self._connection, _EVIDENCE_OF, keys):
            self.leave(dict(row._mapping))
        for table in (claims, episodes):
            column = claims.c.episode if table is claims else episodes.c.key
            ended = update(table).where(among(column), and_(table.c.tx_to == OPEN, table.c.tx_from.is_not(None))).values(tx_to=self.number)
            self._connection.execute(ended, {"keys": list(keys)})

    def reconsider(self, predicates: Sequence[str]) -> None:
        """Mark everything that stands on some predicates as changed."""
        query = select(claims).where(
            claims.c.namespace == self._namespace, among(claims.c.predicate), claims.c.tx_to == OPEN, claims.c.believed
        )
        for row in rows_among(self._connection, query, predicates):
            self.needed = True
            self._change(dict(row._mapping))

    def enter(self, claim: dict[str, Any]) -> None:
        """Note that a claim comes into the set."""
        self._labels.add(claim, +1)
        self._change(claim)

    def leave(self, claim: dict[str, Any]) -> None:
        """Note that a claim leaves the set."""
        self._labels.add(claim, -1)
        self._change(claim)

    def _change(self, claim: dict[str, Any]) -> None:
        if claim["believed"]:
            self._changed[claim["id"]] = claim

    def finish(self, kind: str, actor: str, reason: str | None) -> None:
        """Who is who, names, statements, and the transaction's own row."""
        changed = list(self._changed.values())
        moved = shift(self._connection, self._keys, self._namespace, self._vocabulary, self.number, changed)
        again = reread(self._connection, moved) if not moved.nothing else Reread()
        claimed = [dict(row._mapping) for row in again.claims.values()]
        self._labels.write(self._connection, self._namespace, self.number, moved, claimed)
        self._resolve(moved, [*changed, *(claim for claim in claimed if claim["believed"])], again.places)
        row = {"number": self.number, "namespace": self._namespace, "at": self.at, "kind": kind, "actor": actor, "reason": reason}
        self._connection.execute(_NEW_TRANSACTION, row)

    def _resolve(self, moved: Shift, changed: Sequence[Mapping[str, Any]], stored: Sequence[Place]) -> None:
        """Statements that follow from claims that came, went or mean another entity; `stored` are places to look at besides."""
        moved.load(changed)
        places = {place.proposition: place for claim in changed for place in moved.places(claim)}
        places |= {place.proposition: place for place in stored}
        replaced = {place.proposition: place for claim in changed for place in moved.replaced(claim)}
        literals = {claim["object"]: claim["datatype"] is not None for claim in changed}
        visibility = Visibility(self.number, UNBOUNDED_FUTURE)
        evidence = Evidence(self._connection, self._vocabulary, visibility, moved.new)
        resolve(self._connection, self._keys, self._namespace, self.number, evidence, places.values(), replaced.values(), literals)
