"""The table of secret formats, one row for each rule.

The file is long because it is one table: a format is added in one place.

Three families stand one after the other: prefixes, structure, and names with a value.  A row says
what must be in the text before its pattern runs, which group is the secret, where the format is
documented, one text that must change and one that must not.  Every quantifier has an upper bound.
The examples are templates, so that nothing in this file looks like a secret: see `expand`.
"""

from dataclasses import dataclass

AFTER = -1  # as a rule's group: the value follows the match and the engine's gate decides on it


@dataclass(frozen=True, slots=True)
class Rule:
    """One secret format."""

    name: str
    hints: tuple[str, ...]  # lower case; one of them must be in the casefolded text
    pattern: str
    group: int
    source: str
    example: str
    lookalike: str


ALPHABETS = {
    "A": "a7Kq9ZxB3mTr0LwYc5HnVe8PdJf2GsUo",
    "a": "q7x3m0tz9kb5wv8fd2hr6j4cnlpsgyu1",
    "U": "Q7X3M5TZK2BWVFDHRJ4CNLPSGYUAE6I",
    "h": "3f9a0c7e5b1d8246",
    "H": "3F9A0C7E5B1D8246",
    "d": "7301948265",
    "L": "qXmTzKbWvFdHrJcNlPsGyU",
}


def _body(letter: str, count: int) -> str:
    """Return `count` varied characters of one alphabet, the same each time."""
    alphabet = ALPHABETS[letter]
    size = len(alphabet)
    return "".join(alphabet[(i + i // size * 5) % size] for i in range(count))


def expand(template: str) -> tuple[str, str]:
    """Return the text of a template, and that text with the marker in place of its secrets.

    `{A36}` stands for 36 characters of the alphabet A; `«` and `»` enclose a secret.
    """
    text, expected, hidden = "", "", False
    for piece in template.replace("«", "\0«\0").replace("»", "\0»\0").split("\0"):
        if piece in ("«", "»"):
            hidden = piece == "«"
            expected += "[REDACTED]" if hidden else ""
            continue
        filled = _fill(piece)
        text += filled
        expected += "" if hidden else filled
    return text, expected


def _fill(piece: str) -> str:
    """Return `piece` with every `{A36}` in it spelled out."""
    out = ""
    while piece:
        before, brace, rest = piece.partition("{")
        out += before
        inner, closed, after = rest.partition("}")
        if brace and closed and inner[:1] in ALPHABETS and inner[1:].isdigit():
            out += _body(inner[0], int(inner[1:]))
            piece = after
        else:
            out += brace
            piece = rest
    return out


LEFT = r"(?<![A-Za-z0-9_])"
RIGHT = r"(?![A-Za-z0-9])"
URLSAFE = r"[A-Za-z0-9_\-]"

GITHUB = "https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/"
GITLAB = "https://docs.gitlab.com/security/tokens/#token-prefixes"
SLACK = "https://api.slack.com/authentication/token-types"
STRIPE = "https://docs.stripe.com/keys"
OPENAI = "https://platform.openai.com/docs/api-reference/authentication"
GOOGLE = "https://cloud.google.com/docs/authentication"
HASHICORP = "https://developer.hashicorp.com/vault/docs/concepts/tokens"
CLOUDFLARE = "https://developers.cloudflare.com/fundamentals/api/get-started/"
GITLEAKS = "https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml"
TRUFFLEHOG = "https://github.com/trufflesecurity/trufflehog/tree/main/pkg/detectors"
TOSS = "https://docs.tosspayments.com/reference/using-api/api-keys"

CODE_HOSTS: tuple[Rule, ...] = (
    Rule(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghr_"),
        r"gh[pour]_[A-Za-z0-9]{36,255}",
        0,
        GITHUB,
        "push with «ghp_{A36}»를 썼다",
        "ghp_short is no token",
    ),
    Rule(
        "github-app-token",
        ("ghs_",),
        r"ghs_(?:[0-9]{1,12}_)?[A-Za-z0-9_\-]{30,512}"
        r"(?:\.[A-Za-z0-9_\-]{10,2048}\.[A-Za-z0-9_\-]{10,1024})?",
        0,
        GITHUB,
        "«ghs_{d7}_eyJ{A20}.eyJ{A90}.{A43}». Then",
        "ghs_1234_abc is no token",
    ),
    Rule(
        "github-fine-grained",
        ("github_pat_",),
        r"github_pat_[A-Za-z0-9_]{36,255}",
        0,
        GITHUB,
        "use «github_pat_{A22}_{A59}».",
        "github_pat_example",
    ),
    Rule(
        "gitlab-pat",
        ("glpat-",),
        r"glpat-[A-Za-z0-9_\-]{20,300}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,12})?",
        0,
        GITLAB,
        "(«glpat-{A27}.01.{a9}»)",
        "glpat-<your-token>",
    ),
    Rule(
        "gitlab-deploy",
        ("gldt-",),
        r"gldt-[A-Za-z0-9_\-]{20,64}",
        0,
        GITLAB,
        "deploy «gldt-{A20}»",
        "gldt-deploy",
    ),
    Rule(
        "gitlab-runner",
        ("glrt-", "glrtr-"),
        r"glrtr?-(?:t[0-9]_)?[A-Za-z0-9_\-]{20,128}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,12})?",
        0,
        GITLAB,
        "runner «glrt-t1_{A20}»",
        "glrt-runner",
    ),
    Rule(
        "gitlab-job",
        ("glcbt-",),
        r"glcbt-[A-Za-z0-9_\-]{20,1024}",
        0,
        GITLAB,
        "job «glcbt-64_{A20}»",
        "glcbt-64",
    ),
    Rule(
        "gitlab-other",
        ("glptt-", "gloas-", "glft-", "glsoat-", "glagent-", "glimt-", "glffct-"),
        r"gl(?:ptt|oas|ft|soat|agent|imt|ffct)-[A-Za-z0-9_\-]{20,128}",
        0,
        GITLAB,
        "trigger «glptt-{h40}» fired",
        "glptt-trigger",
    ),
    Rule(
        "bitbucket-app-password",
        ("atbb",),
        LEFT + r"ATBB[A-Za-z0-9]{28,40}" + RIGHT,
        0,
        "https://support.atlassian.com/bitbucket-cloud/docs/app-passwords/",
        "clone with «ATBB{A32}»",
        "ATBBOX is a word",
    ),
    Rule(
        "atlassian-token",
        ("atatt3", "atctt3"),
        r"AT[AC]TT3[A-Za-z0-9_\-=]{60,512}",
        0,
        "https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/",
        "jira «ATATT3{A170}={H8}»",
        "ATATT3 is the prefix",
    ),
    Rule(
        "sourcegraph-token",
        ("sgp_",),
        r"sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}",
        0,
        "https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token",
        "src «sgp_{h16}_{h40}»",
        "sgp_local_index",
    ),
    Rule(
        "npm-token",
        ("npm_",),
        r"npm_[A-Za-z0-9]{36,64}",
        0,
        "https://docs.npmjs.com/about-access-tokens",
        "publish «npm_{A36}»!",
        "npm_config_registry and npm_lifecycle_event",
    ),
    Rule(
        "pypi-token",
        ("pypi-age",),
        r"pypi-AgE[A-Za-z0-9_\-]{50,1000}",
        0,
        GITLEAKS,
        "twine «pypi-AgEIcHlwaS5vcmc{A80}»",
        "pypi-publish",
    ),
    Rule(
        "rubygems-key",
        ("rubygems_",),
        r"rubygems_[a-f0-9]{48}",
        0,
        "https://guides.rubygems.org/api-key-scopes/",
        "gem «rubygems_{h48}»",
        "rubygems_mfa",
    ),
    Rule(
        "nuget-key",
        ("oy2",),
        LEFT + r"oy2[a-z0-9]{43}" + RIGHT,
        0,
        GITLEAKS,
        "nuget push «oy2{a43}»",
        "oy2short",
    ),
    Rule(
        "crates-io-token",
        ("cio",),
        LEFT + r"cio[A-Za-z0-9]{32}" + RIGHT,
        0,
        "https://doc.rust-lang.org/cargo/reference/publishing.html",
        "cargo login «cio{A32}»",
        "cioran wrote it",
    ),
    Rule(
        "clojars-token",
        ("clojars_",),
        r"(?i:clojars_)[a-z0-9]{60}",
        0,
        GITLEAKS,
        "lein «CLOJARS_{a60}»",
        "CLOJARS_USERNAME",
    ),
    Rule(
        "docker-token",
        ("dckr_pat_", "dckr_oat_"),
        r"dckr_[po]at_[A-Za-z0-9_\-]{27,64}",
        0,
        "https://docs.docker.com/security/access-tokens/",
        "login «dckr_pat_{A27}»를",
        "dckr_pat_ is the prefix",
    ),
    Rule(
        "artifactory-key",
        ("akcp",),
        LEFT + r"AKCp[A-Za-z0-9]{60,80}" + RIGHT,
        0,
        GITLEAKS,
        "jf «AKCp8{A68}»",
        "AKCp8short",
    ),
    Rule(
        "buildkite-token",
        ("bkua_", "bkaj_", "bkct_"),
        r"bk(?:ua|aj|ct)_[A-Za-z0-9]{36,128}",
        0,
        "https://buildkite.com/docs/apis/managing-api-tokens",
        "ci «bkua_{h40}»",
        "bkua_short",
    ),
    Rule(
        "circleci-token",
        ("ccipat_", "cciprj_"),
        r"CCIP(?:AT|RJ)_[A-Za-z0-9]{16,32}_[a-f0-9]{40}",
        0,
        TRUFFLEHOG,
        "ci «CCIPAT_{A22}_{h40}»",
        "CCIPAT_name",
    ),
    Rule(
        "sonar-token",
        ("sqp_", "squ_", "sqa_"),
        LEFT + r"sq[pua]_[a-f0-9]{40}" + RIGHT,
        0,
        "https://docs.sonarsource.com/sonarqube-server/user-guide/managing-tokens/",
        "scan «squ_{h40}»",
        "squ_are",
    ),
    Rule(
        "snyk-token",
        ("snyk_",),
        r"snyk_[us]at\.[a-z0-9]{8}\.[A-Za-z0-9_.\-]{30,300}",
        0,
        TRUFFLEHOG,
        "snyk «snyk_uat.{h8}.{A60}» ok",
        "snyk_test.json",
    ),
    Rule(
        "sentry-token",
        ("sntrys_", "sntryu_"),
        r"sntry[su]_[A-Za-z0-9+/=_\-]{60,512}",
        0,
        "https://docs.sentry.io/account/auth-tokens/",
        "«sntrys_eyJ{A80}=_{A43}»은",
        "sntrys_ is the prefix",
    ),
)

CLOUDS: tuple[Rule, ...] = (
    Rule(
        "aws-access-key",
        ("akia", "asia", "abia", "acca"),
        LEFT + r"A(?:KIA|SIA|BIA|CCA)(?![A-Z0-9]{0,9}EXAMPLE)[A-Z2-7]{16}" + RIGHT,
        0,
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html",
        "(«AKIA{U16}»)를 지웠다",
        "AKIA{U9}EXAMPLE, ASIAN FOOD",
    ),
    Rule(
        "aws-bedrock-key",
        ("absk",),
        LEFT + r"ABSK[A-Za-z0-9+/]{109,269}={0,2}",
        0,
        "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
        "bedrock «ABSK{A128}»",
        "ABSKIRT",
    ),
    Rule(
        "google-api-key",
        ("aiza",),
        r"AIza[A-Za-z0-9_\-]{35}",
        0,
        "https://cloud.google.com/docs/authentication/api-keys",
        "maps «AIza{A35}».",
        "AIzawa",
    ),
    Rule(
        "google-bound-key",
        ("aq.ab",),
        LEFT + r"AQ\.Ab[A-Za-z0-9_\-]{40,120}",
        0,
        "https://ai.google.dev/gemini-api/docs/api-key",
        "gemini «AQ.Ab{A48}»로",
        "FAQ.About",
    ),
    Rule(
        "google-client-secret",
        ("gocspx-",),
        r"GOCSPX-[A-Za-z0-9_\-]{28}",
        0,
        GOOGLE,
        "oauth «GOCSPX-{A28}»",
        "GOCSPX-prefix",
    ),
    Rule(
        "google-access-token",
        ("ya29.",),
        r"ya29\.[A-Za-z0-9_\-]{30,1024}",
        0,
        GOOGLE,
        "got «ya29.{A120}»",
        "ya29.short",
    ),
    Rule(
        "google-refresh-token",
        ("1//0",),
        LEFT + r"1//0[A-Za-z0-9_\-]{38,120}",
        0,
        GOOGLE,
        "refresh «1//0{A60}»",
        "1//0 is a division",
    ),
    Rule(
        "azure-client-secret",
        ("q~",),
        r"(?<![A-Za-z0-9_.~\-])[A-Za-z0-9_.~\-]{3}[78]Q~[A-Za-z0-9_.~\-]{31,34}",
        0,
        "https://learn.microsoft.com/en-us/purview/sit-defn-azure-ad-client-secret",
        "entra «abC8Q~{A34}» ok",
        "the 8Q~ part",
    ),
    Rule(
        "azure-devops-token",
        ("jqqj99",),
        r"[A-Za-z0-9]{0,52}JQQJ99[A-Za-z0-9]{18}AZDO[A-Za-z0-9]{4}",
        0,
        "https://learn.microsoft.com/en-us/azure/devops/organizations/accounts/use-personal-access-tokens-to-authenticate",
        "git «{A52}JQQJ99{A18}AZDO{A4}»",
        "JQQJ99 stands inside",
    ),
    Rule(
        "azure-cognitive-key",
        ("jqqj99", "jqqjb"),
        r"[A-Za-z0-9]{30,56}JQQJ(?:99|B)[A-Za-z0-9]{7,20}[A-Z]{4}[A-Za-z0-9]{4,12}",
        0,
        TRUFFLEHOG,
        "ai «{A52}JQQJ99{A10}ACYE{A8}»",
        "JQQJ99ACYE",
    ),
    Rule(
        "alibaba-access-key",
        ("ltai",),
        LEFT + r"LTAI[A-Za-z0-9]{16,26}" + RIGHT,
        0,
        GITLEAKS,
        "oss «LTAI{A20}»",
        "LTAI5t",
    ),
    Rule(
        "digitalocean-token",
        ("dop_v1_", "doo_v1_", "dor_v1_"),
        r"do[por]_v1_[a-f0-9]{64}",
        0,
        "https://docs.digitalocean.com/reference/api/create-personal-access-token/",
        "doctl «dop_v1_{h64}»을",
        "dop_v1_prefix",
    ),
    Rule(
        "cloudflare-token",
        ("cfk_", "cfut_", "cfat_"),
        LEFT + r"cf(?:k|ut|at)_[A-Za-z0-9_\-]{36,80}",
        0,
        CLOUDFLARE,
        "wrangler «cfut_{A48}»",
        "cfut_short",
    ),
    Rule(
        "cloudflare-origin-key",
        ("v1.0-",),
        LEFT + r"v1\.0-[a-f0-9]{24}-[a-f0-9]{140,160}",
        0,
        CLOUDFLARE,
        "origin «v1.0-{h24}-{h146}»",
        "v1.0-beta",
    ),
    Rule(
        "vercel-token",
        ("vcp_", "vci_", "vca_", "vcr_", "vck_"),
        LEFT + r"vc[piark]_[A-Za-z0-9]{24,80}",
        0,
        "https://vercel.com/docs/rest-api",
        "deploy «vcp_{A56}»",
        "vcp_short",
    ),
    Rule(
        "netlify-token",
        ("nfp_", "nfc_", "nfo_"),
        LEFT + r"nf[pco]_[A-Za-z0-9]{36,64}",
        0,
        "https://docs.netlify.com/api/get-started/",
        "netlify «nfp_{A36}»",
        "nfp_short",
    ),
    Rule(
        "supabase-secret",
        ("sb_secret_",),
        r"sb_secret_[A-Za-z0-9_\-]{20,80}",
        0,
        "https://supabase.com/docs/guides/api/api-keys",
        "«sb_secret_{A31}»를",
        "sb_publishable_{A31}",
    ),
    Rule(
        "supabase-access-token",
        ("sbp_",),
        r"sbp_(?:oauth_)?[a-f0-9]{40}",
        0,
        "https://supabase.com/docs/guides/api",
        "cli «sbp_{h40}»",
        "sbp_short",
    ),
    Rule(
        "heroku-key",
        ("hrku-aa",),
        r"HRKU-AA[A-Za-z0-9_\-]{50,80}",
        0,
        "https://devcenter.heroku.com/articles/authentication",
        "«HRKU-AA{A58}»",
        "HRKU-AA",
    ),
    Rule(
        "render-key",
        ("rnd_",),
        LEFT + r"rnd_[A-Za-z0-9]{28,40}" + RIGHT,
        0,
        "https://render.com/docs/api",
        "render «rnd_{A32}»",
        "rnd_seed",
    ),
    Rule(
        "fly-token",
        ("fo1_", "fm1r_", "fm1a_", "fm2_"),
        LEFT + r"(?:fo1_[A-Za-z0-9_\-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{80,2000}={0,3})",
        0,
        "https://fly.io/docs/security/tokens/",
        "fly «fo1_{A43}»",
        "fo1_short",
    ),
    Rule(
        "planetscale-secret",
        ("pscale_",),
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.\-=]{31,63}[A-Za-z0-9_]",
        0,
        "https://planetscale.com/docs/concepts/service-tokens",
        "db «pscale_pw_{A43}».",
        "pscale_tkn_id",
    ),
    Rule(
        "neon-key",
        ("napi_",),
        LEFT + r"napi_[a-z0-9]{50,80}" + RIGHT,
        0,
        "https://neon.com/docs/manage/api-keys",
        "neon «napi_{a64}»",
        "napi_status and napi_value",
    ),
    Rule(
        "mongodb-atlas-secret",
        ("mdb_sa_sk_",),
        r"mdb_sa_sk_[A-Za-z0-9_\-]{40}",
        0,
        "https://www.mongodb.com/docs/atlas/api/service-accounts-overview/",
        "atlas «mdb_sa_sk_{A40}»",
        "mdb_sa_id_{h24}",
    ),
    Rule(
        "vault-token",
        ("hvs.", "hvb.", "hvr."),
        LEFT + r"hv[sbr]\.[A-Za-z0-9_\-]{24,300}",
        0,
        HASHICORP,
        "vault «hvs.{A90}»가",
        "hvs.short",
    ),
    Rule(
        "terraform-token",
        (".atlasv1.",),
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{60,70}",
        0,
        "https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens",
        "tf «{A14}.atlasv1.{A67}»",
        "abc.atlasv1.def",
    ),
    Rule(
        "pulumi-token",
        ("pul-",),
        LEFT + r"pul-[a-f0-9]{40}" + RIGHT,
        0,
        "https://www.pulumi.com/docs/pulumi-cloud/access-management/access-tokens/",
        "pulumi «pul-{h40}»",
        "pul-request",
    ),
    Rule(
        "doppler-token",
        ("dp.",),
        LEFT + r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.\-]{40,80}",
        0,
        "https://docs.doppler.com/reference/auth-token-formats",
        "«dp.pt.{A43}»",
        "dp.pt.short",
    ),
    Rule(
        "onepassword-token",
        ("ops_eyj",),
        r"ops_eyJ[A-Za-z0-9+/_\-]{200,4000}={0,3}",
        0,
        "https://developer.1password.com/docs/service-accounts/",
        "op «ops_eyJ{A250}»",
        "ops_eyJ",
    ),
    Rule(
        "databricks-token",
        ("dapi",),
        LEFT + r"dapi[a-f0-9]{32}(?:-[0-9]{1,2})?" + RIGHT,
        0,
        "https://docs.databricks.com/aws/en/dev-tools/auth/pat",
        "spark «dapi{h32}-2»",
        "dapi_call",
    ),
    Rule(
        "grafana-service-token",
        ("glsa_",),
        r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}",
        0,
        "https://grafana.com/docs/grafana/latest/administration/service-accounts/",
        "«glsa_{A32}_{h8}»",
        "glsa_name",
    ),
    Rule(
        "grafana-cloud-token",
        ("glc_",),
        LEFT + r"glc_[A-Za-z0-9+/]{32,400}={0,3}",
        0,
        "https://grafana.com/docs/grafana-cloud/security-and-account-management/authentication-and-permissions/access-policies/",
        "«glc_eyJ{A100}»",
        "glc_create",
    ),
    Rule(
        "newrelic-key",
        ("nrak-", "nrii-", "nraa-"),
        r"NR(?:AK|II|AA)-[A-Za-z0-9_\-]{27,40}",
        0,
        "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
        "«NRAK-{U27}»",
        "NRAK-key",
    ),
    Rule(
        "dynatrace-token",
        ("dt0",),
        LEFT + r"dt0[a-z][0-9]{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}" + RIGHT,
        0,
        "https://docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients/access-tokens",
        "«dt0c01.{U24}.{U64}»",
        "dt0c01.sample",
    ),
    Rule(
        "tailscale-key",
        ("tskey-",),
        r"tskey-[a-z]{2,12}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{24,64}",
        0,
        "https://tailscale.com/kb/1085/auth-keys",
        "up «tskey-auth-{A12}CNTRL-{A32}»",
        "tskey-auth",
    ),
    Rule(
        "launchdarkly-key",
        ("sdk-", "api-"),
        LEFT + r"(?:sdk|api)-[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[a-f0-9]{4}-[a-f0-9]{12}" + RIGHT,
        0,
        "https://launchdarkly.com/docs/home/account/api",
        "«sdk-{h8}-{h4}-4{h3}-{h4}-{h12}»",
        "api-3f9a0c7e is a host",
    ),
)

MODELS: tuple[Rule, ...] = (
    Rule(
        "openai-key",
        ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-none-"),
        r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_\-]{20,300}",
        0,
        OPENAI,
        "키는 «sk-proj-{A74}T3BlbkFJ{A74}»이다",
        "sk-proj-<key>",
    ),
    Rule(
        "plain-sk-key",
        ("sk-",),
        r"(?<![A-Za-z0-9_\-])sk-(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{32,64}" + RIGHT,
        0,
        OPENAI,
        "old «sk-{A20}T3BlbkFJ{A20}» key",
        "risk-adjusted, sk-learn and sk_buff",
    ),
    Rule(
        "anthropic-key",
        ("sk-ant-",),
        r"sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_\-]{20,300}",
        0,
        "https://docs.anthropic.com/en/api/overview",
        "«sk-ant-api03-{A93}AA»를 폐기",
        "sk-ant-api03- is the prefix",
    ),
    Rule(
        "openrouter-key",
        ("sk-or-v1-",),
        r"sk-or-v1-[a-f0-9]{64}",
        0,
        "https://openrouter.ai/docs/api-reference/authentication",
        "«sk-or-v1-{h64}»",
        "sk-or-v1-x",
    ),
    Rule(
        "langfuse-secret",
        ("sk-lf-",),
        r"sk-lf-[a-f0-9\-]{36}",
        0,
        "https://langfuse.com/docs/api",
        "«sk-lf-{h8}-{h4}-{h4}-{h4}-{h12}»",
        "pk-lf-{h8}-{h4}-{h4}-{h4}-{h12}",
    ),
    Rule(
        "groq-key",
        ("gsk_",),
        r"(?<![A-Za-z0-9])(?<!live_)(?<!test_)gsk_[A-Za-z0-9]{40,64}",
        0,
        "https://console.groq.com/docs/quickstart",
        "«gsk_{A52}»",
        "gsk_value",
    ),
    Rule(
        "xai-key",
        ("xai-",),
        r"xai-[A-Za-z0-9]{70,90}",
        0,
        "https://docs.x.ai/docs/overview",
        "«xai-{A80}»",
        "xai-sdk",
    ),
    Rule(
        "perplexity-key",
        ("pplx-",),
        r"pplx-[A-Za-z0-9]{40,64}",
        0,
        "https://docs.perplexity.ai/getting-started/quickstart",
        "«pplx-{A48}»",
        "pplx-api",
    ),
    Rule(
        "replicate-token",
        ("r8_",),
        LEFT + r"r8_[A-Za-z0-9]{36,40}" + RIGHT,
        0,
        "https://replicate.com/docs/topics/security/api-tokens",
        "«r8_{A37}»",
        "r8_unorm",
    ),
    Rule(
        "huggingface-token",
        ("hf_", "api_org_"),
        LEFT + r"(?:hf_[A-Za-z0-9]{30,40}|api_org_[A-Za-z0-9]{34})" + RIGHT,
        0,
        "https://huggingface.co/docs/hub/security-tokens",
        "«hf_{A34}»를",
        "hf_hub_download",
    ),
    Rule(
        "nvidia-key",
        ("nvapi-",),
        r"nvapi-[A-Za-z0-9_\-]{60,80}",
        0,
        "https://docs.api.nvidia.com/",
        "«nvapi-{A64}»",
        "nvapi-client",
    ),
    Rule(
        "tavily-key",
        ("tvly-",),
        r"tvly-(?:dev-|prod-)?[A-Za-z0-9\-]{28,64}",
        0,
        "https://docs.tavily.com/documentation/quickstart",
        "«tvly-dev-{A32}»",
        "tvly-dev",
    ),
    Rule(
        "langsmith-key",
        ("lsv2_",),
        r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}",
        0,
        "https://docs.smith.langchain.com/administration/how_to_guides/organization_management/create_account_api_key",
        "«lsv2_pt_{h32}_{h10}»",
        "lsv2_pt_name",
    ),
    Rule(
        "pinecone-key",
        ("pcsk_",),
        r"pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,70}",
        0,
        "https://docs.pinecone.io/guides/projects/manage-api-keys",
        "«pcsk_{A6}_{A63}»",
        "pcsk_a",
    ),
    Rule(
        "fireworks-key",
        ("fw_",),
        LEFT + r"fw_[A-Za-z0-9]{22,28}" + RIGHT,
        0,
        "https://docs.fireworks.ai/getting-started/quickstart",
        "«fw_{A24}»",
        "fw_version",
    ),
    Rule(
        "elevenlabs-key",
        ("sk_",),
        LEFT + r"sk_[a-f0-9]{48}" + RIGHT,
        0,
        "https://elevenlabs.io/docs/api-reference/authentication",
        "«sk_{h48}»",
        "sk_buff",
    ),
    Rule(
        "firecrawl-key",
        ("fc-",),
        r"(?<![A-Za-z0-9_\-])fc-[a-f0-9]{32}" + RIGHT,
        0,
        "https://docs.firecrawl.dev/introduction",
        "«fc-{h32}»",
        "fc-list",
    ),
    Rule(
        "e2b-key",
        ("e2b_",),
        LEFT + r"e2b_[a-f0-9]{40}" + RIGHT,
        0,
        "https://e2b.dev/docs/api-key",
        "«e2b_{h40}»",
        "e2b_sandbox",
    ),
    Rule(
        "wandb-key",
        ("wandb_v1_",),
        r"wandb_v1_[A-Za-z0-9_]{60,100}",
        0,
        "https://docs.wandb.ai/",
        "«wandb_v1_{A77}»",
        "wandb_v1_run",
    ),
)

APPS: tuple[Rule, ...] = (
    Rule(
        "slack-token",
        ("xox",),
        r"xox[abeoprsdc](?:-|\.xox[bp]-)[A-Za-z0-9%\-]{16,400}",
        0,
        SLACK,
        "bot «xoxb-{d12}-{d12}-{A24}»가",
        "xoxb-token",
    ),
    Rule(
        "slack-app-token",
        ("xapp-",),
        r"xapp-[0-9]-[A-Z0-9]{8,14}-[0-9]{8,16}-[A-Za-z0-9]{32,80}",
        0,
        SLACK,
        "«xapp-1-A{U10}-{d13}-{h64}»",
        "xapp-1-name",
    ),
    Rule(
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_"),
        LEFT + r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}",
        0,
        STRIPE,
        "결제 «sk_live_{A24}»로",
        "pk_live_{A24}, task_test_x",
    ),
    Rule(
        "webhook-signing-secret",
        ("whsec_",),
        r"whsec_[A-Za-z0-9+/=]{24,88}",
        0,
        "https://docs.stripe.com/webhooks/signature",
        "«whsec_{A32}»",
        "whsec_...",
    ),
    Rule(
        "toss-key",
        ("live_", "test_"),
        LEFT + r"(?:live|test)_g?sk_[A-Za-z0-9]{20,60}",
        0,
        TOSS,
        "토스 «live_sk_{A32}»를",
        "live_ck_{A30} test_sk_id",
    ),
    Rule(
        "toss-security-key",
        ("live_", "test_"),
        LEFT + r"(?:live|test)_secret_[A-Za-z0-9]{20,60}",
        0,
        TOSS,
        "«test_secret_{A32}»",
        "test_secret_manager",
    ),
    Rule(
        "kakao-admin-key",
        ("kakaoak",),
        r"(?i:KakaoAK)[ \t]{1,4}([A-Za-z0-9]{32})" + RIGHT,
        1,
        "https://developers.kakao.com/docs/latest/en/rest-api/getting-started",
        "Authorization: KakaoAK «{h32}»",
        "KakaoAK ${KEY}",
    ),
    Rule(
        "sendgrid-key",
        ("sg.",),
        LEFT + r"SG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{36,64}",
        0,
        "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
        "«SG.{A22}.{A43}».",
        "SG.example.com",
    ),
    Rule(
        "twilio-api-key",
        ("sk",),
        LEFT + r"SK[a-f0-9]{32}" + RIGHT,
        0,
        "https://www.twilio.com/docs/iam/api-keys",
        "«SK{h32}»",
        "SKIP and AC{h32}",
    ),
    Rule(
        "mailgun-key",
        ("key-",),
        r"(?<![A-Za-z0-9_\-])key-[a-f0-9]{32}" + RIGHT,
        0,
        "https://documentation.mailgun.com/docs/mailgun/api-reference/mg-auth",
        "«key-{h32}»",
        "key-value and monkey-3f9a",
    ),
    Rule(
        "mailchimp-key",
        ("-us",),
        LEFT + r"[a-f0-9]{32}-us[0-9]{1,2}" + RIGHT,
        0,
        "https://mailchimp.com/developer/marketing/guides/quick-start/",
        "«{h32}-us14»",
        "en-us14",
    ),
    Rule(
        "brevo-key",
        ("xkeysib-", "xsmtpsib-"),
        r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}",
        0,
        "https://developers.brevo.com/docs/getting-started",
        "«xkeysib-{h64}-{A16}»",
        "xkeysib-",
    ),
    Rule(
        "resend-key",
        ("re_",),
        LEFT + r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,32}" + RIGHT,
        0,
        "https://resend.com/docs/dashboard/api-keys/introduction",
        "«re_{A8}_{A24}»",
        "re_compile_x",
    ),
    Rule(
        "telegram-bot-token",
        (":aa",),
        r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_\-]{33}" + RIGHT,
        0,
        "https://core.telegram.org/bots/api#authorizing-your-bot",
        "bot«{d10}:AA{A33}»을",
        "12:AAPL",
    ),
    Rule(
        "discord-bot-token",
        (".",),
        r"(?<![A-Za-z0-9_\-.])[MNO][A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,38}"
        + RIGHT,
        0,
        "https://discord.com/developers/docs/reference#authentication",
        "«M{A25}.{A6}.{A38}»",
        "Module.member.method",
    ),
    Rule(
        "shopify-token",
        ("shpat_", "shpca_", "shppa_", "shpss_"),
        r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
        0,
        "https://shopify.dev/docs/apps/build/authentication-authorization",
        "«shpat_{h32}»",
        "shpat_",
    ),
    Rule(
        "square-token",
        ("sq0atp-", "sq0csp-", "eaaa"),
        r"(?:sq0(?:atp|csp)-[A-Za-z0-9_\-]{22,60}|(?<![A-Za-z0-9_+/])EAAA[A-Za-z0-9_\-]{60}"
        + RIGHT
        + ")",
        0,
        "https://developer.squareup.com/docs/build-basics/access-tokens",
        "«sq0csp-{A43}»",
        "sq0idp-{A22}",
    ),
    Rule(
        "facebook-token",
        ("eaa",),
        r"(?<![A-Za-z0-9_+/])EAA[A-Za-z0-9]{90,400}(?![A-Za-z0-9+/=])",
        0,
        "https://developers.facebook.com/docs/facebook-login/guides/access-tokens/",
        "«EAA{A180}»",
        "EAAB",
    ),
    Rule(
        "linear-key",
        ("lin_api_", "lin_oauth_", "lin_wh_"),
        r"lin_(?:api|oauth|wh)_[A-Za-z0-9]{32,80}",
        0,
        "https://linear.app/developers/graphql",
        "«lin_api_{A40}»",
        "lin_api_key",
    ),
    Rule(
        "figma-token",
        ("figd_", "figu_", "figo_"),
        r"fig[duo][rh]?_[A-Za-z0-9_\-]{40,60}",
        0,
        "https://www.figma.com/developers/api#authentication",
        "«figd_{A43}»",
        "figd_token",
    ),
    Rule(
        "postman-key",
        ("pmak-",),
        r"PMAK-[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}",
        0,
        "https://learning.postman.com/docs/developer/postman-api/authentication/",
        "«PMAK-{h24}-{h34}»",
        "PMAK-key",
    ),
    Rule(
        "notion-token",
        ("ntn_", "secret_"),
        LEFT + r"(?:ntn_[A-Za-z0-9]{40,60}|secret_(?=[A-Za-z]{0,42}[0-9])[A-Za-z0-9]{43})" + RIGHT,
        0,
        "https://developers.notion.com/reference/authentication",
        "«ntn_{d11}{A35}»",
        "ntn_page",
    ),
    Rule(
        "airtable-token",
        ("pat",),
        LEFT + r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}" + RIGHT,
        0,
        "https://airtable.com/developers/web/guides/personal-access-tokens",
        "«pat{A14}.{h64}»",
        "patch.diff",
    ),
    Rule(
        "hubspot-token",
        ("pat-",),
        LEFT
        + r"pat-[a-z]{2}[0-9]-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"
        + RIGHT,
        0,
        "https://developers.hubspot.com/docs/guides/apps/private-apps/overview",
        "«pat-na1-{h8}-{h4}-{h4}-{h4}-{h12}»",
        "pat-na1",
    ),
    Rule(
        "dropbox-token",
        ("sl.",),
        LEFT + r"sl\.(?:[a-z]\.)?[A-Za-z0-9_\-]{60,2000}",
        0,
        "https://developers.dropbox.com/oauth-guide",
        "«sl.u.{A140}»",
        "sl.exe",
    ),
    Rule(
        "contentful-token",
        ("cfpat-",),
        r"CFPAT-[A-Za-z0-9_\-]{43}",
        0,
        "https://www.contentful.com/developers/docs/references/authentication/",
        "«CFPAT-{A43}»",
        "CFPAT-x",
    ),
    Rule(
        "typeform-token",
        ("tfp_",),
        LEFT + r"tfp_[A-Za-z0-9_.=\-]{40,80}",
        0,
        "https://www.typeform.com/developers/get-started/personal-access-token/",
        "«tfp_{A59}»",
        "tfp_mean",
    ),
    Rule(
        "posthog-key",
        ("phx_",),
        LEFT + r"phx_[A-Za-z0-9]{40,60}" + RIGHT,
        0,
        "https://posthog.com/docs/api",
        "«phx_{A47}»",
        "phc_{A43}",
    ),
    Rule(
        "mapbox-secret",
        ("sk.eyj",),
        LEFT + r"sk\.eyJ[A-Za-z0-9_\-]{40,300}\.[A-Za-z0-9_\-]{16,40}",
        0,
        "https://docs.mapbox.com/accounts/guides/tokens/",
        "«sk.eyJ{A80}.{A22}»",
        "sk.eyJ",
    ),
    Rule(
        "shippo-token",
        ("shippo_",),
        r"shippo_(?:live|test)_[a-fA-F0-9]{40}",
        0,
        "https://docs.goshippo.com/docs/guides_general/authentication/",
        "«shippo_live_{h40}»",
        "shippo_live_mode",
    ),
    Rule(
        "easypost-key",
        ("ezak", "eztk"),
        LEFT + r"EZ[AT]K[A-Za-z0-9]{54}" + RIGHT,
        0,
        GITLEAKS,
        "«EZAK{A54}»",
        "EZAKI",
    ),
    Rule(
        "flutterwave-key",
        ("flwseck",),
        r"FLWSECK(?:_TEST|_PROD)?-[a-z0-9]{12,40}(?:-X)?",
        0,
        "https://developer.flutterwave.com/docs/authentication",
        "«FLWSECK_TEST-{h32}-X»",
        "FLWPUBK_TEST-{h32}-X",
    ),
    Rule(
        "trello-token",
        ("atta",),
        LEFT + r"ATTA[a-f0-9]{64}[A-F0-9]{8}" + RIGHT,
        0,
        "https://developer.atlassian.com/cloud/trello/guides/rest-api/api-introduction/",
        "«ATTA{h64}{H8}»",
        "ATTACH",
    ),
    Rule(
        "prefect-key",
        ("pnu_", "pnb_"),
        LEFT + r"pn[ub]_[A-Za-z0-9]{36}" + RIGHT,
        0,
        "https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys",
        "«pnu_{a36}»",
        "pnu_id",
    ),
    Rule(
        "readme-key",
        ("rdme_",),
        r"rdme_[a-z0-9]{70}",
        0,
        "https://docs.readme.com/main/reference/intro/authentication",
        "«rdme_{a70}»",
        "rdme_x",
    ),
    Rule(
        "duffel-token",
        ("duffel_",),
        r"duffel_(?:test|live)_[A-Za-z0-9_\-=]{43}",
        0,
        "https://duffel.com/docs/api/overview/test-your-integration",
        "«duffel_live_{A43}»",
        "duffel_live_mode",
    ),
    Rule(
        "frameio-token",
        ("fio-u-",),
        r"fio-u-[A-Za-z0-9_\-=]{64}",
        0,
        GITLEAKS,
        "«fio-u-{A64}»",
        "fio-u-x",
    ),
    Rule(
        "age-secret-key",
        ("age-secret-key-",),
        r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{40,120}",
        0,
        "https://github.com/C2SP/C2SP/blob/main/age.md",
        "«AGE-SECRET-KEY-1{U58}»는",
        "age1{a58}",
    ),
    Rule(
        "jwt",
        ("eyj",),
        r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,2048}\.eyJ[A-Za-z0-9_\-]{8,8192}"
        r"\.[A-Za-z0-9_\-]{16,2048}",
        0,
        "https://datatracker.ietf.org/doc/html/rfc7519",
        "«eyJ{A33}.eyJ{A80}.{A43}»를",
        "eyJhbGciOi",
    ),
)

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

OWASP = "https://cheatsheetseries.owasp.org/cheatsheets/Secrets_Management_Cheat_Sheet.html"
KEY_KINDS = (
    r"api|access|private|auth|account|encrypt|encryption|sign|signing|master|shared|storage|service|"
    r"license|app|admin|hmac|jwt|deploy|client|consumer|session|subscription|webhook|ssh|rest|"
    r"cipher|security|activation"
)
# The class of first letters stands in front because `re` can then skip quickly through a text;
# `key` is found by its own letter and looks back for its kind.
_KEY = "|".join(rf"(?<=(?i:{kind})...)|(?<=(?i:{kind})[_\-. ]...)" for kind in KEY_KINDS.split("|"))
WORD = (
    r"(?P<word>[PpSsTtCcMmRrKk](?:(?<=[Pp])(?i:assphrase|assword|asswd|asscode|wd|ass|w)|"
    r"(?<=[Ss])(?i:ecret|eed[ _\-]phrase)|(?<=[Tt])(?i:oken)|(?<=[Cc])(?i:redentials?)|"
    rf"(?<=[Mm])(?i:nemonic)|(?<=[Rr])(?i:ecovery[ _\-]phrase)|(?<=[Kk])(?i:ey)(?:{_KEY})))"
)
WORD_HINTS = ("pass", "pw", "secret", "token", "credential", "key", "api", "auth", "access")
TAIL = r"(?P<tail>[A-Za-z0-9_\-]{0,40}+)"
QUOTE = r"(?:[rbuf]{1,2}(?=[\"']))?(?P<quote>\\{0,3}[\"'`]|[“‘「『])?"
SIGN = r"(?P<sign>:=|=>|={1,3}|[:：＝](?:[ \t]?[A-Za-z][A-Za-z0-9_\[\]|]{1,24}[ \t]?=(?!=))?)"
KOREAN = (
    "비밀 ?번호|비번|패스워드|패스프레이즈|암호|암호화 ?키|토큰|"
    "시크릿(?: ?키)?|인증 ?키|인증 ?토큰|"
    "서비스 ?키|[Aa][Pp][Ii] ?키|에이피아이 ?키|접근 ?키|액세스 ?키|액세스 ?토큰|비밀 ?키|개인 ?키|"
    "보안 ?키|패스코드|비밀값"
)
KOREAN_HINTS = ("비밀", "비번", "패스", "암호", "토큰", "시크릿", "인증", "키", "보안")

KEYED: tuple[Rule, ...] = (
    Rule(
        "keyed-assignment",
        ("=", ":", "：", "＝"),
        WORD
        + TAIL
        + r"(?:\\{0,3}[\"'`]|[\]*_]){0,4}[ \t]{0,12}"
        + SIGN
        + r"[ \t]{0,8}\*{0,2}[ \t]?"
        + QUOTE,
        AFTER,
        OWASP,
        'DB_PASSWORD="«{A12}»" # prod',
        "max_tokens=4096, pass: 12",
    ),
    Rule(
        "keyed-flag",
        ("--", *(f" -{hint}" for hint in WORD_HINTS)),
        r"(?<![A-Za-z0-9_\-])--?(?:[a-z]{1,20}-){0,3}" + WORD + TAIL + r"[ \t]{1,4}" + QUOTE,
        AFTER,
        "https://www.gnu.org/prep/standards/html_node/Command_002dLine-Interfaces.html",
        "deploy --api-key «{A20}» --yes",
        "deploy --password-file ./pw1.txt --token $T",
    ),
    Rule(
        "keyed-docker-env",
        ("env ", "setx "),
        r"(?<![A-Za-z0-9_])(?:ENV|ARG|setx|SETX)[ \t]{1,4}[A-Z0-9_]{0,30}?"
        + WORD
        + TAIL
        + r"[ \t]{1,4}"
        + QUOTE,
        AFTER,
        "https://docs.docker.com/reference/dockerfile/#env",
        "ENV API_TOKEN «{A24}»",
        "ENV API_TOKEN $TOKEN",
    ),
    Rule(
        "keyed-table-cell",
        ("|",),
        r"(?<=\|)[ \t]{0,20}[*`]{0,3}(?:[A-Za-z0-9_\-]{1,20}[ ])?"
        + WORD
        + TAIL
        + r"[*`]{0,3}[ \t]{0,40}\|[ \t]{0,20}"
        + QUOTE,
        AFTER,
        "https://github.github.com/gfm/#tables-extension-",
        "| user | me |\n| password | «{A12}» |",
        "| password | required |\n| token | type2 |",
    ),
    Rule(
        "keyed-element",
        ("</",),
        r"<(?:[A-Za-z0-9_.\-]{1,30}:)?"
        + r"[A-Za-z0-9_\-]{0,20}?"
        + WORD
        + TAIL
        + r">[ \t]{0,4}(?P<quote>(?!))?",
        AFTER,
        "https://maven.apache.org/settings.html#servers",
        "<password>«{A12}»</password>",
        "<password>${env.PW}</password>",
    ),
    Rule(
        "keyed-attribute",
        ("value=",),
        r"(?:key|name|Key|Name)=[\"'][A-Za-z0-9_.:\-]{0,40}?"
        + WORD
        + TAIL
        + r"[\"'][ \t]{1,4}value=(?P<quote>[\"'])",
        AFTER,
        "https://learn.microsoft.com/en-us/dotnet/framework/configure-apps/file-schema/appsettings/",
        '<add key="DbPassword" value="«{A12}»" />',
        '<input name="password" value="" />',
    ),
    Rule(
        "keyed-prose",
        (" is", " was", " are", " to ", " bec", " be ", " equals"),
        WORD + TAIL + r"[\"'`*]{0,3}(?:[ ](?:for|of|on|to|in)[ ][A-Za-z0-9_\-. '`]{1,40}?)?[ ]"
        r"(?i:is|was|are|to|became|becomes|will be|should be|equals|set to)"
        r"(?:[ ](?:now|still|currently|set to|just|simply))?:?[ ]{1,3}\*{0,2}" + QUOTE,
        AFTER,
        OWASP,
        "The password for staging is «{A12}», ask first.",
        "The password is SHA-256 hashed; the token is 64-byte long",
    ),
    Rule(
        "keyed-bare-word",
        ("password ", "passwd ", "passphrase ", "password\t"),
        r"(?P<word>[Pp](?i:assword|asswd|assphrase))(?P<tail>)[ \t]{1,2}" + QUOTE,
        AFTER,
        OWASP,
        "log in as admin with password «{A12}»를 넣고",
        "password Argon2id, password 12 characters, password policy, password $PW1",
    ),
    Rule(
        "keyed-korean",
        KOREAN_HINTS,
        f"(?P<word>{KOREAN})(?P<tail>)" + r"[\"'`*」』)]{0,4}[ \t]{0,4}(?P<sign>[:：=＝]{1,2})"
        r"[ \t]{0,8}\*{0,2}" + QUOTE,
        AFTER,
        OWASP,
        "스테이징 비밀번호: «{A12}» (임시)",
        "비밀번호: 8자 이상, 토큰: 4096",
    ),
    Rule(
        "keyed-korean-prose",
        (*KOREAN_HINTS, "는 ", "은 ", "이 ", "가 ", "을 ", "를 "),
        f"(?P<word>{KOREAN}|"
        + WORD.replace("(?P<word>", "(?:")
        + r"(?=[\"'`*」』)]{0,4}(?:은|는|이|가|을|를)))(?P<tail>)"
        r"[\"'`*」』)]{0,4}(?:은|는|이|가|을|를)?[ ]{1,3}"
        r"(?:(?:지금|현재|그냥|원래|아직|임시로|여전히)[ ]{1,2})?\*{0,2}" + QUOTE,
        AFTER,
        OWASP,
        "DB 비밀번호는 «{A12}»이고 곧 바꾼다",
        "비밀번호는 bcrypt2 없이 SHA-256으로, 토큰은 gpt-4o 기준",
    ),
)

# What a name may not hold besides the word, before it and after it.
NOT_BEFORE = frozenset(
    "max min num number page next prev public primary foreign cache count total csrf xsrf sort "
    "partition idempotency eos bos pad sep unk stop special mask design lex no non not without "
    "forgot reset hashed is has use show hide require required enable validate verify check "
    "invalid missing cancellation continuation per input output prompt completion".split()
)
NOT_AFTER = frozenset(
    "file files path name names id ids url uri ttl count length len size policy type types field "
    "label hint regex pattern format input placeholder reset strength rules rule hash hashed "
    "digest "
    "min max num number limit expiry expires expiration expire expired age timeout at manager "
    "provider store class header param parameter prefix suffix column index env var variable "
    "algorithm alg method mode enabled required visible budget usage error errors message msg dir "
    "folder arn version status scope scopes endpoint host rotation validator ref selector template "
    "list map kind source position pos offset price symbol address generator factory handler "
    "callback func fn location date time created updated issuer audience changed set exists valid "
    "counter rate per window bucket fingerprint pub public owner user username login attempts "
    "complexity options config settings cost rounds salt rounds review reviewer".split()
)
USUAL_AFTER = frozenset(
    "key secret token password value prod production dev test staging stage live string base64 b64 "
    "raw plain text plaintext default old new current access private master root admin main "
    "app api db hex confirm confirmation backup base auth primary secondary enc data local".split()
)
SHORT_WORDS = frozenset(["pass", "pw", "pwd"])  # part of many others: compass, bypass
GLUED_BEFORE = frozenset(
    "db my user root admin pg mysql redis sudo ftp smtp mail login ssh vpn wifi old new auth "
    "rds ldap sql http proxy bot app".split()
)
GLUED_AFTER = frozenset(["key", "accesskey", "value", "secret", "token"])

# Values which are words of code or of a sentence, not secrets.
COMMON = frozenset(
    "null none nil undefined true false yes no on off string str int integer number bool boolean "
    "object any bytes byte optional text varchar char required secret password passwd pass pwd "
    "token "
    "example test todo redacted masked hidden empty unknown invalid missing expired wrong "
    "incorrect "
    "correct valid set unset given input prompt hash hashed encrypted plain plaintext default "
    "value user username admin root name key apikey bearer basic refresh access auth login "
    "changeme "
    "function return await self this new lambda request response config settings env "
    "credentials credential public private void never void unset disabled enabled deprecated "
    "rotate "
    "rotated foo bar baz foobar dummy sample blank static dynamic random generated stdin vault "
    "confirm confirmation forgot reset current old short long weak strong mandatory sensitive "
    "passphrase passcode pw date datetime uuid float double dict list array jwt oauth oauth2 "
    "ipsum lorem keychain keyring manual same different "
    "stored shared here there below above".split()
)

# Values by their looks: stand-ins, program text, measures.
PLACEHOLDER = (
    r"\$(?:[A-Za-z_][A-Za-z0-9_]{0,80}(?![!-~])|[({0-9])|[{<]|%(?:[({]|[sd](?![!-~])|[A-Z_]{1,60}%)|"
    r"#\{|@@|\[|\*{3}|\.{3}|…|--[a-z]|\\|!(?:Ref|Sub|GetAtt|secret|vault)|(?:op|vault|ssm|arn|keyring)[:]"
)
STAND_IN = (
    r"example|placeholder|change[_\-]?me|redacted|x{4}|\*{4}|\.{3}|…|\{[a-z_][a-z0-9_.]{0,40}\}|\$\{|"
    r"(?<![a-z0-9])(?:your|my|dummy|fake|sample|insert|replace|todo|enter|some)(?![a-z0-9])"
)
CAPS_NAME = r"[A-Z][A-Z0-9]{0,40}_[A-Z0-9_]{1,80}"
# "The password is in 1Password": names that mix letters and digits as secrets do.
TECHNOLOGY = (
    r"(?:[15]password|bitwarden|lastpass|keepass)[a-z]{0,8}\d?"
    r"|(?:hmac-?)?sha-?\d{1,3}|md5|argon2(?:id|i|d)?|bcrypt-?\d{0,2}|scrypt\d{0,2}|pbkdf2[a-z0-9\-]{0,12}"
    r"|aes-?\d{3}[a-z0-9\-]{0,8}|rsa-?\d{3,4}|ed25519|x25519|x509(?:v3)?|[ehpr]s\d{3}|pkcs-?\d{1,2}"
    r"|utf-?\d{1,2}|base\d{2}(?:url)?|iso-?\d{3,5}[\d\-]{0,4}|cp949|euc-?kr"
    r"|ldapv?\d|oauth-?2(?:\.0)?|saml-?2|(?:h|t)otp\d?|tls-?v?1(?:\.\d)?|ipv[46]|http[23]"
    r"|k8s[a-z]{0,16}|s3(?:bucket|key|path|object)?|ec2[a-z]{0,10}|route53|oauth2[a-z]{0,12}"
)
PLAIN_SHAPE = (
    r"[12][0-9]{3}[-./][0-9]{1,2}[-./][0-9]{1,2}|v?[0-9.]{1,20}(?:-(?:rc|beta|alpha)[.0-9]{0,4})?$|"
    r"sha[0-9]{1,3}[-:]|md5[-:]|[A-Za-z]:\\|"
    r"[A-Za-z0-9._%+\-]{1,64}@[a-z0-9\-]{1,40}\.(?:com|org|net|io|dev|kr)$"
)
FILE_NAME = (
    r"\.(?:json|ya?ml|txt|py|[jt]sx?|env|pem|key|crt|toml|ini|cfg|md|sh|go|rs|java|log|html)$"
)
NAME_PART = (
    r"(?:[A-Z]?[a-z]{1,16}|[A-Z]{1,12}|"
    r"[A-Za-z][a-z]{0,12}[0-9]{0,5}[A-Z][a-z]{1,12}(?:[A-Z][a-z]{2,12})?)?[0-9]{0,3}"
)
MEASURE = (
    r"(?i:sha|md|aes|rsa|hs|rs|es|ps|hmac|bcrypt|argon|pbkdf|utf|base|oauth|http|rfc|tls|ssl|ipv|gpt|"
    r"ed|curve|p)[-_/.]?[0-9]|[0-9]{1,5}[~\- ]?(?:[0-9]{1,5}|byte|bit|char|hour|day|min|sec|ms|"
    r"kb|mb|th|st|nd|digit|word|time|k|m|s|h|d)"
)

RULES: tuple[Rule, ...] = CODE_HOSTS + CLOUDS + MODELS + APPS + STRUCTURE + KEYED
