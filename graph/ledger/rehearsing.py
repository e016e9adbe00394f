"""What a write would do: the views of a commit that is about to be taken back, read through its own connection."""

from __future__ import annotations

from sqlalchemy import Connection

from graph.ledger.claim_list import ClaimList
from graph.ledger.details import Describer, VocabularyAt
from graph.ledger.effects import effects_of
from graph.views import Basis, Rehearsal, Want
from ontology.names import Keys

# Nobody can ask for more of them later: they are gone with the transaction.
_WHOLE = frozenset({Want.INVALIDATION, Want.HISTORY, Want.PROVENANCE})


def rehearsed(
    connection: Connection, keys: Keys, vocabulary_at: VocabularyAt, basis: Basis, episode: str, warnings: tuple[str, ...]
) -> Rehearsal:
    """The claims that the basis' transaction records of an episode, and the statements that it opens and ends."""
    describer = Describer(connection, keys, vocabulary_at, basis)
    effects = effects_of(connection, basis.namespace, basis.transaction, describer.identity)
    return Rehearsal(
        ClaimList(basis, vocabulary_at(basis.transaction)).recorded(describer, episode),
        tuple(describer.views(effects.opened, _WHOLE)),
        tuple(describer.views(effects.closed, _WHOLE)),
        warnings,
    )
