"""The server over HTTP: who may come in, and how a call travels."""
