"""The GraphQL documents that the commands send."""

from __future__ import annotations

_SCOPE = "asOf(validAt: $validAt, recordedAt: $recordedAt, evidenceUntil: $evidenceUntil)"
_TIMES = "$validAt: DateTime, $recordedAt: DateTime, $evidenceUntil: DateTime"
_BASIS = "basis { validAt recordedAt transaction evidenceUntil }"
_VALUE = "object { __typename ... on Entity { name key } ... on Literal { value datatype } }"
_STATEMENT = f"""subject {{ name }} predicate {{ name }} qualifier {_VALUE} polarity text confidence
  validTime {{ from to fromStated toStated }} support conflict certainty evidenceCount"""
_ENDING = """invalidation { reason rule decidedAt evidence { quote episode { speaker saidAt source externalId } } }"""
_SOURCES = """provenance(first: 3) { edges { node { speaker saidAt source externalId } evidence { quote } } }"""

ENTITIES = f"""query Entities({_TIMES}, $name: String, $first: Int!) {{ {_SCOPE} {{ {_BASIS}
  entities(name: $name, first: $first) {{ edges {{ node {{ key name type aliases }} }} pageInfo {{ hasNextPage }} }} }} }}"""

TIMELINE = f"""query Timeline({_TIMES}, $subject: EntityRef!, $predicate: String!, $qualifier: String) {{ {_SCOPE} {{ {_BASIS}
  timeline(subject: $subject, predicate: $predicate, qualifier: $qualifier) {{ subject {{ name }} predicate {{ name }} qualifier
    segments {{ validTime {{ from to }} statements {{ {_STATEMENT} {_ENDING} {_SOURCES} }} }} }} }} }}"""

AS_OF = f"""query AsOf({_TIMES}, $filter: StatementFilter, $first: Int!) {{ {_SCOPE} {{ {_BASIS}
  statements(filter: $filter, first: $first) {{ edges {{ node {{ {_STATEMENT} {_SOURCES} }} }} pageInfo {{ hasNextPage }} }} }} }}"""

ABOUT = f"""query About({_TIMES}, $name: String!, $filter: StatementFilter, $first: Int!) {{ {_SCOPE} {{ {_BASIS}
  entity(name: $name) {{ name statements(filter: $filter, first: $first) {{ edges {{ node {{ {_STATEMENT} {_SOURCES} }} }}
    pageInfo {{ hasNextPage }} }} }} }} }}"""

ASK = f"""query Ask({_TIMES}, $subject: EntityRef!, $predicate: String!, $object: ObjectInput!, $qualifier: String) {{ {_SCOPE} {{ {_BASIS}
  ask(subject: $subject, predicate: $predicate, object: $object, qualifier: $qualifier) {{ value statements {{
    {_STATEMENT} {_SOURCES} }} }} }} }}"""

STATUS = """query Status { health { ok components { name ok degraded latencyMs } } ontology { version }
  stats { episodes entities statements current slots transactions pendingEpisodes } }"""

RETRACT = f"""mutation Retract($ref: EpisodeRef!, $reason: String) {{ retractEpisode(ref: $ref, reason: $reason) {{ __typename
  ... on RetractEpisodePayload {{ transaction restored {{ {_STATEMENT} }} }} ... on Error {{ code message }} }} }}"""

INGEST = """mutation Ingest($input: EpisodeInput!) { ingestEpisode(input: $input) { __typename
  ... on IngestEpisodePayload { deduplicated episode { status } } ... on Error { code message }
  ... on OverloadedError { retryAfter } } }"""

REBUILD = """mutation Rebuild { rebuildGraph { ok components { name ok degraded } } }"""
