"""Lists kinds of secrets for the tests, one row per kind, each able to build a fresh one.

No secret is written down here. A row is a template; `fill` puts random characters of the right
alphabet and length into it: `{A36}` is 36 letters and digits, `{h8-12}` between 8 and 12 small
hexadecimal digits (see ALPHABETS), `{uuid}`, `{jwt}` and the other words of MAKERS what they say.
In a template the secret stands between « and », names that must stay readable between ‹ and ›.
"""

import base64
import json
import random
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Made:
    """A fresh secret, alone or within its snippet: text[start:end] is the secret."""

    text: str
    start: int
    end: int
    labels: Spans = ()

    def marked(self) -> str:
        """The text with its marks « » around the secret and ‹ › around the labels."""
        signs = [(self.start, "«"), (self.end, "»")]
        for start, end in self.labels:
            signs += [(start, "‹"), (end, "›")]
        closing = "»›"
        out = self.text
        for at, sign in sorted(signs, key=lambda it: (it[0], it[1] not in closing), reverse=True):
            out = out[:at] + sign + out[at:]
        return out


@dataclass(frozen=True)
class Kind:
    """One kind of secret; family is token, structure, assignment or prose."""

    name: str
    family: str
    make: Callable[[random.Random], Made]


ALPHABETS = {
    "d": string.digits,
    "l": string.ascii_lowercase,
    "U": string.ascii_uppercase,
    "L": string.ascii_letters,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "a": string.ascii_lowercase + string.digits,
    "u": string.ascii_uppercase + string.digits,
    "A": string.ascii_letters + string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
    "s": string.ascii_uppercase + "234567",
    "q": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "Q": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "z": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "k": "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
}
WORDS = """amber anchor autumn basil beacon birch blue breeze canyon cedar cherry cobalt copper
    coral crimson dolphin dragon eagle ember falcon forest frost galaxy garden ginger golden harbor
    hazel honey island ivory jasmine jungle kitten lemon lion lotus maple marble meadow mango monkey
    mountain ocean olive orange otter panda pepper phoenix planet purple rabbit rainbow river rocket
    saffron salmon sapphire shadow silver spring star storm summer sunset thunder tiger tulip velvet
    violet walnut whale willow winter wolf yellow zebra""".split()
TYPED_KOREAN = """dkssud tkfkdgo rkskek qlalf tjdnf qntks gksrnr rladbwls wjdals ehfhfh akqjqtk
    gkrry dksxo tlstk dbfl alsdus durtls skdlxm""".split()  # Korean words on a Latin keyboard
SEED_WORDS = """abandon ability cable cactus dolphin dragon eagle earth fabric face galaxy garage
    habit hammer icon idea jacket jaguar kangaroo keen label ladder machine magnet naive
    napkin oak ocean paddle panda quantum quarter rabbit raccoon saddle salmon tackle tail
    ugly umbrella vacant vacuum wagon walnut yard year zebra zero zone
    zoo""".split()  # some of the words of BIP 39
SYMBOLS = "!@#%^*-_+=?"


def chars(rng: random.Random, alphabet: str, count: int) -> str:
    """`count` random characters of an alphabet."""
    return "".join(rng.choice(alphabet) for _ in range(count))


def mixed(rng: random.Random, length: int, symbols: str = SYMBOLS) -> str:
    """A password of letters, digits and symbols that begins and ends with a letter or digit."""
    must = [rng.choice(string.ascii_lowercase), rng.choice(string.ascii_uppercase)]
    must += [rng.choice(string.digits), rng.choice(symbols), rng.choice(symbols)]
    rest = string.ascii_letters + string.digits + symbols
    middle = must + [rng.choice(rest) for _ in range(length - len(must) - 2)]
    rng.shuffle(middle)
    edge = ALPHABETS["A"]
    return rng.choice(edge) + "".join(middle) + rng.choice(edge)


def plain(rng: random.Random, length: int) -> str:
    """A password of letters and digits, with at least two of each."""
    must = list(chars(rng, string.ascii_letters, 2) + chars(rng, string.digits, 2))
    middle = must + [rng.choice(ALPHABETS["A"]) for _ in range(length - len(must))]
    rng.shuffle(middle)
    return "".join(middle)


def two_words(rng: random.Random) -> str:
    """A password people make up: two words, digits and an exclamation mark."""
    first, second = rng.sample(WORDS, 2)
    return f"{first.title()}{second.title()}{rng.randrange(10, 999)}!"


def bytes_of(rng: random.Random, count: int) -> bytes:
    """`count` random bytes."""
    return bytes(rng.randrange(256) for _ in range(count))


def base64_of(rng: random.Random, count: int) -> str:
    """The base64 text of `count` random bytes, with its padding."""
    return base64.b64encode(bytes_of(rng, count)).decode()


def url_base64(data: bytes) -> str:
    """The url-safe base64 text of some bytes, without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def a_jwt(rng: random.Random) -> str:
    """A signed JSON web token."""
    kind = rng.choice(["HS256", "RS256", "ES256"])
    head = {"alg": kind, "typ": "JWT"}
    born = 1_700_000_000 + rng.randrange(80_000_000)
    body = {"sub": chars(rng, string.digits, 8), "iat": born, "exp": born + 3600}
    parts = [json.dumps(it, separators=(",", ":")).encode() for it in (head, body)]
    parts.append(bytes_of(rng, 32))
    return ".".join(url_base64(part) for part in parts)


def a_uuid(rng: random.Random) -> str:
    """A random UUID of version 4."""
    hexa = ALPHABETS["h"]
    groups = [chars(rng, hexa, 8), chars(rng, hexa, 4), "4" + chars(rng, hexa, 3)]
    return "-".join([*groups, rng.choice("89ab") + chars(rng, hexa, 3), chars(rng, hexa, 12)])


def key_lines(rng: random.Random, newline: str = "\n") -> str:
    """The base64 lines between the first and the last line of a PEM block."""
    text = "MII" + base64_of(rng, rng.randrange(300, 700))
    return newline.join(text[at : at + 64] for at in range(0, len(text), 64))


def a_basic_pair(rng: random.Random) -> str:
    """What HTTP Basic sends: the base64 text of user:password."""
    user = rng.choice(["admin", "deploy", "svc-api", "ci"])
    return base64.b64encode(f"{user}:{mixed(rng, 16)}".encode()).decode()


def a_host(rng: random.Random) -> str:
    """A host name inside a company."""
    return rng.choice(["db", "cache", "mq", "git", "mail", "repo"]) + rng.choice(
        [".internal", "-stg.corp.kr", "1.prod.svc.local", ".team.co.kr", ".example.com"]
    )


MAKERS: dict[str, Callable[[random.Random], str]] = {
    "uuid": a_uuid,
    "jwt": a_jwt,
    "pw": lambda rng: plain(rng, rng.randrange(12, 21)),
    "spw": lambda rng: mixed(rng, rng.randrange(12, 19), "!#%^*-_+"),
    "human": lambda rng: two_words(rng) if rng.random() < 0.5 else plain(rng, 10),
    "pem": key_lines,
    "pem_escaped": lambda rng: key_lines(rng, "\\n"),
    "pem_spaces": lambda rng: key_lines(rng, " "),
    "pem_indented": lambda rng: key_lines(rng, "\n    "),
    "basic": a_basic_pair,
    "bytes16": lambda rng: base64_of(rng, 16),
    "bytes32": lambda rng: base64_of(rng, 32),
    "bytes64": lambda rng: base64_of(rng, 64),
    "host": a_host,
    "user": lambda rng: rng.choice(["admin", "app_rw", "deploy", "svc_batch", "readonly", "ops"]),
    "seed_word": lambda rng: rng.choice(SEED_WORDS),
    "word": lambda rng: rng.choice(WORDS),
}
HOLE = re.compile(r"\{(?:([A-Za-z])(\d+)(?:-(\d+))?|(" + "|".join(MAKERS) + r"))\}")


def fill(template: str, rng: random.Random) -> str:
    """The template with fresh random text in each of its holes."""

    def put(hole: re.Match[str]) -> str:
        letter, low, high, word = hole.groups()
        if word:
            return MAKERS[word](rng)
        count = rng.randint(int(low), int(high)) if high else int(low)
        return chars(rng, ALPHABETS[letter], count)

    return HOLE.sub(put, template)


def unmark(marked: str) -> tuple[str, Spans, Spans]:
    """The text without its marks, the places of the secrets, the places of the labels."""
    out: list[str] = []
    at = 0
    opened: list[int] = []
    secrets: list[tuple[int, int]] = []
    labels: list[tuple[int, int]] = []
    for piece in re.split("([«»‹›])", marked):
        if piece and piece in "«‹":
            opened.append(at)
        elif piece and piece in "»›":
            (secrets if piece == "»" else labels).append((opened.pop(), at))
        else:
            out.append(piece)
            at += len(piece)
    return "".join(out), tuple(secrets), tuple(labels)


def from_template(template: str) -> Callable[[random.Random], Made]:
    """A maker of the snippet a template describes; without marks the whole text is the secret."""

    def make(rng: random.Random) -> Made:
        marked = fill(template, rng)
        text, secrets, labels = unmark(marked if "«" in marked else f"«{marked}»")
        ((start, end),) = secrets
        return Made(text, start, end, labels)

    return make


def from_maker(maker: Callable[[random.Random], str]) -> Callable[[random.Random], Made]:
    """The same from a function that returns the bare secret."""

    def make(rng: random.Random) -> Made:
        text = maker(rng)
        return Made(text, 0, len(text))

    return make


TOKENS = {
    # Code hosting
    "github-personal": "ghp_{A36}",
    "github-oauth": "gho_{A36}",
    "github-user-to-server": "ghu_{A36}",
    "github-installation": "ghs_{A36}",
    "github-installation-stateless": "ghs_{d7}_{jwt}",
    "github-refresh": "ghr_{A76}",
    "github-fine-grained": "github_pat_{A22}_{A59}",
    "gitlab-personal": "glpat-{w20}",
    "gitlab-personal-routable": "glpat-{w27}.01.{h2}0{a6}",
    "gitlab-deploy": "gldt-{w20}",
    "gitlab-runner": "glrt-{w20}",
    "gitlab-runner-registration": "GR1348941{w20}",
    "gitlab-ci-job": "glcbt-{h2}_{w20}",
    "gitlab-trigger": "glptt-{h40}",
    "gitlab-feed": "glft-{w20}",
    "gitlab-incoming-mail": "glimt-{w25}",
    "gitlab-agent": "glagent-{w50}",
    "gitlab-oauth-secret": "gloas-{h64}",
    "gitlab-scim": "glsoat-{w20}",
    "bitbucket-app-password": "ATBB{A32}",
    "atlassian-api": "ATATT3xFfGF0{w171}={H8}",
    "trello": "ATTA{h72}",
    "sourcegraph": "sgp_{h16}_{h40}",
    "azure-devops": "{A52}JQQJ99{U4}ACAAAAAAA{A5}AZDO{A4}",
    # Clouds
    "aws-access-key-id": "AKIA{s16}",
    "aws-temporary-key-id": "ASIA{s16}",
    "aws-bedrock-key": "ABSK{b128}=",
    "aws-session-token": "IQoJb3JpZ2luX2Vj{b340}==",
    "aws-appsync": "da2-{a26}",
    "amazon-mws": "amzn.mws.{uuid}",
    "amazon-login-secret": "amzn1.oa2-cs.v1.{h64}",
    "google-api": "AIza{w35}",
    "google-oauth-secret": "GOCSPX-{w28}",
    "google-access": "ya29.a0A{w160}",
    "google-refresh": "1//0{w60}",
    "google-auth-key": "AQ.Ab8RN6{w44}",
    "firebase-server": "AAAA{w7}:APA91b{w134}",
    "azure-client-secret": "{A3}8Q~{A34}",
    "azure-storage": "{b76}+ASt{b5}Q==",
    "azure-cosmos": "{b76}ACDb{b5}g==",
    "azure-service-bus": "{b33}+ASb{b5}w=",
    "azure-event-hub": "{b33}+AEh{b5}A=",
    "azure-container-registry": "{b42}+ACRD{A5}",
    "azure-search": "{A42}AzSeC{A5}",
    "azure-functions": "{w44}AzFu{w5}Q==",
    "azure-redis": "{A33}AzCa{U5}=",
    "azure-openai": "{A52}JQQJ99{U4}ACYeBjFXJ3w3AAABACOG{A4}",
    "alibaba-access-key": "LTAI5t{A18}",
    "tencent-secret-id": "AKID{A32}",
    "baidu-cloud": "bce-v3/ALTAK-{A21}/{h40}",
    "yandex-api": "AQVN{w36}",
    "ibm-watsonx": "ApiKey-{uuid}",
    "digitalocean-personal": "dop_v1_{h64}",
    "digitalocean-oauth": "doo_v1_{h64}",
    "digitalocean-refresh": "dor_v1_{h64}",
    "cloudflare-user": "cfut_{A40}{h8}",
    "cloudflare-account": "cfat_{A40}{h8}",
    "cloudflare-origin-ca": "v1.0-{h24}-{h146}",
    "fly-machine": "fm2_{b180}=",
    "fly-oauth": "fo1_{w43}",
    "heroku": "HRKU-AA{w58}",
    "netlify-personal": "nfp_{A36}",
    "render": "rnd_{A32}",
    "vercel-personal": "vcp_{A56}",
    "vercel-ai-gateway": "vck_{A56}",
    "supabase-personal": "sbp_{h40}",
    "supabase-secret": "sb_secret_{w22}_{w8}",
    "neon-api": "napi_{a64}",
    "neon-database-password": "npg_{A12}",
    "planetscale-token": "pscale_tkn_{w43}",
    "planetscale-password": "pscale_pw_{w43}",
    "mongodb-atlas-service": "mdb_sa_sk_{w40}",
    "clickhouse-cloud": "4b1d{A38}",
    "confluent": "cflt{b60}",
    "databricks": "dapi{h32}",
    "scalingo": "tk-us-{w48}",
    "pulumi": "pul-{h40}",
    "terraform-cloud": "{A14}.atlasv1.{A67}",
    "tailscale-auth": "tskey-auth-{A17}-{A32}",
    "tailscale-api": "tskey-api-{A17}-{A32}",
    "ngrok": "2{A26}_{A21}",
    "openshift": "sha256~{w43}",
    "deno-deploy": "ddp_{A36}",
    # Secrets management
    "vault-service": "hvs.{w95}",
    "vault-batch": "hvb.{w160}",
    "vault-legacy": "s.{A24}",
    "doppler-personal": "dp.pt.{A43}",
    "doppler-service": "dp.st.prd.{A43}",
    "onepassword-service": "ops_eyJ{b300}",
    "onepassword-secret-key": "A3-{u6}-{u6}-{u5}-{u5}-{u5}-{u5}",
    "infisical-service": "st.{h24}.{h32}.{h32}",
    "bitwarden-machine": "0.{uuid}.{A30}:{b22}==",
    "age-secret-key": "AGE-SECRET-KEY-1{Q58}",
    "nostr-secret": "nsec1{q58}",
    "bitcoin-extended-private": "xprv9s21ZrQH143K{z95}",
    "json-web-token": "{jwt}",
    "paseto-local": "v4.local.{w120}",
    # Language models and machine learning
    "openai-legacy": "sk-{A20}T3BlbkFJ{A20}",
    "openai-project": "sk-proj-{w74}T3BlbkFJ{w74}",
    "openai-service": "sk-svcacct-{w74}T3BlbkFJ{w74}",
    "openai-admin": "sk-admin-{w58}T3BlbkFJ{w58}",
    "anthropic-api": "sk-ant-api03-{w93}AA",
    "anthropic-admin": "sk-ant-admin01-{w93}AA",
    "anthropic-oauth": "sk-ant-oat01-{w93}AA",
    "huggingface-user": "hf_{L34}",
    "groq": "gsk_{A52}",
    "xai": "xai-{A80}",
    "openrouter": "sk-or-v1-{h64}",
    "perplexity": "pplx-{A48}",
    "replicate": "r8_{A37}",
    "together": "tgp_v1_{w43}",
    "fireworks": "fw_{A24}",
    "deepseek": "sk-{h32}",
    "moonshot": "sk-{A48}",
    "cerebras": "csk-{a48}",
    "nvidia": "nvapi-{w64}",
    "langsmith-personal": "lsv2_pt_{h32}_{h10}",
    "langsmith-service": "lsv2_sk_{h32}_{h10}",
    "langfuse-secret": "sk-lf-{uuid}",
    "pinecone": "pcsk_{A6}_{A63}",
    "tavily": "tvly-dev-{A32}",
    "firecrawl": "fc-{h32}",
    "jina": "jina_{h32}{w28}",
    "voyage": "pa-{w43}",
    "elevenlabs": "sk_{h48}",
    "llamacloud": "llx-{A48}",
    "e2b": "e2b_{h40}",
    "modal-secret": "as-{A22}",
    "runpod": "rpa_{u40}{a6}",
    "cursor": "crsr_{h64}",
    "apify": "apify_api_{A36}",
    "browserbase": "bb_live_{w27}",
    "context7": "ctx7sk-{uuid}",
    "logfire": "pylf_v1_us_{A43}",
    # Korean services
    "toss-live-secret": "live_sk_{A28-32}",
    "toss-test-secret": "test_sk_{A28-32}",
    "toss-live-widget": "live_gsk_{A28-32}",
    "toss-test-widget": "test_gsk_{A28-32}",
    "naver-cloud-access": "ncp_iam_BPASKR{A14}",
    "naver-cloud-secret": "ncp_iam_BPKSKR{A28}",
    "clova-studio": "nv-{h32}{A4}",
    "upstage": "up_{A29}",
    "friendli": "flp_{A44}",
    # Chat
    "slack-bot": "xoxb-{d12}-{d13}-{A24}",
    "slack-user": "xoxp-{d12}-{d12}-{d13}-{h32}",
    "slack-app": "xapp-1-A{u10}-{d13}-{h64}",
    "slack-rotating": "xoxe.xoxp-1-{A166}",
    "slack-refresh": "xoxe-1-{A146}",
    "slack-cookie": "xoxd-{A60}%2B{A40}%3D",
    "slack-client": "xoxc-{d12}-{d13}-{d13}-{h64}",
    "slack-workflow": "xwfp-{d12}-{d13}-{A32}",
    "discord-bot": "MT{A24}.G{w5}.{w38}",
    "telegram-bot": "{d10}:AA{w33}",
    "twilio-api": "SK{h32}",
    "twitch-chat": "oauth:{a30}",
    "facebook-page": "EAACE{A180}",
    "instagram": "IGAA{A170}",
    "twitter-bearer": "AAAAAAAAAAAAAAAAAAAAA{A26}%2B{A24}%3D{A44}",
    # Payment and trade
    "stripe-live": "sk_live_51{A97}",
    "stripe-live-short": "sk_live_{A24}",
    "stripe-test": "sk_test_51{A97}",
    "stripe-restricted": "rk_live_51{A97}",
    "stripe-webhook": "whsec_{A32}",
    "square-access": "EAAA{w60}",
    "square-oauth-secret": "sq0csp-{w43}",
    "paypal-braintree": "access_token$production${a16}${h32}",
    "flutterwave": "FLWSECK-{h32}-X",
    "plaid-access": "access-production-{uuid}",
    "paddle": "pdl_live_apikey_01{a24}_{A22}_{A3}",
    "polar": "polar_oat_{A43}",
    "shopify-access": "shpat_{h32}",
    "shopify-shared-secret": "shpss_{h32}",
    "shopify-custom-app": "shpca_{h32}",
    "duffel": "duffel_live_{w43}",
    "easypost": "EZAK{A54}",
    "shippo": "shippo_live_{h40}",
    # Mail
    "sendgrid": "SG.{w22}.{w43}",
    "mailgun": "key-{h32}",
    "mailchimp": "{h32}-us{d2}",
    "brevo": "xkeysib-{h64}-{A16}",
    "resend": "re_{A8}_{A24}",
    "mailersend": "mlsn.{h64}",
    # Package registries and building
    "npm": "npm_{A36}",
    "pypi": "pypi-AgEIcHlwaS5vcmc{w150}",
    "rubygems": "rubygems_{h48}",
    "crates-io": "cio{A32}",
    "clojars": "CLOJARS_{a60}",
    "nuget": "oy2{a43}",
    "docker-hub": "dckr_pat_{w27}",
    "docker-organization": "dckr_oat_{w32}",
    "artifactory": "AKCp{A69}",
    "circleci-personal": "CCIPAT_{A22}_{h40}",
    "buildkite": "bkua_{h40}",
    "octopus-deploy": "API-{u26}",
    "sonarqube-user": "squ_{h40}",
    "sonarqube-project": "sqp_{h40}",
    "harness": "pat.{A22}.{h24}.{A20}",
    "prefect": "pnu_{A36}",
    "dbt-cloud": "dbtc_{w43}",
    # Watching and teamwork
    "grafana-service": "glsa_{A32}_{h8}",
    "grafana-cloud": "glc_eyJ{b120}=",
    "dynatrace": "dt0c01.{u24}.{u64}",
    "newrelic-user": "NRAK-{u27}",
    "newrelic-license": "{h36}NRAL",
    "sentry-user": "sntryu_{h64}",
    "sentry-organization": "sntrys_eyJpYXQiO{b140}==_{b43}",
    "honeycomb": "hcaik_01{a58}",
    "posthog-personal": "phx_{A43}",
    "axiom": "xaat-{uuid}",
    "launchdarkly-api": "api-{uuid}",
    "launchdarkly-sdk": "sdk-{uuid}",
    "linear": "lin_api_{A40}",
    "notion": "ntn_{d11}{A35}",
    "notion-legacy": "secret_{A43}",
    "asana": "2/{d16}/{d16}:{h32}",
    "airtable": "pat{A14}.{h64}",
    "figma": "figd_{w40}",
    "clickup": "pk_{d8}_{u32}",
    "postman": "PMAK-{h24}-{h34}",
    "contentful": "CFPAT-{w43}",
    "hubspot": "pat-na1-{uuid}",
    "typeform": "tfp_{A44}_{A14}",
    "readme": "rdme_{a70}",
    "mapbox-secret": "sk.eyJ1Ijoi{A70}.{w22}",
    "maxmind": "{A6}_{A29}_mmk",
    "wakatime": "waka_{uuid}",
    "salesforce-session": "00D{A12}!AQ{A94}",
    "dropbox-short-lived": "sl.u.{w135}",
    "adobe-client-secret": "p8e-{A32}",
    "inngest": "signkey-prod-{h64}",
    "nylas": "nyk_v0_{A64}",
}
URLS = {
    # kind: scheme, user (may be empty) and rest of a URL that carries a password
    "postgres": ("postgres", "{user}", "/shop?sslmode=require"),
    "postgresql-asyncpg": ("postgresql+asyncpg", "{user}", ":5432/orders"),
    "mysql": ("mysql", "{user}", ":3306/billing"),
    "mysql-pymysql": ("mysql+pymysql", "{user}", "/members?charset=utf8mb4"),
    "mongodb": ("mongodb", "{user}", ":27017/?authSource=admin"),
    "mongodb-srv": ("mongodb+srv", "{user}", "/prod?retryWrites=true"),
    "redis": ("redis", "", ":6379/0"),
    "rediss": ("rediss", "default", ":6380"),
    "amqp": ("amqp", "{user}", ":5672/%2Fjobs"),
    "ftp": ("ftp", "{user}", "/upload"),
    "sftp": ("sftp", "{user}", ":2222/in"),
    "smtp": ("smtp", "{user}", ":587"),
    "ldap": ("ldap", "{user}", "/dc=corp,dc=kr"),
    "mqtt": ("mqtt", "{user}", ":1883"),
    "clickhouse": ("clickhouse", "{user}", ":9000/logs"),
    "sqlserver": ("sqlserver", "{user}", ":1433?database=erp"),
    "https-basic": ("https", "{user}", "/api/v1/health"),
    "http-proxy": ("http", "{user}", ":3128"),
    "socks": ("socks5", "{user}", ":1080"),
    "rtsp": ("rtsp", "{user}", ":554/stream1"),
    "git-clone": ("https", "oauth2", "/team/app.git"),
    "nats": ("nats", "{user}", ":4222"),
}
PEMS = {
    "rsa": "RSA PRIVATE KEY",
    "ec": "EC PRIVATE KEY",
    "dsa": "DSA PRIVATE KEY",
    "openssh": "OPENSSH PRIVATE KEY",
    "pkcs8": "PRIVATE KEY",
    "pkcs8-encrypted": "ENCRYPTED PRIVATE KEY",
    "pgp": "PGP PRIVATE KEY BLOCK",
}
DASHES = "-" * 5
SNIPPETS = {
    # Keys in their files
    "pem-cut-off": f"{DASHES}BEGIN RSA PRIVATE KEY{DASHES}\n«{{pem}}»",
    "pem-escaped-newlines": f'"private_key": "{DASHES}BEGIN PRIVATE KEY{DASHES}\\n«{{pem_escaped}}»'
    f'\\n{DASHES}END PRIVATE KEY{DASHES}\\n"',
    "pem-one-line": f"{DASHES}BEGIN EC PRIVATE KEY{DASHES} «{{pem_spaces}}»"
    f" {DASHES}END EC PRIVATE KEY{DASHES}",
    "pem-in-yaml": f"‹tls.key›: |\n    {DASHES}BEGIN PRIVATE KEY{DASHES}\n    «{{pem_indented}}»"
    f"\n    {DASHES}END PRIVATE KEY{DASHES}",
    "putty-key": "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\n«{b64}»",
    "openvpn-static-key": f"{DASHES}BEGIN OpenVPN Static key V1{DASHES}\n"
    "«{h32}\n{h32}\n{h32}\n{h32}»\n"
    f"{DASHES}END OpenVPN Static key V1{DASHES}",
    "json-web-key": '{"kty":"EC","crv":"P-256","x":"{w43}","d":"«{w43}»"}',
    "wireguard-private": "[Interface]\n‹PrivateKey› = «{bytes32}»\nAddress = 10.8.0.2/24",
    "wireguard-preshared": "[Peer]\n‹PresharedKey› = «{bytes32}»\nAllowedIPs = 0.0.0.0/0",
    # URLs
    "s3-presigned": "https://logs.s3.ap-northeast-2.amazonaws.com/a.gz?X-Amz-Expires=3600"
    "&X-Amz-Signature=«{h64}»",
    "gcs-signed": "https://storage.googleapis.com/backup/db.dump?X-Goog-Expires=900"
    "&X-Goog-Signature=«{h256}»",
    "azure-sas": "https://media.blob.core.windows.net/in?sv=2024-11-04&se=2026-12-31"
    "&sr=c&sp=rl&sig=«{A20}%2B{A22}%3D»",
    "url-access-token": "https://api.example.com/v1/me?‹access_token›=«{A40}»&lang=ko",
    "url-api-key": "https://api.example.com/weather?q=Seoul&‹api_key›=«{h32}»",
    "url-service-key": "http://apis.data.go.kr/1360000/Vilage?‹serviceKey›=«{A60}%2B{A24}%3D%3D»",
    "cloudinary": "cloudinary://{d15}:«{w27}»@‹demo-cloud›",
    "slack-webhook": "https://‹hooks.slack.com›/services/T{u10}/B{u10}/«{A24}»",
    "discord-webhook": "https://‹discord.com›/api/webhooks/{d19}/«{w68}»",
    "teams-webhook": "https://acme.‹webhook.office.com›/webhookb2/{uuid}@{uuid}/"
    "IncomingWebhook/«{h32}/{uuid}»",
    "power-automate": "https://prod-12.koreacentral.‹logic.azure.com›/workflows/{h32}/triggers/"
    "manual/paths/invoke?api-version=2016-06-01&sig=«{w43}»",
    "google-chat-webhook": "https://‹chat.googleapis.com›/v1/spaces/AAAA{w7}/messages?key=AIza{w35}"
    "&token=«{w43}%3D»",
    "zapier-webhook": "https://‹hooks.zapier.com›/hooks/catch/{d7}/«{a7}»/",
    "ifttt-webhook": "https://‹maker.ifttt.com›/trigger/alert/with/key/«{w22}»",
    "dooray-webhook": "https://‹hook.dooray.com›/services/{d19}/{d19}/«{w22}»",
    "jandi-webhook": "https://‹wh.jandi.com›/connect-api/webhook/{d8}/«{h32}»",
    "lark-webhook": "https://‹open.larksuite.com›/open-apis/bot/v2/hook/«{uuid}»",
    "dingtalk-webhook": "https://‹oapi.dingtalk.com›/robot/send?access_token=«{h64}»",
    "wecom-webhook": "https://‹qyapi.weixin.qq.com›/cgi-bin/webhook/send?key=«{uuid}»",
    "make-webhook": "https://‹hook.eu2.make.com›/«{a32}»",
    "netlify-build-hook": "https://‹api.netlify.com›/build_hooks/«{h24}»",
    "vercel-deploy-hook": "https://‹api.vercel.com›/v1/integrations/deploy/prj_{A28}/«{A10}»",
    "telegram-url": "https://‹api.telegram.org›/bot«{d10}:AA{w33}»/sendMessage",
    # Headers and cookies
    "bearer-header": "‹Authorization›: Bearer «{w48}»",
    "bearer-json": '{"headers": {"‹Authorization›": "Bearer «{A40}»"}}',
    "basic-header": "‹Authorization›: Basic «{basic}»",
    "token-header": "‹Authorization›: token «{h40}»",
    "kakao-header": "‹Authorization›: KakaoAK «{h32}»",
    "okta-header": "‹Authorization›: SSWS «00{w40}»",
    "elastic-header": "‹Authorization›: ApiKey «{b58}==»",
    "proxy-header": "‹Proxy-Authorization›: Basic «{basic}»",
    "api-key-header": "‹X-API-Key›: «{A32}»",
    "auth-token-header": "curl -H '‹X-Auth-Token›: «{h32}»' https://api.example.com/v2/users",
    "gitlab-header": "‹PRIVATE-TOKEN›: «{w20}»",
    "naver-header": "‹X-Naver-Client-Secret›: «{A10}»",
    "azure-header": "‹Ocp-Apim-Subscription-Key›: «{h32}»",
    "datadog-header": "‹DD-API-KEY›: «{h32}»",
    "session-cookie": "‹Cookie›: theme=dark; ‹sessionid›=«{a32}»",
    "set-cookie": "‹Set-Cookie›: ‹connect.sid›=«s%3A{w32}.{A43}»; Path=/; HttpOnly",
    "java-cookie": "‹Cookie›: ‹JSESSIONID›=«{H32}»",
    # Connection strings
    "ado-net": "Server=‹{host}›;Database=erp;User Id=‹{user}›;‹Password›=«{spw}»;Encrypt=true;",
    "odbc": "DRIVER={ODBC Driver 18};SERVER=‹{host}›;UID=‹{user}›;‹PWD›=«{spw}»;",
    "azure-storage-string": "DefaultEndpointsProtocol=https;AccountName=‹logs›;‹AccountKey›="
    "«{bytes64}»;EndpointSuffix=core.windows.net",
    "service-bus-string": "Endpoint=sb://‹jobs.servicebus.windows.net›/;SharedAccessKeyName=Root;"
    "‹SharedAccessKey›=«{bytes32}»",
    "jdbc-parameters": "jdbc:postgresql://‹{host}›:5432/app?user=‹{user}›&‹password›=«{pw}»",
    "jdbc-oracle": "jdbc:oracle:thin:‹{user}›/«{pw}»@‹{host}›:1521:ORCL",
    "libpq": "host=‹{host}› port=5432 dbname=app user=‹{user}› ‹password›=«{spw}»",
    "stackexchange-redis": "‹{host}›:6380,‹password›=«{b43}=»,ssl=True,abortConnect=False",
    "sqlplus": "sqlplus ‹{user}›/«{pw}»@‹//{host}›:1521/XEPDB1",
    # Files of tools
    "netrc": "machine ‹{host}› login ‹{user}› password «{spw}»",
    "pgpass": "‹{host}›:5432:app:‹{user}›:«{pw}»",
    "npmrc-token": "‹//npm.corp.kr/:_authToken›=«{uuid}»",
    "npmrc-auth": "‹//npm.corp.kr/:_auth›=«{basic}»",
    "pypirc": "[pypi]\nrepository = https://pypi.corp.kr\nusername = {user}\n‹password› = «{spw}»",
    "docker-auth": '{"auths": {"‹registry.corp.kr›": {"auth": "«{basic}»"}}}',
    "my-cnf": "[client]\n‹user›={user}\n‹password›=«{pw}»",
    "aws-credentials": "[default]\n‹aws_secret_access_key› = «{b40}»\nregion = ap-northeast-2",
    "maven-settings": "<server><id>‹nexus›</id><username>{user}</username>"
    "<password>«{pw}»</password></server>",
    "nuget-config": '<add key="ClearTextPassword" value="«{pw}»" />',
    "composer-auth": '{"http-basic": {"‹repo.corp.kr›": {"username": "ci", "password": "«{pw}»"}}}',
    "wpa-supplicant": 'network={\n  ssid="‹office-5G›"\n  ‹psk›="«{pw}»"\n}',
    "htpasswd": "‹{user}›:«$apr1${A8}${A22}»",
    "shadow": "‹{user}›:«$6${A16}${A86}»:19900:0:99999:7:::",
    "kubeconfig-token": "users:\n- name: ‹admin›\n  user:\n    token: «{A48}»",
    "kubeconfig-key": "users:\n- name: ‹dev›\n  user:\n    ‹client-key-data›: "
    "«LS0tLS1CRUdJTi{b200}=»",
    "kubernetes-secret": "kind: Secret\nmetadata:\n  name: ‹db›\ndata:\n  ‹password›: «{b23}=»",
    "otpauth": "otpauth://totp/‹Acme:dev@corp.kr›?secret=«{s32}»&issuer=Acme",
    "ipsec-secret": '‹10.0.0.1 10.0.0.2› : PSK "«{pw}»"',
    "chap-secrets": '"‹vpnuser›" * "«{pw}»" *',
    "laravel-key": "‹APP_KEY›=base64:«{b43}=»",
    "vault-unseal": "‹Unseal Key 1›: «{b43}=»",
    "git-credentials": "https://‹{user}›:«{pw}»@‹git.corp.kr›",
    "smb-credentials": "username=‹{user}›\n‹password›=«{spw}»\ndomain=CORP",
    # SQL and shells of databases
    "sql-identified-by": "CREATE USER ‹'{user}'›@'%' IDENTIFIED BY '«{spw}»';",
    "sql-grant": "GRANT ALL ON app.* TO ‹'{user}'›@'10.%' IDENTIFIED BY '«{pw}»';",
    "sql-alter-role": "ALTER ROLE ‹{user}› WITH LOGIN PASSWORD '«{spw}»';",
    "sql-create-login": "CREATE LOGIN ‹{user}› WITH PASSWORD = N'«{spw}»';",
    "sql-set-password": "SET PASSWORD FOR ‹'{user}'›@'localhost' = '«{pw}»';",
    "oracle-user": "ALTER USER ‹{user}› IDENTIFIED BY «{pw}» ACCOUNT UNLOCK;",
    "mongo-create-user": 'db.createUser({user: "‹{user}›", pwd: "«{pw}»", roles: ["readWrite"]})',
    # Command lines
    "curl-user": "curl -u ‹{user}›:«{pw}» https://{host}/api/jobs",
    "wget-password": "wget --user=‹{user}› ‹--password›='«{spw}»' https://{host}/a.tgz",
    "mysql-p": "mysql -h ‹{host}› -u ‹{user}› -p«{pw}» app < dump.sql",
    "psql-environment": "‹PGPASSWORD›=«{pw}» psql -h {host} -U ‹{user}› app",
    "sshpass": "sshpass -p '«{spw}»' ssh ‹{user}@{host}›",
    "redis-cli": "redis-cli -h ‹{host}› -a «{pw}» INFO",
    "mongosh": "mongosh --host ‹{host}› -u ‹{user}› -p «{pw}»",
    "openssl-passin": "openssl rsa -in ‹server.key› -passin pass:«{pw}» -out plain.key",
    "openssl-enc": "openssl enc -aes-256-cbc -k «{pw}» -in ‹dump.sql›",
    "docker-login": "docker login ‹registry.corp.kr› -u {user} -p «{pw}»",
    "sqlcmd": "sqlcmd -S ‹{host}› -U ‹{user}› -P '«{spw}»' -Q 'SELECT 1'",
    "ldapsearch": "ldapsearch -x -D ‹cn=admin,dc=corp› -w «{pw}» -b dc=corp",
    "smbclient": "smbclient ‹//nas/share› -U {user}%«{pw}»",
    "net-use": "net use Z: ‹\\\\nas\\share› /user:{user} «{pw}»",
    "keytool": "keytool -list -keystore ‹app.jks› ‹-storepass› «{pw}»",
    "seven-zip": "7z x ‹backup.7z› -p«{pw}»",
    "sudo-stdin": "echo '«{spw}»' | sudo -S systemctl restart ‹nginx›",
    "chpasswd": "echo '‹{user}›:«{pw}»' | chpasswd",
    "kubectl-literal": "kubectl create secret generic ‹db› --from-literal=‹password›='«{spw}»'",
    "gpg-passphrase": "gpg --batch ‹--passphrase› «{pw}» -d ‹secrets.gpg›",
}
VALUES: dict[str, Callable[[random.Random], str]] = {
    "hex-32": lambda rng: chars(rng, ALPHABETS["h"], 32),
    "hex-40": lambda rng: chars(rng, ALPHABETS["h"], 40),
    "hex-64": lambda rng: chars(rng, ALPHABETS["h"], 64),
    "base64-16-bytes": lambda rng: base64_of(rng, 16),
    "base64-32-bytes": lambda rng: base64_of(rng, 32),
    "base64-48-bytes": lambda rng: base64_of(rng, 48),
    "url-base64-32-bytes": lambda rng: url_base64(bytes_of(rng, 32)),
    "alphanumeric-20": lambda rng: plain(rng, 20),
    "alphanumeric-32": lambda rng: plain(rng, 32),
    "base64-characters-40": lambda rng: plain(rng, 12) + chars(rng, ALPHABETS["b"], 27) + "k",
    "uuid": a_uuid,
    "mixed-12": lambda rng: mixed(rng, 12),
    "mixed-16": lambda rng: mixed(rng, 16),
    "mixed-24": lambda rng: mixed(rng, 24),
    "base32-32": lambda rng: chars(rng, ALPHABETS["s"], 32),
    "dashed-groups": lambda rng: "-".join(chars(rng, ALPHABETS["u"], 5) for _ in range(5)),
}
HUMAN: dict[str, Callable[[random.Random], str]] = {
    "two-words-digits-bang": two_words,
    "word-year-bang": lambda rng: f"{rng.choice(WORDS).title()}{rng.randrange(2018, 2027)}!",
    "word-digits": lambda rng: f"{rng.choice(WORDS)}{rng.randrange(100, 9999)}",
    "word-hash-digits": lambda rng: f"{rng.choice(WORDS).title()}#{rng.randrange(1000, 9999)}",
    "word-at-digits": lambda rng: f"{rng.choice(WORDS)}@{rng.randrange(100, 9999)}",
    "letters-swapped": lambda rng: (
        rng.choice(WORDS).title().replace("a", "@").replace("e", "3").replace("o", "0")
        + f"{rng.randrange(10, 99)}$"
    ),
    "short-8": lambda rng: plain(rng, 8),
    "short-10": lambda rng: mixed(rng, 10),
    "typed-korean": lambda rng: f"{rng.choice(TYPED_KOREAN)}{rng.randrange(10, 9999)}!",
    "typed-korean-at": lambda rng: f"{rng.choice(TYPED_KOREAN)}@{rng.randrange(1000, 9999)}",
    "dashed-words-digits": lambda rng: "-".join(
        [*rng.sample(WORDS, 3), str(rng.randrange(10, 99))]
    ),
    "words-with-symbol": lambda rng: "$".join(rng.sample(WORDS, 2)) + str(rng.randrange(10, 99)),
    "digits-8": lambda rng: str(rng.randrange(20_000_000, 99_999_999)),
}


def structures() -> Iterator[tuple[str, str]]:
    """The name and the template of every kind of snippet."""
    for name, label in PEMS.items():
        yield (
            f"pem-{name}",
            f"{DASHES}BEGIN {label}{DASHES}\n«{{pem}}»\n{DASHES}END {label}{DASHES}",
        )
    for name, (scheme, user, rest) in URLS.items():
        login = f"‹{user}›" if user else ""
        yield f"url-{name}", f"{scheme}://{login}:«{{pw}}»@‹{{host}}›{rest}"
    yield from SNIPPETS.items()


def all_kinds() -> list[Kind]:
    """Every kind, tokens first."""
    return [
        *(Kind(name, "token", from_template(it)) for name, it in TOKENS.items()),
        *(Kind(name, "structure", from_template(it)) for name, it in structures()),
        *(Kind(name, "assignment", from_maker(it)) for name, it in VALUES.items()),
        *(Kind(name, "prose", from_maker(it)) for name, it in HUMAN.items()),
    ]


KINDS = all_kinds()
