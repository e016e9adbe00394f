"""The service's own request headers. Alone here: the command line names them without loading the schema."""

NAMESPACE_HEADER = "Erstwhile-Namespace"
AWAIT_HEADER = "Erstwhile-Await"
