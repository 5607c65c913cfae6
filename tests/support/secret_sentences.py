"""Lists sentences that give a password or a key away in words of their own.

They were written without a look at the rules, to measure what those make of sentences that no one
had in mind; `@@` is where the secret goes.
"""

import random
from collections.abc import Callable, Iterator

from tests.support.secret_corpus import Case, a_case
from tests.support.secret_kinds import fill

VALUES_OF_A_SENTENCE = 6
WORDS = """hunter winter tiger maple rocket kimchi monkey coffee orange dragon summer puppy castle
    seoul busan mango pepper turtle banana galaxy hammer violet thunder falcon meadow copper rabbit
    sunset pickle garden lemon noodle wizard penguin jeju walnut comet ladder spider velvet
    """.split()
SHAPES = """w1-w w4! W!2 w2 wW2 W@4 w-w-w-w w#w1 w_w_3 2w2 WW4 w.w.2 w+w=2 w3w W2w""".split()
PASSWORDS_EN = """the admin password is @@
our staging db password is still @@ by the way
fyi root's password got switched to @@ last night
you can get in with @@ as the password
I logged in using @@ and it worked
try @@ if the login page complains about the password
The password we settled on was @@.
password for the jump box? it's @@
Jenkins won't start unless the password equals @@
Bob said the password is "@@"
the password (currently @@) must be rotated
wifi passcode at the office: @@
The router still has its factory password, @@.
When the VPN client asks for a password type @@
just enter @@ when it asks for the passphrase
My passphrase for the gpg key is @@
the ssh passphrase, which is @@, is in nobody's vault
we hardcoded @@ as the database password in settings.py
Found @@ hardcoded as the redis password
grafana admin pw: @@
grafana pw is @@
pw = @@ for all test accounts
The default password of the appliance turned out to be @@
sudo password on the build machine -> @@
CI failed because the password @@ was expired
The password @@ no longer works on prod
Someone changed the password from @@ to something else
reset the password to @@ and told the team
Set the Postgres password to @@ before running migrations.
Remember: mysql root / @@ on the old server
log in as deploy with @@
Login is admin and the password is @@
username admin, password @@
user: admin pass: @@
user admin / pass @@
credentials for the NAS are admin and @@
credentials: admin:@@
Creds for the demo tenant: demo / @@
The account is svc-batch and its secret is @@
The keystore is protected by the password @@
keystore password happens to be @@
The zip archive opens with the password @@
unzip needs @@ as password
To decrypt the backup use the password @@
The PDF is locked with @@ (password)
Do not tell anyone, but the prod password is @@ :)
password was @@, now it is managed by vault
The old password (@@) leaked in the logs
Leaked in the log: password @@ of user bob
It logged "password is @@" in clear text
the log line contained the password, @@, in plain text
Lesson: the test user's password must stay @@ because fixtures depend on it
The seed script creates a user with the password @@
Fixture user alice has password @@
alice's password is @@
Every tester shares the password @@.
The shared password among us: @@
Our team password -- @@ -- should be changed
Basic auth password for staging is @@.
htpasswd entry uses @@ as the password
We ended up using @@ for the admin password
I used @@ for the service account password
Please change the admin password, it is @@ right now
the password remained @@ after the upgrade
Password stays @@ until Friday
Password: @@ (ask Kim for the username)
pass: @@
passwd is @@
Root pwd on the Pi is @@
The BIOS password has been @@ since 2019
The bios is unlocked with @@
Unlock the laptop with @@
It only unlocks with the password @@
telnet to the switch and enter @@ at the password prompt
At the Password: prompt I typed @@
The LDAP bind password in use is @@
bind password ends up as @@ in the config
SMTP auth failed with password @@
the smtp password contains a dollar sign: @@
the password has special characters, e.g. @@
"@@" is the password of the replica user
@@ is the password for staging
@@ is what we use as the admin password
@@ works as the password on every dev box
Use the password @@ for now
use password @@ when connecting
connecting with user app and password @@ fails
with password '@@' the handshake succeeds
The correct password is @@ not the one in the wiki
It's @@ (the admin password)
The password? @@.
Q: what's the db password? A: @@
hint: password is @@ lol
Password for user "postgres": @@
Enter password: @@
The wiki lists the password as @@
The password listed in the wiki is @@
We keep the password @@ in 1Password
The admin panel password, I believe, is @@
I believe the admin password might be @@
I think the password is probably @@
The password should've been @@
heads-up: the backup server's password is set to @@ until Monday
For the record, root's password equals @@.
oracle sys password was updated to @@ this morning
in the demo we type @@ as the password
I can confirm that @@ is still the admin password
the installer asks for a password, give it @@
the archive password: @@
you'll need the password @@ to open the spreadsheet
Kibana password is literally @@
the guest wifi password has been changed to @@
password hint says dog, password is @@
She told me the password was @@
My password there is @@
the default credentials are root/@@
default login is pi / @@
the passphrase on that key is just @@
db user app, password @@, port 5432
use admin with password @@
we rotated the password away from @@
the password of the readonly user is @@
sftp password for the partner: @@
the old admin password @@ is in git history
git history contains the password @@
someone committed the password @@ to the repo
tests log in with the password @@
tests rely on the password @@ for user bob
the mysql password (@@) ended up in the Dockerfile
never reuse @@ as a password
our jenkins password, @@, was in the slides
the vault password file contained @@
the door has a reader for cards and the password is @@
the password must equal @@ or the mock rejects it
the mock only accepts the password @@
rejected because the password was @@ instead
the password for that account would be @@
it prompts for a password; answer @@
Password used: @@
password needed: @@
dev password = @@, prod is in vault
the superuser password got reset back to @@""".splitlines()
PASSWORDS_KO = """관리자 비번은 @@ 이다
관리자 비번은 @@
관리자 비밀번호가 @@로 되어 있다
디비 비번 @@ 임
DB 암호는 @@를 쓴다
운영 서버 루트 비밀번호를 @@ 로 바꿔 놓았다
비밀번호를 @@로 초기화했음
비번 @@로 들어가면 됨
비번은 그대로 @@ 씁니다
@@가 관리자 비밀번호다
@@ 이게 와이파이 비밀번호야
와이파이 비번: @@
와이파이 비번이 뭐냐면 @@
사무실 와이파이 암호는 @@입니다
로그인할 때 @@ 를 입력하면 된다
비밀번호 입력창에 @@ 를 넣으면 통과한다
비밀번호로 @@ 를 입력
암호로는 @@ 사용
패스워드는 @@ 으로 통일
패스워드 @@ 로 접속 실패
젠킨스 패스워드가 @@ 였다
젠킨스 admin 계정 비번 @@
계정은 admin, 비번은 @@
계정 admin 비밀번호 @@
아이디 admin 비번 @@
아이디는 test01이고 비밀번호는 @@이다
ID/PW는 admin/@@ 이다
id: admin, pw: @@
접속 계정은 deploy / @@
root 계정 암호 @@ 그대로임
테스트 계정 비밀번호는 전부 @@
테스트용 비밀번호 @@ 을 지우지 말 것
교훈: 테스트 비밀번호 @@ 는 픽스처가 쓰므로 바꾸지 않는다
코드에 비밀번호 @@ 가 하드코딩되어 있었다
비밀번호가 "@@"로 하드코딩됨
설정 파일에 비밀번호(@@)가 평문으로 있었다
로그에 비밀번호 @@ 가 찍혔다
로그에 찍힌 비밀번호는 @@ 였다
예전 비밀번호는 @@ 였는데 지금은 볼트에서 읽는다
비밀번호 @@에서 볼트로 옮김
기본 비밀번호인 @@ 를 안 바꿨다
공장 초기 비밀번호는 @@
공유기 초기 암호가 @@ 라서 바꿔야 한다
압축 파일 암호는 @@
압축을 풀 때 암호 @@ 가 필요하다
백업 복호화 비밀번호는 @@ 이다
키스토어 비밀번호는 @@ 로 설정
인증서 암호: @@
인증서 암호가 @@ 인 것을 확인
VPN 비밀번호는 매번 @@ 를 쓴다
VPN 접속 시 비밀번호 @@ 입력
sudo 비밀번호는 @@
sudo 할 때 비번 @@ 치면 됨
레디스 비밀번호는 아직 @@ 이다
레디스 암호 @@ 로 연결하니 됐다
그라파나 관리자 암호 @@ → 변경 필요
스테이징 비번 바뀜: @@
비번 바뀜 -> @@
새 비밀번호는 @@
새 비번: @@
새로 정한 비밀번호 @@ 공유합니다
팀 공용 비밀번호가 @@ 인데 바꾸자
공용 계정 비번은 @@ 이에요
비번은 @@ 이에요
비번은 @@야
비번이 @@래
비번은 @@라고 합니다
비밀번호는 @@라고 위키에 적혀 있다
위키에 적힌 비밀번호 @@ 는 틀렸다
맞는 비밀번호는 @@ 이다
비밀번호가 틀려서 @@ 로 다시 시도했다
비밀번호 재설정 후 @@ 로 로그인
임시 비밀번호 @@ 발급
임시 비밀번호는 @@ 입니다.
임시 비번 @@ 으로 로그인 후 변경
메일 비밀번호(앱 비밀번호)는 @@
SMTP 비밀번호에 특수문자가 있다: @@
비밀번호에 특수문자가 들어간다, 예: @@
비밀번호를 물어보면 @@ 라고 답한다
암호를 물으면 @@
금고 암호는 @@
현관 비밀번호 @@
마스터 비밀번호는 @@ 하나뿐
마스터 암호 @@ 분실 주의
접속하려면 @@ 가 필요하다(비밀번호)
@@ (관리자 비번)
@@는 디비 비밀번호
@@를 암호로 사용했다
암호를 @@로 두면 테스트가 통과한다
암호가 @@라서 이스케이프가 필요했다
비밀번호 값이 @@ 이면 URL이 깨진다
비밀번호 중에 @@ 가 있었다
비밀번호 확인란에도 @@ 를 넣는다
비밀번호 @@ (8자 이상이라 통과)
비밀번호 힌트 말고 비밀번호 자체가 @@ 였음
개발 서버 비번은 @@ 로 통일했음
엘라스틱 비밀번호 @@ 로 바꿈
오라클 sys 계정 암호는 @@
데모용 비밀번호로 @@ 를 쓴다
아직도 관리자 비번이 @@ 인지 확인
엑셀 파일 암호는 @@ 입니다
게스트 와이파이 비번 @@ 로 변경됨
기본 계정은 root / @@
기본 로그인 정보는 pi / @@
키 암호문구는 @@
sftp 비번 @@ (협력사용)
예전 관리자 비밀번호 @@ 가 깃 이력에 남아 있다
깃 이력에 비밀번호 @@ 가 있다
누가 비밀번호 @@ 를 커밋했다
테스트는 비밀번호 @@ 로 로그인한다
도커파일에 mysql 비밀번호(@@)가 들어감
비밀번호로 @@ 를 재사용하지 말 것
슬라이드에 젠킨스 암호 @@ 가 노출
목 서버는 비밀번호 @@ 만 받는다
비밀번호가 @@ 가 아니면 거절
사용한 비밀번호: @@
필요한 비밀번호는 @@
개발 비번 = @@, 운영은 볼트
슈퍼유저 암호를 @@ 로 되돌림
회의실 와이파이 비밀번호는요 @@ 예요
그 계정 비번 아마 @@ 일걸요
비번 까먹지 말기: @@
공유 폴더 접속 비번은 @@ 임
공유 폴더는 비번 @@ 넣어야 열린다
비밀번호는 예전 그대로 @@
관리 콘솔 비밀번호 = @@
로그인 비번으로는 @@ 가 맞다
그 서버 root 비번 @@ 아님?
비밀번호 @@ 은 만료됐다
어드민 패스워드 : @@
어드민 패스워드는 일단 @@ 로 해뒀어요
디비 패스워드가 @@ 라서 특수문자 이스케이프 필요
인증서 비번이 @@ 로 잡혀 있음
초기 비밀번호 @@ 로 들어가서 바꾸세요""".splitlines()
KEYS_EN = """the api key is @@
our stripe-like api key is @@ for now
the bot token is @@, keep it private
someone pasted the access token @@ into the ticket
the token @@ expired yesterday
the client secret turned out to be @@
client secret: @@
The signing secret (@@) was committed
we sign cookies with the secret @@
jwt secret is @@
set the encryption key to @@
the webhook secret must be @@
they gave us @@ as the api key
@@ is our license key
Use the API token @@ for the smoke tests
authenticate with the token @@
the auth token used in CI is @@
The secret is @@
secret value: @@
my personal access token: @@
API key hardcoded in main.go: @@
the deploy token in the pipeline was @@
pass @@ as the api key
pass the api key @@ in the header
send @@ in the X-Api-Key header
header X-Api-Key must be @@
curl needs the token @@
it accepted the token '@@'
refresh token @@ leaked
the session token was @@
I pasted @@ where it asked for the api token
The recovery key is @@
app secret = @@
The HMAC key we share with them is @@
master key @@ unseals the vault
unseal key: @@""".splitlines()
KEYS_KO = """API 키는 @@ 이다
API 키 @@ 를 헤더에 넣는다
에이피아이 키: @@
봇 토큰은 @@
토큰 @@ 이 만료됐다
토큰값 @@ 으로 호출
액세스 토큰이 @@ 로 하드코딩
클라이언트 시크릿은 @@ 이다
시크릿 키가 @@ 로 커밋됐다
서명 키는 @@ 를 쓴다
JWT 시크릿은 @@
암호화 키 @@ 로 암호화
웹훅 시크릿 @@ 등록
인증키는 @@ 입니다
서비스키 @@ 로 공공데이터 호출
배포 토큰이 @@ 였다
@@ 가 우리 API 키다
@@ 를 API 키로 쓴다
발급받은 키는 @@
발급받은 토큰: @@
라이선스 키는 @@
복구 키 @@ 를 출력해 둔다
헤더에 토큰 @@ 를 넣으면 됨
스모크 테스트는 토큰 @@ 로 한다
마스터 키는 @@
앱 시크릿 @@ 유출
세션 토큰이 로그에 @@ 로 남았다
개인 액세스 토큰 @@ 을 지웠다""".splitlines()


def a_password(rng: random.Random) -> str:
    """A password as people think one up, or, one time in three, as a program makes one."""
    if rng.random() < 1 / 3:
        return fill(rng.choice(["{pw}", "{spw}"]), rng)
    made = {"w": lambda: rng.choice(WORDS), "W": lambda: rng.choice(WORDS).title()}
    return "".join(
        made[sign]() if sign in made else fill(f"{{d{sign}}}", rng) if sign.isdigit() else sign
        for sign in rng.choice(SHAPES)
    )


def a_key(rng: random.Random) -> str:
    """A key or a token that does not name itself."""
    return fill(rng.choice(["{h32}", "{A20}", "{A32}", "{A40}", "{A24}", "{a32}"]), rng)


def sentences(seed: int = 0) -> Iterator[Case]:
    """Every sentence with several secrets; the same seed gives the same ones."""
    rng = random.Random(seed)
    made: Callable[[random.Random], str]
    for kind, texts, made in (
        ("password-en", PASSWORDS_EN, a_password),
        ("password-ko", PASSWORDS_KO, a_password),
        ("key-en", KEYS_EN, a_key),
        ("key-ko", KEYS_KO, a_key),
    ):
        for number, text in enumerate(texts):
            for _ in range(VALUES_OF_A_SENTENCE):
                marked = text.replace("@@", f"«{made(rng)}»")
                yield a_case("sentence", kind, f"{kind}-{number}", marked)
