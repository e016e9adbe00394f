"""The GraphQL schema: types, queries, mutations; thin over the facade."""
