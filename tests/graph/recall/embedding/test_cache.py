"""The cache of vectors: who uses what, what is deleted, and what a damaged file costs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.recall.embedding.cache import VectorCache
from graph.recall.embedding.port import EmbedderMismatch, Vectors
from ontology.errors import Overloaded

SECRET = b"s" * 32
DIM = 24


def open_cache(folder: Path, embedder: str = "one", secret: bytes = SECRET) -> VectorCache:
    """The cache of a folder."""
    return VectorCache(folder / "vectors.db", secret=secret, embedder=embedder)


def document(number: int) -> bytes:
    """A document's ID."""
    return number.to_bytes(16, "big")


def vector(text: str, dim: int = DIM) -> Vectors:
    """Numbers that no other text has."""
    return np.random.default_rng(list(text.encode())).standard_normal(dim).astype(np.float32)


def vectors(*texts: str, dim: int = DIM) -> Vectors:
    """Rows of texts."""
    return np.stack([vector(text, dim) for text in texts])


def fill(cache: VectorCache, *texts: str, first: int = 0) -> None:
    """Documents that use a text each, with their vectors."""
    cache.use((document(first + number), text) for number, text in enumerate(texts))
    cache.put(texts, vectors(*texts))


def on_disk(folder: Path) -> bytes:
    """All that a reader of the disk finds."""
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[VectorCache]:
    found = open_cache(tmp_path)
    yield found
    found.close()


def test_vectors_come_back_as_they_were_also_from_another_process(cache: VectorCache, tmp_path: Path) -> None:
    fill(cache, "tea", "coffee")
    again = open_cache(tmp_path)
    found = again.get(["coffee", "tea", "milk"])
    assert {text: row.tobytes() for text, row in found.items()} == {text: vector(text).tobytes() for text in ("tea", "coffee")}
    assert (again.count(), again.dim, again.embedder) == (2, DIM, "one")
    again.close()


def test_many_come_in_the_order_asked_with_what_is_there(cache: VectorCache) -> None:
    texts = [f"text {number}" for number in range(1200)]
    fill(cache, *texts)
    asked = ["none", *texts[::-1], "text 7"]
    rows, there = cache.rows(asked)
    assert not there[0]
    assert there[1:].all()
    assert not rows[0].any()
    assert rows[1:].tobytes() == vectors(*asked[1:]).tobytes()
    few, _ = cache.rows(asked[:40])
    assert few.tobytes() == rows[:40].tobytes()


def test_an_empty_cache_answers(cache: VectorCache) -> None:
    rows, there = cache.rows(["tea"])
    assert (rows.shape, list(there), cache.get(["tea"]), cache.count(), cache.dim) == ((1, 0), [False], {}, 0, None)
    assert cache.put([], np.zeros((0, DIM), dtype=np.float32)) == 0
    assert cache.rows([])[0].shape == (0, 0)


def test_a_text_that_nobody_uses_gets_no_vector(cache: VectorCache) -> None:
    cache.use([(document(1), "tea")])
    assert cache.put(["tea", "erased meanwhile"], vectors("tea", "erased meanwhile")) == 1
    assert cache.put(["tea"], vectors("tea")) == 0
    assert cache.count() == 1


def test_embedders_are_kept_apart(cache: VectorCache, tmp_path: Path) -> None:
    fill(cache, "tea")
    other = open_cache(tmp_path, "two")
    assert other.get(["tea"]) == {}
    other.put(["tea"], vectors("tea", dim=8))
    assert (len(other.get(["tea"])["tea"]), len(cache.get(["tea"])["tea"])) == (8, DIM)
    assert cache.forget_others() == 1
    assert (other.count(), other.dim, cache.count()) == (0, None, 1)
    other.close()


def test_vectors_of_another_length_are_refused(cache: VectorCache) -> None:
    fill(cache, "tea")
    with pytest.raises(EmbedderMismatch, match=f"have {DIM} numbers, these have 8"):
        cache.put(["tea"], vectors("tea", dim=8))
    with pytest.raises(EmbedderMismatch, match="2 texts have an array"):
        cache.put(["tea", "coffee"], vectors("tea"))
    with pytest.raises(EmbedderMismatch):
        cache.put(["tea"], vector("tea"))
    assert cache.count() == 1


def test_the_file_holds_no_text_and_confirms_no_guess_without_the_secret(cache: VectorCache, tmp_path: Path) -> None:
    fill(cache, "a private matter")
    assert b"private" not in on_disk(tmp_path)
    stranger = open_cache(tmp_path, secret=b"t" * 32)
    assert stranger.get(["a private matter"]) == {}
    stranger.close()


def test_what_is_released_leaves_no_byte_on_disk(cache: VectorCache, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    gone: list[str] = []
    for part in range(8):
        texts = [f"text {part} {number}" for number in range(60)]
        fill(cache, *texts, first=100 * part)
        chosen = random.permutation(60)[:40]
        assert cache.release(document(100 * part + int(number)) for number in chosen) == 40
        gone += [texts[int(number)] for number in chosen]
    disk = on_disk(tmp_path)
    assert [text for text in gone if vector(text).tobytes()[:16] in disk or vector(text).tobytes()[-16:] in disk] == []
    assert cache.count() == 8 * 20


def test_a_vector_stays_while_anybody_uses_it(cache: VectorCache) -> None:
    fill(cache, "tea", "tea")
    cache.use([(document(0), "tea"), (document(0), "tea")])
    assert cache.release([document(0)]) == 0
    assert cache.release([document(0), document(7)]) == 0
    assert cache.release([document(1)]) == 1
    assert cache.count() == 0


def test_erasing_while_another_program_reads_is_told(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.db", secret=SECRET, embedder="one", patience=0.01)
    fill(cache, "tea")
    reader = sqlite3.connect(tmp_path / "vectors.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM vectors").fetchone()
    with pytest.raises(Overloaded, match="another program reads"):
        cache.release([document(0)])
    reader.close()
    cache.release([document(0)])
    assert vector("tea").tobytes() not in on_disk(tmp_path)
    cache.close()


@pytest.mark.parametrize("damage", [b"this is no database at all " * 400, b"SQLite format 3\x00" + b"\xff" * 9000])
def test_a_file_that_is_damaged_at_the_start_is_moved_aside(damage: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "vectors.db").write_bytes(damage)
    cache = open_cache(tmp_path)
    assert "is damaged" in caplog.text
    assert (tmp_path / "vectors.db.damaged").read_bytes() == damage
    fill(cache, "tea")
    assert cache.count() == 1
    cache.release([document(0)])
    # It may hold what is erased now.
    assert not (tmp_path / "vectors.db.damaged").exists()
    cache.close()


def test_a_page_that_is_damaged_later_costs_the_vectors_and_no_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = open_cache(tmp_path)
    fill(cache, *(f"text {number}" for number in range(2000)))
    cache.close()
    whole = (tmp_path / "vectors.db").read_bytes()
    (tmp_path / "vectors.db").write_bytes(whole[:8192] + b"\xff" * (len(whole) - 8192))
    cache = open_cache(tmp_path)
    assert cache.get(["text 1"]) == {}
    assert "is damaged" in caplog.text
    fill(cache, "text 1")
    assert cache.get(["text 1"])["text 1"].tobytes() == vector("text 1").tobytes()
    cache.close()


def test_a_file_of_another_layout_is_moved_aside(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "vectors.db")
    other.execute("CREATE TABLE vectors (what)")
    other.execute("PRAGMA user_version=9")
    other.close()
    cache = open_cache(tmp_path)
    fill(cache, "tea")
    assert cache.count() == 1
    cache.close()


def test_threads_share_it(cache: VectorCache) -> None:
    def work(number: int) -> bool:
        texts = [f"text {number} {each}" for each in range(20)]
        fill(cache, *texts, first=1000 * number)
        found = cache.rows(texts)[0].tobytes() == vectors(*texts).tobytes()
        cache.release(document(1000 * number + each) for each in range(10))
        return found

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(work, range(8)))
    assert cache.count() == 80


NAMES = st.sampled_from(["a", "b", "c", "d"])
DOCUMENTS = st.integers(0, 5)
STEPS = st.one_of(
    st.tuples(st.just("use"), st.lists(st.tuples(DOCUMENTS, NAMES), max_size=4)),
    st.tuples(st.just("put"), st.lists(NAMES, max_size=3)),
    st.tuples(st.just("release"), st.lists(DOCUMENTS, max_size=3)),
    st.tuples(st.just("retain"), st.lists(DOCUMENTS, max_size=5)),
)


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(STEPS, max_size=12), twice=st.booleans())
def test_there_is_a_vector_where_one_was_put_while_its_text_is_used(steps: list[tuple[str, list[object]]], twice: bool) -> None:
    uses: set[tuple[int, str]] = set()
    kept: set[str] = set()
    with TemporaryDirectory() as folder:
        cache = open_cache(Path(folder))
        for kind, what in [step for step in steps for _ in range(1 + twice)]:
            if kind == "use":
                pairs: list[tuple[int, str]] = what  # type: ignore[assignment]
                cache.use((document(number), text) for number, text in pairs)
                uses |= set(pairs)
            elif kind == "put":
                texts: list[str] = what  # type: ignore[assignment]
                new = {text for text in texts if text in {used for _, used in uses}} - kept
                assert cache.put(texts, vectors(*texts) if texts else np.zeros((0, DIM), dtype=np.float32)) == len(new)
                kept |= new
            else:
                numbers: list[int] = what  # type: ignore[assignment]
                ask = cache.release if kind == "release" else cache.retain
                uses = {use for use in uses if (use[0] in numbers) == (kind == "retain")}
                lost = kept - {text for _, text in uses}
                assert ask(document(number) for number in numbers) == len(lost)
                kept -= lost
            assert set(cache.get("abcd")) == kept
            assert cache.count() == len(kept)
        cache.close()
