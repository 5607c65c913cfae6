"""Every sentence of the doctor, in English and Korean, by name."""

from functools import partial

from core.data import PEOPLE, Sentences
from core.messages import MESSAGES, Table, sentence

WORDS: Table = {
    **Sentences("doctor", PEOPLE),
    **{
        key: MESSAGES[key]
        for key in ("log_link", "log_link_folder", "log_link_gone_file", "log_link_gone_folder")
    },
}

word = partial(sentence, WORDS)
