"""What the vectors ask of Erstwhile, as GraphQL."""

_AXES = "$validAt: DateTime, $recordedAt: DateTime, $evidenceUntil: DateTime"
_SCOPE = "asOf(validAt: $validAt, recordedAt: $recordedAt, evidenceUntil: $evidenceUntil)"
_SLOT = f"{_AXES}, $subject: EntityRef!, $predicate: String!, $qualifier: String"
_OF_SLOT = "subject: $subject, predicate: $predicate, qualifier: $qualifier"
_OBJECT = "polarity object { ... on Entity { name } ... on Literal { value } }"

LAST = "{ asOf { basis { transaction recordedAt } } }"

KEY = "query($name: String!) { asOf { entity(name: $name) { key } } }"

ASSERT = """mutation($input: AssertStatementsInput!) { assertStatements(input: $input) {
  ... on AssertStatementsPayload { warnings } ... on InvalidInputError { reason } ... on Error { message } } }"""

RETRACT = 'mutation($ref: EpisodeRef!) { retractEpisode(ref: $ref, reason: "vectors") { ... on Error { message } } }'

ERASE = 'mutation($ref: EpisodeRef!) { eraseEpisode(ref: $ref, reason: "vectors") { ... on Error { message } } }'

ABOUT = f"""query({_AXES}, $name: String!, $filter: StatementFilter) {{ {_SCOPE} {{ entity(name: $name) {{
  statements(role: SUBJECT, first: 100, filter: $filter) {{ edges {{ node {{ {_OBJECT} qualifier support conflict certainty
    validTime {{ from to }} lastAttestedAt provenance(first: 50) {{ edges {{ node {{ externalId }} }} }}
    history {{ validTime {{ from to }} transactionTime {{ from to }} }} }} }} }} }} }} }}"""

ASK = f"""query({_SLOT}, $object: ObjectInput!) {{ {_SCOPE} {{ ask({_OF_SLOT}, object: $object) {{ value }} }} }}"""

TIMELINE = f"""query({_SLOT}) {{ {_SCOPE} {{ timeline({_OF_SLOT}) {{
  segments {{ validTime {{ from to }} statements {{ {_OBJECT} }} }} }} }} }}"""

DIFF = f"""query($from: BasisInput!, $to: BasisInput!, $first: Int, $after: String) {{
  diff(from: $from, to: $to, first: $first, after: $after) {{ edges {{ cursor node {{ subject {{ name }} predicate {{ name }}
    before {{ {_OBJECT} }} after {{ {_OBJECT} }} }} }} pageInfo {{ hasNextPage }} }} }}"""

WHY = f"""query({_SLOT}) {{ {_SCOPE} {{ whyChanged({_OF_SLOT}) {{ at before {{ {_OBJECT} }} after {{ {_OBJECT} }}
  evidence {{ episode {{ externalId }} }} }} }} }}"""

FLIP_FLOPS = "query($filter: StatementFilter) { asOf { flipFlops(filter: $filter) { edges { node { qualifier returns } } } } }"

CHANGES = f"""query($first: Int, $after: String) {{ changes(first: $first, after: $after) {{ edges {{ cursor node {{ kind transaction
  statement {{ subject {{ name }} predicate {{ name }} qualifier validTime {{ from to }} {_OBJECT} }} }} }}
  pageInfo {{ hasNextPage }} }} }}"""
