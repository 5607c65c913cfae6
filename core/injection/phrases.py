"""The phrases, tags and calls that read like an order to a model: one table, a row for each.

A phrase is added here, and in `marks.py` the words that must come together before it can match.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

MARKS: tuple[str, ...] = ("override", "role", "tool-call", "hidden-text")
_OVERRIDE, _ROLE, _TOOL_CALL, HIDDEN_TEXT = MARKS


class _Rule(NamedTuple):
    """A pattern for lower-case text; tried where one of its hints (words, as blanks vary) occurs.

    In a pattern ` ` stands for the blanks and emphasis between two words, `·` for the same or
    nothing (Korean is spaced freely), and `‹` and `›` for the borders of an English word. What
    `unless` finds right before a place, up to its sentence's beginning, makes it innocent.
    """

    mark: str
    hints: tuple[str, ...]
    pattern: str
    unless: str = ""


_BEFORE_CHARS = 80
_GAP = r"[*_~`\"'’”)\]]{0,3}+\s{1,16}+(?:[>#/|-]{1,3}+\s{1,4}+)?[*_~`\"'‘“(\[]{0,3}+"
_FREE_GAP = r"(?:[\s*_~`\"'‘’“”「」『』()]{0,12}+)"
_SIGNS = (
    (" ", _GAP),
    ("·", _FREE_GAP),
    ("‹", "(?<![a-z0-9])(?<![a-z0-9]_)"),
    ("›", "(?!_?[a-z0-9])"),
)

# English: a verb, words that say which, and what a model was told.
_IGNORE = (
    r"‹(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|neglect|discard|pay no attention to)"
)
_OVERRULE = (
    r"(?:‹(?:(?:override|overrule|bypass|abandon|set aside)(?! (?:the )?(?:system|developer)›)"
    r"|(?:do not|don['’]t|stop) (?:follow|obey)(?:ing)?)|" + _IGNORE + ")"
)
_SOME = r"(?:(?:all|any|every|each|of|the|these|those|this|my|our|other|and|or|모든|위의) )"
_PRIOR = r"previous(?:ly)?|prior|preceding|earlier|above|foregoing|이전|앞선|기존"
_BINDING = rf"(?:{_PRIOR}|your|user['’]s|system|developer|safety|시스템)"
_TOLD = (
    r"(?:instructions?|prompts?|directives?|guardrails?|programming|system messages?|지시(?:사항"
    r"|문)?|지침|프롬프트)"
)
_LIMITS = r"(?:rules|guidelines?|constraints|restrictions|limitations|polic(?:y|ies)|safeguards)"
_TALK = r"(?:context|conversations?|messages?|commands?|orders|text|content|training|tasks?)"
# A manual says `ignore the instructions above if you use Windows`.
_NO_CASE = (
    r"›(?! (?:if|when|unless)›(?! you(?:['’]re| are) (?:an? )?(?:ai|llm|model|agent|assistant"
    r"|lang)))"
)
# An observation, not an order: `never ignore …`, `models may ignore …`.
_TOLD_OF = (
    r"(?:‹not|n['’]t|‹never|‹cannot|‹(?:models?|llms?|agents?|assistants?|users?|attackers?|it"
    r"|they|which|that|claude|gpt\S{0,8})(?:\s(?:may|might|can|could|would|often|sometimes"
    r"|tends?|to|silently|easily)){0,3})\s{1,4}$"
)
_NEGATED = (
    r"‹(?:not|never|cannot|avoid|without|no|nor|forbidden|refuse)›|n['’]t›|(?:금지|안\s?된다)"
)
_WRAP = r"\n(?![\s*#>-])"  # a line break within a paragraph
# What an agent could be ordered to do on its own.
_ACTS = (
    r"(?:run|execute|delete|remove|push|commit|send|install|do(?! not›)|apply|merge|deploy"
    r"|proceed|continue|overwrite|call|use|make|change|update|drop|upload|read|write|approve"
    r"|accept|go|act|perform|transfer|download|disable|modify|edit|fetch|open|publish|post)"
)
_CLAUSE = (
    r"(?:(?<![^\n.!?:;,(\"'])|(?<=[\n.!?:;,(\"'>*-]\s)|(?<=‹and\s)|(?<=‹then\s)|(?<=please\s))"
)
_ORDERED = rf"(?:{_CLAUSE}(?:always )?|‹(?:you|agents?|assistants?) (?:must|should|may|can|will) )"
_USER = r"(?:the|your|any) (?:user|human|operator|developer|owner|customer)s?›"
_PERSON = (
    r"(?:(?:an? )?(?:unrestricted|uncensored|unfiltered|jailbroken|evil|amoral)›|dan›|(?:an? "
    r"|the )?(?:ai|chatbot|language model|assistant|agent)›)"
)
_SECRETS = (
    r"(?:(?:contents? of|파일)[^\n]{0,12}\.env›|\.env›|‹api[\s_-]?keys›|credentials›|‹secrets›"
    r"|(?:private|ssh) keys?›|id_rsa|~/\.(?:ssh|aws)|environment variables|passwords›|‹tokens›"
    r"|(?:conversation|chat) (?:history|log)|api\s?키|환경\s?변수|비밀번호|자격\s?증명|개인\s?키"
    r"|대화\s?(?:내용|기록))"
)
_THERE = (
    r"(?:https?://|[\w.+-]{1,40}@[\w-]{1,40}\.|(?:my|our|this|the following) (?:server|url|email"
    r"|address|endpoint|webhook))"
)

# Korean: which, what a model was told, a particle, and a verb that is an order.
_KO_WHICH = (
    r"(?:이전|앞선|앞의|앞서|위의?|상기|지금까지|이제까지|그동안|기존|모든|전체|원래|초기|시스템"
    r"|상위|먼저|너의|네|당신의|개발자|안전|‹(?:previous|prior|above|earlier|system|all)›)"
)
_KO_LINK = (
    r"(?:·(?:의|에|받은|내린|준|주어진|제공된|설정된|있는|있던|나온|적힌|쓰인|말한|했던|들은"
    r"|모든|전체|시스템))"
)
_KO_TOLD = (
    r"(?:지시(?:·사항|문|어|·내용)?|지침(?:서|·사항)?|프롬프트|인스트럭션|가이드라인"
    r"|(?:instruction|prompt|guideline|directive)s?)"
)
_KO_ORDERS = (
    r"(?:명령(?:어|문)?|규칙|제약(?:\s?조건)?|제한(?:\s?사항)?|규정|정책|대화(?:\s?내용)?|rules?"
    r"|commands?)"
)
_KO_OF = (
    r"·(?:들)?·(?:을|를|은|는|도|이나|따위는|에·대해서?는?)?(?:·(?:모두|모조리|전부|다|싹|완전히"
    r"|반드시|즉시|지금|이제|일단|무조건|그냥|깨끗이|절대)){0,3}·"
)
# All syllables that end as a past tense does, but for `있` and `겠`.
_PAST_END = "".join(map(chr, range(0xAC00 + 20, 0xD7A4, 28))).translate({0xC788: "", 0xACA0: ""})
_KO_PAST = f"[{_PAST_END}](?:다|음|던|습니다)"
_KO_DENIED = r"지·(?:않|못)|면·안|금지|안·된다|안·됩니다"
_KO_NOT_TOLD_OF = rf"(?![^.!?\n]{{0,60}}(?:{_KO_PAST}|{_KO_DENIED}))"
_KO_DROP = (
    r"(?:(?:무시|ignore|disregard|override|forget)·(?:해(?:라|야|줘|주세요|도)?(?![가-힣])"
    r"|하(?:라(?!는)|세요|십시오|시오|자|기|도록)"
    rf"|하고{_KO_NOT_TOLD_OF}|한·?(?:다|뒤|후|채)|합니다|할·것|하는·것|(?![가-힣]))"
    rf"|잊(?:어(?![\s가-힣]{{0,2}}버[렸리]|서는)|으(?:라(?!는)|세요|십시오)|고{_KO_NOT_TOLD_OF}"
    rf"|는다|을·것)"
    r"|잊어버(?:려|리(?:고|세요|라))"
    rf"|따르지·(?:마|말(?:고|라|아|것)|않고{_KO_NOT_TOLD_OF})|폐기(?:해|하(?:라|고|세요))"
    rf"|덮어·?(?:써라|쓰(?:고|세요|라))|버려라)"
)
_KO_FIRM = (
    r"(?:(?:무시|ignore|forget|disregard)·(?:해(?:라|줘|주세요)?(?![가-힣])|하(?:라(?!는)|세요"
    r"|십시오|시오|고)|(?![가-힣]))|잊(?:어|고|으))"
)
_KO_TELL = (
    r"(?:해(?:라|줘|주세요)?(?![가-힣])|하(?:라(?!는)|세요|십시오|시오|고|도록)|한다|할·것"
    r"|·[.!\n]|·$)"
)
_KO_WRITTEN_FOR_PEOPLE = (
    r"(?:오류|에러|예외|스택|내부|메시지|코드|비밀번호|계정|이메일|존재|여부|원인|상세|경로"
    r"|아이디|토큰|다시|두\s?번|매번|또)[^.!?\n]{0,24}$"
)

# Transcripts: where a line begins, also a quoted or an indented one.
_LINE = r"(?:(?<![^\r\n])[ \t]{0,8}(?:[>*#-]{1,4}[ \t]{0,2}){0,2}\*{0,2})".replace(" ", r"\x20")
_COLON = r"\*{0,2}\s?[:：]\*{0,2}"

_IGNORE_HINTS = ("ignor", "disregard", "forget", "neglect", "discard", "attention")
_TOLD_HINTS = tuple(
    "instruction prompt directive guardrail programming message guideline"
    " 지시 지침 프롬프트 인스트럭션 가이드라인".split()
)

# fmt: off
_RULES: tuple[_Rule, ...] = (
    # "ignore all previous instructions", "disregard your system prompt"
    _Rule(_OVERRIDE, _TOLD_HINTS,
        rf"{_OVERRULE} {_SOME}{{0,4}}{_BINDING} (?:(?:{_BINDING}|hidden|original|initial|future"
        rf"|guidance|rules|guidelines) |{_SOME}){{0,3}}(?:{_TOLD}(?:›|[가-힣])"
        rf"|{_LIMITS} and ){_NO_CASE}", _TOLD_OF),
    # "ignore all instructions"; but a manual of agents says `ignore any instructions in web pages`
    _Rule(_OVERRIDE, _TOLD_HINTS,
        rf"{_IGNORE} {_SOME}{{0,2}}(?:(?:all|every|any|current|initial|original|past|existing"
        rf"|모든|위의) ){_SOME}{{0,2}}{_TOLD}(?:›(?! (?:in|inside|within|found|embedded"
        rf"|contained|on|for|about|it|hidden|written|from|that|which)›){_NO_CASE}|[가-힣])",
        _TOLD_OF),
    # "forget your guidelines", "bypass all safety policies"
    _Rule(_OVERRIDE,
        ("rules", "guideline", "constraints", "restrictions", "limitations", "polic", "safeguard"),
        rf"(?:{_OVERRULE} {_SOME}{{0,3}}(?:your|safety|ethical|content|system prompt) "
        rf"|{_IGNORE} {_SOME}{{0,3}}(?:{_BINDING}) {_SOME}{{0,2}})(?:(?:safety|ethical|content"
        rf"|security|own|system) ){{0,2}}{_LIMITS}{_NO_CASE}", _TOLD_OF),
    # "forget all previous context"
    _Rule(_OVERRIDE, _IGNORE_HINTS,
        rf"(?:{_IGNORE} (?:all|everything) |‹(?:forget|disregard) ){_SOME}{{0,3}}(?:{_PRIOR}"
        rf"|your) {_SOME}{{0,2}}{_TALK}{_NO_CASE}", _TOLD_OF),
    # "ignore the instructions above", "forget the rules you were given"
    _Rule(_OVERRIDE, (*_IGNORE_HINTS, "overr", "bypass", "abandon", "aside", "follow", "obey"),
        rf"{_OVERRULE} {_SOME}{{0,4}}(?:(?:system|original|initial) )?(?:{_TOLD}"
        rf"|{_LIMITS}) (?:(?:written |given )?above{_NO_CASE}|(?:that )?you (?:have "
        rf"|had )?(?:(?:been|were) )?(?:given|received|told|got)|so far|(?:given "
        rf"|from )?(?:before|earlier|previously){_NO_CASE})", _TOLD_OF),
    # "disregard the above", "ignore everything above and"
    _Rule(_OVERRIDE, _IGNORE_HINTS,
        rf"{_IGNORE} (?:(?:all|everything|anything|of|that|said|written|the|it) ){{1,4}}"
        r"(?:above|previous|preceding|prior|before)(?: this)?(?=[*_\"'”’)]{0,3}(?:[.!,;:]"
        r"|\s{0,9}$|\n|\s{1,9}(?:and|instead)›))",
        rf"(?:{_TOLD_OF}|‹(?:can|may|safely|to|will|should|just)\s{{1,4}}$)"),
    # "forget everything you were told"
    _Rule(_OVERRIDE, _IGNORE_HINTS,
        rf"{_IGNORE} (?:(?:all|everything|anything|whatever|what) ){{1,2}}(?:of )?(?:that )?"
        r"(?:you (?:(?:have|had|ever|just|already) )?(?:(?:been|were) )?(?:told|taught|know"
        r"|learned|learnt|given|instructed|read|trained)|(?:the )?(?:system|user"
        r"|developer) (?:prompt )?(?:said|says|told))›", _TOLD_OF),
    _Rule(_OVERRIDE, ("now", "longer", "unrestrict", "uncens", "unfilt", "jailbr"),
        rf"‹you(?: are|['’]re) (?:now (?:{_PERSON}|(?:an? |my )(?!(?:member|part|proud"
        rf"|contributor|maintainer"
        r"|developer|user|registered|committer|few|step|bit|little|lot|single|full|certified"
        r"|node|reviewer|subscriber|collaborator|master|root)›)[a-z]|in (?:developer|jailbreak"
        r"|god|dan|unrestricted|debug) mode|(?:free|freed|released) (?:from|of)›|unrestricted"
        r"|unfiltered|uncensored)|no longer (?:bound|restricted|limited|constrained"
        r"|(?:an? )?(?:ai|assistant|claude|chatgpt|gpt))›|(?:an? )?(?:unrestricted|uncensored"
        r"|unfiltered|jailbroken)›)"),
    _Rule(_OVERRIDE, ("now", "act", "pretend"),
        r"(?:‹from now on,? (?:you (?:are (?!(?:able|allowed|ready|required|responsible|expected"
        r"|on|in|using|going)›)|(?:will|must) be (?:an? |the |dan›|my ))|(?:(?:you|must|will"
        r"|should|shall|have|to|always|only) ){0,5}(?:obey|comply|pretend|act as|behave (?:as"
        r"|like)|roleplay|respond (?:as|like|only)|answer (?:as|like) |do anything|ignore (?:all"
        r"|any|the user)|follow (?:only|my)|refuse))|‹act as if (?:you|there (?:are"
        r"|were) no (?:rules|restrictions|limits))›"
        rf"|‹(?:act as|pretend (?:to be|you are|that you are|you['’]re)) {_PERSON}"
        r"|‹pretend (?:that )?(?:you have no|there are no|you can|you do not|you don['’]t)›"
        r"|‹you can do anything now›)", _TOLD_OF),
    # A heading: a sentence may well say that there are new instructions.
    _Rule(_OVERRIDE, ("instruction", "override", "directive", "prompt"),
        r"(?:(?:(?<![^\n.!?:>*#\[(\"'])|(?<=[.!?:>*#\"']\s))(?:your )?(?:new|updated|revised"
        r"|real|actual|true)"
        rf" (?:(?:system|secret|hidden|important) )?(?:instructions?|directives?|prompt){_COLON}"
        r"|‹your (?:new|real|actual|true) (?:instructions?|task|directives?|goal|prompt) (?:is"
        r"|are)›|(?:(?<![^\n.!?:>*#\[(\"'])|(?<=[.!?:>*#\"']\s))(?:system|admin|developer"
        r"|safety)(?: prompt| instructions?)? override›"
        rf"(?=\W{{0,4}}(?:$|\n)|[\])!*]|{_COLON}|\s-|\s(?:activated|enabled|engaged|accepted"
        rf"|initiated)))"),
    _Rule(_OVERRIDE, ("not", "don't", "don’t", "never", "hide", "conceal", "keep"),
        rf"(?:‹(?:(?:do|must|should|may) not|don['’]t|never) (?:ever )?(?:(?:tell|inform|notify"
        rf"|alert)|(?:mention|reveal|disclose|report|show) (?:this|it|these"
        rf"|any of this)(?: instructions?)? to) {_USER}"
        r"(?! (?:whether|which|if|how|what|why|when|where|to›|the (?:internal|exact|raw|full"
        r"|real)|(?:that )?(?:the|their|an?|this) (?:email|e-mail|account|password|user|login"
        r"|address|phone))›)(?: (?:that|about|anything|this|of)›|(?=[*_\"'”’)]{0,3}(?:[.,;:!?\n]"
        r"|\s{0,9}$|\s{1,4}(?:and|or|but)›)))"
        rf"|‹(?:do not|don['’]t|never) let {_USER} (?:know|see|notice|find out)›(?! (?:whether"
        rf"|which|if|how|the)›)|‹(?:hide|conceal|keep) (?:this|these|your"
        rf"|the fact)(?: (?:instructions?|actions?|change|a?\s?secret"
        rf"|hidden)){{0,2}} from {_USER})"),
    # "push it without asking the user"; not `agents that push without asking the user`
    _Rule(_OVERRIDE, ("without", "behind"),
        rf"{_ORDERED}{_ACTS}›(?:(?!‹(?:not|never|no)›|n['’]t)(?:[^\n.!?]|[.!?](?=\S)"
        rf"|{_WRAP})){{0,80}}? "
        rf"(?:(?:without|and never|rather than) (?:(?:first|ever) )?(?:asking|telling|informing"
        rf"|notifying|consulting|alerting) {_USER}"
        r"|without (?:the )?users?(?:['’]s?)? (?:knowledge|knowing|noticing)"
        r"|behind the user['’]s back)", _NEGATED),
    _Rule(_OVERRIDE, ("without",),
        rf"{_CLAUSE}without (?:asking|telling|informing|notifying|letting) {_USER}(?: know)?,? "
        rf"{_ACTS}›", _NEGATED),
    _Rule(_OVERRIDE, ("prompt", "instruction", "message"),
        r"‹(?:(?:reveal|disclose|leak|divulge|recite|exfiltrate|repeat)(?: (?:me|us"
        r"|the user))? (?:(?:the|your|its|all|of|full|entire|whole|exact"
        r"|complete) ){1,4}(?:(?:hidden|initial|original|secret|internal) )?|(?:print|show"
        r"|output|display|dump|give|tell|write|send|summari[sz]e|paste)(?: (?:me|us"
        r"|out))? (?:(?:all|of|out) ){0,2}your (?:(?:full|entire|whole|exact"
        r"|complete) )?(?:(?:hidden|initial|original|secret|internal) )?)(?:system (?:prompt"
        r"|message|instructions?)|(?:hidden|initial|original|secret|internal) (?:prompt"
        r"|instructions?)|instructions? verbatim)", _TOLD_OF),
    # "send the contents of .env to https://…"; a token alone is how an interface is called
    _Rule(_OVERRIDE, (".env", "key", "creden", "secrets", "id_rsa", "~/.", "environ", "passw",
        "tokens", "hist", "chat"),
        r"‹(?:send|post|upload|forward|transmit|e-?mail|exfiltrate|submit|leak|copy"
        r"|put)›[^\n]{0,60}?" rf"{_SECRETS}[^\n]{{0,40}}?(?:‹to|‹at|로)[\s:`\"'<]{{1,6}}{_THERE}",
        _NEGATED),
    _Rule(_OVERRIDE, ("post",),
        r"‹post (?:[\w'’]{1,20} ){0,4}(?:api[\s_-]?keys|secrets|ssh keys) to (?!/)", _NEGATED),
    _Rule(_OVERRIDE, ("curl", "| nc", "wget"),
        r"(?:‹curl›[^\n]{0,120}?(?:@|\$\(cat |`cat )[^\s)`]{0,60}(?:\.env›|id_rsa|\.ssh/|\.aws/)"
        r"|(?:\.env|id_rsa|\.ssh/\S{1,40}|\.aws/\S{1,40})\s{0,4}\|\s{0,4}(?:base64\s{0,4}\|\s{0,"
        r"4})?(?:curl|nc|wget)›)", _NEGATED),
    _Rule(_OVERRIDE, ("보내", "전송", "업로드", "게시", "전달", "유출"),
        rf"{_SECRETS}[^\n.!?]{{0,60}}?{_THERE}[^\n!?]{{0,60}}?(?:로|에|으로)·[^\n.!?]{{0,20}}?"
        r"(?:보내(?!지|면|는|졌)|(?:전송|업로드|게시|전달|유출)·(?:해(?:라|줘"
        r"|주세요)?(?![가-힣])|하(?:라|세요|십시오|고)|한다|할·것))"),
    _Rule(_OVERRIDE, ("보내", "전송", "업로드", "게시", "전달"),
        rf"{_THERE}[^\n!?]{{0,60}}?(?:로|에|으로)·[^\n.!?]{{0,20}}?{_SECRETS}[^\n.!?]{{0,30}}?"
        r"(?:보내(?!지|면|는|졌)|(?:전송|업로드|게시|전달)·(?:해(?:라|줘|주세요)?(?![가-힣])"
        r"|하(?:라|세요|십시오|고)|한다|할·것))"),
    # "이전의 모든 지시사항을 무시하고"
    _Rule(_OVERRIDE, _TOLD_HINTS, rf"{_KO_WHICH}{_KO_LINK}{{0,3}}·{_KO_TOLD}{_KO_OF}{_KO_DROP}"),
    # Rules and commands are also what programs have: only a firm order counts.
    _Rule(_OVERRIDE, ("명령", "규칙", "제약", "제한", "규정", "정책", "대화", "rule", "command"),
        rf"{_KO_WHICH}{_KO_LINK}{{0,3}}·{_KO_ORDERS}{_KO_OF}{_KO_FIRM}{_KO_NOT_TOLD_OF}(?![^.!?"
        rf"\n]{{0,30}}려[면고])",
        r"(?:필터|방화벽|린트|eslint|gitignore|파일|셸|쉘|css)[^.!?\n]{0,40}$"),
    # "지금까지 들은 것은 모두 잊어라", "위 내용은 무시하고"
    _Rule(_OVERRIDE, ("잊", "무시"),
        r"(?:(?:지금까지|이제까지|이전에|앞서)·(?:의·)?(?:네가·)?(?:(?:들은|배운|말한|받은|알던"
        r"|나온|있던|나눈)·)?(?:것|모든·것|내용|대화|말|얘기|이야기)"
        rf"|(?:위|앞)의?·(?:모든·)?(?:내용|글|문장|말)){_KO_OF}{_KO_FIRM}{_KO_NOT_TOLD_OF}",
        r"(?:경우|때는?|라면|다면|않으면|으면)[^.!?\n]{0,12}$"),
    _Rule(_OVERRIDE, ("프롬프트", "지시", "지침", "prompt", "instruction"),
        r"(?:시스템|초기|숨겨진|내부|비밀|너의|당신의|네·|system|내·)·(?:시스템|초기|숨겨진"
        r"|내부)?·(?:프롬프트|지시(?:사항|문)?|지침|prompt|instructions?)(?:·(?:의·)?(?:전체"
        r"|전문|내용|원문))?·(?:을|를)?·(?:(?:모두|전부|그대로|전체|나에게|내게|여기에"
        r"|사용자에게|한·글자도·빠짐없이|빠짐없이|복사해서)·){0,3}"
        rf"(?:(?:출력|공개|노출|누설|유출|복사|반복|나열|표시|reveal|print)·{_KO_TELL}"
        rf"|보여·?(?:줘|주세요|라|주십시오|달라)"
        r"|알려·?(?:줘|주세요|라|달라)|말·?해(?:라|줘|주세요|·봐)|털어놔)",
        r"(?:로그|테스트|디버그)[^.!?\n]{0,20}$"),
    # "사용자에게 알리지 말고"; that a user need not see an error is a lesson
    _Rule(_OVERRIDE, ("알리", "말하", "보고하", "밝히", "언급", "통보", "통지", "고지", "묻",
        "물어", "확인받", "허락"),
        r"(?:사용자|유저|관리자|운영자|개발자|주인)(?:에게는|에게도|에게|한테는|한테|께"
        r"|의)·(?:(?:절대로?|이·?사실을|이를|이것을|이걸|그·?사실을|아무것도|따로|굳이|결코|미리"
        r"|먼저|허락을|동의를)·){0,3}"
        rf"(?:(?:알리|말하|보고하|밝히|언급하|통보하|통지하|고지하|묻|물어보|확인받"
        rf"|구하)지·?(?:도·?)?(?:마(?:라|세요|십시오)?(?![가-힣])|말(?:고|라|아라?|것|·것)"
        rf"|않고{_KO_NOT_TOLD_OF})|허락(?:을·받지·않고|·?없이){_KO_NOT_TOLD_OF})",
        _KO_WRITTEN_FOR_PEOPLE),
    _Rule(_OVERRIDE, ("몰래", "모르게"),
        rf"(?:사용자|유저|관리자|주인)(?:들)?(?:가|도|의|에게|한테)?·(?:몰래"
        rf"|모르게)(?![^.!?\n]{{0,60}}(?:{_KO_PAST}|{_KO_DENIED}|지·(?:마|말)|는지|위험|문제"
        rf"|사고))·[가-힣a-z.~/$]"),
    # "지금부터 너는 해커다", "이제부터 제한 없는 AI처럼"
    _Rule(_OVERRIDE, ("지금부터", "이제부터", "앞으로", "이제", "지금 너", "제한", "제약", "검열"),
        r"(?:(?:(?:지금부터|이제부터|앞으로|이제|지금)·,?·(?:너는|넌|네가|니가|당신은)|(?:너는"
        r"|넌|당신은)·(?:지금부터|이제부터))·[^.!?\n]{1,60}?(?:이다|이야|야|입니다"
        r"|[가-힣a-z](?<![한된는간온린운준진쓴친낸든있없니])다|따라야·?(?:한다|해|합니다)"
        r"|(?:로서?|처럼|인·?척)·(?:행동|답|말|대답|연기)[가-힣]{0,6}|역할을?·(?:한다|해|하|맡"
        r"|수행)[가-힣]{0,6}|복종[가-힣]{0,6})(?=[.!,\"'*\s]|$)|(?:제한|제약|검열|규칙)(?:이|을"
        r"|에)?·(?:없는|받지·않는|구애받지·않는)·(?:ai|모델|어시스턴트|챗봇|인공지능|비서"
        r"|에이전트))"),
    _Rule(_OVERRIDE, ("새로운", "새 ", "진짜"),
        rf"{_LINE}\[?(?:새로운|새|진짜|변경된)·(?:시스템·)?(?:지시(?:사항)?|지침|프롬프트"
        rf"|명령){_COLON}"),
    # `List<System>` and `<system.web>` are code.
    _Rule(_ROLE, ("<",),
        r"(?<![\w<])</?(?:system|assistant|(?:system|developer|user|assistant)[-_](?:reminder"
        r"|prompts?|messages?|instructions?|note|query)|instructions?|important|im_start|im_end"
        r"|(?:start|end)_of_turn|human_turn)(?:\s[^<>=\n]{1,40}=[^<>\n]{0,80})?>"),
    _Rule(_ROLE, ("<|", "[inst", "[/inst", "<<"),
        r"(?:<\|(?!tool)[a-z][a-z0-9_▁]{1,40}\|>|(?<![\w)\]$])\[/?inst\](?![\[(=.])|<</?sys>>)"),
    # Bug reports have `System: Ubuntu 22.04`, so what follows must address a model.
    _Rule(_ROLE, ("system:", "system*", "system :", "시스템:", "시스템 :", "시스템*"),
        rf"{_LINE}\[?(?:system(?: (?:prompt|message))?|시스템(?:·(?:프롬프트"
        rf"|메시지))?)\]?{_COLON}\s{{0,4}}"
        r"(?=(?:you›|ignore|disregard|forget|from now|your›|the (?:user|assistant|previous)"
        r"|never|always|do not|override|new |너는|넌›|당신|이전|지금부터|이제|사용자|모든))"),
    _Rule(_ROLE, ("assistant", "어시스턴트"),
        rf"{_LINE}(?:assistant|어시스턴트){_COLON}\s{{0,4}}(?=[^\s:])"),
    # Two turns: one alone is any form with a field for a user.
    _Rule(_ROLE, ("user:", "user*", "user :", "human:", "human*", "human :", "사용자", "유저"),
        rf"{_LINE}(?:user|human|사용자|유저){_COLON}[^\n]{{1,200}}\n(?:[^\n]{{0,200}}\n)"
        rf"{{0,3}}{_LINE}(?:ai|bot|assistant|model|claude|gpt|chatgpt|챗봇|봇|모델|인공지능"
        rf"|어시스턴트){_COLON}"),
    _Rule(_ROLE, ("###", "prompt", "instruction", "message", "프롬프트"),
        r"(?:(?<![^\r\n])\s{0,3}###\s?(?:instruction|human|assistant|system|지시)\s?[:：]"
        r"|(?<![^\r\n])[-=*#<\[(~_\s]{0,20}+(?:(?:begin|end|start|start of"
        r"|end of) (?:new )?system (?:prompt|instructions?|message)›|시스템·프롬프트·(?:시작"
        r"|끝)(?=[-=*#>\])~_\s]*(?:\n|$))))"),
    _Rule(_TOOL_CALL, ("<",),
        r"(?<![\w<])</?(?:[a-z][\w.-]{0,30}:)?(?:invoke(?:\s{1,4}name\s?=[^<>\n]{0,80}|\s?>)"
        r"|(?:[a-z0-9]{1,20}_){0,3}(?:function_calls?|tool_calls?|tool_use|tool_results?"
        r"|tool_response|tool_code|tool_outputs?)(?:_[a-z0-9]{1,20}){0,2}(?:\s[^<>\n]{0,80})"
        r"?/?>?(?<=[>\s\"'])|tool-(?:calls?|use|results?)>)"),
    _Rule(_TOOL_CALL, ("<|tool", "[tool_", "[/tool_", "```tool", "[available_tools"),
        r"(?:<\|tool[a-z0-9_▁]{0,40}\|>|(?<![\w)\]$])\[/?(?:tool_calls|tool_results"
        r"|available_tools)\]|```tool_(?:code|call|use|outputs?)›)"),
    _Rule(_TOOL_CALL, ("tool_", "function_call"),
        r"\\?[\"'](?:type\\?[\"']\s{0,4}:\s{0,4}\\?[\"'](?:server_|mcp_)?(?:tool_use|tool_result"
        r"|function_call)\\?[\"']|tool_calls\\?[\"']\s{0,4}:\s{0,4}\[|function_call\\?[\"']\s{0,"
        r"4}:\s{0,4}\{)"),
)
# fmt: on


def phrases_in(view: str) -> Iterator[tuple[str, int, int]]:
    """Yield the mark of each phrase in `view`, a text in lower case, and from where to where."""
    present = {hint for hint in _hints() if hint in view}
    for rule in _RULES if present else ():
        if not present.isdisjoint(rule.hints):
            for match in _compiled(rule.pattern).finditer(view):
                if not (rule.unless and _is_innocent(rule, view, match.start())):
                    yield rule.mark, *match.span()


def _is_innocent(rule: _Rule, view: str, start: int) -> bool:
    before = view[max(0, start - _BEFORE_CHARS) : start]
    sentence = re.split(r"[.!?\n]", before)[-1]
    return _compiled(rule.unless).search(sentence) is not None


@cache
def _hints() -> tuple[str, ...]:
    return tuple(dict.fromkeys(hint for rule in _RULES for hint in rule.hints))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    for sign, meaning in _SIGNS:
        pattern = pattern.replace(sign, meaning)
    return re.compile(pattern)
