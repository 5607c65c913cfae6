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

FORMATS_TEXT = """\
What one record costs a model (`o200k_base`), whole and beside its three texts, in formats that say
the same: topic, type, date, what was missing, lesson, question. The records are the curated lessons
and those of the ranking queries. Where the topic comes above its records, a quarter of its line is
counted for each, as for four records of a topic. A record is Korean when it has less than 15 Latin
letters for 100 Hangul syllables."""

FORMATS_NOTES = (
    "The example of the specification repeats the topic and the type in each record and names "
    "the fields in full; with labels, they are shorter and the topic comes above. What is shown "
    "has a date, an arrow before the lesson and `ask:` before the question; a log needs no word "
    "for its type. With signs only, the date loses its hyphens and the question its word: three to "
    "four tokens less, which is not worth a date that people have to spell.",
)

ESTIMATE_TEXT = """\
The server has no tokenizer and estimates from kinds of characters (`core/text/plain.py`). Shown is
the estimate divided by what `o200k_base` counts, for records as an answer shows them: 1.00 is
exact, above it the estimate is too high, so that an answer is smaller than its budget. Lowest and
highest leave out one record in twenty on either side. The weights were fitted on these records and
others of this project."""

SURVIVAL_TEXT = """\
Eighty lessons of one project (35 English, 35 Korean, 10 mixed) are at even distances among
records of ten other projects, and recombinations of these where more are needed. For each lesson
two tasks are asked, one in English and one in Korean, and the answer of a search is made at each
budget. The figure is the share of the tasks whose lesson is in the answer whole. "Keywords" is
what the description of `query` asks an agent for: keywords of the task with synonyms, in both
languages. "Task" is the user's sentence as it is, where the lesson is in the same language or in
the other one. "Nothing" is an empty query: the newest first. Nothing is random;
`benchmarks/survival.py` repeats it."""

SURVIVAL_NOTES = (
    "Lessons, tasks and keywords are by one author, who did not look at the ranking: keywords of "
    "somebody who has never seen the lesson will miss more of them.",
    "A sentence in one language finds a lesson in the other by shared identifiers only. What an "
    "answer leaves out is counted in its first line, and many of these records have a line there.",
)

RANKING_TEXT = """\
How well the texts that answer a question come first; 1.00 when they always do. "Turns" and
"observations" are an invented dialogue of friends, "lessons" the labelled questions of
`tests/data/ranking_queries.json`, "lessons among others" the same with the lessons of other
projects between them. Each line adds one thing to the one above; the last one is what the server
does, with irregular forms and names in parts besides. The questions on lessons were seen while it
was made, and that a short text leans on its neighbour was decided by the dialogue."""

SPEED_TEXT = """\
Processor time of `rank` for questions of two to thirty words, on texts with words as frequent as in
nature, two in five of them Korean: turns of 60 to 120 characters, records of 100 to 300. The first
question reads the texts, the next one meets the same texts again."""

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

_ROOM_ROWS = """ The
store is empty for tokens and start, and has 50 of the curated lessons for the calls: a save of one
more, a search for one word. The labelled sets are those of `benchmarks/ranking.py`: all texts of a
set go in through the server's own tools, and each question is asked unchanged. nDCG@10 is
counted out of the order of the answer, a hit is any text in the answer that belongs to the
question, and the tokens say how long the answer is. Lost saves are counted as under
"Concurrency"."""

ROOM_TEXTS = {
    "lessons": "The memory log, which is the default, beside knowledge graphs." + _ROOM_ROWS,
    "sessions": (
        "The sessions alone (`--rooms sessions`) beside a server that keeps the context of "
        "sessions. In it a text is a context item." + _ROOM_ROWS
    ),
    "fragments": (
        "The fragments alone (`--rooms fragments`), on SQLite and without embeddings, beside "
        "servers that keep facts." + _ROOM_ROWS
    ),
}

ROOM_NOTES = {
    "lessons": (
        "A search of the graphs looks for the whole question as one piece of text, so that it "
        "finds next to nothing; an agent that sends single words would find more.",
        "Sentinel-Memory's search orders and leaves out nothing that its budget of tokens holds: "
        "a hit in a small set says little there, nDCG@10 says how early it comes.",
    ),
    "sessions": (
        "Ten hits are asked of both. mcp-memory-keeper is asked by `context_semantic_search`, "
        "since its `context_search` looks for the whole question as one piece of text. It looks "
        "in the session of the caller only, so that in the race and in the calls it has to look "
        "through less.",
        "A save of mcp-memory-keeper syncs nothing to the disk; a save of a session does.",
        "A line of context_search is a session's number, date and goal; one more call reads the "
        "session. A context item comes whole.",
    ),
    "fragments": (
        "recall stays within its 1,000 tokens and is silent where nothing is about the question. "
        "The graphs look for the whole question as one piece of text.",
        "Of mcp-memory-service only its list of tools and its start are compared. Its store needs "
        "SQLite with loadable extensions, which not every Python has, and its search a model that "
        "it downloads; with neither there is nothing to save into or to judge.",
    ),
}

ROOMS_TEXT = """\
What a session pays for each room by itself and for all of them (`--rooms
lessons,sessions,fragments`): tokens of tools and instructions (`o200k_base`), and the start of the
server until its tools are listed. The ratio of all three is to the lessons alone, which are the
default."""

ABSENT_TEXT = """\
Servers of these kinds that were tried for this document in November 2026 and have no column, or not
in every row."""

WHY_ABSENT = (
    (
        "mcp-memory-service",
        "12.4.0, 12.2.0",
        "The newest asks for a certifi (2026.10.19) that the package index did not have; 12.2.0 "
        "installs. Saving needs loadable SQLite extensions, searching by meaning a model download.",
    ),
    ("basic-memory", "0.24.1", "No version runs on Python 3.11; all ask for Python 3.12."),
    (
        "@gannonh/memento-mcp",
        "0.3.9",
        "It needs a Neo4j server, and an OpenAI key for its embeddings.",
    ),
    (
        "@iachilles/memento",
        "none",
        "The package registry did not have it; by its documentation it downloads the model bge-m3.",
    ),
    (
        "context-sync",
        "none",
        "The package registry had no package of this name, and no other was looked for.",
    ),
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
