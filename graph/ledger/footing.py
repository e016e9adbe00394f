"""Where a reader of the ledger stands: one basis, and what names, keys and filters mean on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache, partial

from sqlalchemy import Connection, Engine

from graph.ledger.details import Describer, VocabularyAt
from graph.ledger.known_identity import IdentityCache
from graph.ledger.resolutions import Resolutions
from graph.ledger.selection import Selection, Wanted
from graph.ledger.slots import Slots
from graph.views import Basis, EntityRef, ObjectRef, StatementFilter
from ontology.names import Keys, checked_name


class Footing:
    """One basis of a ledger. Everything that reads on the basis shares it."""

    def __init__(
        self,
        engine: Engine,
        keys: Keys,
        vocabulary_at: VocabularyAt,
        basis: Basis,
        identities: IdentityCache,
        resolutions: Resolutions,
    ) -> None:
        self.engine = engine
        self.keys = keys
        self.basis = basis
        self.vocabulary_at = vocabulary_at
        self.vocabulary = vocabulary_at(basis.transaction)
        self.selection = Selection(basis, self.vocabulary)
        self.slots = Slots(basis, keys, self.vocabulary)
        self._identities = identities
        self._resolutions = resolutions

    @contextmanager
    def read(self) -> Iterator[Describer]:
        """A connection, and what describes rectangles with it."""
        with ExitStack() as opened:
            yield self.describer(opened.enter_context(self.engine.connect()), opened)

    def describer(self, connection: Connection, opened: ExitStack) -> Describer:
        """What describes rectangles with a connection that is open already; what it opens besides is closed with `opened`."""
        limited = cache(partial(self._limited, connection, opened))
        return Describer(connection, self.keys, self.vocabulary_at, self.basis, self._identities, limited)

    def _limited(self, connection: Connection, opened: ExitStack) -> Connection:
        """Where the rows under the said-time limit stand, until all is closed that was opened."""
        assert self.basis.evidence_until is not None
        tables = self._resolutions.tables(connection, self.basis.namespace, self.basis.transaction, self.basis.evidence_until)
        return connection if tables is None else opened.enter_context(tables.connect())

    def key(self, describer: Describer, ref: EntityRef) -> str:
        """The key that a reference denotes: of the entity that the key or name belongs to on the basis."""
        if ref.key is not None:
            describer.identity.load([ref.key])
            return describer.identity.root(ref.key)
        return self._named(describer, checked_name(ref.name or ""))

    def _named(self, describer: Describer, name: str) -> str:
        key = self.keys.entity(self.basis.namespace, name)
        describer.identity.load([key])
        return describer.directory.followed(key) if describer.identity.concerns(key) else key

    def object_key(self, describer: Describer, object: ObjectRef, predicate: str) -> str:
        """The key that a reference to an object of a predicate denotes: a name is a literal where the predicate's range is one."""
        if object.key is not None:
            return self.key(describer, EntityRef(object.key))
        namespace = self.basis.namespace
        if object.literal is not None:
            return self.keys.literal(namespace, object.literal, object.datatype or "xsd:string")
        name = checked_name(object.name or "", path=("object", "name"))
        datatype = self.vocabulary.predicate(predicate).literal_range
        return self._named(describer, name) if datatype is None else self.keys.literal(namespace, name, datatype)

    def wanted(self, describer: Describer, filter: StatementFilter, entity: str | None, role: str) -> Wanted:
        """What is asked for, with all keys of the entities that are named."""
        identity = describer.identity
        identity.load({*(filter.subjects or ()), *(filter.objects or ()), *([entity] if entity is not None else [])})

        def all_keys(keys: Sequence[str] | None) -> tuple[str, ...] | None:
            return None if keys is None else tuple(sorted({member for key in keys for member in identity.members(key)}))

        filter = replace(filter, subjects=all_keys(filter.subjects), objects=all_keys(filter.objects))
        mine = all_keys([entity]) if entity is not None else None
        return Wanted(filter, mine, role, joined=not identity.nothing_joined)
