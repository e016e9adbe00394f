"""Puts the vectors to systems: `python -m benchmarks.vectors [--adapter NAME ...] [--orders N]`. Prints Markdown, side by side.

NAME: `erstwhile` (a server that the run starts, or --url), `plain` (SQLite by hand), `memvara` (in an environment of its own, made
once under `build/peers/`), or `module:Class`, an Adapter that is made without arguments.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from importlib.metadata import version

from benchmarks.measuring import machine
from benchmarks.peers.run import ROOT, environment
from benchmarks.vectors.erstwhile import Erstwhile
from benchmarks.vectors.plain import Plain
from benchmarks.vectors.process import Script
from benchmarks.vectors.reading import Vectors, load
from benchmarks.vectors.report import report
from benchmarks.vectors.running import run
from benchmarks.vectors.serving import served
from benchmarks.vectors.worlds import Adapter

REQUIREMENTS = {
    # Its files need SQLite 3.42; not every Python brings that.
    "memvara": ("memvara==0.21.0", "numpy==2.4.6", "pysqlite3-binary==0.5.4.post2"),
}


def adapter_of(name: str, vectors: Vectors, url: str | None, stack: ExitStack) -> Adapter:
    """An adapter by its name; `stack` ends what it needs. Raises SystemExit for a name that names none."""
    if name == "erstwhile":
        return Erstwhile(stack.enter_context(served(vectors.predicates, url)), f"Erstwhile ({version('erstwhile')})")
    if name == "plain":
        return Plain()
    if name in REQUIREMENTS:
        return Script([environment(name, REQUIREMENTS[name]), "-m", f"benchmarks.vectors.{name}"], cwd=ROOT)
    module, _, found = name.partition(":")
    if not found:
        raise SystemExit(f"--adapter {name}: one of erstwhile, plain, {', '.join(REQUIREMENTS)}, or module:Class")
    try:
        adapter: Adapter = getattr(import_module(module), found)()
    except (ImportError, AttributeError) as failure:
        raise SystemExit(f"--adapter {name}: {failure}") from failure
    return adapter


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adapter", nargs="+", default=["erstwhile", "plain"], metavar="NAME")
    parser.add_argument("--orders", type=int, default=6, metavar="N", help="most orders beside the given one (6)")
    parser.add_argument("--url", help="of a service to ask instead of starting one; its vocabulary must be that of the vectors")
    parser.add_argument("--reasons", action="store_true", help="what was wrong with each answer")
    options = parser.parse_args(arguments)
    vectors = load()
    with ExitStack() as stack:
        runs = []
        for name in options.adapter:
            adapter = adapter_of(name, vectors, options.url, stack)
            stack.callback(adapter.close)
            runs.append(run(adapter, vectors, options.orders))
    print(f"{machine()}; {len(vectors.vectors)} vectors, up to {options.orders} other orders of each\n")
    print(report(runs, reasons=options.reasons))


if __name__ == "__main__":
    main()
