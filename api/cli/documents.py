"""The GraphQL documents that the commands send."""

from __future__ import annotations

SCOPE = "asOf(validAt: $validAt, recordedAt: $recordedAt, evidenceUntil: $evidenceUntil)"
TIMES = "$validAt: DateTime, $recordedAt: DateTime, $evidenceUntil: DateTime"
BASIS = "basis { validAt recordedAt transaction evidenceUntil }"
_VALUE = "object { __typename ... on Entity { name discriminator key } ... on Literal { value datatype } }"
STATEMENT = f"""subject {{ name discriminator }} predicate {{ name }} qualifier {_VALUE} polarity text confidence
  validTime {{ from to fromStated toStated }} support conflict certainty evidenceCount"""
ENDING = """invalidation { reason rule decidedAt evidence { quote episode { speaker saidAt source externalId } } }"""
SOURCES = """provenance(first: 3) { edges { node { speaker saidAt source externalId } evidence { quote } } }"""

ENTITIES = f"""query Entities({TIMES}, $name: String, $first: Int!) {{ {SCOPE} {{ {BASIS}
  entities(name: $name, first: $first) {{ edges {{ node {{ key name discriminator type aliases }} }} pageInfo {{ hasNextPage }} }} }} }}"""

TIMELINE = f"""query Timeline({TIMES}, $subject: EntityRef!, $predicate: String!, $qualifier: String) {{ {SCOPE} {{ {BASIS}
  timeline(subject: $subject, predicate: $predicate, qualifier: $qualifier) {{
  subject {{ name discriminator }} predicate {{ name }} qualifier
    segments {{ validTime {{ from to }} statements {{ {STATEMENT} {ENDING} {SOURCES} }} }} }} }} }}"""

AS_OF = f"""query AsOf({TIMES}, $filter: StatementFilter, $first: Int!) {{ {SCOPE} {{ {BASIS}
  statements(filter: $filter, first: $first) {{ edges {{ node {{ {STATEMENT} {SOURCES} }} }} pageInfo {{ hasNextPage }} }} }} }}"""

ABOUT = f"""query About({TIMES}, $name: String!, $filter: StatementFilter, $first: Int!) {{ {SCOPE} {{ {BASIS}
  entity(name: $name) {{ name statements(filter: $filter, first: $first) {{ edges {{ node {{ {STATEMENT} {SOURCES} }} }}
    pageInfo {{ hasNextPage }} }} }} }} }}"""

ASK = f"""query Ask({TIMES}, $subject: EntityRef!, $predicate: String!, $object: ObjectInput!, $qualifier: String) {{ {SCOPE} {{ {BASIS}
  ask(subject: $subject, predicate: $predicate, object: $object, qualifier: $qualifier) {{ value statements {{
    {STATEMENT} {SOURCES} }} }} }} }}"""

_ASKED = f"{TIMES}, $query: String!, $filter: StatementFilter"
_ORIGIN = "key source externalId group speaker saidAt content"

RECALL = f"""query Recall({_ASKED}, $options: RecallOptions, $first: Int!) {{ {SCOPE} {{
  basis {{ validAt recordedAt transaction evidenceUntil indexVersion }}
  recall(query: $query, options: $options, filter: $filter, first: $first) {{
    edges {{ score arms {{ arm score rank }} path
      node {{ __typename ... on Statement {{ {STATEMENT} }} ... on Episode {{ {_ORIGIN} }} }} }}
    pageInfo {{ hasNextPage }} notShown degraded }} }} }}"""

CONTEXT = f"""query Context({_ASKED}, $tokenBudget: Int!) {{ {SCOPE} {{
  context(query: $query, tokenBudget: $tokenBudget, filter: $filter) {{ text tokens degraded
    basis {{ validAt recordedAt transaction evidenceUntil indexVersion }} statements {{ key {STATEMENT} }} }} }} }}"""

STATUS = """query Status { asOf { basis { indexVersion } } health { ok components { name ok degraded latencyMs } } ontology { version }
  stats { episodes entities statements current slots transactions pendingEpisodes } }"""

RETRACT = f"""mutation Retract($ref: EpisodeRef!, $reason: String) {{ retractEpisode(ref: $ref, reason: $reason) {{ __typename
  ... on RetractEpisodePayload {{ transaction restored {{ {STATEMENT} }} }} ... on Error {{ code message }} }} }}"""

_PROGRESS = "progress { accepted committed empty deduplicated quarantined failed pending }"

_JOB = f"""__typename ... on IngestEpisodesPayload {{ job {{ id finishedAt {_PROGRESS} }} }} ... on Error {{ code message }}
  ... on InvalidInputError {{ path }} ... on OverloadedError {{ retryAfter }}"""

INGEST_MANY = f"mutation IngestMany($input: [EpisodeInput!]!) {{ made: ingestEpisodes(input: $input) {{ {_JOB} }} }}"

ASSERT_MANY = f"mutation AssertMany($input: [AssertStatementsInput!]!) {{ made: assertStatementsBatch(input: $input) {{ {_JOB} }} }}"

JOB_FAILURES = """query JobFailures($id: ID!, $first: Int!) { ingestJob(id: $id) { failures(first: $first) {
  edges { node { message episode { source group externalId } } } } } }"""

LAST_TRANSACTION = """query LastTransaction { asOf { basis { transaction recordedAt } } }"""

LAST_TRANSACTION_BY = """query LastTransactionBy($at: DateTime!) { asOf(recordedAt: $at) { basis { transaction } } }"""


def job_progress(count: int) -> str:
    """How far jobs are: `$i0` to `$i{count - 1}` are their IDs, `j0` and so on the answers."""
    asked = " ".join(f"j{place}: ingestJob(id: $i{place}) {{ finishedAt {_PROGRESS} }}" for place in range(count))
    return f"query JobProgress({', '.join(f'$i{place}: ID!' for place in range(count))}) {{ {asked} }}"


REBUILD = """mutation Rebuild { rebuildGraph { ok components { name ok degraded } } }"""

REBUILD_INDEX = """mutation RebuildIndex { rebuildIndex { ok components { name ok degraded } } }"""

_CLAIM = f"""id subject {{ name discriminator key }} predicate {{ name }} qualifier {_VALUE}
  polarity kind modality validFrom validTo saidAt confidence
  rule additive candidate rejected rejection
  evidence {{ claim quote start end extractor episode {{ content source externalId group speaker saidAt }} }}"""
_EFFECT = f"""transaction claims asserted {{ {STATEMENT} }} invalidated {{ {STATEMENT} {ENDING} }}"""

CLAIMS = f"""query Claims({TIMES}, $candidate: Boolean, $rejected: Boolean, $filter: StatementFilter, $first: Int!, $after: String) {{
  {SCOPE} {{ claims(candidate: $candidate, rejected: $rejected, filter: $filter, first: $first, after: $after) {{
    edges {{ node {{ {_CLAIM} }} }} pageInfo {{ hasNextPage endCursor }} }} }} }}"""

CONTESTED = """query Contested($filter: StatementFilter, $after: String) { asOf { statements(filter: $filter, first: 100, after: $after) {
  edges { node { conflict subject { key } predicate { name } qualifier } } pageInfo { hasNextPage endCursor } } } }"""

KEYS = """query Keys($name: String!, $id: ID!) { asOf { named: entity(name: $name) { key name } keyed: entity(id: $id) { key name } } }"""

SUSPECTS = f"""query Suspects({TIMES}, $first: Int!) {{ {SCOPE} {{
  suspects(first: $first) {{ edges {{ node {{ key name discriminator type
  suspectedSplits {{ predicate {{ name }} qualifier at values groups sources discriminator command }} }} }}
  pageInfo {{ hasNextPage }} }} }} }}"""

REJECT = f"""mutation Reject($ids: [ID!]!, $reason: String!) {{ rejectClaims(ids: $ids, reason: $reason) {{ __typename
  ... on ClaimsPayload {{ {_EFFECT} }} ... on Error {{ code message }} }} }}"""

RESTORE = f"""mutation Restore($ids: [ID!]!, $reason: String) {{ restoreClaims(ids: $ids, reason: $reason) {{ __typename
  ... on ClaimsPayload {{ {_EFFECT} }} ... on Error {{ code message }} }} }}"""

MERGE = f"""mutation Merge($ids: [ID!]!, $reason: String) {{ mergeEntities(ids: $ids, reason: $reason) {{ __typename
  ... on EntityPayload {{ entity {{ key name discriminator aliases }} {_EFFECT} }} ... on Error {{ code message }} }} }}"""

SPLIT = f"""mutation Split($id: ID!, $groups: [String!], $sources: [String!], $discriminator: String!, $name: String, $reason: String) {{
  splitEntity(id: $id, groups: $groups, sources: $sources, discriminator: $discriminator, name: $name, reason: $reason) {{ __typename
  ... on EntityPayload {{ entity {{ key name discriminator aliases }} {_EFFECT} }} ... on Error {{ code message }} }} }}"""

STATE = """mutation State($input: AssertStatementsInput!) { assertStatements(input: $input) { __typename
  ... on AssertStatementsPayload { transaction } ... on Error { code message } } }"""

PREVIEW = """query Preview($input: EpisodeInput!) { preview(input: $input) { content flags dropped { text reason start end }
  claims { subject predicate qualifier object polarity kind modality validFrom validTo rule confidence start end quote candidate }
  asserted { subject predicate qualifier object polarity validTime { from to fromStated toStated } reason rule }
  invalidated { subject predicate qualifier object polarity validTime { from to fromStated toStated } reason rule } } }"""

UNDECLARED = """query Undeclared($least: Int!) { asOf { undeclaredPredicates(least: $least) { name claims subjects several examples
  cardinality temporal } } }"""

_JOB = """id key state kind trace createdAt finishedAt
  progress { accepted committed empty deduplicated quarantined failed pending }"""

JOBS = f"""query Jobs($first: Int!) {{ ingestJobs(first: $first) {{ edges {{ node {{ {_JOB} }} }} pageInfo {{ hasNextPage }} }} }}"""

JOB = f"""query Job($id: ID!, $first: Int!) {{ ingestJob(id: $id) {{ {_JOB}
  failures(first: $first) {{ edges {{ node {{ message attempts episode {{ key source externalId group speaker }} }} }}
    pageInfo {{ hasNextPage }} }} }} }}"""

JOB_STATE = f"""query JobState($id: ID!) {{ ingestJob(id: $id) {{ {_JOB} }} }}"""

CANCEL_JOB = f"""mutation CancelJob($id: ID!) {{ cancelIngestJob(id: $id) {{ __typename
  ... on CancelIngestJobPayload {{ job {{ {_JOB} }} }} ... on Error {{ code message }} }} }}"""

RETRY_JOB = f"""mutation RetryJob($id: ID!) {{ retryIngestJob(id: $id) {{ __typename
  ... on CancelIngestJobPayload {{ job {{ {_JOB} }} }} ... on Error {{ code message }} }} }}"""

_HELD = "key source externalId group speaker saidAt recordedAt status flags content"

QUARANTINED = f"""query Quarantined($first: Int!) {{ asOf {{ episodes(status: [QUARANTINED], first: $first) {{
  edges {{ node {{ {_HELD} }} }} pageInfo {{ hasNextPage }} }} }} }}"""

EPISODE = f"""query Episode($id: ID!) {{ node(id: $id) {{ ... on Episode {{ {_HELD} }} }} }}"""

RELEASE = f"""mutation Release($id: ID!, $reason: String!) {{ releaseEpisode(id: $id, reason: $reason) {{ __typename
  ... on RetractEpisodePayload {{ transaction episode {{ status }} restored {{ {STATEMENT} }} }} ... on Error {{ code message }} }} }}"""
