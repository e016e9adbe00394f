"""What happens to a text before anything is stored: secrets are replaced, and the scan says whether a person must look first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from graph.views import StatedClaim
from ontology.claim import ObjectDraft
from ontology.episode import EpisodeDraft


class ScrubbedText(Protocol):
    """A text without secrets, the rules that found some, and how many each."""

    @property
    def text(self) -> str: ...
    @property
    def findings(self) -> Sequence[str]: ...
    @property
    def counts(self) -> Mapping[str, int]: ...


class ScrubbedMetadata(Protocol):
    """Metadata without secrets, the rules that found some, and how many each."""

    @property
    def metadata(self) -> Mapping[str, Any]: ...
    @property
    def findings(self) -> Sequence[str]: ...
    @property
    def counts(self) -> Mapping[str, int]: ...


class Scrubber(Protocol):
    """Replaces secrets (`extraction.scrubbing.Scrubber`)."""

    def scrub(self, text: str) -> ScrubbedText: ...

    def scrub_metadata(self, metadata: Mapping[str, Any]) -> ScrubbedMetadata: ...


class Threats(Protocol):
    """What a scan found, and whether a person must look first."""

    @property
    def flags(self) -> Sequence[str]: ...
    @property
    def quarantine(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Clean:
    """An episode that may be stored: no secrets in it, its flags, and whether it is held back.

    `redactions` says how many secrets each rule replaced (`secret:jwt`), in the text, the metadata and the names together.
    """

    episode: EpisodeDraft
    flags: tuple[str, ...]
    quarantine: bool
    redactions: Mapping[str, int] = field(default_factory=dict)


class Cleaner:
    """Scrubs and scans. Thread-safe."""

    def __init__(self, scrubber: Scrubber, scan: Callable[[str], Threats]) -> None:
        self._scrubber = scrubber
        self._scan = scan

    def episode(self, episode: EpisodeDraft) -> Clean:
        """The episode without secrets, scanned. Raises InvalidInput."""
        content = self._scrubber.scrub(episode.content)
        metadata = self._scrubber.scrub_metadata(episode.metadata)
        source = self._scrubber.scrub(episode.source)
        named = (episode.external_id, episode.group, episode.speaker, episode.addressee, episode.project)
        names = [None if text is None else self._scrubber.scrub(text) for text in named]
        external_id, group, speaker, addressee, project = (None if name is None else name.text for name in names)
        threats = self._scan(content.text)
        scrubbed: list[ScrubbedText | ScrubbedMetadata] = [content, metadata, source, *(name for name in names if name is not None)]
        flags = dict.fromkeys((*(finding for part in scrubbed for finding in part.findings), *threats.flags))
        redactions: Counter[str] = Counter()
        for part in scrubbed:
            redactions.update(part.counts)
        clean = replace(
            episode,
            content=content.text,
            metadata=metadata.metadata,
            source=source.text,
            external_id=external_id,
            group=group,
            speaker=speaker,
            addressee=addressee,
            project=project,
        )
        return Clean(clean, tuple(flags), threats.quarantine, dict(redactions))

    def text(self, text: str) -> str:
        """A text without secrets, such as a message that echoes what was given."""
        return self._scrubber.scrub(text).text if text else text

    def _given(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def _object(self, object: ObjectDraft) -> ObjectDraft:
        return replace(object, text=self.text(object.text))

    def stated(self, claim: StatedClaim) -> StatedClaim:
        """A stated claim without secrets."""
        draft = claim.draft
        scrubbed = replace(
            draft,
            subject=self.text(draft.subject),
            object=self._object(draft.object),
            qualifier=self.text(draft.qualifier),
            replaces=None if draft.replaces is None else self._object(draft.replaces),
            attributed_to=self._given(draft.attributed_to),
        )
        return replace(
            claim,
            draft=scrubbed,
            quote=self._given(claim.quote),
            scope_group=self._given(claim.scope_group),
            scope_source=self._given(claim.scope_source),
        )
