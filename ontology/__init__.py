"""What can exist: value types and the vocabulary. No I/O beyond reading its own data files."""
