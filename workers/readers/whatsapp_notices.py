"""What WhatsApp writes into a chat itself: notices, stand-ins for media, marks of deleted and edited messages."""

from __future__ import annotations

import re

from workers.readers.whatsapp_lines import MARKS

_ATTACHED = re.compile(
    r"\u200e?<(?:attached|adjunto|anhang|pièce jointe|anexado|allegato|bijlage|bifogad|załączono|vedhæftet)\s?: [^<>\n]{1,200}>",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"[^\n]{1,200}\.\w{2,5} "
    r"\((?:file attached|datei angehängt|archivo adjunto|fichier joint|arquivo anexado|file allegato|bestand bijgevoegd)\)",
    re.IGNORECASE,
)
_MEDIA = re.compile(
    r"(?:image|video|audio|gif|sticker|document|contact card|video note|voice message) omitted"
    r"|(?:bild|video|audio|gif|sticker|dokument|kontaktkarte) weggelassen|(?:imagen|vídeo|video|audio|gif|sticker|documento) omitid[oa]"
    r"|(?:image|vidéo|audio|gif|sticker|document) absente?|(?:imagem|vídeo|áudio|gif|figurinha|documento) ocult[oa]|null",
    re.IGNORECASE,
)
_TAIL = re.compile(r"\u200e(?:[^\u200e\n<>]{1,30} (?:omitted|weggelassen|omitid[oa]|absente?|ocult[oa]))\s*$")
_DELETED = re.compile(
    r"(?:this message was deleted|you deleted this message|this message was deleted by admin.*"
    r"|diese nachricht wurde gelöscht|du hast diese nachricht gelöscht|se eliminó este mensaje|eliminaste este mensaje"
    r"|este mensaje fue eliminado|ce message a été supprimé|vous avez supprimé ce message|mensagem apagada|esta mensagem foi apagada"
    r"|você apagou esta mensagem|questo messaggio è stato eliminato|hai eliminato questo messaggio|dit bericht is verwijderd)\.?",
    re.IGNORECASE,
)
_EDITED = re.compile(
    r"\u200e?<(?:this message was edited|diese nachricht wurde bearbeitet\.?|se editó este mensaje\.?|este mensaje fue editado\.?"
    r"|ce message a été modifié\.?|mensagem editada|questo messaggio è stato modificato\.?|dit bericht is bewerkt\.?)>\s*$",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"missed (?:group )?(?:voice|video) call\b.{0,80}|verpasster (?:sprach|video)anruf\b.{0,80}"
    r"|(?:voice|video) call(?:[,.] .{0,20}\b(?:sec|min|hr|no answer|answered)\b.{0,30})?",
    re.IGNORECASE,
)
_OTHER = (
    ("poll", re.compile(r"poll:\s*(?:\n|$)", re.IGNORECASE)),
    ("location", re.compile(r"(?:live )?location(?: shared|: https?://\S+)|standort: https?://\S+", re.IGNORECASE)),
    ("waiting", re.compile(r"waiting for this message\b.{0,80}$", re.IGNORECASE)),
)
_NOTICE = re.compile(
    r"end-to-end|\bcreated (?:this )?group\b|\b(?:changed|updated|deleted|set|turned (?:on|off)) (?:the|this|their|disappearing|to)\b"
    r"|\bsecurity code\b|\bwas added\b|\bjoined (?:using|from|via)\b|\bnow an admin\b|\bpinned a message\b|ende-zu-ende|\bgeändert\b",
    re.IGNORECASE,
)
_GROUP = re.compile(r"\b(?:created (?:this )?group|added|left|joined|removed|group|subject|admin)\b|\bgruppe\b", re.IGNORECASE)
_CREATED = re.compile('created (?:this )?group ["“„«](.{1,100})["”“»]')
_MENTION = re.compile("@\u2068([^\u2066-\u2069\n]{1,100})\u2069")
_NAME = 100
_QUOTES = "„“”«»"


def is_notice(name: str) -> bool:
    """Whether what stands between a head and the first colon is part of a notice and nobody's name."""
    quotes = sum(map(name.count, _QUOTES))
    return len(name) > _NAME or name.count('"') % 2 == 1 or quotes % 2 == 1 or bool(_NOTICE.search(name))


def tells_of_group(text: str) -> bool:
    """Whether a notice is one that only groups have."""
    return bool(_GROUP.search(text))


def group_named(text: str) -> str | None:
    """The name of the group that a notice tells of."""
    match = _CREATED.search(text)
    return MARKS.sub("", match[1]).strip() if match else None


def spoken(text: str) -> tuple[str, str | None, bool]:
    """(what a person wrote, what was left out of it or instead of it, whether it was edited) of a message's raw text."""
    text, edits = _EDITED.subn("", text)
    text, attached = _ATTACHED.subn("", text)
    text, tails = _TAIL.subn("", text)
    file = _FILE.match(text.lstrip("\u200e"))
    if file:
        text = text.lstrip("\u200e")[file.end() :]
    left = "media" if attached or tails or file else None
    generated = text.startswith("\u200e") and not file
    plain = MARKS.sub("", text).strip()
    if not plain:
        return "", left or "no text", bool(edits)
    kind = _stand_in(plain)
    if kind is None and generated:
        kind = "system"
    if kind is not None:
        return "", kind, False
    return _MENTION.sub(r"\1", text).replace("\u200e", "").strip(), left, bool(edits)


def _stand_in(plain: str) -> str | None:
    """The kind of a text that the phone put in place of something that is no text."""
    if _MEDIA.fullmatch(plain) or (plain.startswith("<") and plain.endswith(">") and len(plain) <= 60 and plain.count("<") == 1):
        return "media"
    if _DELETED.fullmatch(plain):
        return "deleted"
    if _CALL.fullmatch(plain):
        return "call"
    return next((kind for kind, pattern in _OTHER if pattern.match(plain)), None)
