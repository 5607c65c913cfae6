"""Holds what the sample sessions say, in English and Korean: chains of work on a shop."""

from typing import NamedTuple

Told = tuple[str, str, str]


class Story(NamedTuple):
    """One session before it has a date; in each text `{thing}` and `{at}` are filled in.

    decided: what, why. tried: description, result, reason. blocked: description, and how it was
    resolved, "" while it is open. done: kind, content, result.
    """

    goal: str
    summary: str
    status: str
    tags: tuple[str, ...]
    decided: tuple[tuple[str, str], ...] = ()
    tried: tuple[Told, ...] = ()
    blocked: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    changed: str = ""
    done: tuple[Told, ...] = ()


# fmt: off
CHAINS: tuple[tuple[Story, ...], ...] = (
    (
        Story("Let users of {thing} sign in with their Google account",
            "The sign-in works with the authorization code flow and PKCE. The callback keeps the page the user came from. Sign-out and an expired refresh token are still open.",
            "completed", ("auth", "oauth"),
            decided=(("Use the authorization code flow with PKCE", "The implicit flow puts the token into the address, where proxies log it."),
                ("Keep the session in a cookie, not in local storage", "A script of a third party can read local storage.")),
            tried=(("Use the implicit flow", "failed", "The provider answers `unsupported_response_type` since June."),
                ("Authorization code flow with PKCE", "success", "")),
            files=("src/auth/oauth.py", "src/auth/callback.py", "tests/auth/test_oauth.py"),
            changed="Adds the callback and the exchange of the code.",
            done=(("command", "pip install authlib", "success"), ("edit", "src/auth/oauth.py", "success"),
                ("edit", "src/auth/callback.py", "success"), ("command", "python -m pytest tests/auth", "2 failed, 31 passed"),
                ("edit", "src/auth/callback.py", "success"), ("command", "python -m pytest tests/auth", "33 passed"),
                ("command", "git commit -m 'Sign in with Google'", "success"))),
        Story("Fix the redirect loop after the sign-in to {thing}",
            "Safari drops the cookie of the callback: it is set on a redirect between two sites. SameSite=Lax on the state cookie ends the loop.",
            "completed", ("auth", "bug"),
            decided=(("Set SameSite=Lax on the state cookie", "Strict is not sent on the way back from the provider."),),
            tried=(("Set the cookie with SameSite=None", "failed", "Safari treats it as Strict without Secure, and the test server has no TLS."),
                ("Redirect with a page instead of a 302", "partial", "The loop ends, but the back button does not work.")),
            blocked=(("No Safari on the test machines", "Reproduced on a colleague's phone, recorded in #412."),),
            files=("src/auth/cookies.py",), changed="One attribute of the state cookie.",
            done=(("edit", "src/auth/cookies.py", "success"), ("command", "npm run e2e -- sign-in", "1 failed\nTimeoutError: waiting for /home"),
                ("error", "TimeoutError: page.waitForURL: Timeout 30000ms exceeded", "failed"),
                ("command", "npm run e2e -- sign-in", "12 passed"))),
        Story("Refresh expired tokens of {thing} without a new sign-in",
            "The refresh works for one tab. Two tabs refresh at once, and the provider revokes both tokens.",
            "debugging", ("auth", "oauth"),
            tried=(("Refresh in every request that gets a 401", "failed", "Two tabs send the same refresh token; the provider takes the second for a theft."),),
            blocked=(("The provider's sandbox does not rotate refresh tokens, so the fault cannot be tested", ""),),
            files=("src/auth/refresh.py",),
            done=(("edit", "src/auth/refresh.py", "success"), ("command", "python -m pytest tests/auth/test_refresh.py", "1 failed, 8 passed"))),
    ),
    (
        Story("{thing} 결제 승인 재시도에서 중복 결제 막기",
            "멱등 키를 주문 번호로 만들어 결제사에 보내고, 응답이 오지 않으면 조회 API로 확인한 뒤에만 다시 보낸다. 부분 취소는 남아 있다.",
            "completed", ("결제", "payment"),
            decided=(("멱등 키는 주문 번호와 시도 횟수로 만든다", "결제사가 같은 키의 두 번째 요청을 첫 응답으로 돌려준다."),
                ("시간 초과는 실패로 보지 않고 조회한다", "승인된 결제를 실패로 처리하면 고객이 두 번 결제한다.")),
            tried=(("응답이 없으면 바로 다시 보낸다", "failed", "결제사가 두 건을 모두 승인했고, 하나는 사람이 취소해야 했다."),
                ("조회 API로 확인한 뒤 다시 보낸다", "success", "")),
            files=("src/payment/approve.py", "src/payment/idempotency.py"),
            changed="승인 전에 키를 저장하고, 시간 초과 뒤에는 조회한다.",
            done=(("edit", "src/payment/approve.py", "success"), ("command", "python -m pytest tests/payment", "1 failed, 54 passed"),
                ("command", "python -m pytest tests/payment", "55 passed"), ("command", "git commit -m '승인 재시도에 멱등 키 사용'", "success"))),
        Story("{thing} 부분 취소가 전체 취소로 처리되는 문제 수정",
            "취소 금액을 보내지 않으면 결제사는 전액을 취소한다. 금액을 필수로 바꾸고 남은 금액과 비교한다.",
            "testing", ("결제", "버그"),
            decided=(("취소 금액을 함수의 필수 인자로 한다", "기본값이 있으면 빠뜨려도 아무도 모른다."),),
            tried=(("결제사 라이브러리의 기본값에 맡긴다", "failed", "문서와 달리 금액이 없으면 전액을 취소한다."),),
            blocked=(("테스트 상점에는 부분 취소 권한이 없다", ""),),
            files=("src/payment/cancel.py", "tests/payment/test_cancel.py"),
            done=(("edit", "src/payment/cancel.py", "success"), ("error", "PermissionError: PARTIAL_CANCEL_NOT_ALLOWED", "failed"))),
    ),
    (
        Story("Make the nightly job of {thing} finish before six",
            "The job read one row at a time. With batches of 5,000 it takes 11 minutes in the place of 4 hours. Memory stays below 300 MB.",
            "completed", ("performance", "jobs"),
            decided=(("Read in batches of 5,000 rows", "10,000 are no faster, and twice the memory."),),
            tried=(("More workers", "failed", "They wait for the same lock; four take as long as one."), ("Batches with COPY", "success", "")),
            files=("jobs/nightly.py",), changed="Batches in the place of single rows.",
            done=(("command", "python -m jobs.nightly --dry-run", "11 min 04 s"), ("edit", "jobs/nightly.py", "success"))),
    ),
    (
        Story("{thing} 화면의 글자를 한국어와 영어로 나누기",
            "문장을 words.py의 표로 옮겼다. 조사는 함수가 앞말의 받침을 보고 고른다.",
            "completed", ("i18n", "화면"),
            decided=(("조사는 실행할 때 고른다", "이름이 어떤 글자로 끝날지 미리 알 수 없다."),),
            tried=(("`을(를)`을 그대로 보여 준다", "partial", "읽을 수는 있지만 어색하다는 의견이 많았다."),),
            files=("src/web/words.py", "src/web/particles.py"),
            done=(("edit", "src/web/words.py", "success"), ("command", "npm test", "118 passed"))),
    ),
    (
        Story("Move {thing} to PostgreSQL 16", "Replication lags by 40 s under load; the window for the move is on Sunday.", "planning", ("database", "migration"),
            decided=(("Logical replication, not a dump", "A dump means two hours without writes."),),
            blocked=(("The managed service allows only 4 replication slots", ""), ("No figure for the load on Sundays", "The dashboard keeps 90 days; read from there.")),
            done=(("command", "docker compose up -d postgres16", "success"),)),
        Story("Rehearse the move of {thing} on a copy", "Two sequences were behind after the switch; setval in the script puts them right.", "paused", ("database", "migration"),
            tried=(("Switch without setting the sequences", "failed", "duplicate key value violates unique constraint after the first insert"),),
            files=("ops/move.sql",), changed="Sets every sequence behind the copy.",
            done=(("command", "docker compose exec db psql -f ops/move.sql", "ERROR: duplicate key value"), ("edit", "ops/move.sql", "success"))),
    ),
    (
        Story("{thing} 배포 뒤 502가 나는 원인 찾기",
            "새 컨테이너가 준비되기 전에 로드 밸런서가 요청을 보낸다. readiness probe가 정적 파일만 보고 있었다.",
            "reviewing", ("배포", "ops"),
            decided=(("readiness는 DB 연결까지 확인한다", "정적 파일은 DB가 없어도 응답한다."),),
            tried=(("기다리는 시간을 60초로 늘린다", "failed", "마이그레이션이 길면 여전히 502가 난다."), ("readiness에서 DB를 확인한다", "success", "")),
            files=("deploy/web.yaml", "src/web/health.py"),
            done=(("command", "docker build -t web .", "success"), ("edit", "deploy/web.yaml", "success"), ("command", "git push origin fix/readiness", "success"))),
    ),
    (
        Story("Add a page of {thing} that a screen reader can read", "Tables have captions and headers; the chart has a table beside it. axe finds nothing.", "coding", ("a11y", "web"),
            tried=(("aria-label on every cell", "failed", "NVDA reads each figure twice."),),
            files=("src/web/report.html", "src/web/report.css"),
            done=(("edit", "src/web/report.html", "success"), ("command", "npm run axe", "0 violations"))),
    ),
    (
        Story("Raise the version of the web framework used by {thing}",
            "The new version needs no change of ours but for one renamed argument. All tests pass.",
            "completed", ("dependencies",), files=("requirements.txt", "src/web/app.py"),
            done=(("command", "pip install -U starlette", "success"), ("edit", "src/web/app.py", "success"), ("command", "python -m pytest", "412 passed"))),
    ),
    (
        Story("{thing} 화면의 느린 첫 로딩 줄이기", "그림을 나중에 불러오고 글꼴을 나누었다. 첫 화면이 3.1초에서 1.2초로 줄었다.",
            "completed", ("화면", "성능"),
            decided=(("그림은 보일 때 불러온다", "첫 화면에는 그림이 두 장뿐이다."),),
            tried=(("글꼴을 한글과 라틴 문자로 나눈다", "success", ""),), files=("src/web/list.html", "src/web/fonts.css"),
            done=(("edit", "src/web/list.html", "success"), ("command", "npm run build", "success"))),
    ),
    (
        Story("Write down how {thing} are restored from a backup", "Tried on a copy: 14 minutes. The runbook names the three commands and who may run them.",
            "completed", ("ops", "docs"), blocked=(("No rights on the bucket of backups", "The platform team gave read access."),),
            files=("docs/restore.md",), done=(("edit", "docs/restore.md", "success"), ("command", "git commit -m 'Describe the restore'", "success"))),
        Story("Check the backup of {thing} every night", "The job restores the newest backup into an empty database and counts the rows.",
            "coding", ("ops", "jobs"), decided=(("Count rows per table, not only the exit code", "pg_restore ends well with an empty dump."),),
            files=("jobs/check_backup.py",), done=(("edit", "jobs/check_backup.py", "success"),)),
    ),
    (
        Story("{thing} API 문서에 오류 코드 표 추가", "오류 코드 23개를 코드에서 뽑아 표로 만들고, 빠지면 테스트가 실패하게 했다.", "completed", ("문서", "api"),
            files=("docs/api/errors.md", "tests/test_error_table.py"), changed="표와, 표가 코드와 같은지 보는 테스트.",
            done=(("edit", "docs/api/errors.md", "success"), ("command", "python -m pytest tests/test_error_table.py", "23 passed"))),
    ),
    (
        Story("Sort {thing} by the date of the last change", "", "planning", ("web",)),
    ),
)
# fmt: on
