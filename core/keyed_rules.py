"""The heads of named values (`password = "`), in code, configuration and prose of two languages.

Whether what follows is a secret is decided by name and value together, in `core/keyed_values.py`.
"""

from core.secret_rules import AFTER, Rule

OWASP = "https://cheatsheetseries.owasp.org/cheatsheets/Secrets_Management_Cheat_Sheet.html"
KEY_KINDS = (
    r"api|access|private|auth|account|encrypt|encryption|sign|signing|master|shared|storage|service|"
    r"license|app|admin|hmac|jwt|deploy|client|consumer|session|subscription|webhook|ssh|rest|"
    r"cipher|security|activation"
)
# The class of first letters stands in front because `re` can then skip quickly through a text;
# `key` is found by its own letter and looks back for its kind.
_KEY = "|".join(rf"(?<=(?i:{kind})...)|(?<=(?i:{kind})[_\-. ]...)" for kind in KEY_KINDS.split("|"))
WORD = (
    r"(?P<word>[PpSsTtCcMmRrKk](?:(?<=[Pp])(?i:assphrase|assword|asswd|asscode|wd|ass|w)|"
    r"(?<=[Ss])(?i:ecret|eed[ _\-]phrase)|(?<=[Tt])(?i:oken)|(?<=[Cc])(?i:redentials?)|"
    rf"(?<=[Mm])(?i:nemonic)|(?<=[Rr])(?i:ecovery[ _\-]phrase)|(?<=[Kk])(?i:ey)(?:{_KEY})))"
)
WORD_HINTS = ("pass", "pw", "secret", "token", "credential", "key", "api", "auth", "access")
TAIL = r"(?P<tail>[A-Za-z0-9_\-]{0,40}+)"
QUOTE = r"(?:[rbuf]{1,2}(?=[\"']))?(?P<quote>\\{0,3}[\"'`]|[“‘「『])?"
SIGN = r"(?P<sign>:=|=>|={1,3}|[:：＝](?:[ \t]?[A-Za-z][A-Za-z0-9_\[\]|]{1,24}[ \t]?=(?!=))?)"
KOREAN = (
    "비밀 ?번호|비번|패스워드|패스프레이즈|암호|암호화 ?키|토큰|"
    "시크릿(?: ?키)?|인증 ?키|인증 ?토큰|"
    "서비스 ?키|[Aa][Pp][Ii] ?키|에이피아이 ?키|접근 ?키|액세스 ?키|액세스 ?토큰|비밀 ?키|개인 ?키|"
    "보안 ?키|패스코드|비밀값"
)
KOREAN_HINTS = ("비밀", "비번", "패스", "암호", "토큰", "시크릿", "인증", "키", "보안")

KEYED: tuple[Rule, ...] = (
    Rule(
        "keyed-assignment",
        ("=", ":", "：", "＝"),
        WORD
        + TAIL
        + r"(?:\\{0,3}[\"'`]|[\]*_]){0,4}[ \t]{0,12}"
        + SIGN
        + r"[ \t]{0,8}\*{0,2}[ \t]?"
        + QUOTE,
        AFTER,
        OWASP,
        'DB_PASSWORD="«{A12}»" # prod',
        "max_tokens=4096, pass: 12",
    ),
    Rule(
        "keyed-flag",
        ("--", *(f" -{hint}" for hint in WORD_HINTS)),
        r"(?<![A-Za-z0-9_\-])--?(?:[a-z]{1,20}-){0,3}" + WORD + TAIL + r"[ \t]{1,4}" + QUOTE,
        AFTER,
        "https://www.gnu.org/prep/standards/html_node/Command_002dLine-Interfaces.html",
        "deploy --api-key «{A20}» --yes",
        "deploy --password-file ./pw1.txt --token $T",
    ),
    Rule(
        "keyed-docker-env",
        ("env ", "setx "),
        r"(?<![A-Za-z0-9_])(?:ENV|ARG|setx|SETX)[ \t]{1,4}[A-Z0-9_]{0,30}?"
        + WORD
        + TAIL
        + r"[ \t]{1,4}"
        + QUOTE,
        AFTER,
        "https://docs.docker.com/reference/dockerfile/#env",
        "ENV API_TOKEN «{A24}»",
        "ENV API_TOKEN $TOKEN",
    ),
    Rule(
        "keyed-table-cell",
        ("|",),
        r"(?<=\|)[ \t]{0,20}[*`]{0,3}(?:[A-Za-z0-9_\-]{1,20}[ ])?"
        + WORD
        + TAIL
        + r"[*`]{0,3}[ \t]{0,40}\|[ \t]{0,20}"
        + QUOTE,
        AFTER,
        "https://github.github.com/gfm/#tables-extension-",
        "| user | me |\n| password | «{A12}» |",
        "| password | required |\n| token | type2 |",
        loose=True,
    ),
    Rule(
        "keyed-element",
        ("</",),
        r"<(?:[A-Za-z0-9_.\-]{1,30}:)?"
        + r"[A-Za-z0-9_\-]{0,20}?"
        + WORD
        + TAIL
        + r">[ \t]{0,4}(?P<quote>(?!))?",
        AFTER,
        "https://maven.apache.org/settings.html#servers",
        "<password>«{A12}»</password>",
        "<password>${env.PW}</password>",
    ),
    Rule(
        "keyed-attribute",
        ("value=",),
        r"(?:key|name|Key|Name)=[\"'][A-Za-z0-9_.:\-]{0,40}?"
        + WORD
        + TAIL
        + r"[\"'][ \t]{1,4}value=(?P<quote>[\"'])",
        AFTER,
        "https://learn.microsoft.com/en-us/dotnet/framework/configure-apps/file-schema/appsettings/",
        '<add key="DbPassword" value="«{A12}»" />',
        '<input name="password" value="" />',
    ),
    Rule(
        "keyed-prose",
        (" is", " was", " are", " to ", " bec", " be ", " equals"),
        WORD + TAIL + r"[\"'`*]{0,3}(?:[ ](?:for|of|on|to|in)[ ][A-Za-z0-9_\-. '`]{1,40}?)?[ ]"
        r"(?i:is|was|are|to|became|becomes|will be|should be|equals|set to)"
        r"(?:[ ](?:now|still|currently|set to|just|simply))?:?[ ]{1,3}\*{0,2}" + QUOTE,
        AFTER,
        OWASP,
        "The password for staging is «{A12}», ask first.",
        "The password is SHA-256 hashed; the token is 64-byte long",
        loose=True,
    ),
    Rule(
        "keyed-bare-word",
        ("password ", "passwd ", "passphrase ", "password\t"),
        r"(?P<word>[Pp](?i:assword|asswd|assphrase))(?P<tail>)[ \t]{1,2}" + QUOTE,
        AFTER,
        OWASP,
        "log in as admin with password «{A12}»를 넣고",
        "password Argon2id, password 12 characters, password policy, password $PW1",
        loose=True,
    ),
    Rule(
        "keyed-korean",
        KOREAN_HINTS,
        f"(?P<word>{KOREAN})(?P<tail>)" + r"[\"'`*」』)]{0,4}[ \t]{0,4}(?P<sign>[:：=＝]{1,2})"
        r"[ \t]{0,8}\*{0,2}" + QUOTE,
        AFTER,
        OWASP,
        "스테이징 비밀번호: «{A12}» (임시)",
        "비밀번호: 8자 이상, 토큰: 4096",
    ),
    Rule(
        "keyed-korean-prose",
        (*KOREAN_HINTS, "는 ", "은 ", "이 ", "가 ", "을 ", "를 "),
        f"(?P<word>{KOREAN}|"
        + WORD.replace("(?P<word>", "(?:")
        + r"(?=[\"'`*」』)]{0,4}(?:은|는|이|가|을|를)))(?P<tail>)"
        r"[\"'`*」』)]{0,4}(?:은|는|이|가|을|를)?[ ]{1,3}"
        r"(?:(?:지금|현재|그냥|원래|아직|임시로|여전히)[ ]{1,2})?\*{0,2}" + QUOTE,
        AFTER,
        OWASP,
        "DB 비밀번호는 «{A12}»이고 곧 바꾼다",
        "비밀번호는 bcrypt2 없이 SHA-256으로, 토큰은 gpt-4o 기준",
        loose=True,
    ),
)
