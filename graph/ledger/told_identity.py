"""Identity as the visible claims make it: computed, where the tables do not hold it (under a said-time limit, and in a commit)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, bindparam, select, text

from graph.belief.identity import Identities, IdentityClaim, connected, identities
from graph.ledger.chunks import among, rows_among
from graph.ledger.identity import ClaimRow, Identity, KnownIdentity, Visibility
from graph.ledger.schema import claims
from ontology.aliases import is_role
from ontology.claim import ClaimKind
from ontology.names import Keys
from ontology.vocabulary import Vocabulary

OF_IDENTITY = text("claims.predicate = 'also_known_as'")
_IDENTITY_CLAIMS = select(claims).where(
    # Written out, since a partial index serves no parameter.
    OF_IDENTITY,
    claims.c.believed,
    claims.c.tx_from <= bindparam("transaction"),
    claims.c.tx_to > bindparam("since"),
    claims.c.tx_to > claims.c.tx_from,
    claims.c.said <= bindparam("said_until"),
)
# With an end of the range the partial index serves.
_EVER_TOLD = select(claims.c.row).where(OF_IDENTITY, claims.c.subject >= "", claims.c.namespace == bindparam("namespace")).limit(1)
_NAMING = (_IDENTITY_CLAIMS.where(among(claims.c.subject)), _IDENTITY_CLAIMS.where(among(claims.c.object)))


class ToldIdentity(Identity):
    """Identity as the visible claims make it, computed from them."""

    def __init__(
        self,
        connection: Connection,
        keys: Keys,
        namespace: str,
        vocabulary: Vocabulary,
        visibility: Visibility,
        known: KnownIdentity | None = None,
    ) -> None:
        super().__init__(connection, keys, namespace, vocabulary, known)
        self._visibility = visibility
        self._rows: dict[int, ClaimRow] = {}

    @property
    def known(self) -> set[str]:
        """All keys that were looked up."""
        return self._known

    @property
    def moments(self) -> set[int]:
        """The transactions with which the identity claims came and went."""
        upto = self._visibility.transaction
        return {at for row in self._rows.values() for at in (row.tx_from, row.tx_to) if at <= upto}

    def load(self, keys: Collection[str]) -> None:
        """Look up what is said of some keys, and make identities of it."""
        before = len(self._rows)
        super().load(keys)
        if len(self._rows) > before:
            self._members.clear()
            self._sources.clear()
            self._joined_here.clear()
            self.state = Identities()
            self._note(self._read(self._rows.values()))

    def _find(self, keys: set[str]) -> set[str]:
        named: set[str] = set()
        for query in _NAMING:
            for row in rows_among(self._connection, query, keys, **self._visibility.values):
                self._rows[row.row] = row
                named |= {row.subject, row.object}
                if row.replaces_subject is not None:
                    named |= {row.replaces_subject, row.replaces_object}
        return named

    def _read(self, rows: Iterable[ClaimRow]) -> Identities:
        return identities(map(identity_claim, rows))


def nothing_told(connection: Connection, namespace: str) -> bool:
    """Whether no claim of a namespace ever told who is who: then there is nothing to look up, whatever counts."""
    return connection.execute(_EVER_TOLD, {"namespace": namespace}).first() is None


class EverJoined(ToldIdentity):
    """Everything that an identity claim ever related counts as one: to find all that may have borne on an entity."""

    def _read(self, rows: Iterable[ClaimRow]) -> Identities:
        # Not what a correction names as wrong: from there it is not found, and where that was joined a claim of its own says so.
        return Identities(roots=connected((row.subject, row.object) for row in rows))


def identity_claim(row: Any) -> IdentityClaim:
    """The identity claim that a row of `claims` is."""
    subject, alias = (row.object, row.subject) if row.turned else (row.subject, row.object)
    return IdentityClaim(
        row.id,
        row.episode,
        row.place,
        subject,
        alias,
        row.polarity,
        ClaimKind(row.kind),
        row.rank,
        row.said,
        row.grp,
        row.source,
        row.extractor == "client",
        is_role(row.subject_text if row.turned else row.object_text),
        None if row.replaces_subject is None else (row.replaces_subject, row.replaces_object),
        row.scope_group,
        row.scope_source,
    )
