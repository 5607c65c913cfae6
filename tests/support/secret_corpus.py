"""Makes texts with secrets at known places, in English and Korean, to measure a redactor with.

The table holds the sentences, lines of code and settings with a secret.

In the tables @@ is where the secret goes, ‹ and › enclose what must stay readable, ~~ (in the
formats of assignments) is the name the secret is assigned to. Everything is built at run time.
"""

import random
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.secret_kinds import HUMAN, KINDS, VALUES, Kind, Spans, fill, unmark

PLACEMENTS_OF_A_TOKEN = 16
SURROUNDINGS_OF_A_STRUCTURE = 7
CASES_OF_A_FORMAT = 16
VALUES_OF_A_SENTENCE = 4
VALUES_OF_AN_EDGE = 2
HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")


@dataclass(frozen=True)
class Case:
    """A text, where the secrets in it are, and what beside them must stay readable."""

    family: str
    kind: str
    placement: str
    language: str
    text: str
    secret_spans: Spans
    label_spans: Spans


def a_case(family: str, kind: str, placement: str, marked: str) -> Case:
    """A case from a marked text; the language is Korean as soon as there is Hangul."""
    text, secrets, labels = unmark(marked)
    language = "ko" if HANGUL.search(text) else "en"
    return Case(family, kind, placement, language, text, secrets, labels)


TOKEN_PLACES_EN = {
    "bare": "@@",
    "prose": "The deploy job failed until I pasted @@ into the settings page",
    "sentence-end": "The CI runner still authenticates with @@.",
    "question": "Is anybody still using @@?",
    "exclamation": "Somebody committed @@!",
    "parentheses": "We rotated the old credential (@@) last Friday.",
    "single-quotes": "client = Client('@@')",
    "double-quotes": 'client := api.New("@@")',
    "curly-quotes": "He wrote “@@” into the ticket.",
    "backticks": "Set it to `@@` and restart the worker.",
    "code-fence": "```\n@@\n```",
    "markdown-table": "| service | value |\n|---|---|\n| billing | @@ |",
    "bullet-list": "- staging only\n- @@\n- expires in March",
    "log-line": "2026-03-14T09:26:53Z INFO auth: accepted @@ from 10.0.3.7",
    "json-value": '{"name": "ci", "‹token›": "@@", "active": true}',
    "yaml-value": "auth:\n  ‹token›: @@\n  retries: 3",
    "call-argument": 'session.headers.update(auth=make_auth("@@", retries=2))',
    "export-line": "export ‹SERVICE_TOKEN›=@@",
    "cli-flag": "deployctl push --token @@ --region seoul",
    "cli-flag-equals": "deployctl push --token=@@ --dry-run",
    "comma-list": "keys: staging, @@, production",
    "colon-label": "Key: @@",
    "escaped-newlines": '{"log": "step 1\\n@@\\nstep 2"}',
    "url-query": "https://ci.example.com/hook?build=42&key=@@&retry=1",
    "html-element": "<code>@@</code>",
    "xml-element": "<credential><value>@@</value></credential>",
    "diff-line": "-    old = None\n+    old = '@@'",
    "emoji": "🔑@@ is the new one 🎉",
    "em-dash": "the leaked credential—@@—was revoked",
    "semicolon": "first step; @@; then restart",
    "markdown-bold": "Use **@@** for staging.",
    "markdown-link": "[dashboard](https://app.example.com/#@@)",
    "square-brackets": "[auth] rejected [@@] twice",
    "angle-brackets": "Authorization failed for <@@>",
    "two-lines": "Here is what we used:\n\n@@\n\nIt expires on Monday.",
    "tabs": "prod\t@@\tactive",
    "crlf": "first\r\n@@\r\nlast",
    "traceback": "ValueError: invalid literal: '@@'",
}
TOKEN_PLACES_KO = {
    "ko-object": "배포 서버 설정에 @@를 넣었다",
    "ko-topic": "@@은 다음 주에 만료된다",
    "ko-subject": "운영 환경에서 @@가 아직 살아 있다",
    "ko-with": "CI는 @@로 인증한다",
    "ko-is": "지금 쓰는 값은 @@입니다",
    "ko-and": "스테이징은 @@이고 운영은 따로 있다",
    "ko-at": "@@에서는 권한 오류가 난다",
    "ko-until": "어제까지 @@까지 확인했음",
    "ko-sentence-end": "새로 발급한 것: @@.",
    "ko-parentheses": "예전 인증 정보(@@)는 폐기했다",
    "ko-corner-brackets": "설정값 「@@」를 그대로 복사하면 된다",
    "ko-double-brackets": "문서에 『@@』라고 적혀 있었다",
    "ko-curly-quotes": "팀장님이 “@@”라고 알려 주셨다",
    "ko-single-quotes": "헤더에 '@@'를 붙인다",
    "ko-backticks": "`@@`을 환경 변수로 옮겨야 한다",
    "ko-bold": "**@@**로 교체 완료",
    "ko-table": "| 서비스 | 값 |\n|---|---|\n| 결제 | @@ |",
    "ko-list": "- 결제 모듈\n- @@\n- 3월 만료",
    "ko-log": "[2026-03-14 09:26:53] 경고: @@ 인증 실패 (3회)",
    "ko-json": '{"‹token›": "@@", "메모": "스테이징 전용"}',
    "ko-yaml": "# 스테이징\nauth:\n  ‹token›: @@",
    "ko-export": "export ‹SERVICE_TOKEN›=@@  # 운영용, 공유 금지",
    "ko-call": 'client = Client("@@")  # 임시로 박아 둠',
    "ko-cli": "터미널에서 deployctl --token @@ 실행",
    "ko-comma": "스테이징, @@, 운영 순서로 적용",
    "ko-fullwidth-comma": "스테이징，@@，운영",
    "ko-fullwidth-parentheses": "인증 정보（@@）를 갱신함",
    "ko-fullwidth-stop": "마지막으로 쓴 것은 @@。",
    "ko-escaped-newlines": '{"내용": "1단계\\n@@\\n2단계 완료"}',
    "ko-url": "주소창에 https://ci.example.com/hook?key=@@&retry=1 입력",
    "ko-html": "<p>발급된 값: <code>@@</code></p>",
    "ko-diff": "-    # 없음\n+    value = '@@'  # 추가",
    "ko-emoji": "🔑@@ 이걸로 하면 됨 👍",
    "ko-glued-both": "토큰@@입니다",
    "ko-colon": "토큰:@@",
    "ko-fullwidth-colon": "키：@@",
    "ko-question": "혹시 @@ 아직 쓰나요?",
    "ko-commit": "fix: 하드코딩된 @@ 제거",
}
STRUCTURE_PLACES_EN = {
    "bare": "@@",
    "after-sentence": "This is what worked on staging:\n@@",
    "between-sentences": "I copied the following.\n\n@@\n\nAfter that the job went through.",
    "code-fence": "```\n@@\n```",
    "comment-above": "# do not commit\n@@",
    "log": "2026-03-14 09:26:53,104 DEBUG runner - @@",
    "todo": "TODO rotate:\n@@\n-- ops",
    "reproduce": "Steps to reproduce:\n1. run the worker\n2. @@\n3. watch it hang",
}
STRUCTURE_PLACES_KO = {
    "ko-after-sentence": "스테이징에서는 아래처럼 하니 됐다.\n@@",
    "ko-between-sentences": "다음 내용을 그대로 복사했다.\n\n@@\n\n그 뒤로 배치가 정상 동작한다.",
    "ko-code-fence": "설정 예:\n```\n@@\n```",
    "ko-comment": "# 커밋 금지\n@@",
    "ko-log": "[경고] 09:26:53 실행기 - @@",
    "ko-note": "메모: @@\n위 값은 3월에 바꿀 것",
    "ko-steps": "재현 방법:\n1. 워커 실행\n2. @@\n3. 멈추는지 확인",
    "ko-found": "운영 서버에서 발견한 내용입니다:\n@@",
}


@dataclass(frozen=True)
class Format:
    """How a language or tool assigns a value: its line, its style of names, its comment sign."""

    line: str
    style: str
    comment: str = ""
    closing: str = ""
    quoted: bool = True


FORMATS = {
    "python": Format('~~ = "@@"', "snake", "# "),
    "python-single": Format("~~ = '@@'", "upper", "# "),
    "python-annotated": Format('~~: str = "@@"', "snake", "# "),
    "python-keyword": Format('connect(host="db1", ~~="@@", timeout=5)', "snake", "# "),
    "python-dict": Format('settings = {"host": "db1", "~~": "@@"}', "snake", "# "),
    "python-environ": Format('os.environ["~~"] = "@@"', "upper", "# "),
    "javascript": Format('const ~~ = "@@";', "camel", "// "),
    "javascript-object": Format("const config = { host: 'db1', ~~: '@@' };", "camel", "// "),
    "javascript-env": Format("process.env.~~ = '@@';", "upper", "// "),
    "typescript": Format("private readonly ~~: string = '@@';", "camel", "// "),
    "java": Format('private static final String ~~ = "@@";', "upper", "// "),
    "java-setter": Format('dataSource.set~~("@@");', "pascal", "// "),
    "kotlin": Format('val ~~ = "@@"', "camel", "// "),
    "go": Format('~~ := "@@"', "camel", "// "),
    "go-struct": Format('cfg := Config{Host: "db1", ~~: "@@"}', "pascal", "// "),
    "rust": Format('const ~~: &str = "@@";', "upper", "// "),
    "csharp": Format('private const string ~~ = "@@";', "pascal", "// "),
    "c-define": Format('#define ~~ "@@"', "upper", "// "),
    "cpp": Format('std::string ~~ = "@@";', "snake", "// "),
    "php": Format("$~~ = '@@';", "snake", "// "),
    "php-array": Format("'~~' => '@@',", "snake", "// "),
    "php-define": Format("define('~~', '@@');", "upper", "// "),
    "ruby": Format("~~ = '@@'", "snake", "# "),
    "ruby-symbol": Format("config.update(:~~ => '@@')", "snake", "# "),
    "swift": Format('let ~~ = "@@"', "camel", "// "),
    "shell": Format("~~='@@'", "upper", "# "),
    "shell-export": Format('export ~~="@@"', "upper", "# "),
    "fish": Format("set -gx ~~ '@@'", "upper", "# "),
    "powershell": Format("$env:~~ = '@@'", "upper", "# "),
    "powershell-variable": Format('$~~ = "@@"', "pascal", "# "),
    "batch": Format("set ~~=@@", "upper", "", quoted=False),
    "dockerfile-env": Format("ENV ~~=@@", "upper", "# ", quoted=False),
    "dockerfile-arg": Format('ARG ~~="@@"', "upper", "# "),
    "compose": Format("    environment:\n      ~~: '@@'", "upper", "# "),
    "compose-list": Format("    environment:\n      - ~~=@@", "upper", "# ", quoted=False),
    "kubernetes": Format('stringData:\n  ~~: "@@"', "kebab", "# "),
    "kubernetes-env": Format('- name: ~~\n  value: "@@"', "upper", "# "),
    "helm": Format("helm upgrade app ./chart --set ~~='@@'", "dotted"),
    "terraform": Format('  ~~ = "@@"', "snake", "# "),
    "terraform-default": Format('variable "~~" {\n  default = "@@"\n}', "snake", "# "),
    "ansible": Format("    ~~: '@@'", "snake", "# "),
    "toml": Format('~~ = "@@"', "snake", "# "),
    "ini": Format("~~ = @@", "snake", "; ", quoted=False),
    "properties": Format("spring.datasource.~~=@@", "kebab", "# ", quoted=False),
    "dotenv": Format("~~=@@", "upper", "# ", quoted=False),
    "dotenv-quoted": Format('~~="@@"', "upper", "# "),
    "json": Format('{"host": "db1", "~~": "@@"}', "camel"),
    "json-snake": Format('  "~~": "@@",', "snake"),
    "yaml": Format("~~: @@", "snake", "# ", quoted=False),
    "yaml-quoted": Format('  ~~: "@@"', "camel", "# "),
    "xml-element": Format("<~~>@@</~~>", "camel", "<!-- ", " -->"),
    "xml-attribute": Format('<datasource host="db1" ~~="@@"/>', "camel", "<!-- ", " -->"),
    "xml-property": Format('<property name="~~" value="@@"/>', "snake", "<!-- ", " -->"),
    "makefile": Format("~~ := @@", "upper", "# ", quoted=False),
    "nix": Format('  ~~ = "@@";', "camel", "# "),
    "nginx": Format('set $~~ "@@";', "snake", "# "),
    "systemd": Format('Environment="~~=@@"', "upper", "# "),
    "github-actions": Format('        env:\n          ~~: "@@"', "upper", "# "),
    "gradle": Format("ext.~~ = '@@'", "camel", "// "),
    "jvm-option": Format("java -D~~=@@ -jar app.jar", "dotted", quoted=False),
    "r": Format('Sys.setenv(~~ = "@@")', "upper", "# "),
    "lua": Format('local ~~ = "@@"', "snake", "-- "),
    "perl": Format("my $~~ = '@@';", "snake", "# "),
    "elixir": Format('config :app, ~~: "@@"', "snake", "# "),
    "dart": Format("final String ~~ = '@@';", "camel", "// "),
    "sql-set": Format("SET @~~ = '@@';", "snake", "-- "),
    "csv": Format("production,~~,@@,2026-03-14", "snake", quoted=False),
    "plain-colon": Format("~~: @@", "spaced", quoted=False),
}
FIXED_LINES = {
    "redis-conf": "‹requirepass› @@",
    "haproxy": "user ‹admin› insecure-password @@",
    "postgres-conf": "primary_conninfo = 'host=db1 user=‹replica› ‹password›=@@'",
    "rabbitmq": "default_user = ‹ops›\n‹default_pass› = @@",
    "mosquitto": "remote_username ‹bridge›\n‹remote_password› @@",
    "grafana-ini": "[security]\nadmin_user = ‹admin›\n‹admin_password› = @@",
    "msmtp": "user ‹noreply@corp.kr›\n‹password› @@",
    "fetchmail": "poll mail.corp.kr user ‹ops› ‹password› @@",
    "wp-config": "define( '‹DB_PASSWORD›', '@@' );",
    "django-databases": "'default': {'USER': '‹app›', '‹PASSWORD›': '@@', 'HOST': 'db1'}",
    "spring-yaml": "spring:\n  datasource:\n    username: ‹app›\n    ‹password›: @@",
    "tomcat-users": '<user username="‹ops›" ‹password›="@@" roles="manager"/>',
    "sidekiq-web": "Rack::Auth::Basic { |u, ‹password›| ‹password› == '@@' }",
    "ansible-ssh": "web1 ansible_user=‹deploy› ‹ansible_ssh_pass›=@@",
}
NAMES = [name.split() for name in (
    "db password, db pass, database password, api key, client secret, secret key, access token,"
    "auth token, aws secret access key, jwt secret, encryption key, passphrase, admin password,"
    "redis password, smtp password, root passwd, signing key, webhook secret, refresh token,"
    "private key, ldap bind password, app secret, session secret, ftp pwd, bot token,"
    "kakao rest api key, toss secret key, master key, service account password, credentials"
).split(",")]  # fmt: skip
KOREAN_NAMES = """비밀번호 암호 패스워드 토큰 비밀키 시크릿 인증키 접속암호 관리자비밀번호
    DB비밀번호 API키 액세스토큰 비번 서명키""".split()
COMMENTS_EN = ["staging database", "do not commit", "rotate in March", "used by the nightly batch"]
COMMENTS_KO = ["스테이징 접속 정보", "커밋 금지", "3월에 교체 예정", "야간 배치에서 사용"]


def named(words: list[str], style: str) -> str:
    """The words of a name as one name in a style."""
    titled = "".join(word.title() for word in words)
    return {
        "snake": "_".join(words),
        "upper": "_".join(words).upper(),
        "camel": words[0] + titled[len(words[0]) :],
        "pascal": titled,
        "kebab": "-".join(words),
        "dotted": ".".join(words),
        "spaced": " ".join(words),
    }[style]


NOTES_EN = [
    "{}",
    "Lesson: {}",
    "{}\nThe rest is in the wiki.",
    "- {}\n- restart the worker after it",
]
NOTES_KO = ["{}", "교훈: {}", "{}\n나머지는 위키에 적어 두었다", "- {}\n- 그 뒤 워커 재시작"]
PASSWORDS_EN = """the staging ‹admin› password is @@
The ‹root› password for the build box is @@.
password for ‹deploy› on db1 is @@
Log in with ‹admin› / @@
Log in as ‹admin› with password @@ and open the queue tab.
The login is ‹ops@corp.kr› and the password is @@.
user ‹admin›, password @@
username: ‹readonly› password: @@
I changed the ‹grafana› password to @@ yesterday
We reset the ‹jenkins› password to "@@".
The wifi password is @@, the guest network has none.
Password: @@
pw: @@
pwd is @@
The default password was @@ before the migration
Connect to the replica with password @@
The VPN passphrase is @@ and it never expires.
The zip is encrypted, passphrase @@
To unlock the vault file use the passphrase "@@".
Authenticate as ‹svc_batch› using the password @@
When asked for the sudo password, type @@
When asked for a password, enter @@ and press return.
The database password, @@, is the same on both hosts.
Postgres on staging: user ‹app›, pass @@
creds: ‹admin›:@@
credentials are ‹admin› / @@ for now
Test account ‹qa1@corp.kr› with password @@ works on mobile too.
SSH to the bastion as ‹ec2-user›, password @@
The key file is protected with the password @@.
Our Redis needs a password (@@) since last week.
My password is still @@
Don't forget: the ‹nexus› admin password is @@
The old password @@ no longer works
Use @@ as the password for the demo tenant.
Use @@ as password.
Sign in using @@ as the passphrase.
The password has been changed from @@ on Monday.
The password should be @@ after the reset
the password → @@
password = @@ on the test bench
The keystore password is `@@`
The temporary password I got by mail was '@@'.
admin's password is @@!
MySQL: ‹root›/@@
Lesson: the import failed because the ‹sftp› password had been set to @@ with a trailing space."""
KEYS_EN = """Use @@ as the API key
use API key @@ for the sandbox
The API key is @@.
Our API key (@@) only works from the office network.
the api token is @@ for now
The access token for the CI user is @@
access token: @@
The client secret is @@ and it expires in 2027.
client secret = @@
The secret key for signing cookies is @@
We sign webhooks with the secret @@.
The webhook signing secret is "@@".
The JWT secret on staging is @@
JWTs are signed with secret @@ there
The encryption key is @@ and must not change.
Encrypt backups with the key @@
The bearer token is @@
Send the header with token @@
Pass @@ as the token.
Pass the token @@ in the query string.
The collector registers with the token @@.
The refresh token @@ is stored in the keychain
the license key is @@
The recovery key is @@, print it.
Set the auth token to @@ before running the tests.
I put the token @@ into the secret store.
Authenticate with the API key "@@".
The private key is @@
The master key for the vault: @@
Our Datadog API key: @@
The Algolia admin key is @@.
The deploy token was @@ until March
The session secret is @@ in all environments
The app secret of the login provider is @@
The shared secret between both services is @@
API secret: @@
The integration broke since the API key @@ was revoked.
Replace the old API key with @@.
token=@@ works from curl
The bot token (@@) belongs to the support channel.
Use the following secret: @@
The storage account key is @@
The service account's secret is @@
The OAuth client secret has been rotated to @@
Without the API key @@ the map stays grey."""
PASSWORDS_KO = """비밀번호는 @@이고 포트는 5432다
비밀번호는 @@입니다
비밀번호: @@
비밀번호 @@
비번 @@로 접속
비번은 @@임
비번: @@
암호는 @@이다
암호가 @@라서 로그인이 안 됐다
패스워드는 @@ 입니다.
패스워드 @@으로 변경했음
관리자 계정 ‹admin›, 비밀번호 @@
관리자 비밀번호가 @@로 바뀌었다
‹admin› 계정 비밀번호는 @@
스테이징 DB 비밀번호는 @@이다.
아이디 ‹admin› 비번 @@
아이디는 ‹ops›, 비밀번호는 @@입니다
ID: ‹admin› / PW: @@
PW는 @@예요
계정: ‹root› / @@
‹root› / @@ 로 로그인하면 된다
‹deploy› 계정으로 로그인하고 비밀번호에 @@를 입력한다
비밀번호란에 @@ 입력 후 확인
비밀번호로 @@를 사용한다
비밀번호를 @@로 초기화했다
비밀번호를 '@@'로 설정해 두었음
비밀번호(@@)를 입력하세요
비밀번호가 "@@"인지 먼저 확인할 것
초기 비밀번호 @@는 첫 로그인 뒤 바꿔야 한다
임시 비밀번호는 @@이며 내일 만료된다
기존 비밀번호는 @@였는데 지금은 안 된다
와이파이 비밀번호는 @@
와이파이 비번 @@ 이에요
압축 파일 암호는 @@
압축 풀 때 암호 @@ 넣으면 됨
인증서 암호가 @@라고 한다
VPN 접속 암호: @@
레디스 비밀번호는 @@인데 운영과 같다
젠킨스 비번이 @@에서 다른 걸로 바뀜
@@를 비밀번호로 쓴다
@@가 관리자 비밀번호다
@@이 DB 비번이에요
sudo 비밀번호 물어보면 @@ 치면 된다
키스토어 비밀번호로 `@@`를 넘겨야 빌드가 된다
교훈: 접속 실패 원인은 비밀번호(@@) 끝의 공백이었다"""
KEYS_KO = """API 키는 @@이다
API 키: @@
API 키(@@)를 넣는다
API 키로 @@를 사용했다
API키는 @@예요
api key는 @@ 입니다
@@를 API 키로 넣으면 지도가 나온다
@@를 토큰으로 쓴다
@@가 운영 토큰이다
토큰은 @@입니다.
토큰: @@
토큰 값은 @@이고 한 달 뒤 만료
토큰으로 @@를 넘기면 된다
토큰(@@)이 만료되어 다시 발급받았다
액세스 토큰은 @@
액세스 토큰 @@로 호출하면 200이 온다
리프레시 토큰은 @@인데 저장하면 안 된다
인증 토큰을 @@로 교체했다
배포 토큰이 @@로 바뀌었음
봇 토큰은 @@
인증키는 @@입니다
인증키: @@
공공데이터포털 인증키 @@를 사용
서비스 키는 @@
시크릿 키는 @@이며 공유 금지
시크릿은 @@로 설정
클라이언트 시크릿은 @@입니다
클라이언트 시크릿 값: @@
비밀키는 @@이다
비밀키 @@로 서명한다
서명 키는 @@
웹훅 시크릿이 @@라서 검증이 통과됐다
JWT 시크릿은 @@이고 스테이징 전용
암호화 키는 @@이니 바꾸지 말 것
암호화 키로 @@를 쓰고 있었다
복구 키: @@
마스터 키는 @@
라이선스 키는 @@
카카오 REST API 키는 @@
네이버 클라이언트 시크릿은 @@
토스 시크릿 키 @@로 결제 테스트
세션 시크릿이 "@@"로 하드코딩되어 있다
액세스 키의 시크릿은 '@@'
헤더에 토큰 @@를 붙여 보낸다
교훈: API 키(@@)를 코드에 박아 두어 장애가 났다"""
EDGES = {
    # The sign between the label and the value
    "fullwidth-colon": "비밀번호：@@",
    "fullwidth-equals": "‹DB_PASSWORD›＝@@",
    "fullwidth-space": "비밀번호　@@",
    "fullwidth-brackets": "비밀번호（@@）입력",
    "corner-brackets": "비밀번호는 「@@」입니다",
    "curly-double": "password: “@@”",
    "curly-single": "the password is ‘@@’",
    "curly-korean": "비밀번호는 “@@”로 정했다",
    "angle-quotes": "비밀번호는 《@@》이다",
    "space-before-colon": "‹password› : @@",
    "many-spaces": "‹password›        @@",
    "arrow": "‹password› -> @@",
    "fat-arrow": "‹secret_key› => @@",
    "double-colon": "‹api_key›:: @@",
    "walrus": "if (‹token› := '@@'):",
    "question-equals": "‹API_KEY› ?= @@",
    "plus-equals": "‹TOKEN› += @@",
    "or-default": "const t = process.env.‹API_TOKEN› || '@@';",
    "get-default": "os.environ.get('‹DB_PASSWORD›', '@@')",
    "shell-default": 'DB_PASS="${‹DB_PASSWORD›:-@@}"',
    "spring-default": "password: ${‹DB_PASSWORD›:@@}",
    "comparison": "if ‹password› == '@@':",
    "not-equal": "assert ‹api_key› != '@@'",
    "tab-separated": "‹password›\t@@",
    "tab-korean": "비밀번호\t@@",
    "newline-after-colon": "비밀번호:\n@@",
    "newline-english": "password:\n    @@",
    "crlf": "‹user›=admin\r\n‹password›=@@\r\nport=22",
    "crlf-korean": "아이디=admin\r\n비밀번호=@@\r\n포트=22",
    "no-break-space": "password:\u00a0@@",
    "zero-width": "비밀번호:\u200b@@",
    # Punctuation that belongs to the sentence
    "comma-after": "the password is @@, not the old one",
    "stop-after": "비밀번호는 @@.",
    "semicolon-after": "password is @@; port is 22",
    "ellipsis-after": "비밀번호가 @@...",
    "parenthesis-after": "(the password is @@)",
    "bracket-korean": "[비번: @@]",
    "stop-and-quote": 'He said "the password is @@."',
    "question-korean": "비밀번호가 @@였나?",
    "tilde-korean": "비번은 @@~",
    "laugh-korean": "비번 @@ ㅋㅋㅋ",
    # Several secrets
    "two-adjacent": "passwords: @@ @@",
    "two-commas": "API keys: @@, @@",
    "two-korean": "토큰은 @@, @@ 두 개다",
    "two-and": "비밀번호는 @@와 @@ 중 하나",
    "three-slashes": "비번 후보: @@ / @@ / @@",
    "two-assignments": "‹DB_PASSWORD›=@@ ‹REDIS_PASSWORD›=@@ ./run.sh",
    "two-json": '{"‹clientSecret›":"@@","‹apiKey›":"@@"}',
    "three-json-korean": '{"‹비밀번호›":"@@","‹토큰›":"@@","메모":"없음"}',
    "two-lines": "운영 비밀번호: @@\n개발 비밀번호: @@",
    "old-and-new": "changed the password from @@ to @@",
    "old-and-new-korean": "비밀번호를 @@에서 @@로 바꿨다",
    "environment-pair": "staging password @@, production password @@",
    "semicolon-pairs": "‹user›=app;‹pwd›=@@;‹token›=@@;",
    "key-and-secret": "access key @@ / secret key @@",
    # Markup
    "bold-value": "password: **@@**",
    "bold-label": "**비밀번호**: @@",
    "bold-label-inside": "**Password:** @@",
    "italic-label": "*secret*: @@",
    "code-label": "`‹API_KEY›` = `@@`",
    "code-korean": "`비밀번호`는 `@@`이다",
    "table-english": "| user | password |\n|---|---|\n| ‹admin› | @@ |",
    "table-korean": "| 항목 | 값 |\n|---|---|\n| 비밀번호 | @@ |",
    "table-row": "| ‹DB_PASSWORD› | `@@` | staging |",
    "heading": "### Password\n\n@@",
    "bullets-korean": "- 아이디: ‹admin›\n- 비밀번호: @@\n- 포트: 22",
    "numbered-korean": "1. 계정 ‹root›\n2. 암호 @@",
    "quote-block": "> 비밀번호: @@",
    "html-table": "<tr><td>password</td><td>@@</td></tr>",
    "html-bold": "<b>비밀번호</b>: @@",
    "html-input": '<input type="password" name="pw" value="@@">',
    "html-entities": "‹password› = &quot;@@&quot;",
    "html-entity-angle": "&lt;‹password›&gt;@@&lt;/password&gt;",
    "strikethrough": "비밀번호: ~~@@~~ (폐기)",
    # Quotes within quotes
    "json-in-string": '{"body": "{\\"‹password›\\": \\"@@\\", \\"port\\": 22}"}',
    "json-in-string-korean": '{"body": "{\\"‹비밀번호›\\": \\"@@\\"}"}',
    "json-twice": '"{\\\\\\"‹token›\\\\\\": \\\\\\"@@\\\\\\"}"',
    "json-in-shell": 'curl -d \'{"user":"‹admin›","‹password›":"@@"}\' https://a.example/login',
    "json-escaped-shell": 'curl -d "{\\"‹password›\\":\\"@@\\"}" https://a.example/login',
    "python-repr": "{'user': 'admin', '‹password›': '@@'}",
    "ruby-inspect": '{:user=>"admin", :‹password›=>"@@"}',
    "sql-doubled": "UPDATE users SET ‹password› = '@@' WHERE id = 7;",
    "sql-insert": "INSERT INTO users (name, ‹password›) VALUES ('‹admin›', '@@');",
    "escaped-newline-value": "‹user›=admin\\n‹password›=@@\\nport=22",
    "escaped-newline-korean": "아이디: admin\\n비밀번호: @@\\n포트: 22",
    "form-body": "grant_type=password&username=‹ops›&‹password›=@@",
    "form-secret": "client_id=‹web›&‹client_secret›=@@&scope=all",
    # Several lines
    "yaml-literal": "‹api_key›: |\n  @@\nport: 22",
    "yaml-folded": "‹secret›: >-\n  @@\nport: 22",
    "yaml-korean": "비밀번호: |\n  @@\n메모: 없음",
    "heredoc": "cat > .env <<EOF\n‹DB_PASSWORD›=@@\nEOF",
    "heredoc-korean": "cat > .env <<'끝'\n‹DB_PASSWORD›=@@\n끝",
    "backslash-line": "docker run \\\n  -e ‹DB_PASSWORD›=@@ \\\n  app:1.2",
    "concatenated": '‹API_KEY› = (\n    "@@"\n)',
    "diff": "-‹DB_PASSWORD›=\n+‹DB_PASSWORD›=@@",
    "indented": "        ‹password›:            @@",
    # Comments and surroundings
    "trailing-comment": "‹password› = '@@'  # change me later",
    "trailing-korean": "‹password›: @@  # 나중에 바꿀 것",
    "trailing-slashes": 'String ‹dbPassword› = "@@"; // 임시 비밀번호',
    "in-comment": "# ‹DB_PASSWORD›=@@",
    "in-html-comment": "<!-- 비밀번호: @@ -->",
    "in-block-comment": "/* ‹password›: @@ */",
    "commented-korean": "// 관리자 비밀번호는 @@",
    "log-key-value": 'level=info msg="login" user=‹ops› ‹password›=@@ ip=10.0.0.3',
    "log-korean": "[정보] 로그인 시도 id=‹ops› ‹pw›=@@ 결과=성공",
    "stack-trace": "psycopg2.OperationalError: auth failed for ‹app› with password '@@'",
    "shell-history": "  501  export ‹SECRET_KEY›=@@",
    "prompt": "Password for ‹admin›: @@",
    "prompt-korean": "‹admin›의 비밀번호: @@",
    "question-answer": "Q: 비밀번호가 뭐예요? A: @@",
    "chat": "민수: 비번 뭐였지\n지은: @@",
    "glued-korean": "비밀번호@@입니다",
    "glued-label": "비번은@@이에요",
    "glued-api": "API키@@를 쓰세요",
    "mixed-language": "staging password는 @@로 통일",
    "mixed-token": "access token이 @@라서 401 발생",
    "mixed-secret": "client secret을 @@로 바꿈",
    "abbreviation": "id/pw = ‹admin›/@@",
    "abbreviation-korean": "아이디/비번: ‹admin›/@@",
    "account-colon": "계정 정보 ‹admin›:@@",
    "upper-korean": "PASSWORD는 @@",
    "typo": "pasword: @@",
    "typo-korean": "비밀번오: @@",
    "spaced-korean": "비밀 번호: @@",
    "space-colon-korean": "패스워드 : @@",
    "fullwidth-pipe": "아이디 ‹admin›｜비밀번호 @@",
    "middle-dot": "아이디 ‹admin› · 비밀번호 @@",
    "arrow-korean": "비밀번호 → @@",
    "equals-korean": "비밀번호=@@",
    "equals-spaced-korean": "API키 = @@",
    "parenthesis-label": "비밀번호(운영): @@",
    "bracket-label": "[비밀번호] @@",
    "numbered-label": "① 비밀번호 @@",
    "english-in-parentheses": "비밀번호(password)는 @@",
    "korean-in-parentheses": "password(비밀번호): @@",
    "reported-korean": "비밀번호가 @@라는데 맞나요",
    "wrong-korean": "비밀번호를 @@ 말고 @@로 넣어야 한다",
    "log-korean-two": "경고: 토큰 @@ 만료, 새 토큰 @@ 발급",
    "newline-korean": "관리자 비밀번호\n@@\n\n위 값은 임시",
    "wrapped-korean": "스테이징 비밀번호는\n  @@\n이고 포트는 22",
    "json-korean-newline": '{"메모": "비밀번호는 @@\\n포트는 22"}',
    "yaml-note-korean": "메모: 비밀번호는 @@, 포트는 22",
}
EDGES_WITH_OWN_VALUE = {
    "spaces-in-quotes": '‹password› = "«{word} {word} {word} {d2}»"',
    "spaces-in-quotes-korean": '비밀번호는 "«{word} {word} {d4}»"입니다',
    "spaces-in-json": '{"‹passphrase›": "«{word} {word} {word} {word} {d2}»"}',
    "escaped-quote": '‹password› = "«{A6}\\"{A7}»"',
    "escaped-single": "‹password› = '«{A5}\\'{A8}»'",
    "doubled-single": "CREATE USER ‹app› IDENTIFIED BY '«{A6}''{A6}»';",
    "url-encoded": "postgres://‹app›:«{A6}%40{A4}%23{A3}»@‹db1.internal›:5432/app",
    "url-encoded-korean": "접속 주소는 mysql://‹app›:«{A5}%21{A5}»@‹db1.internal›/app 이다",
    "url-with-at": "redis://:«{A6}@{A6}»@‹cache.internal›:6379",
    "url-with-hash": "amqp://‹ops›:«{A6}#{A5}»@‹mq.internal›/",
    "url-cut-off": "mongodb://‹app›:«{pw}»@‹db1›",
    "two-urls": "postgres://‹a›:«{pw}»@‹db1›/x,postgres://‹b›:«{pw}»@‹db2›/y",
    "mongo-hosts": "mongodb://‹app›:«{pw}»@‹db1:27017,db2:27017›/app?replicaSet=rs0",
    "two-tokens-adjacent": "«ghp_{A36}»,«ghp_{A36}»",
    "two-tokens-korean": "«sk-ant-api03-{w93}AA»와 «glpat-{w20}»를 폐기",
    "token-twice-labelled": "‹GITHUB_TOKEN›=«ghp_{A36}» ‹NPM_TOKEN›=«npm_{A36}»",
    "token-glued": "토큰은«ghp_{A36}»이고키는«AKIA{s16}»입니다",
    "aws-pair": "‹aws_access_key_id›=«AKIA{s16}»\n‹aws_secret_access_key›=«{b40}»",
    "aws-pair-slash": "AWS «AKIA{s16}» / «{A39}k»",
    "aws-pair-korean": "AWS 키는 «AKIA{s16}», 시크릿은 «{A39}k»",
    "wrapped-base64": '‹SECRET_KEY› = """«{b64}\n{b43}=»"""',
    "wrapped-concatenation": '‹API_SECRET› = "«{A20}»" +\n    "«{A20}»"',
    "wrapped-backslash": "‹SECRET›=«{h32}»\\\n«{h32}»",
    "seed-phrase-12": "seed phrase: «" + " ".join(["{seed_word}"] * 12) + "»",
    "seed-phrase-24": "지갑 복구 구문은 «" + " ".join(["{seed_word}"] * 24) + "»",
    "seed-phrase-korean": "니모닉: «" + " ".join(["{seed_word}"] * 12) + "»",
    "totp-seed": "The TOTP seed is «{s32}»",
    "totp-korean": "OTP 시드는 «{s32}»이다",
    "pin": "카드 비밀번호 PIN은 «{d6}»",
    "recovery-codes": "복구 코드: «{h5}-{h5}», «{h5}-{h5}», «{h5}-{h5}»",
    "recovery-codes-english": "recovery codes: «{h5}-{h5}» «{h5}-{h5}» «{h5}-{h5}»",
    "korean-password": "비밀번호는 «사과나무{d4}!»",
    "emoji-password": '‹password› = "«{A6}🔥{A6}»"',
    "backslash-password": "‹password› = r'«{A5}\\{A7}»'",
    "percent-password": "sqlalchemy.url = mysql://‹app›:«{A6}%%{A5}»@‹db1›/app",
    "jwt-wrapped": "‹Authorization›: Bearer\n  «{jwt}»",
    "jwt-korean": "응답으로 받은 «{jwt}»을 저장",
    "pem-korean": "-----BEGIN "
    + "PRIVATE KEY-----\n«{pem}»\n-----END PRIVATE KEY-----\n위 키는 폐기",
    "pem-quoted": "> -----BEGIN " + "RSA PRIVATE KEY-----\n> «{b64}»\n> «{b64}»\n> «{b40}=»",
    "basic-korean": "헤더는 Authorization: Basic «{basic}» 이다",
    "yaml-list": "‹tokens›:\n  - «{A32}»\n  - «{A32}»",
    "json-list": '{"‹apiKeys›": ["«{A32}»", "«{A32}»"]}',
    "tuple": '‹auth›=("‹admin›", "«{human}»")',
    "login-call": 'smtp.login("‹noreply@corp.kr›", "«{human}»")',
    "fetch-korean": "client.login('‹admin›', '«{human}»')  # 관리자 로그인",
    "sign-call": 'jwt.sign(payload, "«{A40}»", { algorithm: "HS256" })',
    "hmac-call": 'hmac.new(b"«{A32}»", body, "sha256")',
    "aes-call": 'AES.new(b"«{A32}»", AES.MODE_GCM)  # 암호화 키',
}


def some_values(rng: random.Random, names: list[str], count: int) -> list[tuple[str, str]]:
    """`count` kinds of value, each with a fresh value of it."""
    return [(name, GENERIC[name](rng)) for name in rng.sample(names, count)]


def token_cases(rng: random.Random) -> Iterator[Case]:
    """Every kind of token in some placements, half of them Korean."""
    english, korean = list(TOKEN_PLACES_EN.items()), list(TOKEN_PLACES_KO.items())
    half = PLACEMENTS_OF_A_TOKEN // 2
    for number, kind in enumerate(it for it in KINDS if it.family == "token"):
        for at in range(half):
            for places in (english, korean):
                name, place = places[(number * half + at) % len(places)]
                yield a_case("token", kind.name, name, put(place, kind, rng))


def put(place: str, kind: Kind, rng: random.Random) -> str:
    """The marked text of a placement with a fresh secret of a kind in it."""
    return fill(place, rng).replace("@@", kind.make(rng).marked())


def structure_cases(rng: random.Random) -> Iterator[Case]:
    """Every kind of snippet in some surroundings, half of them Korean."""
    places = [*STRUCTURE_PLACES_EN.items(), *STRUCTURE_PLACES_KO.items()]
    half = len(places) // 2
    for number, kind in enumerate(it for it in KINDS if it.family == "structure"):
        for at in range(SURROUNDINGS_OF_A_STRUCTURE):
            korean = (at + number) % 2
            name, place = places[(number * 3 + at // 2) % half + half * korean]
            yield a_case("structure", kind.name, name, put(place, kind, rng))


def around(line: str, form: Format, korean: bool, turn: int) -> tuple[str, str]:
    """A line of code in one of its surroundings: the name of the surrounding and the text."""
    note = (COMMENTS_KO if korean else COMMENTS_EN)[turn // 4 % 4]
    comment = f"{form.comment}{note}{form.closing}"
    intro = "설정 파일에 이렇게 되어 있다:" if korean else "The settings file says:"
    inline = "코드에 `{}` 라고 박혀 있었다" if korean else "It has `{}` hard-coded, which is bad."
    where = turn % 4
    if where == 0 and (not korean or HANGUL.search(line)):
        return "alone", line
    if where <= 1 and form.comment:
        return "comment-above", f"{comment}\n{line}"
    if where == 2 and form.comment and form.quoted and "\n" not in line:
        return "comment-behind", f"{line}  {comment}"
    if where == 3 and "\n" not in line:
        return "inline", inline.format(line)
    return "introduced", f"{intro}\n{line}"


def assignment_cases(rng: random.Random) -> Iterator[Case]:
    """Every format with several names, values and surroundings, half of them Korean."""
    kinds = list(GENERIC)
    careful = [name for name in kinds if name not in ("letters-swapped", "words-with-symbol")]
    for number, (place, form) in enumerate(FORMATS.items()):
        allowed = kinds if form.quoted else careful
        for turn in range(CASES_OF_A_FORMAT):
            korean = bool((turn + number) % 2)
            name = named(NAMES[(number * 7 + turn * 5) % len(NAMES)], form.style)
            if korean and place in KOREAN_FORMATS and turn % 3:
                name = KOREAN_NAMES[(number + turn) % len(KOREAN_NAMES)]
            kind = allowed[(number * 5 + turn) % len(allowed)]
            line = form.line.replace("~~", f"‹{name}›", 1).replace("~~", name)
            surrounding, text = around(line, form, korean, turn // 2 + number)
            value = GENERIC[kind](rng)
            placement = f"{place}/{surrounding}"
            yield a_case("assignment", kind, placement, text.replace("@@", f"«{value}»"))
    for place, line in FIXED_LINES.items():
        for turn, (kind, value) in enumerate(some_values(rng, careful, 8)):
            _, text = around(line, Format(line, "snake", "# "), bool(turn % 2), turn)
            yield a_case("assignment", kind, place, text.replace("@@", f"«{value}»"))


GENERIC = {**VALUES, **HUMAN}
KOREAN_FORMATS = {"yaml", "yaml-quoted", "json", "json-snake", "ini", "csv", "plain-colon", "toml"}
KEY_LIKE = [name for name in VALUES if not name.startswith("mixed")]
PASSWORD_LIKE = [*HUMAN, "mixed-12", "mixed-16", "mixed-24", "alphanumeric-20"]


def prose_cases(rng: random.Random) -> Iterator[Case]:
    """Sentences that give a password or a key away."""
    for name, sentences, kinds in (
        ("password-en", PASSWORDS_EN, PASSWORD_LIKE),
        ("password-ko", PASSWORDS_KO, PASSWORD_LIKE),
        ("key-en", KEYS_EN, KEY_LIKE),
        ("key-ko", KEYS_KO, KEY_LIKE),
    ):
        for number, sentence in enumerate(sentences.splitlines()):
            notes = NOTES_KO if name.endswith("ko") else NOTES_EN
            values = some_values(rng, kinds, VALUES_OF_A_SENTENCE)
            for note, (kind, value) in zip(notes, values, strict=True):
                marked = note.format(sentence).replace("@@", f"«{value}»")
                yield a_case("prose", kind, f"{name}-{number}", marked)


def decomposed_cases(rng: random.Random) -> Iterator[Case]:
    """Korean edges and sentences with their Hangul decomposed, as macOS writes file names."""
    sentences = [*PASSWORDS_KO.splitlines()[:12], *KEYS_KO.splitlines()[:12]]
    for number, sentence in enumerate(sentences):
        kind = ("alphanumeric-20", "mixed-12", "two-words-digits-bang")[number % 3]
        marked = unicodedata.normalize("NFD", sentence).replace("@@", f"«{GENERIC[kind](rng)}»")
        yield a_case("edge", kind, f"decomposed-{number}", marked)


def edge_cases(rng: random.Random) -> Iterator[Case]:
    """Awkward texts: odd signs, several secrets, markup, quotes in quotes, wrapped values."""
    kinds = ["alphanumeric-20", "mixed-12", "two-words-digits-bang", "hex-32", "short-10"]
    for place, marked in EDGES.items():
        for kind in rng.sample(kinds, VALUES_OF_AN_EDGE):
            first, *pieces = marked.split("@@")
            text = first + "".join(f"«{GENERIC[kind](rng)}»{piece}" for piece in pieces)
            yield a_case("edge", kind, place, text)
    for place, template in EDGES_WITH_OWN_VALUE.items():
        for _ in range(VALUES_OF_AN_EDGE):
            yield a_case("edge", place, place, fill(template, rng))


def cases(seed: int = 0) -> list[Case]:
    """All cases; the same seed gives the same cases, another one fresh secrets."""
    rng = random.Random(seed)
    families = (
        token_cases,
        structure_cases,
        assignment_cases,
        prose_cases,
        edge_cases,
        decomposed_cases,
    )
    return [case for family in families for case in family(rng)]
