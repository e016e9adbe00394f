"""How fast, how flat and how politely transcripts go in by the thousand: through the service as it is run, over HTTP."""
