"""How well recall finds what was said, on public sets of questions, and whether what is newer comes first."""
