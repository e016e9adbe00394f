"""Two bases compared for one cause, some subjects at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from sqlalchemy import bindparam, select

from graph.belief.identity import IDENTITY
from graph.drift import Cause, DifferenceView
from graph.ledger.chosen import Chosen
from graph.ledger.chunks import among, rows_among
from graph.ledger.comparing import Compared, Difference, Place, Read, Reader, compared
from graph.ledger.rectangles import COLUMNS, Rectangle, rectangle
from graph.ledger.schema import statements
from graph.ledger.touched import Sought, Touched, folded_names
from graph.ledger.vantage import Vantage
from graph.views import EntityView, StatementView, Want

_BELIEVED = (statements.c.tx_from <= bindparam("latest"), statements.c.tx_to > bindparam("earliest"))
_BY_ROW = select(*COLUMNS).where(among(statements.c.row))
_IN_SLOTS, _FROM_OTHER_SIDE = (select(*COLUMNS).where(among(slot), *_BELIEVED) for slot in (statements.c.slot, statements.c.inverse_slot))
_UNDER = select(*COLUMNS).where(among(statements.c.base), *_BELIEVED)
_BESIDE = tuple(
    select(statements.c.subject, statements.c.object, statements.c.predicate).where(among(column), *_BELIEVED)
    for column in (statements.c.subject, statements.c.object)
)


class Comparison:
    """Finds the differences of a cause between two bases. `after` has the entities by which they are compared."""

    def __init__(self, cause: Cause, before: Vantage, after: Vantage, chosen: Chosen) -> None:
        self.cause, self.before, self.after = cause, before, after
        self.symmetric = chosen.symmetric
        self._chosen = chosen
        self._connection = after.describer.connection
        self._reader = Reader(chosen.vocabulary, self._named)
        self._names: dict[str, str] = {}
        ends = (before.basis.transaction, after.basis.transaction)
        self._values = {"latest": max(ends), "earliest": min(ends)}

    # ------------------------------------------------------------ what is sought

    @cached_property
    def sought(self) -> Sought:
        """What the filter allows to look for: by subject, where it names any entity."""
        return Sought(self._chosen.predicates, self._keys())

    def _keys(self) -> frozenset[str] | None:
        filter = self._chosen.filter
        named = filter.subjects if filter.subjects is not None else filter.objects
        if named is None:
            return None
        mine = self._all_keys(named)
        found = set(mine)
        turned = self.symmetric | self._chosen.swapped
        for column, query in enumerate(_BESIDE):
            for subject, object, predicate in self._told_beside(column, query, mine):
                # What stands in the slot of another subject, where the statement asked for may be one value of several.
                if predicate in turned or (filter.subjects is None and column == 1):
                    found |= {subject, object} if predicate in self.symmetric else {subject}
        return frozenset(self._all_keys(found))

    def _told_beside(self, column: int, query: object, keys: Collection[str]) -> Iterable[tuple[str, str, str]]:
        for row in rows_among(self._connection, query, keys, **self._values):  # type: ignore[arg-type]
            yield row.subject, row.object, row.predicate
        for vantage in (self.before, self.after):
            for made in vantage.resolution.rectangles:
                if (made.subject, made.object)[column] in keys:
                    yield made.subject, made.object, made.predicate

    def _all_keys(self, keys: Iterable[str]) -> set[str]:
        """All keys under which statements of some entities may be stored on either basis."""
        keys = set(keys)
        if self.before.plain:
            return keys
        for vantage in (self.before, self.after):
            vantage.load(keys)
        roots = {root for key in keys for root in (self.before.root(key), self.after.root(key))}
        return {key for root in roots for vantage in (self.before, self.after) for key in vantage.keys_of(root)}

    # ------------------------------------------------------------ comparing

    def of(self, touched: Touched, subjects: Sequence[tuple[str, str]]) -> list[tuple[Place, Difference]]:
        """The differences of some subjects, in order."""
        keys = {key for _, key in subjects}
        numbers = {number for key in keys for number in touched.rows.get(key, ())}
        stored = {rectangle(row) for row in rows_among(self._connection, _BY_ROW, numbers)}
        made = {each for key in keys for each in touched.made.get(key, ())}
        mine = {row for row, is_before, _ in made if is_before and row.holds(self.before.basis.valid_at)}
        theirs = {row for row, _, is_after in made if is_after and row.holds(self.after.basis.valid_at)}
        found = {where: each for where, each in self._compared(stored, mine, theirs).items() if where.subject in keys}
        if found:
            found = self._whole(found, stored, mine, theirs)
        kept = [each for each in found.values() if self._chosen.names_predicates or not self._only_joins(each)]
        chosen = self._chosen.of(kept, self.before, self.after)
        self._name(read.value for each in chosen for read in self._reads(each))
        placed = [(self._place(each), self._sorted(each)) for each in chosen]
        return sorted(placed, key=lambda each: each[0])

    def _compared(self, stored: Iterable[Rectangle], mine: Iterable[Rectangle], theirs: Iterable[Rectangle]) -> dict[Compared, Difference]:
        stored = list(stored)
        sides = []
        for vantage, made in ((self.before, mine), (self.after, theirs)):
            rows = [row for row in (*filter(vantage.holds, stored), *made) if self._chosen.compares(row)]
            vantage.load({key for row in rows for key in (row.subject, row.object)})
            self._name(vantage.root(key) for row in rows if self._reader.symmetric(row) for key in (row.subject, row.object))
            sides.append({row: self._reader.read(row, vantage.root) for row in rows})
        return compared(self.cause, *sides)

    def _whole(
        self, found: Mapping[Compared, Difference], stored: set[Rectangle], mine: set[Rectangle], theirs: set[Rectangle]
    ) -> dict[Compared, Difference]:
        """The same with all that holds there: what did not change too, and what stands under other keys of the same entities."""
        slots: set[str] = set()
        turned: set[str] = set()
        bases: set[str] = set()
        for where, each in found.items():
            if not where.value:
                new = {
                    self.after.identity.slot(key, where.predicate, where.qualifier)
                    for vantage in (self.before, self.after)
                    for key in vantage.keys_of(where.subject)
                }
                slots |= new
                turned |= new if where.predicate in self.symmetric else set()
            elif not self.before.plain and where.predicate != IDENTITY:
                row, vantage = (each.before[0], self.before) if each.before else (each.after[0], self.after)
                ends = (vantage.root(row.subject), vantage.root(row.object))
                bases |= {key for side in (self.before, self.after) for key in side.kept_under(row, *ends)}
        for query, keys in ((_IN_SLOTS, slots), (_FROM_OTHER_SIDE, turned), (_UNDER, bases)):
            stored |= {rectangle(row) for row in rows_among(self._connection, query, keys, **self._values)}
        mine |= {*self.before.made(slots, bases)}
        theirs |= {*self.after.made(slots, bases)}
        whole = self._compared(stored, mine, theirs)
        return {where: whole[where] for where in found if where in whole}

    def _only_joins(self, difference: Difference) -> bool:
        """Whether it is no more than that the names of one entity are those of one."""
        if difference.where.predicate != IDENTITY:
            return False
        for vantage, rows in ((self.before, difference.before), (self.after, difference.after)):
            for row in rows:
                one, other = row.subject, row.object
                if vantage.root(one) != vantage.root(other) and vantage.identity.root(one) != vantage.identity.root(other):
                    return False
        return True

    # ------------------------------------------------------------ showing

    def swapped(self, row: Rectangle, vantage: Vantage) -> bool:
        """Whether a rectangle is shown from the other side than it is stored in."""
        return self._reader.read(row, vantage.root).swapped

    def subject(self, key: str) -> EntityView:
        """An entity of the last basis, by its name there, or before where it has none."""
        for vantage in (self.after, self.before):
            entity = vantage.describer.directory.entity(key)
            if entity is not None:
                return replace(entity, key=key)
        last = max((self.before, self.after), key=lambda each: each.basis.transaction)
        found = last.describer.directory.required(key)
        return EntityView(key, found.name if isinstance(found, EntityView) else found.value)

    # ------------------------------------------------------------ order

    def _name(self, keys: Iterable[str]) -> None:
        unknown = set(keys) - self._names.keys()
        if unknown:
            self._names |= folded_names(self.before, self.after, unknown)

    def _named(self, key: str) -> tuple[str, str]:
        if key not in self._names:
            self._name([key])
        return self._names[key], key

    def _reads(self, difference: Difference) -> list[Read]:
        sides = ((self.before, difference.before), (self.after, difference.after))
        return [self._shown(row, vantage) for vantage, rows in sides for row in rows]

    def _shown(self, row: Rectangle, vantage: Vantage) -> Read:
        """As it is compared, but with the object in the place of an identity's proposition."""
        read = self._reader.read(row, vantage.root)
        return read if row.predicate != IDENTITY else read._replace(value=vantage.root(row.object))

    def _place(self, difference: Difference) -> Place:
        where = difference.where
        values = min((self._named(read.value)[0] for read in self._reads(difference)), default="") if where.value else ""
        subject = self._named(where.subject)
        return Place(self.cause.value, *subject, where.predicate, where.qualifier, values, where.value, where.polarity)

    def _sorted(self, difference: Difference) -> Difference:
        def in_order(rows: Sequence[Rectangle], vantage: Vantage) -> tuple[Rectangle, ...]:
            return tuple(sorted(rows, key=lambda row: (*self._named(self._shown(row, vantage).value), row.v_from, row.proposition)))

        return replace(difference, before=in_order(difference.before, self.before), after=in_order(difference.after, self.after))


def shown(differences: Sequence[Difference], comparisons: Mapping[Cause, Comparison], want: frozenset[Want]) -> list[DifferenceView]:
    """Views of differences, in their order: the statements of each basis together."""
    views: dict[tuple[Cause, bool], dict[Rectangle, StatementView]] = {}
    for cause, comparison in comparisons.items():
        mine = [each for each in differences if each.cause == cause]
        sides = (
            (comparison.before, True, [row for each in mine for row in each.before]),
            (comparison.after, False, [row for each in mine for row in each.after]),
        )
        for vantage, is_before, rows in sides:
            swapped = frozenset(row.base for row in rows if comparison.swapped(row, vantage))
            views[cause, is_before] = dict(zip(rows, vantage.describer.views(rows, want, swapped, sided=True), strict=True))
    found = []
    for each in differences:
        where, comparison = each.where, comparisons[each.cause]
        before, after = (
            tuple(views[each.cause, is_before][row] for row in rows) for is_before, rows in ((True, each.before), (False, each.after))
        )
        subject = comparison.subject(where.subject)
        found.append(DifferenceView(each.kind, each.cause, subject, where.predicate, where.qualifier, before, after))
    return found
