"""Transcripts and notes as episode drafts: `read_path`, and one module for each format."""

from workers.readers.options import ReadOptions
from workers.readers.paths import Reader, built_in_readers, read_path
from workers.readers.report import ReadReport, Rejected
from workers.readers.speakers import Speakers, load_speakers
from workers.readers.stated import Draft, StatedEpisode

__all__ = [
    "Draft",
    "ReadOptions",
    "ReadReport",
    "Reader",
    "Rejected",
    "Speakers",
    "StatedEpisode",
    "built_in_readers",
    "load_speakers",
    "read_path",
]
