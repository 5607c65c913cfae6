"""Finds the marks of a record's texts, at little cost where there are none.

Loading the tables takes 20 ms, compiling what a text needs of them up to 60 ms more. Only a text
with words that must come together before any rule can match is worth that; a test proves from
the rules that the rows below pass over none of them. That look takes some 0.03 ms a record, so
that whoever needs a few harmless records of many judges them one by one, the best first.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from core.injection.ignorable import BLANKS, HIDDEN_CLASS, is_plain

CACHED_RECORDS = 16_384
OTHER = "other"
HIDDEN_TEXT = "hidden-text"

# Texts, compiled where they are first needed: few hooks need them all.
_HIDDEN = f"[{HIDDEN_CLASS}{BLANKS}]"
# What the rules read as something else: hidden characters, letters of other scripts that look
# like ours, Korean ones in parts, wide and mathematical ones.
_DISGUISED = (
    f"[{HIDDEN_CLASS}\u0130\u0131\u0250-\u02af\u0370-\u058f\u1100-\u11ff\u1d00-\u1d2b\u2100-\u214f"
    "\u24b6-\u24e9\ua4d0-\ua4f7\uff01-\uff5e\U0001d400-\U0001d7ff]"
)

_NO_WORD = "[^a-z0-9]+"

_IGNORE = "‹ignore› ‹ignoring› ‹disregard ‹forget ‹neglect› ‹discard› attention›"
_LIMITS = "rules guideline constraint restriction limitation polic safeguard"
_TOLD = f"instruction prompt directive guardrail programming message 지시 지침 프롬프트 {_LIMITS}"
_PRIOR = "previous prior preceding earlier above foregoing before 이전 앞선 기존"
_NOT = "‹not› don't don’t ‹never›"
_USER = " ".join(
    f"{whose}+{who}"
    for whose in ("the", "your", "any")
    for who in ("user", "human", "operator", "developer", "owner", "customer")
)
_TELL = "‹tell› ‹inform› ‹notify› ‹alert› ‹mention› ‹reveal› ‹disclose› ‹report› ‹show› ‹let›"
_TELLING = "asking telling informing notifying letting consulting alerting"
_PERSON = (
    "unrestricted uncensored unfiltered jailbroken evil› amoral› dan› ai› chatbot› ‹model›"
    " assistant› agent›"
)
_OBEYING = "you obey comply pretend act behave roleplay respond answer do ignore follow refuse"
_SEND = "send post upload forward transmit email e-mail exfiltrate submit leak copy put"
_SEND_KO = "보내 전송 업로드 게시 전달 유출"
_SECRETS = (
    ".env keys› key› credentials› ‹secrets› id_rsa ~/. environment› passwords› ‹tokens› ‹history"
    " ‹log api 환경 비밀번호 자격 개인 대화"
)
_TO = "http @ my› our› this› following›"
_THERE = "http @ server url email address endpoint webhook"
_PROMPT = "prompt instruction message"
_PROMPT_KO = "프롬프트 지시 지침 인스트럭션 가이드라인 prompt instruction directive guideline"
_ORDERS_KO = "명령 규칙 제약 제한 규정 정책 대화 rule command"
_WHICH_KO = (
    "이전 앞 위 상기 지금까지 이제까지 그동안 기존 모든 전체 원래 초기 시스템 먼저 너의 네"
    " 당신의 개발자 안전 previous› prior› above› earlier› system› all›"
)
_DROP_KO = "무시 ignore disregard override forget 잊 따르지 폐기 덮어 버려라"
_KOREAN = "해 하 한 할 합 무시 잊 따르지 폐기 덮어 버려라"
_PRINT_KO = "출력 공개 노출 누설 유출 복사 반복 나열 표시 reveal print 보여 알려 말 털어놔"
_USER_KO = "사용자 유저 관리자 운영자 개발자 주인"
_TELL_KO = "알리 말하 보고하 밝히 언급 통보 통지 고지"
_UNASKED_KO = "묻 물어 받지 구하 허락 동의 승인 몰래 모르게 눈치채 알지 들키지"
_AI = "ai bot assistant model claude gpt 챗봇 봇 모델 인공지능 어시스턴트 비서 에이전트"
_TURNED = (
    "you ignor disregard forget from the never always do override new 너는 넌 당신"
    " 이전 지금부터 이제 사용자 모든"
)
_TAGS = "system assistant developer user instruction important im_ start_of_ end_of_ human_"
_TOOLS = "invoke function_call tool_call tool_use tool_result tool_response tool_code tool_output"

# One word of each group of a row stands in a text, in any order, or no rule can match in it. `‹`
# and `›` are the borders of an English word, as in the rules, and `+` is what parts two of them.
_ROWS = (
    (f"{_IGNORE} overr bypass abandon aside", _TOLD),
    ("follow obey", f"{_NOT} stop", _TOLD),
    (_IGNORE, f"{_PRIOR} you system said says told"),
    ("‹you", "‹now› ‹longer› unrestrict uncens unfilt jailbr"),
    ("‹from›", "‹now", _OBEYING),
    ("pretend› anything›",),
    ("‹act›", "‹as›", f"{_PERSON} you rules restrictions limits"),
    ("new› updated› revised› real› actual› true›", f"{_PROMPT} directive", ": ："),
    ("‹your›", "‹new› ‹real› ‹actual› ‹true›", "instruction prompt directive task goal"),
    ("override", "system admin developer safety"),
    (_NOT, _TELL, f"{_USER} anyone› anybody›"),
    ("‹hide› ‹conceal› ‹keep›", "‹from›", _USER),
    ("without› never› rather›", _TELLING, _USER),
    ("without behind", "‹user", "knowledge knowing noticing consent back"),
    ("system› hidden› initial› original› secret› internal› verbatim", _PROMPT),
    (_SEND, _SECRETS, _TO, _THERE),
    ("‹post›", "keys secrets"),
    ("curl nc wget", ".env id_rsa .ssh .aws"),
    (_SEND_KO, _SECRETS, _TO, _THERE),
    (_PROMPT_KO, _WHICH_KO, _DROP_KO, _KOREAN),
    (_ORDERS_KO, _WHICH_KO, "무시 ignore disregard forget 잊", _KOREAN),
    ("무시 잊", "지금까지 이제까지 이전에 앞 위"),
    (_PROMPT_KO, _PRINT_KO, "시스템 초기 숨겨진 내부 비밀 너의 당신의 네 내 system"),
    (_USER_KO, _TELL_KO, "마 말 않고"),
    (_USER_KO, _UNASKED_KO, "말고 않고 없이 몰래 모르게 못하게 않게"),
    ("너는 넌 네가 니가 당신은", "지금 이제 앞으로"),
    ("제한 제약 검열 규칙", "없는 받지 구애", _AI),
    ("새 진짜 변경", "지시 지침 프롬프트 명령", ": ："),
    (" ".join(f"<{tag} </{tag}" for tag in _TAGS.split()),),
    ("<| [inst] [/inst] <<sys <</sys",),
    ("system 시스템", ": ：", _TURNED),
    ("assistant 어시스턴트", ": ："),
    ("user human 사용자 유저", _AI, ": ：", "\n"),
    ("###", "instruction human assistant system 지시"),
    ("시스템", "프롬프트"),
    ("<", f"{_TOOLS} tool-"),
    ("[tool_ [/tool_ ```tool [available_tools [/available_tools",),
    ("tool_ function_call", "' \""),
)
_Rows = tuple[tuple[tuple[str, ...], ...], ...]


@cache
def _table(*, strict: bool, ascii_only: bool) -> _Rows:
    """Return the rows for a text with blanks at all borders, or (one word each) for any text.

    In ASCII text no other words can stand, and a row that needs one holds for none.
    """

    def sought(word: str) -> str:
        if strict:
            return word.replace("‹", " ").replace("›", " ").replace("+", " ")
        return word.strip("‹›").rpartition("+")[2]

    rows = (
        tuple(
            tuple(it for it in map(sought, group.split(" ")) if it.isascii() or not ascii_only)
            for group in row
        )
        for row in _ROWS
    )
    return tuple(row for row in rows if all(row))


def _has_row(rows: _Rows, text: str) -> bool:
    """Return whether every group of some row has a word in the text; it loops to be fast."""
    for row in rows:
        for group in row:
            for word in group:
                if word in text:
                    break
            else:
                break
        else:
            return True
    return False


@lru_cache(maxsize=CACHED_RECORDS)  # a server shows the same records again and again
def marks_of(*texts: str) -> tuple[str, ...]:
    """Return the marks of these texts together; see `suspicions.marks_of`."""
    text = " ".join(texts)
    if not may_have_marks(text):
        return ()
    if _is_disguised(text) or may_hide(text):
        from core.injection.suspicions import marks_of

        return marks_of(*texts)
    from core.injection.phrases import phrases_in
    from core.injection.rule import MARKS

    found = {mark for text in texts for mark, _, _ in phrases_in(text.lower())}
    return tuple(mark for mark in MARKS if mark in found)


def shown_marks(stored: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the marks that the texts have now, and OTHER for a stored name that is none of ours.

    What an older version stored counts no longer: its rules may have been wrong. Whoever writes the
    file can write any name there, so that none is shown that is not ours.
    """
    found = marks_of(*texts)
    return (*found, OTHER) if stored and unknown_marks(stored) else found


def orders_in(stored: Sequence[str], texts: Sequence[str]) -> tuple[str, ...]:
    """Return the marks that keep a text from where a model takes what it reads for orders.

    Hidden characters alone make no order of a lesson; they are spelled out.
    """
    return tuple(mark for mark in shown_marks(stored, texts) if mark != HIDDEN_TEXT)


def unknown_marks(stored: Iterable[str]) -> tuple[str, ...]:
    """Return the stored marks that this version does not know."""
    from core.injection.rule import MARKS

    return tuple(name for name in stored if name not in MARKS)


def revealed(text: str) -> str:
    """Return the text with its hidden characters spelled out; see `hidden.revealed`."""
    if not may_hide(text):
        return text
    from core.injection.hidden import revealed

    return revealed(text)


def may_hide(text: str) -> bool:
    """Return whether the text has a character that is hidden in some places."""
    return not is_plain(text) and bool(re.search(_HIDDEN, text))


def may_have_marks(text: str) -> bool:
    """Return whether a closer look can find a mark; False is certain."""
    if _is_disguised(text):
        return True
    lowered = text.lower()
    plain = text.isascii()
    if not _has_row(_table(strict=False, ascii_only=plain), lowered):
        return False
    words = f"{lowered} {re.sub(_NO_WORD, ' ', lowered)} "
    return _has_row(_table(strict=True, ascii_only=plain), words)


def _is_disguised(text: str) -> bool:
    """Return whether some character is read as another one or as none."""
    return not is_plain(text) and bool(re.search(_DISGUISED, text))
