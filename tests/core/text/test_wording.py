"""Tests which topics are too broad or too narrow, and which texts are code: few false alarms."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.wording import is_source_code, scope_of

NARROW = """
    login_bug_fix_2026 verify_token_v2 fix-login login-fix hotfix-auth PROJ-1234 issue-482
    auth-issue-12 payment-2026-02-27 payment/2026/02 tax-2026 2026-q1 20260227 login_bug_fix
    add-user-endpoint bug-1234 update_token_v3 #482 payment_hotfix typo-in-readme
    로그인-버그-수정 로그인_버그수정 로그인버그수정 2026년-결제 결제-2026 결제_핫픽스 이슈-77
""".split()
BROAD = """
    fix code backend bug bugs back-end front_end Code FIX misc Source-Code bug-fix errors
    코드 수정 버그 백엔드 기타 오류 프론트엔드
""".split()
# Names of modules, packages and products that hold digits, verbs or words of the lists.
FINE = """
    auth payment api-gateway css-layout ui-form db-migration auth-login oauth2 http2 s3-upload
    python3-compat 결제 로그인 v2-api api-v2 payment-api-v2 user-service-v2 rest-api-v3 utf-8 UTF-8
    SHA-256 ISO-8601 ISO-27001 RFC-7231 rfc-7231 AES-256 PEP-8 ES-2022 log4j2 k8s i18n e2e a11y
    es2022 windows-2019 windows-server-2022 sql-server-2019 vs-2022 office-2019 web3 ipv6 x86-64
    arm64 base64 node-18 python-3.11 java-17 dotnet-8 vue3 grpc proto3 ec2 h264 mp4-encoding saml2
    tls-1.3 http-404 error-500 3d-secure 2fa tax-1099 form-1040 covid-19 w2-form
    bug-report bug-report-form bug-tracker-api issue-tracker error-handling error-codes logging
    error-handling-middleware task-queue task-scheduler todo-list update-manager update-manager-ui
    changelog change-data-capture feature-flags feature-flag-service code-review code-generation
    qr-code zip-code source-maps source-control dev-server project-settings application-form
    backend-auth frontend-build work-orders general-ledger system-design fix-protocol prefix affix
    fixtures fixed-width fixed-income debugger add-ons remove-bg create-react-app check-out
    get-started set-top-box load-balancer handle-errors upgrade-path update-check typography
    회원정보 회원정보-수정 프로필-수정 결제-취소 오류-처리 에러-처리 버그-리포트 기능-플래그 작업-큐
    django.contrib.auth kubernetes/ingress src/payment core.store spring-boot next-auth
    rate-limit redis-cache kafka-consumer graphql-schema c++ f# .net tasks notes server client app
""".split()


@pytest.mark.parametrize(
    "topic", [*NARROW, "로그인 버그", "user cannot login after password reset"]
)
def test_a_topic_for_one_change_is_too_narrow(topic: str) -> None:
    assert scope_of(topic) == "narrow"


@pytest.mark.parametrize("topic", BROAD)
def test_a_topic_for_everything_is_too_broad(topic: str) -> None:
    assert scope_of(topic) == "broad"


def test_names_of_modules_are_neither() -> None:
    assert [topic for topic in FINE if scope_of(topic)] == []


CODE = [
    "```python\nprint(1)\n```",
    "Do this:\n\n```\nx\n```",
    "~~~\nx\n~~~",
    "def f(a):\n    return a\n\nx = f(1)",
    "function f(a){ const b = a; return b; }",
    "if (x == 1) { a = 1; b = 2; }",
    "diff --git a/x b/x\n--- a/x",
    "@@ -1,3 +1,4 @@\n-a\n+b",
    "import os\nimport sys\nprint(os.name)",
    "<div>\n<p>\n</p>\n</div>",
    "SELECT * FROM a;\nDELETE FROM b;\nCOMMIT;",
]
PROSE = [
    "",
    "Run `npm ci` first; then `npm test`.",
    "Use ```inline``` fences for none of this",
    "If the cache is cold:\n- warm it\n- then deploy",
    "VAT differs by country; see {country} in settings; use f(x)",
    "1. do a\n2. do b\n3. do c",
    "세금표를 먼저 확인한다; 환불은 따로\n두 번째 승인을 받는다.",
    "set TIMEOUT=10 in .env; restart; check logs",
    'The API returns {"a": 1}; clients read a; never b',
    "for each country:\ncheck the table\nask the user",
    "call verify(token) before save(token)",
]


@pytest.mark.parametrize("text", CODE)
def test_code_is_seen(text: str) -> None:
    assert is_source_code(text)


@pytest.mark.parametrize("text", PROSE)
def test_prose_with_some_signs_is_no_code(text: str) -> None:
    assert not is_source_code(text)


@given(st.text(alphabet="ab1 2026-_/.:#{}();=<>`~@\n가fix버그", max_size=200))
def test_any_text_is_judged(text: str) -> None:
    assert scope_of(text) in ("broad", "narrow", None)
    assert is_source_code(text) in (True, False)


@pytest.mark.long  # it measures the time
@pytest.mark.parametrize(
    "unit", ["a", "; ", "{", "def a", "<a", "a.", "x = ", " ", "a(", "#1", "A-1"]
)
def test_no_text_takes_long(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    began = time.process_time()
    is_source_code(text)
    scope_of(text)
    assert time.process_time() - began < 1
