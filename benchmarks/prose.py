"""The hand-written words of docs/benchmarks.md; every figure comes from the run."""

HEAD = """\
# Beside other memory servers

Sentinel-Memory beside other memory servers, measured in one run.

This file is written by `python benchmarks/compare.py`. Do not edit it: the words are in
`benchmarks/prose.py`, the figures come from the run.

{facts}

How to read the tables:

- The servers took turns, round by round, and where time is measured the first of a round was
  another one each time. A figure is the median over the rounds. A ratio in brackets is the median
  of the ratios within each round, to Sentinel-Memory: 0.50 x means that the other one needed half
  of what Sentinel-Memory needed in the same round. Below 1 the other one is better.
- Compare the ratios, not the absolute figures, with those of another machine.
- Every server ran as its own process over stdio, started directly with its interpreter (no `npx`,
  no `uv`), with a store of its own in the same temporary directory, filled through its own tools.
- The records are the curated lessons of `benchmarks/lessons.jsonl`, half of them Korean,
  repeated with a number where more were needed. The same texts went into each server.

What is compared:

{durability}
"""

START_TEXT = """\
From the start of the process to the first answer of a tool: initialize, then one call that reads
50 records (the echo server echoes a word). Processor time is user and system time of the whole
process tree at that moment."""

CALLS_TEXT = """\
Round trips to servers that were already running, from the request on the pipe to the parsed
answer, after five calls to warm up. Processor time is what the server used for the call. "Search
one word" looks for `{word}`. The column of the echo server shows what any call to FastMCP costs:
one short echo in the same round."""

CALLS_NOTES = (
    "Not the same durability: a save of Sentinel-Memory and of mcp-memory-libsql is on the disk "
    "when it is answered, a save of server-memory is in the page cache.",
    "Not the same answers: above its budget of tokens Sentinel-Memory orders the records by "
    "relevance and shows what fits; server-memory answers with all records, once as "
    "text and once more as structured content; mcp-memory-libsql never answers with more than 50.",
    "Not the same search: the others look for the whole query as one piece of text and leave out "
    "what does not hold it. Sentinel-Memory's query orders and never leaves out.",
    "Sentinel-Memory checks every save for secrets; the others store what they get.",
)

MEMORY_TEXT = """\
Resident memory (VmRSS) of the process tree after the first answer, which reads everything that
one answer may hold. The median over the rounds."""

TOKENS_TEXT = """\
Counted with the tokenizer `o200k_base`. What a model reads or writes: of a tool its name,
description and input schema as compact JSON; of an answer its text. The 50 typical records are the
first 50 of the curated lessons."""

TOKENS_NOTES = (
    "server-memory also sends every answer a second time as structured content, and its tools have "
    "output schemas and annotations. Neither is counted, since most clients do not show them to "
    "the model.",
    "In the graph servers a lesson is one entity with its texts as observations, without labels "
    "that say which text is which, and without a date. Sentinel-Memory's answer has a date and "
    "says which text is which. Grouped by topic, as Sentinel-Memory's answer always "
    "is, a topic is one entity with the texts of all its lessons; a model that saves in this way "
    "has to find out first whether the topic exists, and cannot tell which texts belong together.",
    "Where an answer does not hold everything, fewer tokens are no merit; the last rows say how "
    "many records were in it.",
)

NO_TOKENIZER = "Not measured: the package bpe-openai of requirements-dev.txt is not installed."

RACES_TEXT = """\
Several servers on one file is what happens when two clients, or two agents, work in one project.
Each process saves its own records, one after the other, at the same time as the others. In flight
means that one process gets all requests before it has answered the first. A record is lost when
its save was acknowledged and its text is not in the file afterwards. The median over the rounds, in
brackets the least and the most."""

RACES_NOTES = (
    "Where mcp-memory-libsql refuses, it says `SQLITE_BUSY`: nothing was acknowledged, so nothing "
    "is lost. Once two of its servers have met, each keeps a lock that the other one needs, and "
    "all later saves of both are refused until they are started anew.",
    "A short time with lost or refused records is no merit.",
)

KILLS_TEXT = """\
A server with {stored} records saves more of them, and is killed with SIGKILL in the first 10
milliseconds after it was asked for one more: {kills} times, at the same moments for all. Then
a fresh server reads everything and saves one record. The figures are sums over all kills. They show
what survives the death of the process, not what survives a power cut: the system keeps what a
killed process has written. For that see what is said of fsync above."""

DAMAGE_TEXT = """\
The file of a store with {stored} records is damaged as an editor, git or a crash might do it; then
one fresh server reads everything, and another saves one record. The torn end is 40 bytes cut off:
the last record lost its end with them. The garbage is a line of bytes that are not a record. The
conflict has the markers of git around the last two records."""

DAMAGE_NOTES = (
    "In a database the garbage overwrites as many bytes in the middle, which can be free space. "
    "git cannot merge a database and puts no markers into it; it keeps one side. Nobody edits a "
    "database by accident, and nobody can read its changes or merge them.",
    "Whether foreign text is kept matters where a person has to resolve a conflict, or where the "
    "torn line is the only copy of a record.",
)

TAIL = """\
## What is unfair to whom

- To Sentinel-Memory: Python with FastMCP is slower to start than Node; the echo server shows how
  much of that is FastMCP. Sentinel-Memory syncs file and directory, takes a lock between processes,
  redacts secrets and looks for similar topics in each save; server-memory does none of this.
- To the others: they are graphs, and the lessons do not use their relations. Several processes on
  one file may be rarer where a memory belongs to a user and not to a project. The records are of
  the shape for which Sentinel-Memory was made, and who wrote this comparison made it as well.
- To mcp-memory-libsql: it can use a remote database, which is left out here since it needs a
  network.
- Left out: servers that load a model, need an account, a container or a service, or a newer
  Python than this project asks for.
"""
