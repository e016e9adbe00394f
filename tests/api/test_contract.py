"""What the schema has of the contract matches it by name and type, default and nullability; what it adds is described."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
    is_introspection_type,
    is_specified_scalar_type,
    print_type,
)

from api.schema.export import SNAPSHOT, schema_text

SPEC = Path(__file__).parents[1] / "spec" / "schema.graphql"
CONTRACT = build_schema(SPEC.read_text(encoding="utf-8"))
OURS = build_schema(schema_text())
NAMES = sorted(name for name, type in OURS.type_map.items() if not is_introspection_type(type) and not is_specified_scalar_type(type))
PART_7 = {
    "Query": {
        *("node", "nodes", "asOf", "ontology", "preview", "simulate", "transactions", "stats", "health"),
        *("ingestJob", "ingestJobs", "diff", "changes"),
    },
    "Subscription": {"ingestJob", "changes"},
    "Snapshot": {
        *("basis", "entity", "entities", "statements", "episodes", "timeline", "ask", "recall", "context"),
        *("match", "path", "claims", "suspects", "undeclaredPredicates"),
        *("whyChanged", "contested", "stale", "flipFlops", "volatility", "retroEdits"),
    },
    "Entity": {"id", "key", "name", "discriminator", "aliases", "type", "statements", "timeline", "neighbors", "suspectedSplits"},
    "Mutation": {
        *("ingestEpisode", "assertStatements", "retractEpisode", "rebuildGraph", "rebuildIndex"),
        *("rejectClaims", "restoreClaims", "mergeEntities", "splitEntity"),
        *("ingestEpisodes", "assertStatementsBatch", "cancelIngestJob", "retryIngestJob", "releaseEpisode"),
    },
}
WHOLE = [
    "Statement",
    "StatementVersion",
    "Invalidation",
    "Boundary",
    "Evidence",
    "Episode",
    "Basis",
    "Period",
    "Literal",
    "SlotTimeline",
    "Segment",
    "Answer",
    "Predicate",
    "EntityType",
    "Ontology",
    "Transaction",
    "Health",
    "ComponentHealth",
    "StatementFilter",
    "PeriodInput",
    "EpisodeInput",
    "EpisodeRef",
    "AssertStatementsInput",
    "StatementInput",
    "EntityRef",
    "ObjectInput",
    "LiteralInput",
    "IngestEpisodePayload",
    "AssertStatementsPayload",
    "RetractEpisodePayload",
    "ClaimsPayload",
    "EntityPayload",
    "Preview",
    "PreviewClaim",
    "PreviewStatement",
    "DroppedClaim",
    "InvalidInputError",
    "NotFoundError",
    "IdempotencyConflictError",
    "OverloadedError",
    "PageInfo",
    "Change",
    "ChangeConnection",
    "ChangeEdge",
    "Stats",
    "StatementConnection",
    "StatementEdge",
    "EntityConnection",
    "EntityEdge",
    "EpisodeConnection",
    "EpisodeEdge",
    "ProvenanceConnection",
    "ProvenanceEdge",
    "TransactionConnection",
    "TransactionEdge",
    "RecallOptions",
    "RecallConnection",
    "RecallEdge",
    "ArmScore",
    "Context",
    "IngestJob",
    "JobProgress",
    "JobFailure",
    "IngestEpisodesPayload",
    "CancelIngestJobPayload",
    "IngestJobConnection",
    "IngestJobEdge",
    "JobFailureConnection",
    "JobFailureEdge",
    "BasisInput",
    "Difference",
    "DifferenceConnection",
    "DifferenceEdge",
    "Slot",
    "SlotConnection",
    "SlotEdge",
    "PredicateVolatility",
]

Args = dict[str, GraphQLArgument] | dict[str, GraphQLInputField]


def inputs(ours: Args, contract: Args, where: str) -> list[str]:
    """What differs between two lists of arguments or input fields."""
    found = [f"{where}: {name} is missing" for name in contract if name not in ours]
    for name, argument in ours.items():
        if name not in contract:
            found += [] if argument.description else [f"{where}.{name}: added without description"]
        elif str(argument.type) != str(contract[name].type) or print_default(argument) != print_default(contract[name]):
            found.append(f"{where}.{name}: {argument.type} = {print_default(argument)}, not {contract[name].type}")
    return found


def print_default(argument: GraphQLArgument | GraphQLInputField) -> str:
    """The default in GraphQL's spelling."""
    default = argument.default
    return "none" if default is None else str(default.literal.to_dict() if default.literal else default.value)


def fields(ours: dict[str, GraphQLField], contract: dict[str, GraphQLField], where: str) -> list[str]:
    """What differs between two lists of fields."""
    found = []
    for name, field in ours.items():
        if name not in contract:
            found += [] if field.description else [f"{where}.{name}: added without description"]
        else:
            if str(field.type) != str(contract[name].type):
                found.append(f"{where}.{name}: {field.type}, not {contract[name].type}")
            found += inputs(field.args, contract[name].args, f"{where}.{name}")
    return found


def differences(name: str, ours: GraphQLSchema, contract: GraphQLSchema) -> list[str]:
    """What differs between two types of one name."""
    mine, theirs = ours.type_map[name], contract.type_map.get(name)
    if theirs is None:
        return [] if mine.description else [f"{name}: added without description"]
    if type(mine) is not type(theirs):
        return [f"{name}: another kind of type"]
    found: list[str] = []
    if isinstance(mine, GraphQLEnumType) and isinstance(theirs, GraphQLEnumType):
        found += [] if list(mine.values) == list(theirs.values) else [f"{name}: {list(mine.values)}, not {list(theirs.values)}"]
    elif isinstance(mine, GraphQLScalarType) and isinstance(theirs, GraphQLScalarType):
        found += [] if mine.specified_by_url == theirs.specified_by_url else [f"{name}: {mine.specified_by_url}"]
    elif isinstance(mine, GraphQLUnionType) and isinstance(theirs, GraphQLUnionType):
        found += [] if {t.name for t in mine.types} == {t.name for t in theirs.types} else [print_type(mine)]
    elif isinstance(mine, GraphQLInputObjectType) and isinstance(theirs, GraphQLInputObjectType):
        found += [] if mine.is_one_of == theirs.is_one_of else [f"{name}: oneOf differs"]
        found += inputs(mine.fields, theirs.fields, name)
    elif isinstance(mine, (GraphQLObjectType, GraphQLInterfaceType)) and isinstance(theirs, (GraphQLObjectType, GraphQLInterfaceType)):
        found += [] if {t.name for t in mine.interfaces} == {t.name for t in theirs.interfaces} else [f"{name}: other interfaces"]
        found += fields(mine.fields, theirs.fields, name)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_type_matches_the_contract(name: str) -> None:
    assert differences(name, OURS, CONTRACT) == []


@pytest.mark.parametrize("name", PART_7)
def test_the_fields_of_this_stage_are_there(name: str) -> None:
    ours = OURS.type_map[name]
    assert isinstance(ours, GraphQLObjectType)
    assert set(ours.fields) == PART_7[name]


@pytest.mark.parametrize("name", WHOLE)
def test_type_is_whole(name: str) -> None:
    ours, contract = OURS.type_map[name], CONTRACT.type_map[name]
    assert isinstance(ours, (GraphQLObjectType, GraphQLInputObjectType))
    assert isinstance(contract, (GraphQLObjectType, GraphQLInputObjectType))
    assert set(contract.fields) - set(ours.fields) == set()


@pytest.mark.parametrize("name", [name for name in NAMES if CONTRACT.type_map.get(name)])
def test_descriptions_of_the_contract_are_kept(name: str) -> None:
    ours, contract = OURS.type_map[name], CONTRACT.type_map[name]
    assert ours.description or not contract.description
    for field, theirs in getattr(contract, "fields", {}).items():
        mine = getattr(ours, "fields", {}).get(field)
        assert mine is None or mine.description or not theirs.description, field


def test_snapshot_is_what_the_code_says() -> None:
    assert SNAPSHOT.read_text(encoding="utf-8") == schema_text(), "run: python -m api.schema.export"
