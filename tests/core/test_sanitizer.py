"""Tests the redactor and every row of its table.

No text here looks like a secret: templates such as {A36} are spelled out when a test runs.
"""

import re
import time
from collections.abc import Iterable
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sanitizer import MARKER, Redaction, find, redact, values_in
from core.secrets.rules import TOKENS, Rule, rules, rules_of, spelled
from tests.support.rows import none_of
from tests.support.templates import examples, expand

EXAMPLES = examples()

MUST_CHANGE = r"""
DB_PASSWORD=«{A12}»
export API_KEY="«{A24}»"
password: «hunter2»
password = '«letmeinplease»'
"client_secret": "«{A40}»",
'apiKey': '«{A32}»'
const authToken = `«{h40}»`;
AWS_SECRET_ACCESS_KEY=«{A40}»
spring.datasource.password=«{A10}!»
secret_key: str = "«{A24}»"
connect(user="a", password="«{A10},x9»", port=1)
{\"token\": \"«{A24}»\"}
run --password=«{A12}» --verbose
run --token «{A24}»를 쓴다
POSTGRES_PASSWORD: «{A12}»
PGPASSWORD=«{A12}» psql -h db
**Password**: «{A12}»
- `password`: `«{A12}»`
The password is «{A12}».
the api key is «{A24}», keep it.
Password was `«{A12}»` before
password：«{A12}»
비밀번호는 «{A12}»입니다
비번: «{A8}»
관리자 비밀번호가 «hunter2»로 되어 있다
암호는 "«{A10}»"이다
API 키는 «{A32}»를 쓴다
토큰은 «{A32}»이다
인증키: «{A40}»
서비스키=«{A40}»
password는 «{A12}»로 바꿨다
token을 «{A24}»로 설정
비밀번호는 «1234»이다
비밀번호를 «{A12}»(으)로 바꾼다
redis://:«{A12}»@h:6379
values --set auth.password=«{A12}»
log in with password «{A12}»
MY_APP_TOKEN_PROD=«{A24}»
DB_PASSWORD_ORDERS=«{A16}»
if password == "«{A12}»":
x-naver-client-secret: «{A10}»
encryption_key = "«{h64}»"
AccountKey=«{A86}==»;EndpointSuffix=core.windows.net
seed phrase: "«apple river stone cloud happy tiger»"
passphrase: «{A14}»
  password: "«p@ss,w0rd!»"
password="«a\"b7cdefg»" end
?api_key=«{A24}»&x=1
""".strip().splitlines()

MUST_STAY = r"""
max_tokens=4096
max_new_tokens: 2048, total_tokens=123456789
password=${DB_PASSWORD}
password = os.environ["DB_PASSWORD"]
token = os.getenv("API_TOKEN")
api_key=settings.api_key
apiKey: process.env.OPENAI_API_KEY
password: str
password: Optional[str] = None
token: string;
def login(user: str, password: str) -> Token:
"password": "password"
"password": "required"
"password": null
password=<your-password>
api_key="your-api-key-here"
API_KEY=YOUR_API_KEY_1
password: ********
password_file=/run/secrets/db_password1
token_url: https://auth.example.org/oauth2/token
password_hash = bcrypt2.hash(pw)
primary_key=order_id_1, cache_key=user42profile
public_key: ssh-ed25519
compass=north1234, bypass = route77a
the secretary: anna1990
tokenizer = cl100k_base
next_page_token: a7Kq9ZxB3mTr
password is required
The password is stored in 1Password
The token is rotated every 30days
secret is loaded from vault-2
password_updated_at: 2024-01-15T10:00:00
secret: my-app-secret-1
secretName: db-credentials-v2
password: "Enter your password 2"
비밀번호는 8자 이상이어야 한다
비밀번호는 bcrypt로 해시한다
토큰은 1시간 뒤에 만료된다
토큰은 JWT이고 RS256으로 서명한다
비밀번호: 사용자가 입력한 값
암호화: AES-256
암호는 AES-256-GCM으로
API 키는 .env.local에 둔다
API 키는 OPENAI_API_KEY2에 둔다
비밀번호를 config/prod.yaml에 적지 않는다
pass: 120, fail: 3
pass 3 of 12
token = get_token(user1)
password = input("pw? ")
token=$(gh auth token)
password: "{{ db_password1 }}"
"token": "refresh"
api_key_id = 123456789012
commit 3f9a0c7e5b1d82463f9a0c7e5b1d82463f9a0c7e
sha512-{A86}==
uuid 123e4567-e89b-42d3-a456-426614174000
lock: "integrity": "sha256-{A43}="
token = tokens[0]
password=self._password1
api_key: ${{ secrets.API_KEY1 }}
pwd=/home/me/project1
secret = crypto.randomBytes(32)
--token-limit 100000
git log --pretty=oneline
token count is 12345678
the key is user:42:profile
passwordless login works with passkey2
token → user2 mapping
"token_type": "bearer2"
import { token as token2 } from './a1'
password: !vault |
ssh-ed25519 AAAA{A64} me@host
pw = await page.waitForSelector2('x')
refresh_token: string | null
const { token, secret } = req.body1
Password: SecretStr = Field(min_length=8)
secret=projects/my-proj/secrets/db/versions/1
token type is Bearer2x
| token | string | yes |
| password | varchar2 | not null |
""".strip().splitlines()

PLACEMENTS = [
    "{}",
    "{}를 지웠다",
    "({})",
    "[{}]",
    "<{}>",
    "'{}'",
    '"{}".',
    "`{}`,",
    "“{}”라고",
    '{{"value": "{}", "n": 1}}',
    "2025-01-02T03:04:05Z ERROR auth failed: {}; retrying",
    "| name | {} | note |",
    "first\n{}\nlast",
    "토큰:{}이다",
]
PLACED = ["ghp_{A36}", "AKIA{U16}", "AIza{A35}", "sk-ant-api03-{A93}AA", "npm_{A36}", "SK{h32}"]


def only_marked_goes(templates: Iterable[str]) -> None:
    """Of each template, the redactor hides what stands between « and », and nothing else."""
    texts = [(*expand(template), template) for template in templates]
    none_of(template for text, expected, template in texts if redact(text).text != expected)


@pytest.mark.long  # it costs much
@pytest.mark.row("001 5-2.c")
def test_example_of_rule_changes_to_exactly_the_expected_text() -> None:
    only_marked_goes(it.example for it in EXAMPLES.values())
    none_of(it for it in EXAMPLES.values() if redact(expand(it.example)[0]).kinds != (it.name,))


@pytest.mark.long  # it costs much
def test_lookalike_of_rule_stays_byte_for_byte() -> None:
    none_of(it for it in EXAMPLES.values() if "«" in it.lookalike or not it.lookalike.strip())
    only_marked_goes(it.lookalike for it in EXAMPLES.values())
    none_of(it for it in EXAMPLES.values() if redact(expand(it.lookalike)[0]).kinds)


def test_rule_has_source_example_and_hints_that_occur() -> None:
    assert [*EXAMPLES] == [rule.name for rule in rules()]
    none_of(it for it in EXAMPLES.values() if not it.source.startswith("https://"))
    none_of(it for it in EXAMPLES.values() if "«" not in it.example or "»" not in it.example)
    none_of(rule for rule in rules() if not rule.hints or not has_found_hint(rule))
    none_of(hint for rule in rules() for hint in rule.hints if hint != hint.casefold())


def has_found_hint(rule: Rule) -> bool:
    hints = [hint.lstrip("^‹") if rule.table == "keyed" else hint for hint in rule.hints]
    return any(hint in expand(EXAMPLES[rule.name].example)[0].casefold() for hint in hints)


def test_every_quantifier_of_a_pattern_is_bounded() -> None:
    def is_unbounded(pattern: str) -> bool:
        without_classes = re.sub(r"\[(?:\\.|[^\]\\])+\]", "c", pattern)
        bare = re.sub(r"\\.|\(\?[P<:=!]", "", without_classes)
        return bool(re.search(r"[*]|\{\d+,\}|(?<!\})\+", bare))

    none_of(rule for rule in rules() if is_unbounded(spelled(rule.pattern)))


def test_names_of_rules_are_unique_and_the_families_are_large_enough() -> None:
    assert len({rule.name for rule in rules()}) == len(rules())
    assert len(rules_of(*TOKENS)) >= 400


def test_token_is_found_in_every_placement_and_nothing_else_changes() -> None:
    only_marked_goes(place.format(f"«{token}»") for place in PLACEMENTS for token in PLACED)


@pytest.mark.row("001 2-1.j")
def test_only_the_value_of_a_named_secret_goes() -> None:
    only_marked_goes(MUST_CHANGE)


def test_harmless_text_about_secrets_stays() -> None:
    only_marked_goes(MUST_STAY)


def test_decomposed_korean_label_is_understood() -> None:
    text, expected = expand("비밀번호는 «{A12}»이다")
    assert redact(normalize("NFD", text)).text == normalize("NFD", expected)


def test_kinds_stand_in_order_of_place_one_for_each_secret() -> None:
    text, expected = expand("a «npm_{A36}» b «ghp_{A36}» c «npm_{A36}»")
    result = redact(text)
    assert result.text == expected
    assert result.kinds == ("npm-token", "github-token", "npm-token")


def test_overlapping_rules_give_one_marker_and_the_most_specific_name() -> None:
    text, expected = expand('GITHUB_TOKEN="«ghp_{A36}»"')
    assert redact(text) == redact(text)
    assert (redact(text).text, redact(text).kinds) == (expected, ("github-token",))


def test_odd_text_comes_back_unchanged() -> None:
    only_marked_goes(["", "\0", "\ud800", "\udfff password=\ud800", "ſKİ", MARKER * 3])


@pytest.mark.long  # it costs much
def test_second_redaction_of_an_example_changes_nothing() -> None:
    redacted = [redact(expand(it.example)[0]).text for it in EXAMPLES.values()]
    none_of(text for text in redacted if redact(text) != Redaction(text, ()))


PIECES = st.sampled_from(
    [expand(it.example)[0] for it in EXAMPLES.values()]
    + [
        "password=",
        "token: ",
        '"',
        "'",
        "\n",
        "://",
        "@",
        "비밀번호는 ",
        MARKER,
        "를",
        " ",
        "|",
        "\\",
    ]
)


@pytest.mark.row("I9")
@given(st.lists(PIECES | st.text(max_size=8), max_size=6))
def test_redaction_is_idempotent_on_any_mixture(pieces: list[str]) -> None:
    once = redact("".join(pieces)).text
    assert redact(once).text == once


@pytest.mark.long  # it costs much
@given(st.text(st.characters(), max_size=200))
def test_no_text_raises(text: str) -> None:
    assert isinstance(redact(text).text, str)


HOSTILE = [
    *(
        "password=",
        "pw=",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----\n",
        "://a:",
        "비밀번호는 ",
        "curl -u ",
    ),
    "aA1",
]


@pytest.mark.row("I9")
@pytest.mark.long  # it measures the time
@pytest.mark.parametrize("seed", HOSTILE)
def test_time_is_linear_in_the_length_of_hostile_text(seed: str) -> None:
    text = (seed * 20_000)[:20_000]
    began = time.perf_counter()
    redact(text)
    assert time.perf_counter() - began < 3


def test_where_a_password_is_kept_or_how_it_is_hashed_is_no_password() -> None:
    only_marked_goes(
        [
            "비밀번호는 1Password에 있다",
            "비밀번호는 1Password 금고에서 가져온다",
            "운영 비밀번호는 Bitwarden2에 보관",
            "password: Argon2id",
            "비밀번호 = bcrypt12",
            "암호: UTF8 인코딩 문제",
            "비밀번호는 K8sSecret으로 주입한다",
            "비밀번호는 S3Bucket에 두지 않는다",
            "패스워드는 LDAPv3로 검증",
            "인증키는 HmacSHA256으로 만든다",
        ]
    )


def test_secrets_are_found_at_their_places_in_the_text_as_it_was_given() -> None:
    text, _ = expand("a «npm_{A36}» b\n비번은 «{A12}»이다")
    first, second = find(text)
    assert (text[first.start : first.end], first.kind) == (expand("npm_{A36}")[0], "npm-token")
    assert (text[second.start : second.end], second.kind) == (
        expand("{A12}")[0],
        "keyed-korean-prose",
    )


def test_a_secret_that_only_a_second_look_finds_stands_at_its_place_too() -> None:
    text = expand("x {A13}ghp_{A36}AKIA{U16} y")[0]
    places = [(secret.start, secret.end) for secret in find(text)]
    assert places == [(15, 75)]
    assert redact(text).text == f"x {text[2:15]}{MARKER} y"


def test_a_secret_that_only_shows_behind_a_marker_goes_from_its_own_place() -> None:
    text = expand("x .key-{A32}ghp_{A36}:key-{A32} y")[0]
    token, key = text.index("ghp_"), text.rindex("key-")
    places = [(secret.start, secret.end) for secret in find(text)]
    assert places == [(token, token + 40), (key, key + 36)]
    assert redact(text).text == f"{text[:token]}{MARKER}:{MARKER} y"


def test_wide_letters_odd_blanks_colours_and_escapes_hide_no_secret() -> None:
    only_marked_goes(
        [
            "Ｐａｓｓｗｏｒｄ：«{A12}» 확인",
            "password:\u3000«{A12}»",
            "비밀번호\u00a0:\u00a0«{A12}»",
            r"step one\n«AKIA{U16}»\nstep two",
            "\x1b[32m«AKIA{U16}»\x1b[0m",
            "token: «sk-ant-api03-{A40}\\\n{A53}AA»",
            "비밀번호:\u200b«{A14}»",
        ]
    )


def test_a_value_that_was_found_is_found_wherever_it_stands_alone() -> None:
    text, expected = expand("the password is «{A12}». I repeat, «{A12}»; not x{A12}x")
    assert redact(text).text == expected


def test_the_column_below_a_name_of_secrets_holds_secrets() -> None:
    only_marked_goes(
        [
            "| user | password |\n|---|---|\n| me | «{A12}» |\n| you | «{a10}9» |\n",
            "user\tpassword\nme\t«{A12}»\n",
            "user,password,role\nme,«{A12}»,rw\n",
            "| 계정 | 비밀번호 |\n|---|---|\n| me | «{A12}» |",
        ]
    )


def test_a_column_of_words_below_such_a_name_stays() -> None:
    only_marked_goes(
        [
            "| field | password | type |\n|---|---|---|\n| 1 | required | string2 |\n",
            "name,token,limit\nchat,count,4096\n",
            "user\ttoken\nme\tbearer\n",
        ]
    )


def test_samples_of_documentation_are_no_tokens() -> None:
    samples = ("ghp_" + "x" * 36, "AKIA" + "X" * 16, "AKIA{U9}EXAMPLE", "sk_live_" + "0" * 24)
    only_marked_goes(f"use {sample} here" for sample in samples)


def test_a_token_of_a_record_is_no_secret() -> None:
    only_marked_goes(
        ["its token is 923004e2eda53f53@443ba7", "토큰 923004e2eda53f53@443ba7을 넘긴다"]
    )


def test_the_password_behind_a_user_goes_and_the_user_stays() -> None:
    only_marked_goes(
        [
            "the login is in use, root / «{A12}»로 접속한다",
            "credentials are admin:«{A12}» for now",
            "계정 정보는 deploy / «{A14}» 입니다",
        ]
    )


def test_dots_behind_a_secret_save_none() -> None:
    only_marked_goes(
        [
            "The password is «{A12}»... do not share it",
            "비밀번호는 «{A12}»…",
            "I used «AKIA{U16}»... and it worked",
            'DB_PASSWORD="«{A12}...x»"',
        ]
    )


def test_the_beginning_of_a_key_in_a_sample_stays() -> None:
    assert redact('appkey="PSED321z...", secretkey="RR0sFMVB..."').kinds == ()


@pytest.mark.parametrize(
    "token", ["{h8}-{h4}-{h4}-{h4}-{h12}:fx", "p8e-{A32}", "AKIA{U16}", "ghp_{A36}", "SK{h32}"]
)
def test_a_chain_of_tokens_without_edges_is_redacted_at_once(token: str) -> None:
    for count in (2, 9, 12):
        once = redact(expand(token)[0] * count + "\n").text
        assert redact(once).text == once


def test_every_name_of_a_secret_is_enough_by_itself() -> None:
    names = [
        *("PAT", "AZDO_PAT", "GITHUB_PAT_NEXT", "DB_PASS", "DB_PASS_RO", "DB_PW_REPLICA", "psk"),
        *("PASSCODE", "TLS_PSK_OLD", "X_OTP", "MASTER_PIN", "DB_CREDS", "SEED_PHRASE", "MNEMONIC"),
        *("RECOVERY_PHRASE", "SMTP_PASSPHRASE", "API_KEY", "JWT_SECRET", "TOKEN", "DB_PASSWD"),
    ]
    only_marked_goes(f"{name}=«Xk29vQp7Lm»" for name in names)


def test_what_only_looks_like_a_personal_access_token_stays() -> None:
    only_marked_goes(
        ["PATH=/usr/bin:/opt/x9", "PATTERN=abc123xyz9", "SP_PAT=42", "a PAT with scope repo:read9"]
    )


@pytest.mark.parametrize(
    ("token", "count"),
    [("{A52}JQQJ99{A18}AZDO{A4}", 3), ("ATATT3{A170}={H8}", 4), ("v1.0-{h24}-{h146}", 17)],
)
def test_of_a_chain_of_tokens_nothing_is_left_and_all_else_stays(token: str, count: int) -> None:
    chain = expand(token)[0] * count
    assert redact(f"keys={chain},end").text == f"keys={MARKER},end"


def test_a_chain_that_bares_one_secret_at_a_time_goes_with_its_whole_word() -> None:
    chain = "p8e-" * 5_000
    assert redact(f"left {chain} stays").text == f"left {MARKER} stays"


@pytest.mark.long  # it costs much
def test_of_a_chain_longer_than_a_window_nothing_is_left() -> None:
    clean = redact(f"left {'p8e-' * 25_000} stays").text
    assert set(clean.split("-")) == {f"left {MARKER}", MARKER, f"{MARKER} stays"}


def test_words_paths_and_programs_beside_such_names_stay() -> None:
    only_marked_goes(
        [
            "credentials: 'include'",
            "fetch(url, { credentials: 'same-origin' })",
            "pass: 'green', fail: 'red'",
            "renderPass: 'opaque'",
            'pw: "playwright"',
            "ssh_key: ~/.ssh/deploy_ed25519",
            "secret: projects/123456/secrets/db-pass/versions/latest",
            "S3 key: uploads/2024/01/05/5f3e2a91-report.pdf",
            "The SSH key fingerprint is SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
            "암호 스위트는 ECDHE-RSA-AES128-GCM-SHA256을 쓴다",
            "비밀번호는 Keycloak24에서 관리한다",
            "PwTTVRUtGs\nIkgpBr1XnhVWuU9a4SYE5S",
            "password=(?:[A-Z][a-z]{3,12}){2}[0-9]{2,4}",
        ]
    )


def test_a_path_an_escape_or_a_user_before_a_name_hides_nothing() -> None:
    only_marked_goes(
        [
            "staging/DB_PASSWORD=«{A12}»",
            "prod/db/password: «{A12}»",
            "user/pass: bob/«{A12}»",
            r'{{"note": "[client]\nuser=app\npassword=«{A12}»\nport=1"}}',
            "const s = { sftpPass: '«{A12}»' }",
            "Password for bob → «{A12}»",
        ]
    )


def test_what_one_text_calls_a_secret_is_found_in_another() -> None:
    named, bare = expand("the root password is {A12}")[0], expand("connect with {A12} first")[0]
    assert redact(bare).kinds == ()
    known = values_in([named, bare])
    assert redact(bare, known).text == f"connect with {MARKER} first"
    assert redact(expand("x{A12}x")[0], known).kinds == ()
