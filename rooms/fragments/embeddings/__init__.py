"""Embeds fragments, so that what means the same is found whatever its words; off by default.

What leaves the machine. Without SENTINEL_MEMORY_EMBEDDINGS nothing does. With an address, the
content of every live fragment goes there once, after it was saved (in a thread, a few seconds later
at most), and again whenever its content is amended or `fragments embed` is run; every question of
`recall` goes there while it is answered. Nothing else does: no topic, keyword, source, agent or
session. Whatever goes was redacted before, as it is where it is stored. The address that the user
has named gets it and nobody else, OPENAI_API_KEY with it where that is set. With `fastembed`, texts
stay here: the package fetches its model from Hugging Face at the first use, and that is all.
"""
