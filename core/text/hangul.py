"""Takes Korean words apart: stems, and the particles and endings behind them."""

import re

# fmt: off
VOWELS = tuple(
    "ㅏ ㅐ ㅑ ㅒ ㅓ ㅔ ㅕ ㅖ ㅗ ㅗㅏ ㅗㅐ ㅗㅣ ㅛ ㅜ ㅜㅓ ㅜㅔ ㅜㅣ ㅠ ㅡ ㅡㅣ ㅣ".split()
)
TAILS = (
    "",
    *"ㄱ ㄲ ㄱㅅ ㄴ ㄴㅈ ㄴㅎ ㄷ ㄹ ㄹㄱ ㄹㅁ ㄹㅂ ㄹㅅ".split(),
    *"ㄹㅌ ㄹㅍ ㄹㅎ ㅁ ㅂ ㅂㅅ ㅅ ㅆ ㅇ ㅈ ㅊ ㅋ ㅌ ㅍ ㅎ".split(),
)
# What stands behind a noun: one or two particles, or the verb that makes one of it.
PARTICLES = (
    "(?:(?:[이가을를은는도만의와과들]|에서?|에게서?|한테|으?로[서써]?|까지|부터|마다|처럼|보다|이?나|이?랑|이?라도?){1,2}"
    "|이고|이다|입니다|[하되](?:다|고|며|면|는|지|기|여|게|도록|려고|거나|세요|십시오)|[한된할될함됨해돼](?:다|야|서|도)?"
    "|(?:했|됐|하였|되었)(?:다|고|는데|습니다)|[합됩]니다)$"
)
# What questions ask with and end in, whatever they are about: `왜`, `어떻게`, `했지`, `있었나요`.
_ASKING = re.compile(
    "(?:왜|무슨|어떤|어떻게|어때요?|어느|누가|얼마나|몇|좀|혹시|안|못|[것건게거걸때수]"
    "|알려줘|알려주세요|궁금해요?|합니까|됩니까|입니까|이야|이지|이었지|인가요?|인지"
    "|(?:뭐|뭘|뭔|무엇|언제|얼마|누구|어디)(?:[가를을이에야]|으?로|에?서|까지|부터|쯤|라고|예요|에요"
    "|인가요?|지|죠|였지|였죠|였더라|더라)?"
    "|[하되](?:지|죠|나요?|니|면|려면|는|는지|는데|던|더라|기로)|[할될](?:까요?|지)?"
    "|[한된](?:다면|지)?|[해돼](?:요|야|도)?|[했됐였](?:지|죠|어요?|나요?|더라|던|는지|는데|습니까)"
    "|[있없](?:지|죠|어요?|나요?|니|는|는지|는데|을까요?|었지|었죠|었나요?|었더라|습니까))$"
)
# A noun of one syllable, and what hardly another noun ends in: `앱을`; a verb of one: `묶기`.
_ONE_SYLLABLE = re.compile(
    "[가-힣](?:[을를은는에와]|으로|에서)$"
    "|[끊꺾깎닦닫덮맡묶받붙뽑섞싣쌓옮읽잃잊잡찾][기다자고지면어아은는을]"
)
# fmt: on
# The vowel of a stem, by the one that it becomes with an ending: 치어 is 쳐, 꾸어 is 꿔.
_STEM_VOWELS = {"ㅕ": "ㅣ", "ㅗㅏ": "ㅗ", "ㅜㅓ": "ㅜ", "ㅗㅐ": "ㅗㅣ"}
_TAILS_OF_ENDINGS = tuple("ㄴㄹㅁㅂ")
_BEHIND_A_JOINED = tuple("서야도라지졌진질집주준줄줘놓버보봤본둔두")
_FIRST, _SYLLABLES = 0xAC00, re.compile("[\uac00-\ud7a3]")
_PARTICLES = re.compile(PARTICLES)


def verb_beginning(word: str) -> str:
    """Return the first two syllables of a verb as they stand in its stem; "" where they do.

    An ending melts into the second one: 고쳤다, 고쳐서, 고친 and 고침 begin with those of 고치다.
    Only forms that hardly any noun has are taken apart.
    """
    at = ord(word[1]) - _FIRST if len(word) > 1 else -1
    if not 0 <= at < 11_172 or not _SYLLABLES.match(word):
        return ""
    vowel, tail = VOWELS[at // 28 % 21], TAILS[at % 28]
    is_past, melts = tail == "ㅆ", vowel in _STEM_VOWELS
    is_joined = not tail and melts and word[2:3] in _BEHIND_A_JOINED
    if is_past or is_joined:
        vowel = "ㅏ" if word[1] == "했" else _STEM_VOWELS.get(vowel, vowel)
    elif not (tail in _TAILS_OF_ENDINGS and vowel in ("ㅣ", "ㅜ")):
        return ""
    return word[0] + chr(_FIRST + at // 588 * 588 + VOWELS.index(vowel) * 28)


def asks_only(word: str) -> bool:
    """Say whether a Korean word only makes a question of the others, and carries no meaning."""
    return bool(_ASKING.match(word))


def one_syllable_of(word: str) -> str:
    """Return the one syllable that carries the meaning of a word; "" where there are more."""
    return word[0] if _ONE_SYLLABLE.match(word) else ""


def without_particle(word: str) -> str:
    """Return a Korean word without what stands behind it, unless but one syllable would be left."""
    found = _PARTICLES.search(word, 2)
    return word[: found.start()] if found else word
