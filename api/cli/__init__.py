"""The command line: a thin face over GraphQL, of a running server where one owns the data folder, else in this process."""

from api.cli.commands import main

__all__ = ["main"]
