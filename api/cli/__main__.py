"""`python -m api.cli`."""

from api.cli.commands import main

main()
