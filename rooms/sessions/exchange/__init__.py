"""Sessions as documents, and sessions out of documents: the export and the import."""
