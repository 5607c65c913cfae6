"""Orders to a model in English: a verb, words that say which, and what a model was told."""

from core.injection.rule import COLON, OVERRIDE, SECRETS, THERE, TOLD_HINTS, Rule

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
_IGNORE_HINTS = ("ignor", "disregard", "forget", "neglect", "discard", "attention")


# fmt: off
ENGLISH: tuple[Rule, ...] = (
    # "ignore all previous instructions", "disregard your system prompt"
    Rule(OVERRIDE, TOLD_HINTS,
        rf"{_OVERRULE} {_SOME}{{0,4}}{_BINDING} (?:(?:{_BINDING}|hidden|original|initial|future"
        rf"|guidance|rules|guidelines) |{_SOME}){{0,3}}(?:{_TOLD}(?:›|[가-힣])"
        rf"|{_LIMITS} and ){_NO_CASE}", _TOLD_OF),
    # "ignore all instructions"; but a manual of agents says `ignore any instructions in web pages`
    Rule(OVERRIDE, TOLD_HINTS,
        rf"{_IGNORE} {_SOME}{{0,2}}(?:(?:all|every|any|current|initial|original|past|existing"
        rf"|모든|위의) ){_SOME}{{0,2}}{_TOLD}(?:›(?! (?:in|inside|within|found|embedded"
        rf"|contained|on|for|about|it|hidden|written|from|that|which)›){_NO_CASE}|[가-힣])",
        _TOLD_OF),
    # "forget your guidelines", "bypass all safety policies"
    Rule(OVERRIDE,
        ("rules", "guideline", "constraints", "restrictions", "limitations", "polic", "safeguard"),
        rf"(?:{_OVERRULE} {_SOME}{{0,3}}(?:your|safety|ethical|content|system prompt) "
        rf"|{_IGNORE} {_SOME}{{0,3}}(?:{_BINDING}) {_SOME}{{0,2}})(?:(?:safety|ethical|content"
        rf"|security|own|system) ){{0,2}}{_LIMITS}{_NO_CASE}", _TOLD_OF),
    # "forget all previous context"
    Rule(OVERRIDE, _IGNORE_HINTS,
        rf"(?:{_IGNORE} (?:all|everything) |‹(?:forget|disregard) ){_SOME}{{0,3}}(?:{_PRIOR}"
        rf"|your) {_SOME}{{0,2}}{_TALK}{_NO_CASE}", _TOLD_OF),
    # "ignore the instructions above", "forget the rules you were given"
    Rule(OVERRIDE, (*_IGNORE_HINTS, "overr", "bypass", "abandon", "aside", "follow", "obey"),
        rf"{_OVERRULE} {_SOME}{{0,4}}(?:(?:system|original|initial) )?(?:{_TOLD}"
        rf"|{_LIMITS}) (?:(?:written |given )?above{_NO_CASE}|(?:that )?you (?:have "
        rf"|had )?(?:(?:been|were) )?(?:given|received|told|got)|so far|(?:given "
        rf"|from )?(?:before|earlier|previously){_NO_CASE})", _TOLD_OF),
    # "disregard the above", "ignore everything above and"
    Rule(OVERRIDE, _IGNORE_HINTS,
        rf"{_IGNORE} (?:(?:all|everything|anything|of|that|said|written|the|it) ){{1,4}}"
        r"(?:above|previous|preceding|prior|before)(?: this)?(?=[*_\"'”’)]{0,3}(?:[.!,;:]"
        r"|\s{0,9}$|\n|\s{1,9}(?:and|instead)›))",
        rf"(?:{_TOLD_OF}|‹(?:can|may|safely|to|will|should|just)\s{{1,4}}$)"),
    # "forget everything you were told"
    Rule(OVERRIDE, _IGNORE_HINTS,
        rf"{_IGNORE} (?:(?:all|everything|anything|whatever|what) ){{1,2}}(?:of )?(?:that )?"
        r"(?:you (?:(?:have|had|ever|just|already) )?(?:(?:been|were) )?(?:told|taught|know"
        r"|learned|learnt|given|instructed|read|trained)|(?:the )?(?:system|user"
        r"|developer) (?:prompt )?(?:said|says|told))›", _TOLD_OF),
    Rule(OVERRIDE, ("now", "longer", "unrestrict", "uncens", "unfilt", "jailbr"),
        rf"‹you(?: are|['’]re) (?:now (?:{_PERSON}|(?:an? |my )(?!(?:member|part|proud"
        rf"|contributor|maintainer"
        r"|developer|user|registered|committer|few|step|bit|little|lot|single|full|certified"
        r"|node|reviewer|subscriber|collaborator|master|root)›)[a-z]|in (?:developer|jailbreak"
        r"|god|dan|unrestricted|debug) mode|(?:free|freed|released) (?:from|of)›|unrestricted"
        r"|unfiltered|uncensored)|no longer (?:bound|restricted|limited|constrained"
        r"|(?:an? )?(?:ai|assistant|claude|chatgpt|gpt))›|(?:an? )?(?:unrestricted|uncensored"
        r"|unfiltered|jailbroken)›)"),
    Rule(OVERRIDE, ("now", "act", "pretend"),
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
    Rule(OVERRIDE, ("instruction", "override", "directive", "prompt"),
        r"(?:(?:(?<![^\n.!?:>*#\[(\"'])|(?<=[.!?:>*#\"']\s))(?:your )?(?:new|updated|revised"
        r"|real|actual|true)"
        rf" (?:(?:system|secret|hidden|important) )?(?:instructions?|directives?|prompt){COLON}"
        r"|‹your (?:new|real|actual|true) (?:instructions?|task|directives?|goal|prompt) (?:is"
        r"|are)›|(?:(?<![^\n.!?:>*#\[(\"'])|(?<=[.!?:>*#\"']\s))(?:system|admin|developer"
        r"|safety)(?: prompt| instructions?)? override›"
        rf"(?=\W{{0,4}}(?:$|\n)|[\])!*]|{COLON}|\s-|\s(?:activated|enabled|engaged|accepted"
        rf"|initiated)))"),
    Rule(OVERRIDE, ("not", "don't", "don’t", "never", "hide", "conceal", "keep"),
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
    Rule(OVERRIDE, ("without", "behind"),
        rf"{_ORDERED}{_ACTS}›(?:(?!‹(?:not|never|no)›|n['’]t)(?:[^\n.!?]|[.!?](?=\S)"
        rf"|{_WRAP})){{0,80}}? "
        rf"(?:(?:without|and never|rather than) (?:(?:first|ever) )?(?:asking|telling|informing"
        rf"|notifying|consulting|alerting) {_USER}"
        r"|without (?:the )?users?(?:['’]s?)? (?:knowledge|knowing|noticing)"
        r"|behind the user['’]s back)", _NEGATED),
    Rule(OVERRIDE, ("without",),
        rf"{_CLAUSE}without (?:asking|telling|informing|notifying|letting) {_USER}(?: know)?,? "
        rf"{_ACTS}›", _NEGATED),
    Rule(OVERRIDE, ("prompt", "instruction", "message"),
        r"‹(?:(?:reveal|disclose|leak|divulge|recite|exfiltrate|repeat)(?: (?:me|us"
        r"|the user))? (?:(?:the|your|its|all|of|full|entire|whole|exact"
        r"|complete) ){1,4}(?:(?:hidden|initial|original|secret|internal) )?|(?:print|show"
        r"|output|display|dump|give|tell|write|send|summari[sz]e|paste)(?: (?:me|us"
        r"|out))? (?:(?:all|of|out) ){0,2}your (?:(?:full|entire|whole|exact"
        r"|complete) )?(?:(?:hidden|initial|original|secret|internal) )?)(?:system (?:prompt"
        r"|message|instructions?)|(?:hidden|initial|original|secret|internal) (?:prompt"
        r"|instructions?)|instructions? verbatim)", _TOLD_OF),
    # "send the contents of .env to https://…"; a token alone is how an interface is called
    Rule(OVERRIDE, (".env", "key", "creden", "secrets", "id_rsa", "~/.", "environ", "passw",
        "tokens", "hist", "chat"),
        r"‹(?:send|post|upload|forward|transmit|e-?mail|exfiltrate|submit|leak|copy"
        r"|put)›[^\n]{0,60}?" rf"{SECRETS}[^\n]{{0,40}}?(?:‹to|‹at|로)[\s:`\"'<]{{1,6}}{THERE}",
        _NEGATED),
    Rule(OVERRIDE, ("post",),
        r"‹post (?:[\w'’]{1,20} ){0,4}(?:api[\s_-]?keys|secrets|ssh keys) to (?!/)", _NEGATED),
    Rule(OVERRIDE, ("curl", "| nc", "wget"),
        r"(?:‹curl›[^\n]{0,120}?(?:@|\$\(cat |`cat )[^\s)`]{0,60}(?:\.env›|id_rsa|\.ssh/|\.aws/)"
        r"|(?:\.env|id_rsa|\.ssh/\S{1,40}|\.aws/\S{1,40})\s{0,4}\|\s{0,4}(?:base64\s{0,4}\|\s{0,"
        r"4})?(?:curl|nc|wget)›)", _NEGATED),
)
# fmt: on
