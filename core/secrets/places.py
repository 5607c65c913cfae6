"""Lists places where a secret stands: armoured keys, addresses, headers, command lines, files."""

from core.secrets.rule import LEFT, RIGHT, Rule

RFC7468 = "https://datatracker.ietf.org/doc/html/rfc7468"
RFC3986 = "https://datatracker.ietf.org/doc/html/rfc3986#section-3.2.1"
RFC7235 = "https://datatracker.ietf.org/doc/html/rfc7235"
RFC7617 = "https://datatracker.ietf.org/doc/html/rfc7617"
RFC6750 = "https://datatracker.ietf.org/doc/html/rfc6750"
COOKIES = "https://developer.mozilla.org/en-US/docs/Web/HTTP/Cookies"
CURL = "https://curl.se/docs/manpage.html"
POSTGRES = "https://www.postgresql.org/docs/current/"
WINDOWS = "https://learn.microsoft.com/en-us/windows-server/administration/windows-commands/"

# A PEM block: the first line, the lines which describe it, what may stand between two lines.
PEM_HEAD = r"-{4,5}[ ]?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?[ ]?-{4,5}"
PEM_FOOT = r"-{4,5}[ ]?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?[ ]?-{4,5}"
PEM_TEXT = r"(?:(?!----)[\s\S])"
PEM_GAP = r"(?:\\{1,4}[nr]|[ \t\r\n>|\"'+,])"
PEM_NOTE = (
    r"(?:"
    + PEM_GAP
    + r"{1,24}+(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\r\n\\]{0,100}+)"
)
BASE64 = r"[A-Za-z0-9+/=]"

# A word of a command line: printable ASCII, so a Korean particle ends it, and so does the
# punctuation of the sentence around it.
_BYTE = r"(?:[!#-%(-:=?-\[\]-_a-{}~]|\\[!#-&(-\[\]-_a-mo-qsu-~])"
BARE = _BYTE + r"{3,256}(?<![.,:?)\]}*(\[])"
# What stands for a secret that is elsewhere: a template, an option, a file.
NO_REFERENCE = (
    r"(?!\{\{|<|--?[A-Za-z]|\.{1,2}/|~/|/[a-z]{2,12}/|@[./~A-Za-z]|[A-Za-z]:\\|"
    r"\$(?i:env|script|global|using):)"
)
NO_PLAIN_WORD = (
    r"(?!(?:[A-Z]?[a-z\-]{1,24}|[A-Z_\-]{1,24})(?:\\[nrt]|[.,:;?)\]}\"'`*(|\\]){0,4}(?![!-~]))"
)
# A run is taken once: what closes it may be written as what stands in it, and each way to read
# a row of quotes would be tried. The second form ends at the first quote.
_QUOTED = (
    r"(?:(?:\\[\"'](?=[^\s,;:)}\]])|(?!\1)[^\r\n]){3,256}+(?=\1)|"
    r"(?:(?!\1)[^\r\n]){3,256}+(?=\1)|" + BARE + ")"
)
_OPENING = r"(\\{0,3}[\"'])?"
# Each of these has the quote as group 1 and the secret as group 2.
VALUE = _OPENING + "(" + NO_REFERENCE + "(?(1)" + _QUOTED + "|" + NO_PLAIN_WORD + BARE + "))"
GLUED = _OPENING + "(" + NO_REFERENCE + "(?(1)" + _QUOTED + "|" + BARE + "))"
_PAIR = "(" + NO_REFERENCE + "(?(1)" + _QUOTED + "|" + BARE + "))"
USER_VALUE = _OPENING + r"[^\s:\"'/]{1,100}:" + _PAIR
SQL_TEXT = r"[NE]?(\\{0,3}['\"])(" + NO_REFERENCE + r"(?>(?!\1)[^\r\n]|''){3,256})(?=\1)"

COMMAND = r"(?<![A-Za-z0-9_\-])"
ARGUMENTS = r"(?:[^\r\n|;\\]|\\(?:\r?\n)?){0,200}?(?<=[ \t\"'])"
SPACE = r"(?:[ \t]{1,4}|=|\\?[\"'],[ \t]{0,2}(?=\\?[\"']))"
STDIN = r"(?:sudo[ ](?:-[A-Za-z]{1,3}[ ]){0,2})?"

# A value that no word of a sentence or a program is: it has a digit or a turn of case.
_NO_DIGIT = r"[A-Za-z%._\-+/=~|:!*]{0,200}"
LIKELY = r"(?=[A-Za-z]{24}|" + _NO_DIGIT + r"(?:[0-9]|(?<=[a-z])[A-Z]{2,8}[a-z]))"
# A name or a call of a program, not a value.
NO_CODE = (
    r"(?!(?:[A-Za-z_]{1,40}\.){1,6}[A-Za-z_]{1,40}[0-9]{0,4}(?![A-Za-z0-9])|"
    r"[a-z]{2,16}(?:[0-9]{0,2}[A-Z][a-z]{2,16}){1,6}[0-9]{0,3}(?![A-Za-z0-9_\-/+.=])|"
    r"(?:[a-z]{1,16}-){1,6}[a-z]{1,16}[0-9]{0,2}(?![!-~])|"
    r"(?i:rsa|sha|hmac|ecdsa|ed25519)[\-_0-9]|"
    r"[A-Za-z0-9%._\-+/=:!~|*]{0,120}[(\[](?=[!-~]))"
)
SECRET_LIKE = LIKELY + NO_CODE
HAS_DIGIT = r"(?=[!-/:-~]{0,80}[0-9])"
PARAMETER = r"(?:[?&#]|&amp;|\\u0026|%26)"
CREDENTIAL = SECRET_LIKE + r"([A-Za-z0-9_\-.~+/=:|]{8,4096}(?<![.:]))"
# `Name: value`, `"Name": "value"`, `["Name"] = "value"`, `("Name", "value")`
HEADER_SIGN = r"(?:\\{0,3}[\"'`])?\]?[ \t]{0,4}(?:=>|[:=,])[ \t]{0,4}(?:[brf]?\\{0,3}[\"'`])?"

# fmt: off
ARMOUR: tuple[Rule, ...] = (
    Rule("pem-private-key", ("private key",),
        f"{PEM_HEAD}(?={PEM_TEXT}{{0,600}}?[A-Za-z0-9+/]{{24}}){PEM_TEXT}{{1,16384}}+{PEM_FOOT}",
        RFC7468,
        "k: «-----BEGIN RSA PRIVATE KEY-----\n{A64}\n{A20}\n-----END RSA PRIVATE KEY-----»\n",
        "`-----BEGIN PRIVATE KEY-----` ends with `-----END PRIVATE KEY-----`"),
    Rule("pem-cut-off", ("private key",), PEM_HEAD + PEM_NOTE + r"{0,6}+"
        + f"(?:{PEM_GAP}{{0,32}}+{BASE64}{{24,8192}}+){{1,400}}+"
        + r"(?:(?:\\{1,4}n|\n)[ \t>|\"'+]{0,24}" + BASE64
        + r"{1,76}(?=[ \t]{0,4}(?:[\r\n\\\"'`]|\Z|[^ -~])))?", RFC7468,
        r"key=\"«-----BEGIN PRIVATE KEY-----\n{A64}\n{A30}»… 잘렸다",
        "-----BEGIN PRIVATE KEY-----\n(body)\n-----BEGIN CERTIFICATE-----\n{A64}"),
    Rule("pem-tail", ("private key",),
        r"(?<![A-Za-z0-9+/=])(?<![A-Za-z0-9+/]{40}\n)(?<![A-Za-z0-9+/]{40}\r\n)"
        r"(?<![A-Za-z0-9+/]{40}\\n)((?:" + BASE64
        + r"{40,76}+(?:\\{1,4}[nr]|[ \t\r\n>|\"',]|[ ]\+(?=[\s\\])){1,24}){1,80}(?:" + BASE64
        + r"{1,76}+(?:\\{1,4}[nr]|[ \t\r\n>|\"',]|[ ]\+(?=[\s\\])){0,24})?)" + PEM_FOOT, RFC7468,
        "…\n«{A64}\n{A20}\n»-----END EC PRIVATE KEY-----",
        "{A64}\n-----END CERTIFICATE-----, not -----END PRIVATE KEY-----", group=1),
    Rule("putty-private-key", ("private-lines:",),
        r"Private-Lines:[ ]{0,2}[0-9]{1,3}(?:\\{1,4}[nr]|[ \t\r\n>|]){1,24}(" + BASE64
        + r"{24,76}(?:(?:\\{1,4}[nr]|[ \t\r\n>|]){1,24}(?!Private-MAC)" + BASE64
        + r"{4,76}){0,200})", "https://tartarus.org/~simon/putty-snapshots/htmldoc/AppendixC.html",
        "Private-Lines: 2\n«{A64}\n{A20}»\nPrivate-MAC: x", "Private-Lines: 8\nPublic-Lines: 6\n",
        group=1),
    Rule("base64-private-key", ("ls0tls1crudjti", "client-key-data"),
        r"LS0tLS1CRUdJTi(?:BSU0Eg|BQUklW|BFQyBQUklW|BPUEVOU1NI|BFTkNSWVBU|BEU0Eg|BQR1AgUFJJ)"
        r"[A-Za-z0-9+/]{16,16384}={0,2}|(?<=client-key-data: )[A-Za-z0-9+/]{32,16384}={0,2}",
        "https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/",
        "client-key-data: «LS0tLS1CRUdJTiBSU0EgUFJJ{A64}=»",
        "client-certificate-data: LS0tLS1CRUdJTiBDRVJU{A64}"),
    Rule("jwk-private-part", ("kty",),
        r"\\{0,3}[\"'](?:d|p|q|dp|dq|qi|k)\\{0,3}[\"'][ \t\r\n]{0,8}:[ \t\r\n]{0,8}\\{0,3}[\"']"
        r"([A-Za-z0-9_\-]{22,2048})(?=\\{0,3}[\"'])",
        "https://datatracker.ietf.org/doc/html/rfc7517",
        '{"kty":"EC","crv":"P-256","x":"{a43}","d":"«{A43}»"}',
        '{"kty":"RSA","n":"{A64}","e":"AQAB"}', group=1),
    Rule("xml-rsa-key", ("<rsakeyvalue",),
        r"<(?:D|P|Q|DP|DQ|InverseQ)>([A-Za-z0-9+/=\r\n]{40,2048})</",
        "https://learn.microsoft.com/en-us/dotnet/api/system.security.cryptography.rsa.toxmlstring",
        "<RSAKeyValue><Modulus>{a64}</Modulus><D>«{A64}»</D></RSAKeyValue>",
        "<RSAKeyValue><Modulus>{A64}</Modulus><D>short</D></RSAKeyValue>", group=1),
)
# fmt: on

# fmt: off
ADDRESSES: tuple[Rule, ...] = (
    Rule("url-token-as-user", ("://",),
        r"://" + LIKELY + r"([A-Za-z0-9_\-.]{16,255}):(?:x-oauth-basic|x-token-auth|[xX])?@",
        "https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api",
        "https://«{A40}»:x-oauth-basic@host.dev/x.git",
        "https://deploy:x-oauth-basic@host.dev/x.git", group=1),
    Rule("url-password", ("://",),
        r"://[^\s:/@\"'`]{0,100}:(?!x-oauth-basic@|x-token-auth@|[xX]?@|[0-9]{2,5}[/?#,;&)|\]])"
        r"((?:[^\s\"'<>`/@]|@(?=[^\s\"'<>`/@?,]{1,100}@)){1,256})@(?!sha256:)", RFC3986,
        "postgres://app:«{A12}»@db.local:5432/x",
        "postgres://app:${DB_PASSWORD}@db http://a:80/b@c http://a:8080?mail=b@c", group=1),
    Rule("url-password-with-slash", ("://",),
        r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|amqp|mssql|clickhouse|smtp|ldap)s?"
        r"(?:\+[a-z0-9]{1,12})?://[^\s:/@\"'`]{0,100}:(?![0-9]{2,5}[/?])"
        r"(?![^\s@]{0,128}@[^\s@]{1,128}://)"
        r"([^\s\"'<>`/]{1,128}/[^\s\"'<>`@?]{0,128})@(?=[A-Za-z0-9.\-_]{1,253}[:/,])", RFC3986,
        "redis://:«{A10}/x{A6}»@cache:6379/0", "mysql://db:3306/app?mail=me@x.dev", group=1),
    Rule("url-token", ("://",),
        r"https?://(?=[A-Za-z_\-]{0,60}[0-9])([A-Za-z0-9_\-]{20,255})@(?=[A-Za-z0-9])",
        "https://docs.sentry.io/concepts/key-terms/dsn-explainer/",
        "git clone https://«{A32}»@host.dev/x.git", "https://deploy@host.dev/x.git", group=1),
    Rule("proxy-link", ("vless://", "trojan://", "vmess://", "ss://", "hysteria2://", "tuic://"),
        r"(?<![a-z])(?:(?:vless|trojan|ss|hysteria2|tuic)://" + LIKELY
        + r"(?=[^\s@/]{8,512}@)|vmess://(?=[A-Za-z0-9+/=]{60}))([A-Za-z0-9+/=%_\-.~]{8,4096})",
        "https://github.com/shadowsocks/shadowsocks-org/wiki/SIP002-URI-Scheme",
        "trojan://«{A16}»@proxy.dev:443", "ss://host.dev:443 wss://user@host", group=1),
    Rule("go-data-source", ("@tcp(", "@tcp6(", "@unix(", "@cloudsql("),
        r"(?<![A-Za-z0-9_.\-:/])[A-Za-z0-9_.\-]{1,64}:([^\s\"'`/]{1,128})@(?:tcp6?|unix|"
        r"cloudsql)\(", "https://github.com/go-sql-driver/mysql#dsn-data-source-name",
        "app:«{A12}»@tcp(db.local:3306)/shop", "app:${DB_PASSWORD}@tcp(db:3306)/shop", group=1),
    Rule("oracle-login",
        ("sqlplus", "impdp", "expdp", "sqlldr", "rman ", "oracle:thin:", "oracle:oci:", "sqlcl"),
        r"(?:jdbc:oracle:(?:thin|oci8?):|(?:sqlplus|impdp|expdp|sqlldr|sqlcl|rman)[ ]"
        r"(?:-[a-zA-Z]{1,8}[ ]){0,4}(?:userid=|target[ ])?)[\"']?[A-Za-z][A-Za-z0-9_$#]{0,30}/"
        + r"([\"'])?((?!/)(?(1)[^\"'\r\n]{2,128}|[!#-%(-.0-:=?A-\[\]-_a-{}~]{2,128}?"
        r"(?=@|[.,;)]{0,2}(?![!-~])|[\"'`])))",
        "https://docs.oracle.com/en/database/oracle/oracle-database/23/sqpug/index.html",
        "sqlplus -s scott/«{A10}»@orcl @run.sql",
        "sqlplus /nolog, sqlplus / as sysdba, sqlplus scott/<password>@orcl", group=2),
    Rule("signed-address", ("sig", "security-token", "x-goog"), PARAMETER
        + r"(?i:x-amz-(?:signature|security-token)|x-goog-signature|signature|sig|"
        r"sign|hmac|sp_sig|verify_sign|hdnts|hdnea)=" + LIKELY
        + r"([A-Za-z0-9%._\-+/=~]{16,4096}(?<![.]))",
        "https://learn.microsoft.com/en-us/rest/api/storageservices/create-service-sas",
        "https://x.blob.core.windows.net/c?sv=2024-01-01&sig=«{A43}%3D»&sp=r", "?sig=none",
        group=1),
    Rule("shared-access-signature", ("sharedaccesssignature",),
        r"SharedAccessSignature[ =][^\s\"']{0,300}?sig=([A-Za-z0-9%+/=]{20,256})",
        "https://learn.microsoft.com/en-us/azure/service-bus-messaging/service-bus-sas",
        "SharedAccessSignature sig=«{A43}%3D»&se=1&skn=root",
        "SharedAccessSignature sr=x&sig=<signature>", group=1),
    Rule("otpauth-secret", ("otpauth",),
        r"otpauth://[^\s\"'<>]{1,300}?[?&;](?i:secret)=([A-Za-z2-7]{12,128})",
        "https://github.com/google/google-authenticator/wiki/Key-Uri-Format",
        "otpauth://totp/x:me?secret=«{U32}»&issuer=x", "otpauth://totp/x", group=1),
    Rule("query-credential",
        ("token=", "key=", "secret=", "pwd=", "pass=", "password=", "auth=", "ticket="),
        r"(?<!\.svg)" + PARAMETER + r"(?i:(?:access|refresh|id|private|auth|api|user|session|"
        r"bot|job|feed|rss|service|app|"
        r"consumer|oauth|device|sub|subscription|admin|functions?|crtfc|confm|client|license|"
        r"registration|webhook|hub|ws|widget)[_\-]?(?:token|key|secret|auth)|apikey|token|auth|"
        r"ticket|secret|password|passwd|pwd|pass)=" + LIKELY
        + r"([A-Za-z0-9%._\-+/=~!*]{8,4096}(?<![.!*]))",
        "https://www.data.go.kr/ugs/selectPublicDataUseGuideView.do",
        "https://apis.data.go.kr/x?serviceKey=«{A60}%3D%3D»&page=1",
        "?token=${T}&apikey=refreshkey&page=12, /badge.svg?token=t9YGWLh05g", group=1),
    # a name with a number is no key
    Rule("query-key", ("key=", "code=", "appid="), PARAMETER
        + r"(?i:key|code|crtfckey|confmkey|accesskey|appid)=" + LIKELY
        + r"(?!(?:[A-Za-z]{0,20}[0-9]{0,4}[_\-]){0,8}[A-Za-z]{0,20}[0-9]{0,4}(?:&|(?![!-~]))|"
        r"[0-9]{1,40}(?![!-~]))([A-Za-z0-9%._\-+/=~]{16,2048}(?<![.]))",
        "https://learn.microsoft.com/en-us/azure/azure-functions/function-keys-how-to",
        "https://app.dev/api/run?code=«{A54}==»", "?key=customers_by_region_2024&code=E1234",
        group=1),
    Rule("open-data-path-key", ("openapi.seoul.go.kr", "openapi.foodsafetykorea", "infura.io",
        "alchemy.com/v2", "quiknode.pro"),
        r"(?:openapi\.seoul\.go\.kr:8088/|openapi\.foodsafetykorea\.go\.kr/api/|"
        r"infura\.io/(?:ws/)?v3/|alchemy\.com/v2/|quiknode\.pro/)" + LIKELY
        + r"([A-Za-z0-9_\-]{16,80})", "https://data.seoul.go.kr/together/guide/useGuide.do",
        "http://openapi.seoul.go.kr:8088/«{h30}»/json/x/1/5",
        "http://openapi.seoul.go.kr:8088/sample/json/x/1/5", group=1),
    Rule("one-time-secret", ("totp", "otp", "2fa", "mfa"),
        r"(?i:totp|otp|2fa|mfa)[ _\-]?(?i:secret|key|seed|setup key|시크릿|비밀키|키)"
        r"(?:[\"'`]?[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?|[ ]is[ ]|[은는가이][ ])[\"'`]?"
        r"((?i:[a-z2-7]{4}(?:[ \-][a-z2-7]{4}){3,15}|[a-z2-7]{16,64}))(?![A-Za-z0-9])",
        "https://datatracker.ietf.org/doc/html/rfc6238", "TOTP secret: «q7x3 m5tz k2bw v4fd»",
        "TOTP secret: stored in the vault, MFA key: none", group=1),
    Rule("recovery-codes", ("recovery code", "backup code", "recovery_code", "backup_code",
        "recoverycode", "backupcode", "복구 코드", "백업 코드"),
        r"(?i:recovery|backup|복구|백업)[ _\-]?(?i:codes?|코드)(?:[\"'`*][:=]|[:=])[*\"'`]{0,2}"
        r"[ \t\r\n]{0,4}[\[(\"'`*0-9.\- ]{0,6}?((?=[A-Za-z\-]{0,12}[0-9])[A-Za-z0-9]{4,10}"
        r"(?:-[A-Za-z0-9]{4,10}){0,3}(?:(?:[\"'`]?[,;]|[\"'`]?[\r\n]|[ ])[ \t\r\n]{0,3}"
        r"(?:[0-9]{1,2}\.[ ]|[\-*][ ])?[\"'`]?(?=[A-Za-z\-]{0,12}[0-9])"
        r"[A-Za-z0-9]{4,10}(?:\-[A-Za-z0-9]{4,10}){0,3}){0,24})(?![A-Za-z0-9])",
        "https://docs.github.com/en/authentication", "recovery codes: «{a5}-9{a4}, 2{a4}-{a5}»",
        "recovery codes: see section10, backup codes are valid for 30 days", group=1),
)
# fmt: on

# fmt: off
WEBHOOKS: tuple[Rule, ...] = (
    Rule("slack-webhook", ("hooks.slack",),
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_\-]{20,160})",
        "https://api.slack.com/messaging/webhooks",
        "https://hooks.slack.com/services/«T{U8}/B{U10}/{A24}»로", "hooks.slack.com/services/T0/B0",
        group=1),
    Rule("discord-webhook", ("/webhooks/",),
        r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{15,22}/([A-Za-z0-9_\-]{40,100})",
        "https://discord.com/developers/docs/resources/webhook",
        "https://discord.com/api/webhooks/{d18}/«{A68}»", "discord.com/api/webhooks/{d18}",
        group=1),
    Rule("teams-webhook", ("webhook.office.com", "outlook.office.com/webhook"),
        r"(?:webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook)/"
        r"([A-Za-z0-9@/\-]{60,300})",
        "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/",
        "https://a.webhook.office.com/webhookb2/«{h36}@{h36}/IncomingWebhook/{h32}/{h36}»",
        "a.webhook.office.com/webhookb2/", group=1),
    Rule("zapier-webhook", ("hooks.zapier",),
        r"hooks\.zapier\.com/hooks/(?:catch|standard)/([0-9]{4,12}/[A-Za-z0-9]{6,20})",
        "https://help.zapier.com/hc/en-us/articles/8496288690317",
        "https://hooks.zapier.com/hooks/catch/«{d7}/{a7}»/", "hooks.zapier.com/hooks/catch/1",
        group=1),
    Rule("telegram-address", ("api.telegram.org/",),
        r"api\.telegram\.org/(?:file/)?bot[0-9]{6,12}:([A-Za-z0-9_\-]{30,50})",
        "https://core.telegram.org/bots/api#making-requests",
        "https://api.telegram.org/bot{d9}:«{A35}»/getMe",
        "https://api.telegram.org/bot<token>/getMe", group=1),
    Rule("automation-webhook",
        ("make.com/", "integromat.com/", "/with/key/", "pipedream.net", "webhook.site/", "n8n"),
        r"(?:hook\.(?:[a-z0-9]{2,8}\.)?(?:make|integromat)\.com/|maker\.ifttt\.com/trigger/"
        r"[^\s/]{1,80}/(?:json/)?with/key/|webhook\.site/|n8n[A-Za-z0-9.\-]{0,60}"
        r"(?::[0-9]{1,5})?/webhook(?:-test)?/|https?://(?=eo[a-z0-9]{6,30}\.m\.pipedream\.net))"
        + LIKELY + r"([A-Za-z0-9_\-]{12,80})", "https://www.make.com/en/help/tools/webhooks",
        "https://hook.eu1.make.com/«{a32}»",
        "https://hook.eu1.make.com/your-hook https://n8n.io/webhook/test", group=1),
    Rule("chat-webhook", ("/hooks/", "jandi.com", "kakaowork", "dooray.com/services", "worksmobile",
        "bot/v2/hook", "/bot/hook/"),
        r"(?:wh\.jandi\.com/connect-api/webhook/|kakaowork\.com/[a-z0-9/_\-]{0,40}hook[a-z]{0,1}/|"
        r"worksmobile\.com/[A-Za-z0-9/_.\-]{0,60}(?:message|webhooks?)/|"
        r"open-apis/bot/(?:v2/)?hook/|dooray\.com/services/|"
        r"https?://[A-Za-z0-9.\-:]{1,100}/(?:[a-z]{1,20}/)?hooks/)" + LIKELY
        + r"((?![a-z\-]{1,40}[/.]|(?:[a-z]{1,20}[0-9]{0,4}-){2,8}[a-z0-9]{1,20}(?![!-~]))"
        r"[A-Za-z0-9_\-/]{18,200})(?![.][a-z])",
        "https://developers.mattermost.com/integrate/webhooks/incoming/",
        "https://chat.x.dev/hooks/«{a26}»로 보낸다",
        "src/hooks/useLongComponentName2.ts, /hooks/pre-commit-checks-v2.sh", group=1),
    Rule("monitor-address", ("hc-ping.com/", "pagerduty.com/integration", "/api/push/",
        "/heartbeat/", "cronitor.link", "sumologic", "loggly.com/inputs", "/v1/input/"),
        r"(?:hc-ping\.com/|events\.(?:eu\.)?pagerduty\.com/integration/|/api/push/|"
        r"/api/v1/heartbeat/|cronitor\.link/p/|/receiver/v1/http/|loggly\.com/inputs/|/v1/input/)"
        + LIKELY + r"([A-Za-z0-9_\-=]{10,160})", "https://healthchecks.io/docs/http_api/",
        "curl -fsS https://hc-ping.com/«{h8}-{h4}-{h4}-{h4}-{h12}»", "hc-ping.com/your-check",
        group=1),
    Rule("deploy-hook",
        ("/integrations/deploy/", "/build_hooks/", "/deploy_hooks/", "/api/build/v1/source/"),
        r"(?:/v1/integrations/deploy/[A-Za-z0-9_\-]{1,60}/|/build_hooks/|/deploy_hooks/|"
        r"/api/build/v1/source/)" + LIKELY + r"([A-Za-z0-9_\-]{8,80}(?:/trigger/[a-f0-9\-]{36})?)",
        "https://vercel.com/docs/deploy-hooks", "POST https://api.netlify.com/build_hooks/«{h24}»",
        "POST https://api.netlify.com/build_hooks/<id>", group=1),
    Rule("feed-address", ("/private-", "/basic.ics", "/feed/", "/feeds/", "calendar"),
        r"(?:/private-|/calendars?/(?:feed|ical|export)/|/reachcalendar/|/feeds?/private/)"
        r"(?=[a-z]{0,20}[0-9])([A-Za-z0-9]{20,80})(?=[/.?]|(?![!-~])|[\"'`),])",
        "https://support.google.com/calendar/answer/37648",
        "https://calendar.google.com/calendar/ical/me%40x.dev/private-«{h32}»/basic.ics",
        "/private-docs2024/basic.ics", group=1),
)
# fmt: on

# fmt: off
HEADERS: tuple[Rule, ...] = (
    Rule("aiven-token", ("aivenv1 ",), r"aivenv1[ ]{1,2}([A-Za-z0-9+/]{100,600}={0,2})",
        "https://aiven.io/docs/platform/concepts/authentication-tokens",
        "Authorization: aivenv1 «{A370}==»", "aivenv1 $TOKEN", group=1),
    Rule("kakao-admin-key", ("kakaoak",), r"(?i:KakaoAK)[ \t]{1,4}([A-Za-z0-9]{32})" + RIGHT,
        "https://developers.kakao.com/docs/latest/en/rest-api/getting-started",
        "Authorization: KakaoAK «{h32}»", "KakaoAK ${KEY}", group=1),
    Rule("authorization-header", ("authorization",), r"(?i:authorization)" + HEADER_SIGN
        + r"(?i:bearer|basic|token|apikey|api-key|key|bot|ssws|splunk|geniekey|"
        r"kakaoak|negotiate|ntlm|jwt|oauth|private-token|discourse|klaviyo-api-key|"
        r"(?:sharedkey(?:lite)?|aws|oss|cos|hmac)[ ][A-Za-z0-9._\-]{1,80}:|"
        r"[A-Z][A-Za-z0-9\-]{1,30})(?:(?<=:)|[ \t]{1,4})(?i:token[= ])?[\"']?"
        r"(?![A-Za-z_\-]{2,24}=[^=\"'\s])" + CREDENTIAL, RFC7235,
        "-H 'Authorization: Basic «{A20}==»'",
        "Authorization: Bearer $TOKEN, Authorization: Bearer access_token", group=1),
    Rule("authorization-raw", ("authorization",), r"(?i:authorization)" + HEADER_SIGN + SECRET_LIKE
        + r"([A-Za-z0-9_\-.~+/=:]{20,4096}(?<![.:]))", RFC7235, "Authorization: «{A40}»",
        "Authorization: see-the-page-on-auth", group=1),
    Rule("authorization-part", ("response=", "mac=", "oauth_", "signature="),
        r"(?i:(?<=[ ,])response|(?<=[ ,])mac|oauth_signature|oauth_token|"
        r"(?<![A-Za-z0-9_?&])signature)=\\{0,3}[\"']?" + SECRET_LIKE
        + r"([A-Za-z0-9%+/_\-]{16,512}={0,2})(?![A-Za-z0-9])",
        "https://datatracker.ietf.org/doc/html/rfc7616",
        'Authorization: Digest username="me", realm="x", nonce="1", response="«{h32}»"',
        "response=handle_the_response(x), signature=none", group=1),
    Rule("bearer-token", ("bearer",),
        r"(?i:bearer)(?:[ \t]{1,4}|%20|\+)(?i:token[ \t]{1,2})?[\"'`]?" + SECRET_LIKE
        + r"(?!(?:RFC|rfc)[ \-]?[0-9])([A-Za-z0-9_\-.~+/=|:]{16,4096}(?<![.:]))", RFC6750,
        "보내는 값은 Bearer «{A40}»이다", "Bearer authentication, bearer token, Bearer ${TOKEN_2}",
        group=1),
    Rule("basic-credentials", ("basic",), LEFT
        + r"(?i:basic)[ \t]{1,4}((?=[A-Za-z+/]{0,60}[0-9])(?=[a-z0-9+/]{0,60}[A-Z])"
        r"[A-Za-z0-9+/]{12,512}={0,2})" + RIGHT, RFC7617, "sends Basic «{A24}==»",
        "Basic authentication and Basic Auth2", group=1),
    Rule("key-header",
        ("x-", "-token", "-key", "apikey", "api_key", "appkey", "appsecret", "-secret"),
        r"(?<![A-Za-z0-9_\-])(?i:(?!x-(?:csrf|xsrf|idempotency|cache|partition|routing|public|sort|"
        r"next|page|continuation))x-[a-z0-9\-]{1,40}?(?:key|token|secret|auth|signature|session|"
        r"pw)|"
        r"(?:private|deploy|job|circle|auth|access|api|api-access|secret|travis|fastly|dd-api|"
        r"dd-application|ocp-apim-subscription|subscription|aeg-sas|functions)-(?:key|token|"
        r"secret)|"
        r"apikey|api_key|appkey|appsecret|app-key|app-secret|xi-api-key|nex-api-key|client-secret)"
        + HEADER_SIGN + r"(?i:token |bearer )?" + SECRET_LIKE
        + r"([A-Za-z0-9_\-.~+/=%:]{8,2048}(?<![.:]))",
        "https://swagger.io/docs/specification/v3_0/authentication/api-keys/",
        "-H 'X-Api-Key: «{A32}»'",
        "X-Api-Key: <key>, X-Idempotency-Key: {A20}, X-CSRF-Token: {A32}", group=1),
    Rule("session-cookie", ("sessionid", "sessid", "session=", "_session", "_sess", "sess=",
        "session-token", "session_token", "connect.sid", "remember_", "auth-session", "authsession",
        "clearance", ".aspxauth", ".aspnetcore", "asp.net_s", "wordpress_", "nid_", "_kawlt",
        "auth-token", "sapisid", "apisid", "__secure-", "__host-", "koa:", "koa.", "express:",
        'session"', "session'"),
        r"(?<![A-Za-z0-9])(?i:jsessionid|phpsessid|aspsessionid[a-z]{0,12}|asp\.net_sessionid|"
        r"connect\.sid|koa[.:]sess(?:\.sig)?|express:sess|sessionid|laravel_session|ci_session|"
        r"wordpress_(?:logged_in|sec)_[a-f0-9]{1,40}|remember_(?:me|token|user_token)|"
        r"remember_[a-z]{2,8}_[a-f0-9]{1,40}|auth_?session|user_session|_gh_sess|cf_clearance|"
        r"(?:__secure-|__host-)?(?:next-auth|authjs|better-auth)\.session[_\-]token|"
        r"__(?:secure|host)-[a-z0-9_\-]{1,40}|s?apisid|sb-[a-z0-9\-]{1,40}-auth-token|"
        r"nid_(?:ses|aut|jkl)|_kawlt[a-z]?|\.aspnetcore\.[a-z0-9._\-]{1,60}|\.aspxauth|"
        r"_[a-z0-9_]{2,30}_session)"
        r"(?:[ ]{0,1}=[ ]{0,1}|\\{0,3}[\"'][ ]{0,2}[:,][ ]{0,2})(?:\\{0,3}[\"'])?" + SECRET_LIKE
        + r"([A-Za-z0-9%._\-+/=:!~|*]{16,4096}(?<![.:!*]))", COOKIES,
        "Cookie: lang=ko; sessionid=«{a32}»; x=1",
        "sessionid=get_session_factory(db), connect.sid=<value>", group=1),
    Rule("cookie-record", ("value",),
        r"[\"']name\\?[\"'][ ]?:[ ]?\\?[\"'](?i:[a-z0-9_.\-]{0,40}(?:sess|sid|auth|"
        r"jwt)[a-z0-9_.\-]{0,30})\\?[\"'],[ \r\n]{0,24}\\?[\"']value\\?[\"'][ ]?:[ ]?\\?[\"']"
        + LIKELY + r"([A-Za-z0-9%._\-+/=:!~|*]{16,4096})(?=\\?[\"'])",
        "https://playwright.dev/docs/auth",
        '{"name": "sessionid", "value": "«{a32}»", "path": "/"}',
        '{"name": "author", "value": "see chapter 2"}', group=1),
    Rule("session-parameter", ("session=", "session_id=", "sessionid=", "sid="),
        r"(?<![A-Za-z0-9])(?i:session_?id|session|sid)=(?![0-9a-f]{8}-[0-9a-f]{4}-)" + SECRET_LIKE
        + r"([A-Za-z0-9%._\-+/=]{20,1024}(?<![.]))", COOKIES, "https://x.dev/?sid=«{a32}»",
        "session={h8}-{h4}-4{h3}-9{h3}-{h12}, session=get_session_factory2(db)", group=1),
    Rule("cookie-header", ("cookie",),
        r"(?i:cookie)(?:\\{0,3}[\"'])?[ ]{0,2}[:=,][ ]{0,2}(?:\\{0,3}[\"'])?[^\r\n\"']{0,300}?"
        r"(?i:session|sess|sid|auth|token|jwt)(?i:[_\-]?id)?="
        r"(?i:(?<!csrf_token=)(?<!csrftoken=)(?<!csrf-token=)(?<!xsrf-token=))" + SECRET_LIKE
        + r"([A-Za-z0-9%._\-+/=:!~|*]{12,4096}(?<![.:!*]))", COOKIES,
        "Set-Cookie: auth=«{A24}»; HttpOnly", "Cookie: theme=dark-mode2; csrftoken={A32}", group=1),
)
# fmt: on

# fmt: off
FILES: tuple[Rule, ...] = (
    Rule("env-entry", ("value:",),
        r"(?<![A-Za-z0-9])name:[ ][\"']?[A-Za-z0-9_.\-]{0,60}(?i:password|passwd|secret|token|"
        r"api_?key|access_?key|secret_?key|private_?key)[\"']?[ ]{0,2}\r?\n[ \t]{0,24}value:[ ]"
        r"(?![0-9.]{1,12}(?![!-~]))" + HAS_DIGIT + VALUE,
        "https://kubernetes.io/docs/tasks/inject-data-application/define-environment-variable-container/",
        "- name: DB_PASSWORD\n  value: «{A12}»\n",
        "- name: MAX_TOKEN\n  value: 4096\n- name: DB_PASSWORD\n  valueFrom: x1\n", group=2),
    Rule("connection-string", (";",),
        r";[ \t]{0,2}(?i:password|pwd|pass|account_?key|sharedaccesskey|accesskey|secretkey|"
        r"sharedsecretvalue|proxy[ ]?password|trust_?store_?password|ssl_?key_?password)"
        r"[ \t]{0,2}=[ \t]{0,2}([\"'{])?(" + NO_REFERENCE + r"(?![$#%@{(]{1,2}[({A-Za-z])"
        r"(?(1)[^\s\"'{}<>]{3,512}|[!#-%(-:=?-\]_a-{}~^@]{3,512}(?<![.,)])))",
        "https://learn.microsoft.com/en-us/dotnet/framework/data/adonet/connection-string-syntax",
        "Server=db;User Id=sa;Password=«{A12}»;Encrypt=True", "Server=db;Password=${PW};Pwd=<pw>;",
        group=2),
    Rule("account-key", ("accountkey=", "sharedaccesskey=", "sharedsecretvalue=", "accesskey="),
        r"(?i:accountkey|sharedaccesskey|sharedsecretvalue|accesskey)=("
        r"[A-Za-z0-9+/]{40,100}={0,2})",
        "https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string",
        "HostName=h.azure-devices.net SharedAccessKey=«{A43}=»", "AccountKey=<key>", group=1),
    Rule("redis-connection", (",password=", ", password="),
        r"(?<=:[0-9]{4}),[ ]?(?i:password)=([^\s,;\"'`<>|]{3,256})",
        "https://stackexchange.github.io/StackExchange.Redis/Configuration.html",
        "cache.local:6379,password=«{A20}=»,ssl=True", "cache.local:6379,password=$PW,ssl=True",
        group=1),
    Rule("netrc-password", ("machine ", "login ", "login\n"),
        r"(?:machine[ \t\r\n]{1,8}[^\s]{1,253}|default)[ \t\r\n]{1,8}login"
        r"[ \t\r\n]{1,8}[^\s]{1,128}[ \t\r\n]{1,8}(?:account[ \t\r\n]{1,8}[^\s]{1,128}"
        r"[ \t\r\n]{1,8})?password[ \t\r\n]{1,8}" + VALUE,
        "https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html",
        "machine x.dev login me password «{A12}»", "machine x.dev login me password $PW", group=2),
    Rule("pgpass-line", (":*:", *(f":{digit}" for digit in range(1, 10))),
        r"(?<![!-~])[`\"'(\[|*]{0,2}(?![A-Za-z0-9_\-]{1,60}\.(?:py|[jt]sx?|go|rs|java|c|h|cpp|rb|"
        r"md|ya?ml|json|txt|sh|log|kt|cs|php):)(?=[0-9.\-]{0,60}[A-Za-z*]|"
        r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9])"
        r"[A-Za-z0-9.\-*_]{1,100}:(?:[0-9]{4,5}|\*):[A-Za-z*_][^:\s\"'`/\\]{0,63}:"
        r"[A-Za-z*_][^:\s\"'`/\\]{0,63}:" + NO_PLAIN_WORD
        + r"((?:[!#-%(-9;=-\[\]-_a-{}~]|\\[:\\]){4,128}(?<![.,)(\]*]))",
        POSTGRES + "libpq-pgpass.html", "db.local:5439:app:me:«{A12}»",
        "db.local:5432:app:me:$PW, app.py:1200:def:main:x1234", group=1),
    Rule("npmrc-auth", ("_auth", "_password"),
        r"(?::|^|(?<=\s)|(?<=[`'\"]))(?:_authToken|_auth|_password)(?:[ \t]{0,3}=[ \t]{0,3}|"
        r"[ ]{1,2})[\"']?" + LIKELY + r"([A-Za-z0-9_\-+/=.]{8,4096}(?<![.]))",
        "https://docs.npmjs.com/cli/v11/configuring-npm/npmrc",
        "//npm.example.com/:_authToken=«{A36}»", "//npm.example.com/:_authToken=${NPM_TOKEN}",
        group=1),
    Rule("docker-auth", ('"auth', '"identitytoken', '"registrytoken', "dockerconfigjson"),
        r"(?:\\{0,3}\"(?:auth|identitytoken|registrytoken)\\{0,3}\"[ \t\r\n]{0,8}:"
        r"[ \t\r\n]{0,8}\\{0,3}\"|\.dockerconfigjson[\"']?:[ ]{0,2}[\"']?)" + LIKELY
        + r"([A-Za-z0-9+/_\-.]{12,8192}={0,2})",
        "https://docs.docker.com/reference/cli/docker/login/", '{"auth": "«{A24}==»"}',
        '{"auth": "required"}', group=1),
    Rule("password-hash", (":$", "usermod", "--iscrypted"),
        r"(?:(?<=:)|(?<=-p ['\"])|(?<=--iscrypted ))(\${1,2}(?:apr1|1|2[abxy]?|5|6|7|y|gy|"
        r"argon2(?:id|i|d))\${1,2}(?:[0-9]{2}\${1,2}|rounds=[0-9]{1,9}\${1,2})?"
        r"[A-Za-z0-9./+$=,]{22,200}(?<![.,]))",
        "https://httpd.apache.org/docs/2.4/misc/password_encryptions.html", "me:«$apr1${A8}${A22}»",
        "stored as $2b$12$… or me:$6$salt$hash", group=1),
    Rule("ldap-hash", ("{ssha", "{sha", "{smd5}", "{md5}"),
        r"\{(?i:ssha(?:256|384|512)?|sha(?:256|512)?|s?md5)\}"
        r"(?![0-9a-f]{32,128}(?![A-Za-z0-9+/=]))([A-Za-z0-9+/]{20,150}={0,2})",
        "https://www.openldap.org/doc/admin26/security.html", "olcRootPW: {SSHA}«{A38}==»",
        "{SSHA}<hash>, content changed to {md5}{h32}", group=1),
    Rule("ldif-password", ("userpassword:", "unicodepwd:", "rootpw"),
        r"(?<![A-Za-z0-9])(?i:userpassword|unicodepwd|olcrootpw|rootpw)(?:::?|[ \t])[ \t]{0,8}"
        r"(?!\{|--)" + VALUE, "https://datatracker.ietf.org/doc/html/rfc2849",
        "userPassword:: «{A16}=»", "userPassword: <password>", group=2),
    Rule("wireguard-key", ("privatekey", "presharedkey", "private-key", "preshared-key"),
        r"(?i:private-?key|preshared-?key)[ \t]{0,8}[=:]?[ \t]{0,8}[\"']?([A-Za-z0-9+/]{42}"
        r"[A-Za-z0-9+/]=)", "https://man7.org/linux/man-pages/man8/wg.8.html",
        "[Interface]\nPrivateKey = «{A43}=»", "PublicKey = {A43}=", group=1),
    Rule("wifi-key", ("psk", "wep-key", "wep_key"),
        r"(?<![A-Za-z0-9_\-])(?i:wpa-psk|psk|wep[\-_]key[0-3]|wifi[\-_.]sec\.psk|"
        r"802-11-wireless-security\.psk)"
        r"[ \t]{0,4}(?:=|(?<=[wW]pa-psk)[ ]|(?<=\.psk)[ ])[ \t]{0,4}" + VALUE,
        "https://w1.fi/cgit/hostap/plain/wpa_supplicant/wpa_supplicant.conf",
        'network={ ssid="x" psk="«{A12}»" }', "key_mgmt=wpa-psk and key-mgmt=WPA-PSK", group=2),
    Rule("wifi-code", ("wifi:",),
        r"WIFI:(?:[TSH]:(?:[^;\\\r\n]|\\.){0,64};){0,3}P:((?:[^;\\\r\n\"]|\\.){4,128});",
        "https://github.com/zxing/zxing/wiki/Barcode-Contents", "WIFI:T:WPA;S:home;P:«{A12}»;;",
        "WIFI:T:nopass;S:guest;;", group=1),
    Rule("redis-directive", ("requirepass", "masterauth", "setuser"),
        r"(?:(?:requirepass|masterauth)[ \t]{1,8}|"
        r"(?i:acl setuser)[ ][^\s]{1,64}+[^\r\n>]{0,40}[ ]>)" + VALUE, "https://redis.io/docs/latest/operate/oss_and_stack/management/security/",
        "requirepass «{A12}»", "requirepass $REDIS_PW and ACL SETUSER me on", group=2),
    Rule("router-password", ("enable ", "username ", "snmp-server"),
        r"(?<![A-Za-z0-9])(?:enable|username[ ][A-Za-z0-9._\-]{1,64}(?:[ ]privilege[ ]"
        r"[0-9]{1,2})?)[ ](?:secret|password)[ ](?:[0-9][ ])?" + LIKELY + r"(" + NO_REFERENCE
        + NO_PLAIN_WORD + BARE + r")",
        "https://www.cisco.com/c/en/us/td/docs/ios-xml/ios/security/a1/sec-a1-cr-book.html",
        "username admin privilege 15 secret «{A12}»",
        "enable password rotation; username and password are required", group=1),
)
# fmt: on

# fmt: off
COMMANDS: tuple[Rule, ...] = (
    Rule("curl-user", ("curl",), COMMAND + r"p?y?curl(?:\.exe)?" + ARGUMENTS
        + r"(?:-[a-zA-Z]{0,6}[uU]|--user|--proxy-user)(?:" + SPACE + r")?" + USER_VALUE, CURL,
        "curl -s -u admin:«{A12}» https://x.dev",
        "curl -u $USER:$PASS https://x.dev, curl -u admin https://x.dev:8080", group=2),
    Rule("curl-user-token", ("curl",), COMMAND + r"curl" + ARGUMENTS
        + r"(?:-[a-zA-Z]{0,6}u|--user)[ =]?[\"']?" + LIKELY
        + r"([A-Za-z0-9_\-]{16,255}):(?![A-Za-z0-9$%&+/=@^_{<~#\-])", CURL,
        "curl https://x.dev/v1 -u «{A32}»:", "curl -u $TOKEN: https://x.dev", group=1),
    Rule("http-client-user",
        ("http ", "https ", "xh ", "xhs ", "http-user", "jenkins-cli", "ab -", "-auth "), r"(?:"
        + COMMAND
        + r"(?:https?|xhs?|hey|ab)[ ](?=-|[A-Z]{3,7}[ ]|:|https?:)|jenkins-cli[^\s]{0,20}[ ])"
        + ARGUMENTS + r"(?:-a|-A|--auth|-auth)" + SPACE + USER_VALUE,
        "https://httpie.io/docs/cli/authentication", "http -a admin:«{A12}» GET x.dev",
        "http -a user:<password> GET x.dev", group=2),
    Rule("mysql-password", ("mysql", "mariadb", "mycli", "mydumper", "xtrabackup"), COMMAND
        + r"(?:mysql|mysql(?:dump|admin|import|check|show|sh|slap|binlog|pump)|mariadb|"
        r"mariadb-(?:dump|admin|backup)|mycli|mydumper|xtrabackup)(?=[ \\\"'])" + ARGUMENTS
        + r"-p(?!assw|ort|rotocol|ager|rompt|lugin|rint|ipe|refix|rofile|arallel)(?=[!-~])" + GLUED,
        "https://dev.mysql.com/doc/refman/8.4/en/password-security-user.html",
        "mysql -u root -p«{A10}» app", "mysql -u root -p app && mysql -p$PW -u root", group=2),
    Rule("flag-p-password", ("sshpass", "mongo", " login", "cqlsh", "twine", "rabbitmqadmin",
        "altool", "psexec", "unlock-keychain", "partition-list", "evil-winrm", "netexec", "nxc ",
        "crackmapexec", "influx", "cypher-shell", "hdbsql"), COMMAND
        + r"(?:sshpass[ ]-p|sshpass(?:\.exe)?[\"',]{0,3}" + ARGUMENTS + r"-p" + SPACE
        + r"|(?:mongo(?:sh|dump|restore|export|import|top|stat)?[ ]|"
        r"(?:docker|podman|nerdctl|buildah|skopeo|oras|crane|helm registry|az|az acr|cf|oc|expo|"
        r"eas|ibmcloud|argocd|npm|tsh|juju|rosa|bosh|pachctl|harbor)[ ]login[ ]|twine[ ]upload|"
        r"cqlsh[ ]|"
        r"rabbitmqadmin[ ]|altool[ ]|PsExec(?:64)?(?:\.exe)?[ ]|security[ ]unlock-keychain|"
        r"evil-winrm[ ]|(?:crackmapexec|netexec|nxc)[ ]|influx[ ]|cypher-shell[ ]|hdbsql[ ]|"
        r"set-key-partition-list[ ])" + ARGUMENTS + r"-[pk]" + SPACE + r")[ ]{0,2}" + VALUE,
        "https://linux.die.net/man/1/sshpass", "sshpass -p «{A10}» ssh a@b",
        "sshpass -p $PW ssh a@b; docker login -u me -p <password>; mongosh -u a -p mydb", group=2),
    Rule("flag-capital-p-password", ("sqlcmd", "bcp ", "osql", "isql", "tsql", "zip ", "mosquitto",
        "ipmitool", "security import", "mssql-cli", "smbmap"), COMMAND
        + r"(?:sqlcmd|bcp|[oit]sql|mssql-cli|zip|unzip|mosquitto_(?:pub|sub|rr)|ipmitool|"
        r"security[ ]import)[ ]" + ARGUMENTS + r"(?:-P|(?<=zip )-[a-zA-Z]{1,4}P)(?:" + SPACE + r")?"
        + VALUE, "https://learn.microsoft.com/en-us/sql/tools/sqlcmd/sqlcmd-utility",
        "sqlcmd -S db -U sa -P '«{A10}!»' -Q 'select 1'",
        "zip -P encrypts an archive; sqlcmd -S db -U sa -P $PW", group=2),
    Rule("archive-password", ("7z", "rar "), COMMAND
        + r"(?:7z[azr]?|p7zip|(?:un)?rar)(?:\.exe)?[ ][aextldu]{1,2}" + ARGUMENTS + r"-h?p(?=[!-~])"
        + GLUED, "https://7-zip.opensource.jp/chm/cmdline/switches/password.htm",
        "7z a -p«{A10}» out.7z dir", "7z a -p${SECRET} out.7z dir, 7z x out.7z -oparts", group=2),
    Rule("redis-cli-password", ("redis-cli", "valkey-cli", "keydb-cli"), COMMAND
        + r"(?:redis|valkey|keydb)-cli[ ]" + ARGUMENTS + r"(?:-a|--pass|AUTH|auth)" + SPACE
        + r"(?:default[ ])?" + VALUE, "https://redis.io/docs/latest/develop/tools/cli/",
        "redis-cli -h cache -a «{A12}» ping", "redis-cli -a $REDIS_PW ping, redis-cli -a warns",
        group=2),
    Rule("ldap-password", ("ldap",), COMMAND
        + r"ldap(?:search|add|modify|delete|passwd|whoami|compare|modrdn)[ ]" + ARGUMENTS + r"-w(?:"
        + SPACE + r")?(?!h?o?ami)" + VALUE,
        "https://www.openldap.org/software/man.cgi?query=ldapsearch",
        "ldapsearch -x -D cn=admin,dc=x -w «{A12}» -b dc=x",
        "ldapsearch -x -W -s sub -b dc=x; ldapsearch -w $PW", group=2),
    Rule("redis-auth", ("auth ",),
        r"(?:(?<=redis> )|(?<=:6379> )|(?<=\n)|(?<![ -~]))AUTH[ ](?:[a-z]{2,20}[ ])?" + LIKELY + "("
        + BARE + ")", "https://redis.io/docs/latest/commands/auth/", "redis> AUTH «{A16}»",
        "redis> AUTH username password", group=1),
    Rule("sql-insert", ("insert into",),
        r"(?i:insert into)[^()\r\n]{1,80}\([^()\r\n]{0,120}(?i:pass(?:word|wd)?|token|"
        r"secret|api_?key)[\"'`]?\)"
        r"[ \t\r\n]{0,8}(?i:values)[ \t\r\n]{0,8}\([^()\r\n]{0,200},[ ]?'" + LIKELY
        + r"([^'\r\n]{4,256})'\)", "https://www.postgresql.org/docs/current/sql-insert.html",
        "INSERT INTO users (name, password) VALUES ('me', '«{A16}»')",
        "INSERT INTO users (name, password) VALUES ('me', 'changeme')", group=1),
    Rule("snmp-user", ("createuser ",),
        r"createUser[ ][^\s\"]{1,60}[ ](?:MD5|SHA[0-9\-]{0,4})[ ]\\{0,3}\"([^\"\r\n]{8,128}"
        r"?)\\{0,3}\"", "https://net-snmp.sourceforge.io/docs/man/snmpd.conf.html",
        'createUser me SHA "«{A12}»" AES', 'createUser me SHA "${PASS}" AES', group=1),
    Rule("snmp-privacy", ("createuser ",),
        r"createUser[ ][^\s\"]{1,60}[ ](?:MD5|SHA[0-9\-]{0,4})[ ]\\{0,3}\"[^\"\r\n]{1,128}\"[ ]"
        r"(?:AES|DES)[0-9\-]{0,4}[ ]\\{0,3}\"([^\"\r\n]{8,128}?)\\{0,3}\"",
        "https://net-snmp.sourceforge.io/docs/man/snmpd.conf.html",
        'createUser me SHA "$PASS" AES "«{A12}»"', 'createUser me SHA "$PASS" AES "$KEY"', group=1),
    Rule("sonar-login", ("sonar.login", "sonar.token"),
        r"sonar\.(?:login|token)=[\"']?" + LIKELY + "(" + BARE + ")",
        "https://docs.sonarsource.com/sonarqube-server/analyzing-source-code/analysis-parameters/",
        "mvn sonar:sonar -Dsonar.login=«{h40}»", "-Dsonar.login=${SONAR_TOKEN}", group=1),
    Rule("sqlcipher-key", ("pragma",),
        r"(?i:pragma[ ](?:re)?key)[ ]?=[ ]?([\"'])([^\"'\r\n]{4,256})\1",
        "https://www.zetetic.net/sqlcipher/sqlcipher-api/", "PRAGMA key = '«{A12}»';",
        "PRAGMA key = '$KEY';", group=2),
    Rule("vault-unseal-key", ("unseal",),
        r"operator[ ]unseal[ ](?:-[a-z=]{1,20}[ ])?([A-Za-z0-9+/]{40,120}={0,2})",
        "https://developer.hashicorp.com/vault/docs/commands/operator/unseal",
        "vault operator unseal «{A44}»", "vault operator unseal -reset", group=1),
    Rule("openwhisk-auth", ("--auth ",),
        r"--auth[ ]([0-9a-f]{8}-[0-9a-f\-]{27}:[A-Za-z0-9]{40,90})",
        "https://github.com/apache/openwhisk-cli",
        "wsk property set --auth «{h8}-{h4}-{h4}-{h4}-{h12}:{A64}»",
        "wsk property set --auth $AUTH", group=1),
    Rule("bundler-source", ("bundle config",),
        r"bundle[ ]config[ ](?:set[ ])?(?:--[a-z]{1,10}[ ])?[A-Za-z0-9.\-]{3,100}[ ]"
        r"[^\s:\"']{1,60}:" + LIKELY + "(" + BARE + ")",
        "https://bundler.io/man/bundle-config.1.html", "bundle config gems.x.dev me:«{a24}»",
        "bundle config gems.x.dev me:$TOKEN", group=1),
    Rule("kubeadm-token", ("--token ", "--token="),
        r"--token[ =]([a-z0-9]{6}\.[a-z0-9]{16})" + RIGHT,
        "https://kubernetes.io/docs/reference/setup-tools/kubeadm/kubeadm-token/",
        "kubeadm join 10.0.0.5:6443 --token «{a6}.{a16}»", "kubeadm join --token $TOKEN", group=1),
    Rule("gradle-build-field", ("buildconfigfield",),
        r"buildConfigField[ (]{1,2}[\"']String[\"'],[ ]?[\"'][A-Z0-9_]{0,40}(?:KEY|TOKEN|"
        r"SECRET|PASSWORD|PASS)[\"'],[ ]?['\"]\\{0,2}\"([^\"\\\r\n]{8,256})\\{0,2}\"",
        "https://developer.android.com/build/gradle-tips#share-custom-fields-and-resource-values-with-your-app-code",
        'buildConfigField "String", "API_KEY", "\\"«{A32}»\\""',
        'buildConfigField "String", "API_KEY", "\\"${apiKey}\\""', group=1),
    Rule("snmp-passphrase", ("snmp",),
        r"(?<![A-Za-z0-9])-[AX][ ](\\{0,3}[\"'])?((?(1)(?:(?!\1)[^\r\n]){8,128}|" + NO_REFERENCE
        + BARE + r"))", "https://net-snmp.sourceforge.io/docs/man/snmpcmd.html",
        "snmpwalk -v3 -u me -a SHA -A '«{A12}»' 10.0.0.1",
        "snmpwalk -v3 -u me -A $PASS -X $KEY 10.0.0.1", group=2),
    Rule("mail-session", ("pass ", "login "),
        r"(?:(?<=\n)PASS[ ]|(?<![!-~])(?:[A-Za-z][0-9]{1,5}|[0-9]{1,5}|\.)[ ]LOGIN[ ][^\s]"
        r"{1,100}[ ])(\\{0,3}\")?" + LIKELY + r"((?(1)(?:(?!\1)[^\r\n]){4,128}|" + BARE + r"))",
        "https://www.rfc-editor.org/rfc/rfc3501#section-6.2.3", "a001 LOGIN me «{A14}»",
        "a001 LOGIN me {12}\nPASS or FAIL", group=2),
    Rule("chap-secret", ('" *', '"'),
        r"\"[A-Za-z0-9_.@\-]{1,40}\"[ \t]{1,4}(?:\*|[a-z0-9]{3,12})[ \t]{1,4}\"([!-~]{6,64}"
        r"?)\"[ \t]{1,4}\*", "https://ppp.samba.org/pppd.html", '"me" l2tpd "«{A14}»" *',
        '"me" l2tpd "$PASS" *', group=1),
    Rule("openvpn-static-key", ("openvpn static key",),
        r"-----BEGIN OpenVPN Static key V1-----[0-9a-f\r\n]{64,1200}-----END OpenVPN Static "
        r"key V1-----", "https://openvpn.net/community-resources/static-key-mini-howto/",
        "«-----BEGIN OpenVPN Static key V1-----\n{h32}\n{h32}\n{h32}\n-----END OpenVPN "
        "Static key V1-----»", "-----BEGIN OpenVPN Static key V1-----"),
    Rule("encoded-password-element", ("encoding=",),
        r"<[Pp]ass(?:word)?[ ]encoding=\\{0,3}[\"'][a-z0-9]{1,12}\\{0,3}[\"']>([A-Za-z0-9+/]"
        r"{8,512}={0,2})<", "https://wiki.filezilla-project.org/Documentation",
        '<Pass encoding="base64">«{A20}»</Pass>', '<Pass encoding="base64"></Pass>', group=1),
    Rule("crypto-call", ("hmac", "aes", "sign(", "fernet("),
        r"(?:hmac\.new|createHmac|AES\.new|Fernet|jwt\.(?:sign|encode|decode)|SecretKeySpec)"
        r"\((?:[^()\"'\r\n]{0,60}|[\"'][^\"'\r\n]{1,40}[\"'],[ ])b?([\"'])" + LIKELY
        + r"((?!\1)[!-~]{8,256}?)\1(?=[ ]?[,).])", "https://docs.python.org/3/library/hmac.html",
        "hmac.new(b'«{A32}»', body, 'sha256')",
        "hmac.new(key, b'message', 'sha256'), createHmac('sha256', key)", group=2),
    Rule("aws-key-pair", ("akia", "asia"),
        r"(?:AKIA|ASIA)[A-Z2-7]{16}[\"']?[ ]?[ ,/:|][ ]?[\"']?([A-Za-z0-9+/]{40})"
        r"(?![A-Za-z0-9+/=])",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html",
        "AWS AKIA{U9}EXAMPLE / «{A40}»", "AKIA keys and commits such as {h40}", group=1),
    Rule("samba-user", ("smbclient", "rpcclient", "winexe", "net rpc", "net ads", "smbget"),
        r"(?:(?<=-U )|(?<=-U)|(?<=--user=)|(?<=--user ))[\"']?[A-Za-z][A-Za-z0-9._\\/@\-]{0,64}%"
        r"(?![sd](?![!-~])|[%({A-Z_]{1,40}%)(" + BARE + ")",
        "https://www.samba.org/samba/docs/current/man-html/smbclient.1.html",
        "smbclient //nas/share -U me%«{A12}»", "smbclient //nas/share -U me%$PW; date -U x%s",
        group=1),
    Rule("windows-account", ("net use", "net user", "net1 user"), COMMAND
        + r"net1?(?:\.exe)?[ ](?:user[ ][A-Za-z][A-Za-z0-9._\-]{0,40}[ ]|"
        r"use[ ](?:[A-Za-z*]:?[ ])?\\{2,4}[^\s\"']{1,100}[ ](?:/user:[^\s]{1,80}[ ])?)(?![/*])"
        + VALUE,
        "https://learn.microsoft.com/troubleshoot/windows-server/networking/net-commands-on-operating-systems",
        "net user deploy «{A12}» /add", "net user deploy /delete, net user deploy * /add", group=2),
    Rule("windows-flag",
        ("cmdkey", "schtasks", "xfreerdp", "wfreerdp", "winrs", "wevtutil", "wmic"), COMMAND
        + r"(?:cmdkey|schtasks|[xw]freerdp3?|winrs|wmic|mstsc|wevtutil)(?:\.exe)?[ ]" + ARGUMENTS
        + r"[/\-](?:password|pass|rp|p)[: ]" + VALUE, WINDOWS + "cmdkey",
        "cmdkey /add:srv /user:me /pass:«{A12}»", "cmdkey /list, cmdkey /pass:%PW%", group=2),
    Rule("openssl-password", ("pass:", "pass ", "pass="),
        r"(?:-(?:passin|passout|pass|k|ks-pass|key-pass)[ =]{1,2}[\"']?(?:pass:)|"
        r"(?<=openssl enc )[^\r\n|]{0,80}?[ ]-k[ ])" + GLUED,
        "https://docs.openssl.org/master/man1/openssl-passphrase-options/",
        "openssl rsa -passin pass:«{A10}» -in k", "-passin pass:$PW", group=2),
    Rule("openssl-enc-key", ("openssl",),
        r"openssl[ ](?:enc|aes-[a-z0-9\-]{1,20}|des3|dgst|smime|cms|pkcs12)[ ]" + ARGUMENTS
        + r"(?:-k|-K|-hmac)[ ]" + VALUE, "https://docs.openssl.org/master/man1/openssl-enc/",
        "openssl enc -aes-256-cbc -k «{A12}» -in a", "openssl enc -aes-256-cbc -k $PW -in a",
        group=2),
    Rule("java-keystore", ("storepass", "keypass", "-pass", "store-pass", "key-pass"),
        r"(?<![A-Za-z0-9])--?(?:src|dest|new|key)?(?:storepass|keypass|store-pass|"
        r"key-pass)(?:word)?" + SPACE + r"(?:pass:)?" + VALUE,
        "https://docs.oracle.com/en/java/javase/21/docs/specs/man/keytool.html",
        "keytool -list -keystore a.jks -storepass «{A12}»",
        "keytool -storepass:env PW, keytool -storepass $PW", group=2),
    Rule("key-passphrase", ("--passphrase", "ssh-keygen"),
        r"(?:--passphrase|ssh-keygen[ ]" + ARGUMENTS + r"-[NP])" + SPACE + VALUE,
        "https://www.gnupg.org/documentation/manuals/gnupg/GPG-Esoteric-Options.html",
        "ssh-keygen -t ed25519 -N '«{A10} x»' -f k",
        "ssh-keygen -t ed25519 -N '' -f k; gpg --passphrase-file pw.txt", group=2),
    Rule("glued-key-flag", ("--authkey", "--apikey", "--accesskey", "--secretkey", "--apitoken",
        "--authtoken", "--auth-key", "--accesstoken", "--appkey", "--apisecret", "--psk",
        "-apikey"),
        r"(?<![A-Za-z0-9_\-])--?(?:authkey|auth-key|apikey|accesskey|secretkey|apitoken|authtoken|"
        r"accesstoken|appkey|apisecret|psk)" + SPACE + HAS_DIGIT + VALUE,
        "https://tailscale.com/kb/1085/auth-keys", "tailscale up --authkey «{A24}»",
        "tailscale up --authkey $TS_KEY", group=2),
    Rule("chpasswd-line", ("chpasswd",),
        r"(?:echo|printf)[ ](?:-[neE]{1,3}[ ])?[\"']?[a-z_][a-z0-9_\-]{0,31}:([^\s\"'|]{4,128}?)"
        r"(?:\\n)?[\"']?[ ]{0,2}\|[ ]{0,2}" + STDIN + r"(?:/usr/sbin/)?chpasswd",
        "https://man7.org/linux/man-pages/man8/chpasswd.8.html",
        'echo "me:«{A10}»" | sudo chpasswd', 'echo "me:$PW" | chpasswd', group=1),
    Rule("echo-pipe", ("echo ", "printf "), COMMAND
        + r"(?:echo|printf)[ ](?:-[neE]{1,3}[ ])?(?:[\"']?%s(?:\\n)?[\"']?[ ])?(\\{0,3}[\"'])?("
        + NO_REFERENCE + r"(?(1)(?:(?!\1)[^\r\n|]){3,256}?|" + BARE
        + r"))(?:\\n)?(?(1)\1)[ ]{0,2}\|[ ]{0,2}" + STDIN
        + r"(?:sudo[ ][^|\r\n]{0,40}?-[A-Za-z]{0,3}S(?![A-Za-z])|(?:/usr/bin/)?passwd|su[ ]|kinit|"
        r"cryptsetup|smbpasswd|vncpasswd|saslpasswd2|kubeseal|kadmin|realm[ ]join|adcli|"
        r"cargo[ ]login|"
        r"pass[ ]insert|secret-tool[ ]store|[a-z][^|\r\n]{0,160}?(?:--password-stdin|--with-token|"
        r"--token-stdin|--stdin|--passphrase-fd|--key-file[= ]-|--data-file[= ]?-|"
        r"secrets?[ ](?:put|set|create|versions)|env[ ]add))",
        "https://docs.docker.com/reference/cli/docker/login/#password-stdin",
        "echo «{A12}» | docker login -u me --password-stdin", 'echo "$PW" | sudo -S apt update',
        group=2),
    Rule("here-string", ("<<<",), COMMAND
        + r"(?:sudo -S|--with-token|--password-stdin|--stdin|secret put|secrets? set|chpasswd)"
        r"[^\r\n|;<]{0,80}<<<[ ]?" + GLUED, "https://cli.github.com/manual/gh_auth_login",
        "gh auth login --with-token <<< «{A40}»", "gh auth login --with-token <<< $TOKEN", group=2),
    Rule("htpasswd-batch", ("htpasswd",), COMMAND
        + r"htpasswd[ ](?:-[a-zA-Z]{0,6}n[a-zA-Z]{0,6}[ ]|(?:-[a-zA-Z0-9]{1,8}[ ]){1,4}[^\s\-]"
        r"[^\s]{0,80}[ ])[A-Za-z0-9._@\-]{1,64}[ ]" + VALUE,
        "https://httpd.apache.org/docs/2.4/programs/htpasswd.html",
        "htpasswd -bc .htpasswd me «{A12}»",
        "htpasswd -bc .htpasswd me $PW; htpasswd -c .htpasswd me", group=2),
    Rule("add-user-command", ("rabbitmqctl", "cf auth", "ejabberdctl", "http-basic"),
        r"(?:rabbitmqctl[ ](?:-[A-Za-z]{1,2}[ ][^\s]{1,80}[ ])?(?:add_user|change_password|"
        r"authenticate_user)[ ]|cf[ ]auth[ ]|ejabberdctl[ ](?:register|change_password)[ ]|"
        r"(?:poetry|composer)[ ]config[ ](?:-[a-z\-]{1,16}[ ])?http-basic\.[^\s]{1,100}[ ])"
        r"[\"']?[A-Za-z0-9._@\-]{1,64}[\"']?[ ]" + VALUE,
        "https://www.rabbitmq.com/docs/man/rabbitmqctl.8", "rabbitmqctl add_user app «{A12}»",
        "rabbitmqctl add_user app $PW", group=2),
    Rule("login-argument", ("login ", " auth ", "authtoken", "config set", "configure set",
        "setapikey", " config ", "service install", "auth init", "codecov", "nuget", "gem push"),
        COMMAND
        + r"(?:(?:vault|cargo|wandb|pulumi|netlify|railway|npm|hf|fly|infracost auth)[ ]login[ ]|"
        r"snyk[ ]auth[ ]|ngrok[ ](?:config[ ]add-)?authtoken[ ]|doctl[ ]auth[ ]init[ ](?:-t|"
        r"--access-token)[ =]|"
        r"cloudflared(?:\.exe)?[ ]service[ ]install[ ]|nuget[ ]setapikey[ ]|"
        r"(?:dotnet[ ]nuget|gem|nuget)[ ]push[ ][^\r\n|;]{0,120}?[ ](?:-k|-ApiKey)[ ]|"
        r"codecov[ ][^\r\n|;]{0,80}?-t[ ]|poetry[ ]config[ ]pypi-token\.[^\s]{1,60}[ ]|"
        r"composer[ ]config[ ](?:-[a-z\-]{1,16}[ ])?(?:github|gitlab)-(?:oauth|"
        r"token)\.[^\s]{1,100}[ ]|"
        r"aws[ ]configure[ ]set[ ](?:[a-z0-9.\-]{1,60}\.)?aws_(?:secret_access_key|"
        r"session_token)[ ]|"
        r"(?:npm|yarn|pnpm)[ ]config[ ]set[ ][^\s=]{0,120}(?:_auth(?:Token)?|_password|"
        r"npmAuthToken)[ =]|ngc[ ]config[ ]set[ ]|newrelic[ ]profile[ ]add[ ])" + HAS_DIGIT + VALUE,
        "https://ngrok.com/docs/agent/cli/", "ngrok config add-authtoken «{A48}»로",
        "vault login -method=oidc, cargo login $TOKEN, ngrok config add-authtoken <token>",
        group=2),
    Rule("secret-store", ("kv put", "kv patch", "securestring", "from-literal", "secret set",
        "secrets set", "secret-string", "put-parameter", "user-secrets"),
        r"(?:vault[ ]kv[ ](?:put|patch)[ ](?:-[a-z=]{1,30}[ ])?[^\s]{1,120}[ ](?:"
        r"[A-Za-z0-9_\-]{1,40}=[^\s]{1,80}[ ]){0,4}"
        r"[A-Za-z0-9_\-]{1,40}=|--from-literal[= ][\"']?(?!(?i:[a-z_\-]{0,20}(?:user|username|"
        r"host|name|port|region|url))=)[A-Za-z0-9_.\-]{1,80}=|"
        r"(?:fly(?:ctl)?|doppler|infisical|supabase|wrangler)[ ]secrets?[ ]set[ ](?:"
        r"[A-Za-z0-9_\-]{1,60})[= ]|gh[ ]secret[ ]set[ ][A-Za-z0-9_]{1,80}[ ](?:-b|--body)[ =]|"
        r"az[ ]keyvault[ ]secret[ ]set[ ][^\r\n|;]{0,200}?--value[ =]|--secret-string[ =]|"
        r"--type[ ]SecureString[^\r\n|;]{0,120}?--value[ =]|"
        r"aws[ ]ssm[ ]put-parameter[ ][^\r\n|;]{0,120}?--value[ =](?=[^\r\n|;]{1,200}SecureString)|"
        r"dotnet[ ]user-secrets[ ]set[ ][\"']?[A-Za-z0-9:_.\-]{1,80}[\"']?[ ])" + HAS_DIGIT + VALUE,
        "https://kubernetes.io/docs/tasks/configmap-secret/managing-secret-using-kubectl/",
        "kubectl create secret generic db --from-literal=value=«{A16}»",
        "kubectl create secret generic db --from-literal=value=$PW", group=2),
    Rule("keychain-item", ("add-generic-password", "add-internet-password"),
        r"add-(?:generic|internet)-password[ ]" + ARGUMENTS + r"-w" + SPACE + VALUE,
        "https://ss64.com/mac/security-password.html",
        "security add-generic-password -a me -s x -w «{A12}»",
        "security add-generic-password -a me -s x -w", group=2),
    Rule("wifi-command", ("nmcli", "iwconfig", "netsh", "networksetup"), COMMAND + r"(?:nmcli[ ]"
        + ARGUMENTS + r"(?:password|wifi-sec\.psk)|iwconfig[ ][a-z0-9]{1,16}[ ]key|netsh[ ]wlan[ ]"
        + ARGUMENTS + r"(?:key=|keyMaterial=)|"
        r"networksetup[ ]-setairportnetwork[ ][a-z0-9]{1,8}[ ][^\s]{1,40})[ ]?(?:s:)?" + VALUE,
        "https://networkmanager.dev/docs/api/latest/nmcli.html",
        "nmcli dev wifi connect home password '«{A12}»'",
        "nmcli dev wifi connect home password $PW", group=2),
    Rule("ftp-user", ("ftp -u", "ftp://"),
        r"l?ftp[ ]-u[ ]?[\"']?[A-Za-z0-9._@\-]{1,64},(" + NO_REFERENCE + BARE + ")",
        "https://lftp.yar.ru/lftp-man.html", "lftp -u me,«{A12}» sftp://x.dev",
        "lftp -u me,$PW sftp://x.dev", group=1),
    Rule("login-call", (".login(", "auth=(", "auth = (", "mysqli", "new pdo("),
        r"(?:\.login|(?<![A-Za-z])auth(?:=|[ ]=[ ])|mysqli(?:_connect)?|new PDO)\("
        r"(?:[ \r\n]{0,16}[\"'][^\"'\r\n]{1,160}[\"'],){1,2}[ \r\n]{0,16}(\\{0,3}[\"'])"
        r"(?=[^\"'\r\n]{0,60}[0-9!@#$%^&*])(" + NO_REFERENCE + r"(?:(?!\1)[^\r\n]){4,128})(?=\1)",
        "https://docs.python.org/3/library/smtplib.html", 'requests.get(u, auth=("me", "«{A12}»"))',
        'server.login("me@x.dev", password); client.login("me", "secret")', group=2),
    Rule("mail-login", ("auth plain ", "auth login ", "auth xoauth2 "),
        r"(?i:auth (?:plain|login|xoauth2)) " + LIKELY + r"([A-Za-z0-9+/]{12,2048}={0,2})",
        "https://datatracker.ietf.org/doc/html/rfc4954", "C: AUTH PLAIN «{A24}==»",
        "250 AUTH PLAIN LOGIN, auth login page", group=1),
    Rule("impacket-target",
        ("secretsdump", "psexec.py", "wmiexec", "smbexec", "getuserspns", "getnpusers", "gettgt"),
        r"(?i:secretsdump|psexec|wmiexec|smbexec|getuserspns|getnpusers|gettgt)(?:\.py)?[ ]"
        + ARGUMENTS + r"(?:[A-Za-z0-9._\-]{1,60}+/)?[A-Za-z0-9._\-]{1,60}+:([^\s\"'`:]{3,128})@",
        "https://github.com/fortra/impacket", "secretsdump.py corp/admin:«{A12}»@10.0.0.5",
        "secretsdump.py -hashes :x corp/admin@10.0.0.5", group=1),
    Rule("expect-send", ("send ",), r"(?<![A-Za-z])send[ ](?:--[ ])?\\{0,3}\"" + HAS_DIGIT
        + r"(?=[!-~]{0,60}[A-Za-z])([!#-\[\]-~]{6,128}?)\\{1,2}[rn]\\{0,3}\"",
        "https://core.tcl-lang.org/expect/index", r'expect "assword:" { send "«{A12}»\r" }',
        r'send "yes\r"; send "exit\r"; send "$pw\r"', group=1),
    Rule("powershell-secure-string", ("convertto-securestring",),
        r"(?i:convertto-securestring)[ ](?:-(?i:asplaintext|force)[ ]){0,2}(?:-(?i:string)"
        r"[ ])?(?=\\{0,3}[\"'])" + GLUED,
        "https://learn.microsoft.com/powershell/module/microsoft.powershell.security/convertto-securestring",
        'ConvertTo-SecureString "«{A12}»" -AsPlainText -Force',
        "ConvertTo-SecureString $pw -AsPlainText -Force; ConvertTo-SecureString -AsPlainText",
        group=2),
    Rule("credential-object", ("pscredential", "networkcredential", "passwordauthentication",
        "usernamepassword", "httpbasic", "basicauth", "drivermanager"),
        r"(?:PSCredential|NetworkCredential|PasswordAuthentication|UsernamePasswordCredentials|"
        r"HTTPBasicAuth|SetBasicAuth|setBasicAuth|BasicAuth|httpBasic|"
        r"DriverManager\.getConnection)[ ]?\([ ]?"
        r"\\?[\"'][^\s\"'\\]{1,120}\\?[\"'],[ ]?(?:\\?[\"'][^\s\"'\\,]{1,60}\\?[\"'],"
        r"[ ]?)?(\\{0,3}[\"'])(" + NO_REFERENCE + r"(?:(?!\1)[^\r\n]){3,128})(?=\1)",
        "https://learn.microsoft.com/en-us/dotnet/api/system.net.networkcredential",
        'new NetworkCredential("me", "«{A12}»")', 'new NetworkCredential("me", password)', group=2),
)
# fmt: on

# fmt: off
SQL: tuple[Rule, ...] = (
    Rule("sql-identified-by", ("identified",),
        r"(?i:identified)[ \t\r\n]{1,8}(?i:with[ \t\r\n]{1,4}[a-z0-9_'\"]{1,40}[ \t\r\n]{1,4})?"
        r"(?i:by|as|using)[ \t\r\n]{1,8}(?i:values[ \t]{1,4}|password[ \t]{1,4})?"
        r"(?i:password[ ]?\()?(\\{0,3}['\"`])(" + NO_REFERENCE
        + r"(?:(?<=')|(?=[^\r\n'\"`]{0,255}[0-9!@#$%^&*]))(?>(?!\1)[^\r\n]|''){3,256})(?=\1)",
        "https://dev.mysql.com/doc/refman/8.4/en/create-user.html",
        "CREATE USER a IDENTIFIED BY '«{A10}!»';", "IDENTIFIED BY '<password>'", group=2),
    Rule("sql-identified-bare", ("identified by", "identified\nby"),
        r"(?i:user)[ ][\"`]?[A-Za-z0-9_$#]{1,64}[\"`]?[ \r\n]{1,4}(?i:identified[ \r\n]{1,4}by)"
        r"[ \r\n]{1,4}"
        r"(?![\"'`]|values|VALUES|(?i:password|random|externally|the|a|its|your)(?![A-Za-z0-9_]))"
        r"(?=[A-Za-z_$#!@%^&*\-]{0,60}[0-9])([A-Za-z0-9_$#!@%^&*\-]{4,128})",
        "https://docs.oracle.com/en/database/oracle/oracle-database/23/sqlrf/CREATE-USER.html",
        "ALTER USER app IDENTIFIED BY «{A10}»;", "CREATE USER app IDENTIFIED BY password;",
        group=1),
    Rule("sql-option-secret",
        ("options (", "options(", "secret =", "secret=", "master_password", "source_password"),
        r"(?i:(?<![a-z])options[ ]?\([^()\r\n]{0,120}?password[ ]|(?<=[, ])secret[ ]?=[ ]?|"
        r"(?:master|source)_password[ ]?=[ ]?)" + SQL_TEXT.replace("{3,256}", "{6,256}"),
        POSTGRES + "sql-createusermapping.html",
        "CREATE USER MAPPING FOR me SERVER s OPTIONS (user 'x', password '«{A12}»')",
        "OPTIONS (user 'x', password '<password>')", group=2),
    Rule("sql-password", ("password '", 'password "', "password n'", "password e'", "password=",
        "password =", "password (", "password(", "password for ", "password\n", "password\t",
        "password \\"), r"(?i:(?<![a-z])(?:(?:create|alter)[ ](?:user|role|group|login|"
        r"application role)[ ](?:if not exists[ ])?"
        r"[a-z0-9_.\"\[\]`@\-]{1,64}|encrypted|with|login|superuser|createdb|createrole|inherit|"
        r"replication|decryption by|encryption by|master|old_password|set|,))[ \t\r\n]{1,8}"
        r"(?i:(?:with|user|login|encrypted|unencrypted)[ \t\r\n]{1,4}){0,3}"
        r"(?i:password)(?:[ \t\r\n]{1,4}|[ ]{0,2}=[ ]{0,2}|[ ](?i:for)[ ][^\s=]{1,80}[ ]?=[ ]?)"
        r"(?i:(?:old_)?password[ ]?\()?" + SQL_TEXT, POSTGRES + "sql-alterrole.html",
        "ALTER ROLE app WITH PASSWORD '«{A12}»'",
        "ALTER ROLE app WITH PASSWORD '$1', password 'password'", group=2),
    Rule("sql-function-password", ("password(", "password (", "pgp_sym_", "aes_encrypt",
        "aes_decrypt", "crypt(", "encryptbypass"),
        r"(?i:(?<![a-z_])(?:set[ ]password[^=\r\n]{0,80}=[ ]?(?:old_)?password[ ]?\([ ]?|"
        r"pgp_sym_(?:en|de)crypt(?:_bytea)?\([^\r\n,)]{1,100},[ ]?|aes_(?:en|"
        r"de)crypt\([^\r\n,)]{1,100},[ ]?|"
        r"encryptbypassphrase\([ ]?|(?<!_)crypt\((?='[^'\r\n]{1,128}',[ ]?gen_salt)))" + SQL_TEXT,
        POSTGRES + "pgcrypto.html", "select pgp_sym_encrypt(name, '«{A16}»') from t",
        "select pgp_sym_encrypt(name, $1), crypt(pw, gen_salt('bf'))", group=2),
)
# fmt: on

STRUCTURE: tuple[Rule, ...] = ARMOUR + ADDRESSES + WEBHOOKS + HEADERS + FILES + COMMANDS + SQL
