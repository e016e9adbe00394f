"""Suspected splits: signs that one name denotes two, each with what to paste to part them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence

import strawberry

from api.context import Scope
from api.scalars import DateTime
from api.schema.basics import Predicate, predicate
from graph import views
from ontology.names import DEFAULT_NAMESPACE


@strawberry.type(description="A sign that one name denotes two: separate groups attest two values of a one-valued slot at one time.")
class SuspectedSplit:
    """As `graph.views.SuspectedSplit`."""

    predicate: Predicate = strawberry.field(description="The one-valued relation.")
    qualifier: str = strawberry.field(description="The qualifier of the slot.")
    at: DateTime = strawberry.field(description="An instant at which both values are attested.")
    values: list[str] = strawberry.field(description="The two values by name, the better attested one first.")
    groups: list[str] = strawberry.field(description="Groups that hold the evidence for the second value.")
    sources: list[str] = strawberry.field(description="Sources that hold it, where the evidence has no group.")
    discriminator: str = strawberry.field(description="A discriminator for the entity that is split off.")
    command: str = strawberry.field(description="The command line that splits it off, quoted for a shell.")
    mutation: str = strawberry.field(description="The GraphQL mutation that splits it off.")


def suspected_split(scope: Scope, view: views.SuspectedSplit) -> SuspectedSplit:
    """A sign on a snapshot."""
    return SuspectedSplit(
        predicate=predicate(scope.context, view.predicate),
        qualifier=view.qualifier,
        at=DateTime(view.at),
        values=list(view.values),
        groups=list(view.groups),
        sources=list(view.sources),
        discriminator=view.discriminator,
        command=split_command(scope.context.namespace, view, _argument(scope, view.entity)),
        mutation=split_mutation(view),
    )


def _option(name: str, values: Sequence[str]) -> Iterator[str]:
    for value in values:
        # Else a value that begins with a dash would be read as an option of its own.
        yield from (f"--{name}={value}",) if value.startswith("-") else (f"--{name}", value)


def _argument(scope: Scope, entity: views.EntityView) -> str:
    """The name where it finds the entity, else the key: an entity that was split off shares its name with another."""
    return entity.name if scope.snapshot.key_of(views.EntityRef(name=entity.name)) == entity.key else entity.key


def split_command(namespace: str, view: views.SuspectedSplit, name: str) -> str:
    """`erstwhile split NAME ...`, to paste into a shell; a key does for a name."""
    options = [*_option("group", view.groups), *_option("source", view.sources), *_option("as", [view.discriminator])]
    if namespace != DEFAULT_NAMESPACE:
        options += _option("namespace", [namespace])
    arguments = [*options, "--", name] if name.startswith("-") else [name, *options]
    return shlex.join(["erstwhile", "split", *arguments])


def split_mutation(view: views.SuspectedSplit) -> str:
    """`splitEntity`, to paste into an editor. What JSON writes as a string or list of strings, GraphQL reads."""
    stated = {"id": view.entity.key, "groups": list(view.groups), "sources": list(view.sources), "discriminator": view.discriminator}
    arguments = ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in stated.items() if value)
    return f"mutation {{ splitEntity({arguments}) {{ ... on EntityPayload {{ transaction claims }} ... on Error {{ code message }} }} }}"
