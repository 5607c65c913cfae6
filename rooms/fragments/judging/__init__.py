"""Judges whether a later fragment contradicts an earlier one; off by default.

What leaves the machine. Without SENTINEL_MEMORY_JUDGE nothing does: pairs that look like a
contradiction are shown to the calling agent. With a judge, upkeep shows it the contents of two
fragments at a time, redacted, of those that are about the same topic and nearly alike; nothing else
of them. `chat` sends both to the address in SENTINEL_MEMORY_JUDGE_URL, with OPENAI_API_KEY where
that is set. `gemini` starts the command line of that name, which sends them to Google with the
account it is signed in with; it adds the date, the system, the path of its directory and the user's
own ~/.gemini/GEMINI.md.
`onnx:DIRECTORY` reads a model there, and nothing leaves. With several, a later one sees only the
pairs that those before it were unsure of, or could not answer.
"""
