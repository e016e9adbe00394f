"""Claim: what one place of one episode says, whether or not it is believed."""

from __future__ import annotations

import strawberry

from api.context import Scope
from api.identity import Kind, ObjectId, encode_id
from api.scalars import EDTF, DateTime
from api.schema.basics import Literal, Node, Predicate, predicate
from api.schema.entity import Entity, entity
from api.schema.enums import ClaimKind, Modality
from api.schema.episode import Evidence, evidence
from api.schema.pages import ClaimConnection, ClaimEdge, frame
from api.schema.statement import StatementObject
from api.schema.support import ID_DESCRIPTION, described
from graph import views
from graph.views import Page, StatementFilter

PAGE = 200


@strawberry.type(description="What one place of one episode says of the world. Beliefs rest on claims; not every claim makes one.")
class Claim(Node):
    """As `graph.views.ClaimView`, on one snapshot."""

    scope: strawberry.Private[Scope]
    view: strawberry.Private[views.ClaimView]
    subject: Entity = strawberry.field(description="What it is about, as this view knows it.")
    predicate: Predicate = strawberry.field(description="Its relation, as the vocabulary in force has it.")
    qualifier: str = strawberry.field(description="Keeps slots of one predicate apart; mostly empty.")
    object: StatementObject = strawberry.field(description="The value that it states.")
    polarity: bool = strawberry.field(description="False for a denial.")
    kind: ClaimKind = strawberry.field(description="How it bears on earlier ones.")
    modality: Modality = strawberry.field(description="Asserted and reported claims make belief; the others are kept and listed.")
    valid_from: EDTF | None = strawberry.field(description="The start as it was stated, with its precision.")
    valid_to: EDTF | None = strawberry.field(description="The end as it was stated, with its precision.")
    said_at: DateTime = strawberry.field(description="When it was said.")
    confidence: float = strawberry.field(description="Extractor's confidence, 0 to 1.")
    rule: str = strawberry.field(description="The rule that found it, or `client`.")
    additive: bool = strawberry.field(description="It does not rule out other values of a one-valued predicate.")
    candidate: bool = strawberry.field(
        description="It makes no belief: too little confidence, a plan, an undated act, or a join that its own group alone tells."
    )
    rejected: bool = strawberry.field(description="A person declared it wrong.")
    rejection: str | None = strawberry.field(description="Why it was rejected.")
    evidence: Evidence = strawberry.field(description="The words; `Evidence.claim` is its ID for `rejectClaims`.")

    @described(ID_DESCRIPTION)
    def id(self) -> strawberry.ID:
        """The opaque ID: it names the slot's subject and predicate too, by which the claim is found again."""
        view = self.view
        id = ObjectId(Kind.CLAIM, view.id, pin=self.scope.id_pin, subject=view.subject.key, predicate=view.predicate)
        return strawberry.ID(encode_id(id))


def claim(scope: Scope, view: views.ClaimView) -> Claim:
    """A claim on a snapshot."""
    target = view.object
    return Claim(
        scope=scope,
        view=view,
        subject=entity(scope, view.subject),
        predicate=predicate(scope.context, view.predicate),
        qualifier=view.qualifier,
        object=entity(scope, target) if isinstance(target, views.EntityView) else Literal(value=target.value, datatype=target.datatype),
        polarity=view.polarity,
        kind=ClaimKind[view.kind.name],
        modality=Modality[view.modality.name],
        valid_from=None if view.valid_from is None else EDTF(view.valid_from),
        valid_to=None if view.valid_to is None else EDTF(view.valid_to),
        said_at=DateTime(view.said_at),
        confidence=view.confidence,
        rule=view.rule,
        additive=view.additive,
        candidate=view.candidate,
        rejected=view.rejected,
        rejection=view.rejection,
        evidence=evidence(scope, view.evidence),
    )


def claim_page(scope: Scope, page: Page[views.ClaimView], kind: str, after: str | None) -> ClaimConnection:
    """A page of claims."""
    items, info = frame(page, kind, scope.pin, after)
    return ClaimConnection(edges=[ClaimEdge(place=place, node=claim(scope, view)) for place, view in items], page_info=info)


def claim_named(scope: Scope, id: ObjectId) -> Claim | None:
    """The claim of an ID, sought among those of its subject and predicate; None where it is not among them."""
    among, after = StatementFilter(subjects=(id.subject,), predicates=(id.predicate,)), None
    while True:
        page = scope.snapshot.claims(among, first=PAGE, after=after)
        for view in page.items:
            if view.id == id.key:
                return claim(scope, view)
        if not page.has_next:
            return None
        after = page.positions[-1]
