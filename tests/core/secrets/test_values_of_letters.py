"""Tests that a value of letters alone goes where a name and `=` assign it, and words stay."""

import random
from string import ascii_letters, ascii_lowercase

import pytest

from core.sanitizer import MARKER, redact
from tests.support.rows import none_of

SETTINGS = r"""
DB_PASSWORD={}
export DB_PASSWORD={}
DB_PASS={} npm start
$env:DB_PASSWORD={}
set PGPASSWORD={}
ENV DB_PASSWORD={}
docker run -e POSTGRES_PASSWORD={} postgres
  - "POSTGRES_PASSWORD={}"
environment: [MYSQL_ROOT_PASSWORD={}]
spring.datasource.password={}
java -Dspring.mail.password={} -jar app.jar
비번={}
운영 비밀번호={} 로 접속한다
""".strip("\n").split("\n")
ANY = r"""
password={}
db.password={}
jdbc.pw={}
--password={}
DB_PASSWORD = {}
비밀번호 = {}
API_TOKEN={}
CLIENT_SECRET={}
""".strip("\n").split("\n")
LOOSE = "password: {}", "SET password = {}", "run --password {} now", "비번: {}"
IN_QUOTES = r"""
GMAIL_APP_PASSWORD="{}"
SMTP_PASS='{}'
smtp_pass = "{}"
app password: '{}'
앱 비밀번호는 "{}"
""".strip("\n").split("\n")
STAY = r"""
PASSWORD=changeme
DB_PASSWORD=password
DB_PASSWORD=secret
POSTGRES_PASSWORD=postgres
POSTGRES_PASSWORD=mysecretpassword
DB_PASSWORD=yourpassword
DB_PASSWORD=YOUR_PASSWORD
DB_PASSWORD=$DB_PASSWORD
DB_PASSWORD=${DB_PASSWORD:-none}
DB_PASSWORD=<your-password>
DB_PASSWORD=$(pass show db)
PASSWORD=None
PASSWORD=on
PATH=usrLocalBinXy
GIT_ASKPASS=echoNothing
TOKEN_TYPE=Bearer
PASSWORD_FILE=secretsDbPassword
CREDENTIALS=include
PASS=everything
password=None
password=summer
password=userPassword
login(user=name, password=passwordInput)
self.password=encodedPassword
this.form.password=newValue
password_field=passwordInput
password: HTTPPasswordMgr
password: SecretStr
docker login --password-stdin
login --password-stdin registryExample
비밀번호=필수
비밀번호=required
암호=Blowfish
토큰=refresh
password: 'some text that stays here'
pass: 'unit test runs fine'
SMTP_PASS='this must stay here'
""".strip("\n").split("\n")


def values(alphabet: str, size: int, count: int = 40) -> list[str]:
    chance = random.Random(size)
    return ["".join(chance.choices(alphabet, k=size)) for _ in range(count)]


@pytest.mark.long  # it costs much
def test_letters_alone_behind_a_setting_are_a_value() -> None:
    faults = []
    for line in SETTINGS:
        for value in (*values(ascii_letters, 16), *values(ascii_lowercase, 16), "correcthorse"):
            if redact(line.format(value)).text != line.format(MARKER):
                faults.append(line.format(value))
    none_of(faults)


@pytest.mark.long  # it costs much
def test_letters_of_both_cases_that_nobody_wrote_are_a_value_behind_any_name() -> None:
    faults = []
    for line in (*SETTINGS, *ANY, *LOOSE):
        for value in values(ascii_letters, 20):
            if redact(line.format(value)).text != line.format(MARKER):
                faults.append(line.format(value))
    none_of(faults)


def test_an_app_password_goes_with_all_its_groups() -> None:
    faults = []
    for group in zip(*[iter(values(ascii_lowercase, 4, 160))] * 4, strict=True):
        for line in IN_QUOTES:
            if redact(line.format(" ".join(group))).text != line.format(MARKER):
                faults.append(line.format(" ".join(group)))
    none_of(faults)
    for line in ("pass: 'qwzk rtxb mnpl ghvd'", "MAIL_PASSWORD=qwzk rtxb mnpl ghvd"):
        assert redact(line).text == line.replace("qwzk rtxb mnpl ghvd", MARKER)


def test_words_of_programs_and_samples_behind_a_name_stay() -> None:
    none_of([redact(line).text for line in STAY if redact(line).text != line])
