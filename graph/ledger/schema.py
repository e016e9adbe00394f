"""The ledger's tables.

Instants are int64 microseconds, keys 32 hexadecimal digits. A row with `tx_from` and `tx_to` is believed at every
transaction in `[tx_from, tx_to)`; `OPEN` in `tx_to` means until now. Rows are never deleted, and change once at most: when
`tx_to` goes from OPEN to a transaction. Exceptions, each derivable from the rest: `labels.count`, an episode's status. `deliveries` is
no record but a list of what is to be done: its rows go when that is done.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    false,
    text,
    true,
)

OPEN = 2**63 - 1
"""`tx_to` of what is still believed."""

# SQLite makes a rowid alias, which is what keeps inserts in order, of INTEGER only.
_ROW = BigInteger().with_variant(Integer, "sqlite")

_IDENTITY = text("predicate = 'also_known_as'")

metadata = MetaData()

settings = Table(
    "settings",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", LargeBinary, nullable=False),
)
"""`secret`: the key of all keyed hashes; it travels with backups."""

vocabularies = Table(
    "vocabularies",
    metadata,
    Column("number", _ROW, primary_key=True, autoincrement=True),
    Column("version", String(64), nullable=False),
    Column("tx_from", BigInteger, nullable=False),
    Column("content", Text, nullable=False),
)
"""Each vocabulary with the first transaction that it was in force for; resolving at Y uses that of Y."""

transactions = Table(
    "transactions",
    metadata,
    Column("number", _ROW, primary_key=True, autoincrement=False),
    Column("namespace", String(128), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("actor", String(128), nullable=False),
    Column("reason", Text),
    Index("transactions_by_time", "namespace", "at"),
    Index("transactions_by_number", "namespace", "number"),
)
"""Commits. Numbers and times rise strictly over all namespaces; a commit belongs to one."""

episodes = Table(
    "episodes",
    metadata,
    Column("row", _ROW, primary_key=True, autoincrement=True),
    Column("namespace", String(128), nullable=False),
    Column("key", String(32), nullable=False),
    Column("revision", String(32), nullable=False),
    Column("content", Text),
    Column("source", Text, nullable=False),
    Column("external_id", Text),
    Column("grp", Text),
    Column("speaker", Text),
    Column("addressee", Text),
    Column("said", BigInteger, nullable=False),
    Column("revised", BigInteger, nullable=False),
    # As they were stated; None where they were not.
    Column("said_text", Text),
    Column("revised_text", Text),
    Column("time_zone", Text),
    Column("project", Text),
    # False for what is kept but not extracted.
    Column("speech", Boolean, nullable=False, server_default=true()),
    Column("rank", Integer, nullable=False),
    Column("metadata", JSON),
    Column("flags", JSON, nullable=False),
    Column("order_text", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("error", Text),
    Column("tx_recorded", BigInteger, nullable=False),
    Column("tx_extracted", BigInteger),
    # Evidence in [tx_from, tx_to): from extraction until retracted or overtaken by a greater revision. Equal: never was.
    Column("tx_from", BigInteger),
    Column("tx_to", BigInteger, nullable=False),
    # Held back by the threat scan in [tx_held, tx_released); None: never, or until now.
    Column("tx_held", BigInteger),
    Column("tx_released", BigInteger),
    Index("episodes_by_key", "key", "revision", unique=True),
    Index("episodes_by_said", "namespace", "said", "key"),
    Index("episodes_by_status", "status", "tx_recorded"),
    Index("episodes_by_recorded", "tx_recorded"),
    Index("episodes_by_extracted", "tx_extracted"),
    Index("episodes_by_released", "tx_released"),
)
"""One row a revision. `order_text` is what decides between revisions of equal `revised`: content and statements."""

claims = Table(
    "claims",
    metadata,
    Column("row", _ROW, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False),
    Column("namespace", String(128), nullable=False),
    Column("episode", String(32), nullable=False),
    Column("revision", String(32), nullable=False),
    # Those of the episode, by which splits and joins that were told in a text choose their claims.
    Column("grp", Text),
    Column("source", Text, nullable=False, server_default=""),
    Column("place", Integer, nullable=False),
    # The stored direction: subject and object keys after inverses and antonyms are folded. Raw: what the names denote by
    # themselves, before joins and splits; so are the keys of slots and propositions below.
    Column("subject", String(32), nullable=False),
    Column("predicate", String(64), nullable=False),
    Column("qualifier", Text, nullable=False),
    Column("object", String(32), nullable=False),
    Column("slot", String(32), nullable=False),
    # The slot of the other direction, for an inverse pair or a symmetric predicate.
    Column("inverse_slot", String(32)),
    Column("proposition", String(32), nullable=False),
    # Whether subject and object stand the other way round than they were told.
    Column("turned", Boolean, nullable=False, server_default=false()),
    Column("replaces", String(32)),
    Column("replaces_proposition", String(32)),
    # Subject and object of the replaced proposition, in its stored direction.
    Column("replaces_subject", String(32)),
    Column("replaces_object", String(32)),
    # With either, a split: the claims on the subject in episodes of this group and this source speak of the object.
    Column("scope_group", Text),
    Column("scope_source", Text),
    Column("polarity", Boolean, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("from_lo", BigInteger),
    Column("from_hi", BigInteger),
    Column("from_text", Text),
    Column("to_lo", BigInteger),
    Column("to_hi", BigInteger),
    Column("to_text", Text),
    Column("said", BigInteger, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("additive", Boolean, nullable=False),
    Column("modality", String(16), nullable=False),
    Column("attributed_to", Text),
    Column("confidence", Float, nullable=False),
    Column("rule", Text, nullable=False),
    Column("extractor", Text, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    # Surface forms as the evidence has them.
    Column("subject_text", Text, nullable=False),
    Column("object_text", Text, nullable=False),
    # The literal's type; None for an entity.
    Column("datatype", Text),
    Column("subject_type", Text),
    Column("object_type", Text),
    # False for candidates, plans and hypotheticals: kept and listed, never belief.
    Column("believed", Boolean, nullable=False),
    Column("tx_from", BigInteger, nullable=False),
    Column("tx_to", BigInteger, nullable=False),
    Index("claims_by_slot", "slot", "tx_to"),
    Index("claims_by_subject", "subject"),
    Index("claims_by_object", "object"),
    Index("claims_of_identity_by_subject", "subject", sqlite_where=_IDENTITY, postgresql_where=_IDENTITY),
    Index("claims_of_identity_by_object", "object", sqlite_where=_IDENTITY, postgresql_where=_IDENTITY),
    Index("claims_by_inverse_slot", "inverse_slot", "tx_to"),
    Index("claims_by_proposition", "proposition"),
    Index("claims_by_replaced", "replaces_proposition"),
    Index("claims_by_episode", "episode"),
    Index("claims_by_id", "id"),
    Index("claims_by_tx_from", "tx_from"),
    Index("claims_by_tx_to", "tx_to"),
)
"""What the evidence says. `proposition` is the key of the positive proposition, whatever the claim's polarity. An ID has a row
for each time that it came into the set; `graph.ledger.readings` says how its last one is read."""

statements = Table(
    "statements",
    metadata,
    Column("row", _ROW, primary_key=True, autoincrement=True),
    Column("namespace", String(128), nullable=False),
    Column("proposition", String(32), nullable=False),
    # The positive proposition, by which claims are found.
    Column("base", String(32), nullable=False),
    Column("slot", String(32), nullable=False),
    Column("inverse_slot", String(32)),
    Column("subject", String(32), nullable=False),
    Column("predicate", String(64), nullable=False),
    Column("qualifier", Text, nullable=False),
    Column("object", String(32), nullable=False),
    Column("object_is_literal", Boolean, nullable=False),
    Column("polarity", Boolean, nullable=False),
    Column("v_from", BigInteger, nullable=False),
    Column("v_to", BigInteger, nullable=False),
    Column("tx_from", BigInteger, nullable=False),
    Column("tx_to", BigInteger, nullable=False),
    Index("statements_by_base", "base", "tx_to"),
    Index("statements_by_proposition", "proposition"),
    Index("statements_by_slot", "slot", "tx_to"),
    Index("statements_by_inverse_slot", "inverse_slot"),
    Index("statements_by_subject", "subject", "tx_to", "v_from", "v_to"),
    Index("statements_by_object", "object", "tx_to", "v_from", "v_to"),
    Index("statements_by_valid", "namespace", "v_from", "tx_to"),
    Index("statements_by_valid_end", "namespace", "v_to", "tx_to"),
    Index("statements_by_opening", "namespace", "tx_from"),
    Index("statements_by_closing", "namespace", "tx_to"),
    Index("statements_by_tx_from", "tx_from"),
    Index("statements_by_tx_to", "tx_to"),
)
"""Rectangles: a proposition holds in `[v_from, v_to)`, believed in `[tx_from, tx_to)`. `proposition` names the polarity too."""

things = Table(
    "things",
    metadata,
    Column("row", _ROW, primary_key=True, autoincrement=True),
    Column("namespace", String(128), nullable=False),
    Column("key", String(32), nullable=False),
    # None for an entity, else the literal's type.
    Column("datatype", Text),
    # Best name and type of the entity that the key denotes: those of its whole component.
    Column("name", Text, nullable=False),
    Column("folded", Text, nullable=False),
    Column("type", Text),
    # The key's own name, folded; empty for a member that no claim names now.
    Column("own", Text, nullable=False, server_default=""),
    Column("tx_from", BigInteger, nullable=False),
    Column("tx_to", BigInteger, nullable=False),
    Index("things_by_key", "key", "tx_to"),
    Index("things_by_name", "namespace", "folded"),
    Index("things_by_tx_from", "tx_from"),
    Index("things_by_tx_to", "tx_to"),
)
"""Entities and literals with their best attested name and type, versioned: a row ends when another name takes over. Each member
of a component has a row, all with the component's name and type."""

labels = Table(
    "labels",
    metadata,
    Column("row", _ROW, primary_key=True, autoincrement=True),
    Column("thing", String(32), nullable=False),
    Column("kind", String(8), nullable=False),
    Column("value", Text, nullable=False),
    Column("count", Integer, nullable=False),
    Column("tx_from", BigInteger, nullable=False),
    Column("tx_to", BigInteger, nullable=False),
    Index("labels_by_thing", "thing", "kind", "tx_to"),
)
"""Every name (kind `name`) and type (kind `type`) that visible claims give a thing, and how many do now. Kind `alias`: a name
that one group alone gives it by a join told there; it never becomes the best name."""

components = Table(
    "components",
    metadata,
    Column("row", _ROW, primary_key=True, autoincrement=True),
    Column("namespace", String(128), nullable=False),
    Column("member", String(32), nullable=False),
    Column("root", String(32), nullable=False),
    Column("tx_from", BigInteger, nullable=False),
    Column("tx_to", BigInteger, nullable=False),
    Index("components_by_member", "member", "tx_to"),
    Index("components_by_root", "root", "tx_to"),
    Index("components_by_namespace", "namespace", "tx_from"),
    Index("components_by_tx_to", "tx_to"),
)
"""Entities that are joined with others, each with the least key among them (its own for one of each component). Derived from claims."""

denotations = Table(
    "denotations",
    metadata,
    Column("row", _ROW, primary_key=True, autoincrement=True),
    Column("namespace", String(128), nullable=False),
    Column("key", String(32), nullable=False),
    Column("target", String(32), nullable=False),
    # `split` acts on raw keys first, `join` on what that gives.
    Column("kind", String(8), nullable=False),
    # Of which episodes; None: of all. For a join the group's own name (`graph.belief.identity.group_of`).
    Column("scope_group", Text),
    Column("scope_source", Text),
    # Of splits that both hold an episode the one with the greatest (rank, said, claim) acts.
    Column("rank", Integer, nullable=False),
    Column("said", BigInteger, nullable=False),
    Column("claim", String(32), nullable=False),
    Column("tx_from", BigInteger, nullable=False),
    Column("tx_to", BigInteger, nullable=False),
    Index("denotations_by_key", "key", "tx_to"),
    Index("denotations_by_target", "target", "tx_to"),
    Index("denotations_by_namespace", "namespace", "tx_from"),
    Index("denotations_by_tx_to", "tx_to"),
)
"""Names that denote another entity in some episodes: by a split, or by a join that one group alone has told. Derived from claims."""

rejections = Table(
    "rejections",
    metadata,
    Column("row", _ROW, primary_key=True, autoincrement=True),
    Column("namespace", String(128), nullable=False),
    Column("claim", String(32), nullable=False),
    Column("reason", Text),
    Column("tx_from", BigInteger, nullable=False),
    Column("tx_to", BigInteger, nullable=False),
    Index("rejections_by_claim", "claim", "tx_to"),
    Index("rejections_by_tx_from", "tx_from"),
)
"""Claims that are declared wrong, from one transaction until they are restored."""

retractions = Table(
    "retractions",
    metadata,
    Column("namespace", String(128), nullable=False),
    Column("key", String(32), primary_key=True),
    Column("tx", BigInteger, nullable=False),
    Column("reason", Text),
)
"""Withdrawn episode keys, for good; one may stand here before its episode arrives."""

idempotency = Table(
    "idempotency",
    metadata,
    Column("namespace", String(128), primary_key=True),
    Column("key", String(256), primary_key=True),
    Column("payload", String(64), nullable=False),
    Column("tx", BigInteger, nullable=False),
)
"""The episode (key and revision) that each idempotency key was used with; the episode itself answers a repetition."""

failures = Table(
    "failures",
    metadata,
    Column("row", _ROW, primary_key=True, autoincrement=True),
    Column("namespace", String(128), nullable=False),
    Column("key", String(32), nullable=False),
    Column("revision", String(32), nullable=False),
    Column("reason", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("tx_from", BigInteger, nullable=False),
    Column("tx_to", BigInteger, nullable=False),
    Index("failures_by_key", "key", "revision", "tx_to"),
)
"""Dead letters: episodes that were given up, from one transaction until they are tried again."""

deliveries = Table(
    "deliveries",
    metadata,
    # The row of the episode.
    Column("episode", BigInteger, primary_key=True, autoincrement=False),
    Column("queue", String(8), nullable=False),
    # How often it was begun since it was last accepted or asked for again, and how often it was asked for again.
    Column("starts", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    # When it was accepted, and when it was last handed out; None: not since the process began.
    Column("accepted", BigInteger, nullable=False),
    Column("sent", BigInteger),
    # What went wrong last.
    Column("problem", Text),
    Column("trace", String(64)),
    Index("deliveries_by_sent", "sent", "queue", "episode"),
)
"""One row for each episode that waits for extraction."""

jobs = Table(
    "jobs",
    metadata,
    Column("row", _ROW, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("namespace", String(128), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("actor", String(128), nullable=False),
    Column("trace", String(64)),
    Column("created", BigInteger, nullable=False),
    Column("cancelled", BigInteger),
    Index("jobs_by_namespace", "namespace", "row"),
)
"""Calls that hand in many episodes. How far one has come is read from its episodes."""

job_items = Table(
    "job_items",
    metadata,
    Column("job", BigInteger, primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("key", String(32), nullable=False),
    Column("revision", String(32), nullable=False),
    Column("known", Boolean, nullable=False),
    # Why it was refused; then `key` and `revision` are those of the episode that its idempotency key was used with first.
    Column("refused", Text),
    Index("job_items_by_episode", "key", "revision"),
)
"""The episodes of a job, in the order of the call. `known`: the ledger had it before."""

watermarks = Table(
    "watermarks",
    metadata,
    Column("projection", String(64), primary_key=True),
    Column("tx", BigInteger, nullable=False),
)
"""How far each projection has followed."""
