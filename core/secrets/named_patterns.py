"""Lists what may stand between the name of a secret and its value, in code, files and prose.

A row is one way to give a secret away. Its pattern holds `§` for the name; the value follows the
match or stands before it. `named_values.py` decides whether the two are a secret's.
"""

from core.secrets.rule import AFTER, BEFORE, Rule

OWASP = "https://cheatsheetseries.owasp.org/cheatsheets/Secrets_Management_Cheat_Sheet.html"
CWE = "https://cwe.mitre.org/data/definitions/798.html"  # hard-coded credentials

CLOSE = r"""(?:\\{0,3}["'`]|&quot;|&#3[49];|[\]*_’”」』》»]){0,5}"""
QUOTE = (
    r"""\*{0,2}(?:[rbufRBUFL@$]{1,2}(?=["']))?"""
    r"""(?P<quote>\\{0,3}["'`]{1,3}|&quot;|&#3[49];|&apos;|[“‘„「『《〈«])?"""
)
MUST_QUOTE = QUOTE.removesuffix("?")
BLANKS = r"[ \t]{0,12}"
NOTE = r"(?:[ ]?[(\[][^()\[\]\n]{1,30}[)\]])?"
SIGN = (
    r"(?P<sign>:=|=>|->|<-(?=[ ]?[\"'])|→|⇒|[\u2190-\u21ff\u2600-\u27bf\U0001f300-\U0001"
    r"faff]\ufe0f?|\|\|=|\?\?=|\?=|\+=|={1,3}|As [A-Za-z]{3,20} =|"
    r"\{ ?(?:get|set|init)[^{}\n]{0,24}\} ?=|!={1,2}|%3[AaDd]|"
    r":(?:[ \t]?(?:[&A-Za-z][A-Za-z0-9_\[\]<>|&' ]{1,30}[ \t]|[Ss]tr|[Ss]tring|Secret|"
    r"SecretStr|Text|bytes|any)"
    r"=(?!=)|:(?!:))?)(?:[ ]?[\[(][ \t\r\n]{0,12})?"
)
USER = r"(?:[A-Za-z0-9_.@\-]{2,32}[ ]/[ ])?"
WRAP = r"(?P<wrap>(?:new )?[A-Za-z_][A-Za-z0-9_.:!]{0,40}\((?=[rb]?[\"'`]))?"
OF = r"(?:[ ](?:for|of|on|in|at|used by|behind|called)[ ][^\n:=]{1,40}?)??"
IS = (
    r"(?i:(?:(?:has been|was|is|be|been|got|now|to be)[ ])?"
    r"(?:set|changed|reset|switched|rotated|updated|switched|defaults|default|back)[ ]"
    r"(?:back |away )?(?:to|from)|"
    r"will be|should be|must be|has to be|turned out to be|used to be|has been|would be|"
    r"(?:might|may|could|must|should(?: have|'ve)?|will) (?:still )?(?:be|been|stay|remain|equal)|"
    r"(?:is|was) (?:probably|likely|apparently)|(?:ends|ended) up (?:as|being)|"
    r"happens to be|remained|stayed|"
    r"settled on (?:is|was)|"
    r"is|was|are|were|became|becomes|equals|reads|remains|stays|from|to|as|with|into)"
)
NOW = (
    r"(?:[ ](?:now|still|currently|set to|just|simply|always|literally|actually|again|really|only|"
    r"always been|not|temporarily))?"
)
MY = r"(?:the|our|my|your|his|her|its|their|a|an|that|this|new|old|default)"
PARTICLE = (
    r"(?:(?:란|칸|창)에(?:는)?|[ ](?:네|여섯|[46]) ?자리(?:는|가)?|은요|는요|은|는|"
    r"이|가|을|를|에는|에|로는|로|으로는|으로|도|만|란|이란|의 값은|값은|값이|값을|값)"
)
ADVERB = (
    r"(?:(?:지금|현재|그냥|원래|아직|임시로|여전히|바로|기본값인|기본값|새로|다시|항상|매번|보통|주로|늘|실제로|사실|결국|그대로|계속|일단|모두|전부|"
    r"아직도|기존|초기값인|최근에|오늘부터|이제|분명|아마)[ ]{1,2})?"
)

# What may introduce a value later in the sentence, and what ends the search for it.
FAR = (
    r"(?:(?P<end>[.\n;][ \n]|[,{(;][ ]{0,4}\n)|(?P<said>[:=]|,?[ ]e\.g\.|"
    r",?[ ](?:is|was|be|it's|It's)[:]?)|"
    r",?[ ](?:it's|its|It's|enter|type|typed|entered|use|say|try|with|her|him|"
    r"them|me|you|as|to)[:]?|[?](?:[ ]{1,3}(?:A:|[Ii]t's|[Ii]t is))?)[ ]{1,3}"
) + QUOTE

# Of these rows a hint is looked for near a name: behind it, right behind it (`^`), or before it
# as well (`‹`); for a row whose value stands before the name, there.
# fmt: off
KEYED: tuple[Rule, ...] = (
    Rule("keyed-assignment", ("=", ":", "->", "<-", "→", "⇒", "%3", "➡", "👉", "👇"),
        "§" + CLOSE + NOTE + BLANKS + SIGN + r"[*_]{0,3}" + r"[ \t]{0,24}" + USER + WRAP + QUOTE,
        OWASP, 'DB_PASSWORD="«{A12}»" # prod', "max_tokens=4096, pass: 12", group=AFTER,
        gate="assigned"),
    Rule("keyed-flag", ("^ ", "^\t", "‹-"),
        r"(?<![A-Za-z0-9_\-])--?(?:[a-zA-Z0-9]{1,20}[\-_]){0,3}§[ \t]{1,4}" + QUOTE,
        "https://www.gnu.org/prep/standards/html_node/Command_002dLine-Interfaces.html",
        "deploy --api-key «{A20}» --yes", "deploy --password-file ./pw1.txt --token $T",
        group=AFTER, gate="assigned"),
    Rule("keyed-variable", ("^ ", "^\t", "‹env", "‹arg", "‹set", "‹export", "‹define", "‹-gx",
        "‹-ux", "‹-x", "‹def", "‹let"),
        r"(?<![A-Za-z0-9_])(?:ENV|ARG|[sS][eE][tT][xX]?|(?i:setenv)|export|#define|-gx|-Ux|-x|setq|def|defvar|define|let)"
        r"[ \t]{1,4}[$A-Za-z0-9_.\-]{0,40}§[ \t]{1,8}" + QUOTE,
        "https://docs.docker.com/reference/dockerfile/#env", "ENV API_TOKEN «{A24}»",
        "ENV API_TOKEN $TOKEN", group=AFTER, gate="assigned"),
    Rule("keyed-argument", ('^"', "^'", "^`"),
        "§" + r"""(?:[A-Za-z0-9_.\-]{0,20})\\{0,2}["'`]\)?\]?[ ]{0,2},[ ]{0,2}""" + MUST_QUOTE, CWE,
        "setProperty('db.password', '«{A12}»')", "getattr(user, 'password', 'default')",
        group=AFTER, gate="said"),
    Rule("keyed-tuple", ("^,", "‹(", "‹{"), r"[{(][ ]?[A-Za-z0-9_]{0,30}§,[ ]?" + MUST_QUOTE, CWE,
        '{vault_token, "«{A24}»"}.', 'check(token, "access")', group=AFTER, gate="said"),
    Rule("keyed-call", ("^(", "^{"), r"§[({][ ]?" + MUST_QUOTE, CWE, '.setPassword("«{A12}»")',
        'setPassword("username") and check_password("x")', group=AFTER, gate="said"),
    Rule("keyed-default", ("|", "?", "or "),
        "§" + CLOSE + r"\)?\]?[ ]{0,2}(?:\|\||\?\?|or)[ ]{0,2}" + MUST_QUOTE, CWE,
        "os.getenv('DB_PASSWORD') or '«{A12}»'", "process.env.API_TOKEN || 'none'", group=AFTER,
        gate="said"),
    Rule("keyed-table-cell", ("|",), r"§[*`)]{0,3}[ \t]{0,40}\|[ \t]{0,20}" + QUOTE,
        "https://github.github.com/gfm/#tables-extension-", "| user | me |\n| password | «{A12}» |",
        "| password | required |\n| token | type2 |", group=AFTER, gate="said"),
    Rule("keyed-element", (">", "&gt;"),
        r"§(?:[A-Za-z0-9_.\-]{0,20}[\"'])?(?:>|&gt;)[ \t\r\n]{0,12}"
        r"(?:<!\[CDATA\[)?(?=[^<&\s]{1,512}[ \t\r\n]{0,12}(?:<|&lt;))" + QUOTE,
        "https://maven.apache.org/settings.html#servers", "<password>«{A12}»</password>",
        "<password>${env.PW}</password>", group=AFTER, gate="assigned"),
    Rule("keyed-attribute", ("value", "content", "default"),
        r"§[A-Za-z0-9_.\-]{0,20}(?:[\"']|&quot;)?[ ,{\t\r\n]{1,24}[\"']?(?i:value|content|"
        r"default)[\"']?[ ]?[:=][ ]?" + MUST_QUOTE,
        "https://learn.microsoft.com/en-us/dotnet/framework/configure-apps/file-schema/appsettings/",
        '<add key="DbPassword" value="«{A12}»" />', '<input name="password" value="" />',
        group=AFTER, gate="assigned"),
    Rule("keyed-cell", ("</", "&lt;/"),
        r"§(?:(?:</|&lt;/)[a-z]{1,8}(?:>|&gt;)[ \t\r\n]{0,12}){1,3}[:]?[ ]{0,2}"
        r"(?:(?:<|&lt;)[a-z]{1,8}(?:>|&gt;)[ \t\r\n]{0,12}){0,3}" + QUOTE,
        "https://html.spec.whatwg.org/multipage/tables.html",
        "<tr><td>password</td><td>«{A12}»</td></tr>", "<tr><th>password</th><td>required</td></tr>",
        group=AFTER, gate="said"),
    Rule("keyed-field", ("^,", "^;", "^\t"),
        r"(?<![^,;\t\n\"])[\"']?[A-Za-z0-9_.\-]{0,30}§[\"']?[,;\t][\"']?(?P<quote>(?!))?",
        "https://www.rfc-editor.org/rfc/rfc4180", "production,db_password,«{A12}»,2026",
        "name,password,email,token1", group=AFTER, gate="said"),
    Rule("keyed-block", ("\n",), "§" + CLOSE + NOTE + r"[ \t]{0,4}[:=]" + CLOSE
        + r"[ \t]{0,4}(?:[|>][+\-]?|\"{3})?[ \t]{0,4}\r?\n[ \t>\-*]{0,16}" + QUOTE,
        "https://yaml.org/spec/1.2.2/#81-block-scalar-styles", "token: |\n  «{A40}»\n",
        "Password:\n  required\n\nToken:\n  string16", group=AFTER, gate="said"),
    Rule("keyed-heading", ("\n",), "§" + CLOSE
        + r"(?:은|는|이|가|은요)?[:]?[ \t]{0,4}(?:\r?\n){1,2}[ \t>\-*]{0,16}(?:```[a-z]{0,8}\r?\n)?"
        + QUOTE, CWE, "## API 토큰\n«{A40}»\n", "Password\n  required\n\nToken\n  string16",
        group=AFTER, gate="random"),
    Rule("keyed-sql-where", ("where",), r"[\"'][ ](?i:where)[ ][A-Za-z_.]{1,30}[ ]?=[ ]?[\"']§",
        CWE, "UPDATE settings SET value = '«{A12}»' WHERE name = 'db_password'",
        "UPDATE settings SET value = 'on' WHERE name = 'db_password'", group=BEFORE, gate="said"),
    Rule("keyed-prose", (" ",), "§" + CLOSE + NOTE + OF + "[ ]" + IS + NOW + r":?[ ]{1,3}" + QUOTE,
        OWASP, "The password for staging is «{A12}», ask first.",
        "The password is SHA-256 hashed; the token is 64-byte long", group=AFTER, gate="said"),
    Rule("keyed-prose-sign", (":", "=", "-", "–", "—", "→"), "§" + CLOSE
        + r"(?:[ ](?:for|of|on|to|in|at|from)[ ][^\n:=]{1,40}?(?:[ ]?[:=]|[ ](?:[\-–—→]|->))"
        r"|[ ][\-–—]{1,2})[ ]{1,3}" + QUOTE, OWASP, "root password on db1 = «{A12}»",
        "password for staging: see the vault; token - rotated in 2024", group=AFTER, gate="said"),
    Rule("keyed-bare-word", ("^ ", "^\t"), r"§[\"'`*]{0,3}[ \t]{1,16}" + QUOTE, OWASP,
        "log in as admin with password «{A12}»를 넣고",
        "password Argon2id, password 12 characters, password policy, password $PW1", group=AFTER,
        gate="bare"),
    Rule("keyed-enclosed", ("^,",), r"§[\"'`*]{0,3},[ ]" + QUOTE, OWASP,
        "the API key, «{A24}», is hard-coded", "the password, 8 to 64 characters, the token, 60min",
        group=AFTER, gate="bare"),
    Rule("keyed-noted", (" (",),
        "§" + r"[ ]\((?:currently|now|still|temporarily|formerly|previously|i\.e\.|it is|it's|was|"
        r"지금은|현재|현재는|아직|예전에는)[,:]?[ ]" + QUOTE, OWASP,
        "the password (currently «{A12}») must be rotated",
        "the password (currently argon2id), the token (now type2)", group=AFTER, gate="said"),
    Rule("keyed-far", (" ",), "§" + CLOSE + r"(?=[ ,?])", OWASP,
        "api key used for the smoke test: «{A40}»",
        "token issued by the server: eyJ; password we must use is hashed2x", group=AFTER,
        gate="far"),
    Rule("keyed-that-is", ("that", "this is", "it's", "it is", "which", "is"),
        r"[\"'`)”’]{0,2}(?:[ ][\-–—][ ]|[ ]\(|,[ ])(?:that's|that is|this is|it's|it is|"
        r"which is|is)[ ]" + MY + r"[ ](?:[A-Za-z0-9_'.\-]{1,16}[ ]){0,3}§", OWASP,
        "«{A32}» — that's the client secret", "user2 - that's the token owner", group=BEFORE,
        gate="said"),
    Rule("keyed-as", (" as ", " for ", " is ", " was "),
        r"[\"'`)”’]{0,2}[ ](?:(?:(?:hard-?coded|used|set|stored|given|saved|entered|works|"
        r"worked|serves|served)[ ])?as|"
        r"is what we use as|for|is|was|(?:when|where|wherever|once|if) (?:it |they |he |she )?"
        r"(?:asks|ask|asked|prompts|prompted) (?:you |me )?for)[ ]" + MY
        + r"?[ ]?(?:[A-Za-z0-9_'.\-]{1,16}[ ]){0,3}§", OWASP, "use «{A12}» as the password",
        "use argon2id as the password hash; user2 is the token owner", group=BEFORE, gate="said"),
    Rule("keyed-in-field", (" in ", " into ", " at "),
        r"[\"'`)”’]{0,2}[ ](?:in|into|at)[ ]" + MY
        + r"[ ](?:[A-Za-z0-9_'.\-]{1,16}[ ]){0,2}§[:]?[ ](?:header|field|input|box|form|prompt)",
        OWASP, "send «{A32}» in the X-Api-Key header",
        "put argon2id in the password field, type2 at the token prompt", group=BEFORE,
        gate="said"),
    Rule("keyed-parenthesis", (" (",),
        r"[\"'`”’]{0,2}[ ]\((?:" + MY + r"[ ])?(?:[가-힣A-Za-z0-9_'.\-]{1,16}[ ]){0,3}§\)", OWASP,
        "it's «{A12}» (the admin password)", "argon2id (the password hash), user2 (a token)",
        group=BEFORE, gate="said"),
    Rule("keyed-arrow", ("<-", "←", "<—", "<="),
        r"[\"'`)]{0,2}[ ](?:<-{1,2}|←|<—|<=)[ ](?:[가-힣A-Za-z0-9.]{1,16}[ ]){0,3}§", OWASP,
        "«{A40}» <- Ably API key", "read_only2 <- token of the reader", group=BEFORE, gate="said"),
    Rule("keyed-korean-prose",
        (" ", "\t", "은", "는", "이", "가", "을", "를", "로", "에", "도", "만", "란", "값"),
        "§" + CLOSE + NOTE + rf"(?:{PARTICLE},?[ ]{{0,3}}|[ \t]{{1,4}})" + ADVERB + USER + QUOTE,
        OWASP, "DB 비밀번호는 «{A12}»이고 곧 바꾼다",
        "비밀번호는 bcrypt2 없이 SHA-256으로, 토큰은 gpt-4o 기준", group=AFTER, gate="said"),
    Rule("keyed-korean-enclosed", ("(", "[", "「", "『", "“", "‘", "<", "'", '"', "`"),
        r"§(?:[ ]?[(\[<《〈«][ ]?" + QUOTE + r"|(?P<quote2>[\"'`「『“‘]))", OWASP,
        "DB 비밀번호(«{A12}»)를 코드에 넣었다", "비밀번호(8자 이상)와 토큰(JWT)을 받는다",
        group=AFTER, gate="said"),
    Rule("keyed-korean-far", ("",),
        r"§" + CLOSE + r"[가-힣 ,]{1,28}(?:[:?]|->|→)?[ ]{0,3}"
        r"(?:(?:답변|답|A)[ ]?:[ ]{0,3})?" + QUOTE,
        OWASP, "이 토큰을 쓰세요: «{A40}»",
        "토큰을 만드는 create_token2 함수, 비밀번호를 저장할 때 argon2id를 쓴다", group=AFTER,
        gate="random"),
    Rule("keyed-korean-glued", ("",), r"§(?=[A-Za-z0-9])(?P<quote>(?!))?", OWASP,
        "암호«{A24}»로변경", "토큰v2방식과 암호AES256방식", group=AFTER, gate="random"),
    Rule("keyed-korean-as", ("를 ", "을 "),
        r"[\"'`)」』”’]{0,2}[ ]?(?:를|을|\(을\)를)[ ]{1,2}(?:[가-힣A-Za-z0-9]{1,10}[ ]){0,3}"
        r"§(?:값)?(?:로|으로)", OWASP, "«{A12}»를 비밀번호로 쓴다",
        "argon2id를 비밀번호 해시로 쓰고 user2를 토큰 주인으로 둔다", group=BEFORE, gate="said"),
    Rule("keyed-korean-is", ("가 ", "이 ", "는 ", "은 ", ") "),
        r"[\"'`)」』”’]{0,2}[ ]?(?:가|이|이게|는|은|이\(가\))[ ]{1,2}"
        r"(?:[가-힣A-Za-z0-9]{1,10}[ ]){0,3}"
        r"§(?:값)?(?:이다|다|입니다|임|였|이었|이고|고|이며|며|이에요|예요|이야|야|라|이라|인|[.,\n]|$)",
        OWASP, "«{A12}»가 새 비밀번호다", "user2가 토큰 다섯 개를 만들었고 node20이 암호 모듈이다",
        group=BEFORE, gate="said"),
    Rule("keyed-korean-called", ("라는 ", "란 ", "인 "),
        r"[\"'`)」』”’]{0,2}(?:이라는|라는|이란|란|인)[ ]{1,2}(?:[가-힣A-Za-z0-9]{1,10}[ ]){0,2}§",
        OWASP, "«{A12}»라는 비밀번호를 썼다", "v2라는 토큰 형식, 8자리인 비밀번호", group=BEFORE,
        gate="said"),
    Rule("keyed-korean-into", ("로 ",),
        r"[\"'`)」』”’]{0,2}[ ]?(?:으로|로|\(으\)로)[ ]{1,2}(?:[가-힣A-Za-z0-9]{1,10}[ ]){0,2}"
        r"§(?:값)?(?:를|을)?[ ](?:바꾸|바꿨|변경|설정|지정|교체|재설정|초기화|맞추|갱신|"
        r"입력|정했|잡았)", OWASP, "«{A12}»로 비밀번호를 바꿨다",
        "v2로 토큰을 바꾸고 SHA256으로 비밀번호를 변경", group=BEFORE, gate="said"),
)
# fmt: on

USER_NAME = r"(?!(?i:id|name|email|number|type|url|host)[ :])[A-Za-z0-9_.@\-]{2,40}"
PAIR_VALUE = r"(?P<quote>[\"'`])?([!-~]{4,128})"

USERS = (
    "admin administrator root sa postgres mysql guest test tester user system deploy deployer "
    "ubuntu ec2-user oracle manager operator readonly demo dev master sysadmin superuser app svc "
    "관리자".split()
)
KNOWN_USER = rf"(?:{'|'.join(USERS)})"
USER_HINTS = tuple(user + mark for user in USERS for mark in ("/", " /", ":"))

# A user and a password with a mark between them.  Here the hints do select, as in other tables.
# fmt: off
PAIRS: tuple[Rule, ...] = (
    Rule("login-pair", ("credential", "creds", "login", "log in", "logged in", "sign in", "account",
        "id/", "user/", "username/", "id /", "계정", "로그인", "아이디", "접속", "자격",
        "인증 정보"), r"(?i:credentials?|creds|log(?:ged)?[ ]?in|sign(?:ed)?[ ]?in|logon|account|"
        r"(?:id|user(?:name)?)[ ]?/[ ]?(?:pw|pass(?:word|wd)?)|로그인|"
        r"(?:계정|아이디|(?i:id))(?:[ ]?/[ ]?(?:[가-힣A-Za-z]{1,8}[ ])?(?:비번|비밀번호|"
        r"패스워드|암호|(?i:pw)))?|"
        r"접속[ ]?정보|자격[ ]?증명|인증[ ]?정보)(?:은|는|이|가)?(?:[ ](?:for|of|to|on)[ ]"
        r"[^\n:=]{1,40}?)?[ :=\-–—]{1,4}(?:(?:is|are|with|as|using|it|the)[ ]){0,3}[\"'`(]?"
        + r"(?<![ (]:)" + USER_NAME + r"(?:[ ]?/[ ]?|:[ ]?|[ ]and[ ])" + PAIR_VALUE, CWE,
        "credentials are admin / «{A12}» for now",
        "login: api/v1, account owner/repository2, login by :user:`3758`, "
        "계정: team/web-app-2", group=2, gate="pair"),
    Rule("user-pair", USER_HINTS, r"(?<![A-Za-z0-9_/.\-])" + KNOWN_USER + r"(?:[ ]?/[ ]?|:)"
        + PAIR_VALUE + r"(?=[ ]?(?:으로|로|를|을|이다|입니다|이에요|예요|임)(?![A-Za-z]))", CWE,
        "root / «{A12}»로 접속한다", "admin/users2로 이동하고 test:unit2를 돌린다", group=2,
        gate="pair"),
    Rule("user-pair-used", USER_HINTS,
        r"(?i:with|as|use|using|try|mysql|postgres|postgresql|redis|mongo|mongodb|ssh|ftp|sftp|jenkins|"
        r"grafana|kibana|rabbitmq|oracle)[ :\-–—]{1,4}[\"'`(]?" + KNOWN_USER + r"(?:[ ]?/[ ]?|:)"
        + PAIR_VALUE, CWE, "Use admin/«{A12}» to get into the panel",
        "use admin/index2 as the route and test:unit2 as the script", group=2, gate="pair"),
    Rule("login-as", (" as ",), r"(?i:log(?:ged|ging)?[ ]?in|sign(?:ed|ing)?[ ]in|connect(?:ed)?|"
        r"authenticated?)[ ](?:to[ ][A-Za-z0-9_.\-]{1,40}[ ])?as[ ][\"'`]?" + USER_NAME
        + r"[\"'`]?[ ](?:with|using|and)[ ]" + PAIR_VALUE, CWE,
        "log in as deploy with «{A12}»", "log in as deploy with kerberos5 or argon2", group=2,
        gate="pair"),
    Rule("access-pair", ("로 접속", "로 로그인", "로 들어"), r"(?<![A-Za-z0-9_/.\-])" + USER_NAME
        + r"[ ]?/[ ]?" + PAIR_VALUE + r"(?=[\"'`)]?[ ]?(?:으로|로)[ ](?:접속|로그인|들어))", CWE,
        "billing/«{A12}» 로 접속 가능", "internal/gateway2로 접속한다", group=2, gate="pair"),
)
# fmt: on

# Words that tell of getting in: beside them a striking value is a password without its name.
CUES = (
    r"(?i:log(?:ged|ging)?[ ]?in|sign(?:ed|ing)?[ ]?in|ssh|sudo|unlock|decrypt|wi-?fi|vpn|"
    r"rdp|account|"
    r"prompt|get into)|로그인|접속|계정|와이파이|잠금|열립|들어가|복호화|금고|프롬프트"
)
CUE_HINTS = (
    *("log in", "logged in", "logging in", "sign in", "signed in", "get into"),
    *"login ssh sudo unlock decrypt wifi wi-fi vpn rdp account prompt".split(),
    *"로그인 접속 계정 와이파이 잠금 열립 들어가 복호화 금고 프롬프트".split(),
)
