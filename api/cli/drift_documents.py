"""The GraphQL documents of the commands that ask about change."""

from __future__ import annotations

from api.cli.documents import BASIS, ENDING, SCOPE, SOURCES, STATEMENT, TIMES

_AXES = "validAt recordedAt transaction evidenceUntil"
_SIDE = f"{STATEMENT} {SOURCES}"
_SLOT = f"{TIMES}, $subject: EntityRef!, $predicate: String!, $qualifier: String"
_PAGE = "pageInfo { hasNextPage endCursor }"

_AS_A = "asOf(validAt: $validA, recordedAt: $recordedA, evidenceUntil: $saidA)"
_AS_B = "asOf(validAt: $validB, recordedAt: $recordedB, evidenceUntil: $saidB)"
DIFF = f"""query Diff($validA: DateTime, $recordedA: DateTime, $saidA: DateTime, $validB: DateTime, $recordedB: DateTime, $saidB: DateTime,
  $filter: StatementFilter, $first: Int!) {{
  from: {_AS_A} {{ basis {{ {_AXES} }} }}
  to: {_AS_B} {{ basis {{ {_AXES} }} }}
  diff(from: {{validAt: $validA, recordedAt: $recordedA, evidenceUntil: $saidA}},
    to: {{validAt: $validB, recordedAt: $recordedB, evidenceUntil: $saidB}}, filter: $filter, first: $first) {{
    edges {{ node {{ kind cause subject {{ name discriminator }} predicate {{ name cardinality }}
      before {{ {_SIDE} {ENDING} }} after {{ {_SIDE} }} }} }} {_PAGE} }} }}"""

WHY = f"""query Why({_SLOT}, $from: DateTime, $to: DateTime) {{ {SCOPE} {{ {BASIS}
  whyChanged(subject: $subject, predicate: $predicate, qualifier: $qualifier, from: $from, to: $to) {{
    at reason rule before {{ {STATEMENT} }} after {{ {STATEMENT} }}
    evidence {{ quote episode {{ speaker saidAt source externalId }} }} transaction {{ number at kind actor reason }} }} }} }}"""

HISTORY = f"""query History({TIMES}, $name: String!, $predicates: [String!], $first: Int!, $after: String) {{ {SCOPE} {{ {BASIS}
  entity(name: $name) {{ name discriminator statements(role: SUBJECT, first: $first, after: $after,
    filter: {{predicates: $predicates, includeInvalidated: true}}) {{ edges {{ node {{ key {STATEMENT}
      invalidation {{ reason rule by {{ polarity object {{ ... on Entity {{ name discriminator }} ... on Literal {{ value }} }} }} }}
      history {{ validTime {{ from to }} transactionTime {{ from to }} }} }} }} {_PAGE} }} }} }} }}"""

STALE = f"""query Stale({TIMES}, $filter: StatementFilter, $first: Int!) {{ {SCOPE} {{ {BASIS}
  found: stale(filter: $filter, first: $first) {{ edges {{ node {{ {_SIDE} lastAttestedAt }} }} {_PAGE} }} }} }}"""

CONTESTED = f"""query Contested({TIMES}, $filter: StatementFilter, $first: Int!) {{ {SCOPE} {{ {BASIS}
  found: contested(filter: $filter, first: $first) {{ edges {{ node {{ {_SIDE} }} }} {_PAGE} }} }} }}"""

_CHANGE = f"cursor node {{ kind key transaction at statement {{ {STATEMENT} }} }}"

CHANGES = f"""query Changes($after: String, $filter: StatementFilter, $first: Int!) {{
  changes(after: $after, filter: $filter, first: $first) {{ edges {{ {_CHANGE} }} {_PAGE} }} }}"""

FOLLOW = f"""subscription Follow($after: String, $filter: StatementFilter) {{
  changes(after: $after, filter: $filter) {{ {_CHANGE} }} }}"""

LAST_CURSOR = "query LastCursor { stats { cursor } }"

MATCH = f"""query Match({TIMES}, $patterns: [PatternInput!]!, $first: Int!) {{ {SCOPE} {{ {BASIS}
  match(patterns: $patterns, first: $first) {{ edges {{ node {{
    bindings {{ variable value {{ __typename ... on Entity {{ name discriminator key }} ... on Literal {{ value datatype }} }} }}
    statements {{ {_SIDE} }} }} }} {_PAGE} }} }} }}"""
