"""Secrets known by where they stand: keys in armour, addresses, headers, command lines, files.

The file is long because it is one table: a place is added in one place.
"""

from core.secret_rules import LEFT, RIGHT, Rule

RFC7617 = "https://datatracker.ietf.org/doc/html/rfc7617"
RFC6750 = "https://datatracker.ietf.org/doc/html/rfc6750"
RFC7468 = "https://datatracker.ietf.org/doc/html/rfc7468"
CURL = "https://curl.se/docs/manpage.html"
DIGIT = r"(?=[^\s0-9]{0,200}[0-9])"
PEM_HEAD = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
PEM_TEXT = r"(?:(?!-----)[\s\S])"

STRUCTURE: tuple[Rule, ...] = (
    Rule(
        "pem-private-key",
        ("private key",),
        f"{PEM_HEAD}(?={PEM_TEXT}{{0,600}}?[A-Za-z0-9+/]{{32}}){PEM_TEXT}{{1,16384}}"
        r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        0,
        RFC7468,
        "k: «-----BEGIN RSA PRIVATE KEY-----\n{A64}\n{A20}\n-----END RSA PRIVATE KEY-----»\n",
        "`-----BEGIN PRIVATE KEY-----` ends with `-----END PRIVATE KEY-----`",
    ),
    Rule(
        "pem-cut-off",
        ("private key",),
        PEM_HEAD + r"(?:[A-Za-z0-9+/=\\\r\n]|(?<=[\n ])[ \t>|]){16,16384}(?<=[A-Za-z0-9+/=]{12})",
        0,
        RFC7468,
        r"key=\"«-----BEGIN PRIVATE KEY-----\n{A64}\n{A30}»… 잘렸다",
        "-----BEGIN PRIVATE KEY-----\n(body)",
    ),
    Rule(
        "url-password",
        ("://",),
        r"://[^\s:/@\"'<>`]{0,100}:([^\s\"'<>`/]{1,256})@(?=[A-Za-z0-9\[$%{_])",
        1,
        "https://datatracker.ietf.org/doc/html/rfc3986#section-3.2.1",
        "postgres://app:«{A12}»@db.local:5432/x",
        "postgres://app:${DB_PASSWORD}@db http://a:80/b@c",
    ),
    Rule(
        "url-token",
        ("://",),
        r"https?://(?=[A-Za-z_\-]{0,60}[0-9])([A-Za-z0-9_\-]{20,255})@(?=[A-Za-z0-9])",
        1,
        "https://datatracker.ietf.org/doc/html/rfc3986#section-3.2.1",
        "git clone https://«{A32}»@host.dev/x.git",
        "https://deploy@host.dev/x.git",
    ),
    Rule(
        "authorization-header",
        ("authorization",),
        r"(?i:authorization)[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?"
        r"(?i:bearer|basic|token|apikey|api-key|key|bot|digest|ssws|splunk|geniekey)[ \t]{1,4}"
        r"([A-Za-z0-9_\-.~+/=:|]{8,4096})",
        1,
        RFC7617,
        "-H 'Authorization: Basic «{A20}==»'",
        "Authorization: Bearer $TOKEN",
    ),
    Rule(
        "authorization-raw",
        ("authorization",),
        r"(?i:authorization)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?"
        + DIGIT
        + r"([A-Za-z0-9_\-.~+/=]{20,4096})",
        1,
        RFC7617,
        "Authorization: «{A40}»",
        "Authorization: see-the-page-on-auth",
    ),
    Rule(
        "bearer-token",
        ("bearer",),
        r"(?i:bearer)[ \t]{1,4}" + DIGIT + r"([A-Za-z0-9_\-.~+/=|]{16,4096})",
        1,
        RFC6750,
        "보내는 값은 Bearer «{A40}»이다",
        "Bearer authentication, bearer token",
    ),
    Rule(
        "basic-credentials",
        ("basic",),
        LEFT + r"(?i:basic)[ \t]{1,4}((?=[A-Za-z+/]{0,60}[0-9])(?=[a-z0-9+/]{0,60}[A-Z])"
        r"[A-Za-z0-9+/]{12,512}={0,2})" + RIGHT,
        1,
        RFC7617,
        "sends Basic «{A24}==»",
        "Basic authentication and Basic Auth2",
    ),
    Rule(
        "aws-signature",
        ("signature=",),
        r"Signature=([a-f0-9]{64})" + RIGHT,
        1,
        "https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-auth-using-authorization-header.html",
        "SignedHeaders=host, Signature=«{h64}»",
        "Signature=abc",
    ),
    Rule(
        "key-header",
        ("x-", "-token", "-key"),
        r"(?i:x-[a-z\-]{0,40}(?:key|token|secret)|private-token|deploy-token|job-token|api-key|"
        r"[a-z\-]{0,30}subscription-key)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?"
        + DIGIT
        + r"([A-Za-z0-9_\-.~+/=]{12,2048})",
        1,
        "https://swagger.io/docs/specification/v3_0/authentication/api-keys/",
        "-H 'X-Api-Key: «{A32}»'",
        "X-Api-Key: <key>, X-Idempotency: 1",
    ),
    Rule(
        "session-cookie",
        ("sess", "sid=", "remember", "auth"),
        r"(?<![A-Za-z0-9])(?:(?i:jsessionid|phpsessid|asp\.net_sessionid|connect\.sid|session_?id|"
        r"session|sid|remember_(?:me|token)|auth_?session)|_[a-z]{2,20}_session)="
        + DIGIT
        + r"([A-Za-z0-9%._\-+/=]{16,1024})",
        1,
        "https://developer.mozilla.org/en-US/docs/Web/HTTP/Cookies",
        "Cookie: lang=ko; sessionid=«{a32}»; x=1",
        "session=get_session_factory(db)",
    ),
    Rule(
        "signed-url",
        ("sig", "security-token"),
        r"[?&;](?:amp;)?(?i:x-amz-(?:signature|security-token)|x-goog-signature|signature|sig|sign)="
        + DIGIT
        + r"([A-Za-z0-9%._\-+/=~]{16,2048})",
        1,
        "https://learn.microsoft.com/en-us/rest/api/storageservices/create-service-sas",
        "https://x.blob.core.windows.net/c?sv=2024-01-01&sig=«{A43}%3D»&sp=r",
        "?sig=none",
    ),
    Rule(
        "otpauth-secret",
        ("otpauth",),
        r"otpauth://[^\s\"'<>]{1,300}?[?&]secret=([A-Za-z2-7]{12,128})",
        1,
        "https://github.com/google/google-authenticator/wiki/Key-Uri-Format",
        "otpauth://totp/x:me?secret=«{U32}»&issuer=x",
        "otpauth://totp/x",
    ),
    Rule(
        "query-credential",
        ("=",),
        r"[?&](?:amp;)?(?i:access_?token|refresh_?token|id_token|private_token|auth_?token|token|auth|"
        r"api_?-?key|apikey|key|app_?key|service_?key|secret|client_secret|password|pwd|pass)="
        + DIGIT
        + r"([A-Za-z0-9%._\-+/=~!*]{8,2048})",
        1,
        "https://www.data.go.kr/ugs/selectPublicDataUseGuideView.do",
        "https://apis.data.go.kr/x?serviceKey=«{A60}%3D%3D»&page=1",
        "?key=name&token=${T}",
    ),
    Rule(
        "slack-webhook",
        ("hooks.slack",),
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_\-]{20,120})",
        1,
        "https://api.slack.com/messaging/webhooks",
        "https://hooks.slack.com/services/«T{U8}/B{U10}/{A24}»로",
        "hooks.slack.com/services/T0/B0",
    ),
    Rule(
        "discord-webhook",
        ("/webhooks/",),
        r"discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{15,22}/([A-Za-z0-9_\-]{40,100})",
        1,
        "https://discord.com/developers/docs/resources/webhook",
        "https://discord.com/api/webhooks/{d18}/«{A68}»",
        "discord.com/api/webhooks/{d18}",
    ),
    Rule(
        "teams-webhook",
        ("webhook.office.com",),
        r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/\-]{60,300})",
        1,
        "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/",
        "https://a.webhook.office.com/webhookb2/«{h36}@{h36}/IncomingWebhook/{h32}/{h36}»",
        "a.webhook.office.com/webhookb2/",
    ),
    Rule(
        "zapier-webhook",
        ("hooks.zapier",),
        r"hooks\.zapier\.com/hooks/catch/([0-9]{4,12}/[A-Za-z0-9]{6,20})",
        1,
        "https://help.zapier.com/hc/en-us/articles/8496288690317",
        "https://hooks.zapier.com/hooks/catch/«{d7}/{a7}»/",
        "hooks.zapier.com/hooks/catch/1",
    ),
    Rule(
        "connection-string",
        (";",),
        r";[ \t]{0,2}(?i:password|pwd|account_?key|sharedaccesskey|sharedaccesssignature|"
        r"accesskey)[ \t]{0,2}=[ \t]{0,2}([^\s;\"'`<>]{3,512})",
        1,
        "https://learn.microsoft.com/en-us/dotnet/framework/data/adonet/connection-string-syntax",
        "Server=db;User Id=sa;Password=«{A12}»;Encrypt=True",
        "Server=db;Password=${PW};",
    ),
    Rule(
        "curl-user",
        ("curl",),
        r"curl\b[^\n]{0,300}?[ \t](?:-u|--user|--proxy-user)[ =]{0,2}[\"']?[^\s:\"']{1,100}:"
        r"([^\s\"']{3,256})",
        1,
        CURL,
        "curl -s -u admin:«{A12}» https://x.dev",
        "curl -u $USER:$PASS https://x.dev",
    ),
    Rule(
        "mysql-password",
        ("mysql", "mariadb"),
        r"(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)[ \t][^\n|;]{0,200}?(?<=[ \t])-p[\"']?"
        r"([^\s\"']{4,128})",
        1,
        "https://dev.mysql.com/doc/refman/8.4/en/password-security-user.html",
        "mysql -u root -p«{A10}» app",
        "mysql -u root -p app",
    ),
    Rule(
        "command-password",
        ("sshpass", "redis-cli", "docker login", "htpasswd", "mongo"),
        r"(?:sshpass[ ]-p|redis-cli\b[^\n|;]{0,120}?[ ]-a|docker login\b[^\n|;]{0,120}?[ ]-p|"
        r"htpasswd[ ]-[a-zA-Z]{0,6}b[a-zA-Z]{0,4}[ ][^\s]{1,80}[ ][^\s]{1,64}|"
        r"mongo(?:sh|dump|restore)?[ ][^\n|;]{0,160}?[ ]-p)[ =]{1,2}[\"']?([^\s\"']{4,128})",
        1,
        "https://linux.die.net/man/1/sshpass",
        "sshpass -p «{A10}» ssh a@b",
        "sshpass -p $PW ssh a@b",
    ),
    Rule(
        "openssl-password",
        ("pass:",),
        r"-(?:passin|passout|pass|k)[ ][\"']?pass:([^\s\"']{3,128})",
        1,
        "https://docs.openssl.org/master/man1/openssl-passphrase-options/",
        "openssl rsa -passin pass:«{A10}» -in k",
        "-passin pass:$PW",
    ),
    Rule(
        "netrc-password",
        ("machine", "login"),
        r"(?:machine[ \t\r\n]{1,8}[^\s]{1,253}|default)[ \t\r\n]{1,8}login"
        r"[ \t\r\n]{1,8}[^\s]{1,128}"
        r"[ \t\r\n]{1,8}password[ \t\r\n]{1,8}([^\s\"']{3,512})",
        1,
        "https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html",
        "machine x.dev login me password «{A12}»",
        "machine x.dev login me password $PW",
    ),
    Rule(
        "pgpass-line",
        (":5432:", ":6432:", ":5433:"),
        r"(?<![^\s`\"'])[A-Za-z0-9.\-*]{1,100}:(?:5432|5433|6432):[^:\s]{1,64}:[^:\s]{1,64}:"
        r"([^\s\"'`]{4,128})",
        1,
        "https://www.postgresql.org/docs/current/libpq-pgpass.html",
        "db.local:5432:app:me:«{A12}»",
        "db.local:5432:app:me:$PW",
    ),
    Rule(
        "npmrc-auth",
        ("_auth", "_password"),
        r"(?::|^|(?<=\s)|(?<=[`'\"]))(?:_authToken|_auth|_password)[ \t]{0,3}=[ \t]{0,3}[\"']?"
        r"([A-Za-z0-9_\-+/=.]{8,512})",
        1,
        "https://docs.npmjs.com/cli/v11/configuring-npm/npmrc",
        "//npm.example.com/:_authToken=«{A36}»",
        "//npm.example.com/:_authToken=${NPM_TOKEN}",
    ),
    Rule(
        "docker-auth",
        ('"auth',),
        r"\\?\"(?:auth|identitytoken)\\?\"[ \t\r\n]{0,8}:[ \t\r\n]{0,8}\\?\""
        r"([A-Za-z0-9+/_\-.]{12,4096}={0,2})",
        1,
        "https://docs.docker.com/reference/cli/docker/login/",
        '{"auth": "«{A24}==»"}',
        '{"auth": "required"}',
    ),
    Rule(
        "sql-identified-by",
        ("identified",),
        r"(?i:identified)[ \t\r\n]{1,4}(?i:with[ \t]{1,4}[a-z0-9_'\"]{1,40}[ \t]{1,4})?(?i:by|as)"
        r"[ \t\r\n]{1,4}(?i:password[ \t]{1,4})?['\"]([^'\"\r\n]{3,256})['\"]",
        1,
        "https://dev.mysql.com/doc/refman/8.4/en/create-user.html",
        "CREATE USER a IDENTIFIED BY '«{A10}!»';",
        "IDENTIFIED BY '<password>'",
    ),
    Rule(
        "sql-password",
        ("password",),
        r"(?i:user|role|encrypted|with|login)[ \t]{1,4}(?:[A-Za-z0-9_\"]{1,64}[ \t]{1,4})?"
        r"(?i:with[ \t]{1,4})?(?i:encrypted[ \t]{1,4})?(?i:password)[ \t]{1,4}'([^'\r\n]{3,256})'",
        1,
        "https://www.postgresql.org/docs/current/sql-alterrole.html",
        "ALTER ROLE app WITH PASSWORD '«{A12}»'",
        "ALTER ROLE app WITH PASSWORD '$1'",
    ),
    Rule(
        "redis-directive",
        ("requirepass", "masterauth"),
        r"(?:requirepass|masterauth)[ \t]{1,8}[\"']?([^\s\"']{4,512})",
        1,
        "https://redis.io/docs/latest/operate/oss_and_stack/management/security/",
        "requirepass «{A12}»",
        "requirepass $REDIS_PW",
    ),
    Rule(
        "chpasswd-line",
        ("chpasswd",),
        r"echo[ ][\"']?[a-z_][a-z0-9_\-]{0,31}:([^\s\"'|]{4,128})[\"']?[ ]{0,2}\|[ ]{0,2}"
        r"(?:sudo[ ])?chpasswd",
        1,
        "https://man7.org/linux/man-pages/man8/chpasswd.8.html",
        'echo "me:«{A10}»" | sudo chpasswd',
        'echo "me:$PW" | chpasswd',
    ),
)
