"""Lists harmless texts, in English and Korean, that a careless redactor would damage.

The table holds identifiers, references, settings and sentences that only
look like secrets. Templates are filled with fresh random text as those of `secret_kinds` are; the
sign ¦ is left out of the text, it only keeps a sample of some manual from standing here whole.
"""

import random
from collections.abc import Iterator

from tests.support.secret_kinds import fill

TEXTS_OF_A_FRAGMENT = 4  # two English, two Korean
FRAGMENTS = {
    "git-sha": """commit {h40}
        git revert {h40}
        fixed in {h7}
        {h10}..{h10}
        git checkout {h8} -- src/app.py
        merge-base {h40}
        index {h7}..{h7} 100644
        https://github.com/acme/shop/commit/{h40}
        git cherry-pick -x {h12}
        uses: actions/checkout@{h40}""",
    "uuid": """request_id={uuid}
        trace id {uuid}
        user 550e8400-e29b-41d4-a716-446655440000
        "orderId": "{uuid}"
        DELETE /v1/items/{uuid}
        correlation-id: {uuid}
        tenant {uuid}""",
    "digest": """sha256:{h64}
        md5sum {h32}  dump.tar.gz
        SHA256 (app.zip) = {h64}
        ETag: "{h32}"
        checksum = "{h64}"
        crc32 {h8}
        sha1 {h40}  iso/debian.iso
        --hash=sha256:{h64}""",
    "digest-of-a-key": """sha256sum mismatch: expected {h64}, got {h64}
        hash mismatch for private key bundle: expected {h64} but got {h64}
        checksum of the token list: {h64}
        cache hit for key {h40}
        cache hit for key node-modules-{h64}
        Cache restored from key: Linux-npm-{h64}
        Cache not found for input keys: Linux-build-{h64}, Linux-build-
        cache miss for key {A32}
        Restored key {a24} from the shard
        The S3 key is uploads/{uuid}/{h16}.jpg
        s3 key: {h64}
        routing key {uuid}
        dedup key: {h40}
        lookup by key "{h40}" took 3 ms
        gpg: using RSA key {H40}
        The GPG key {H40} signed the tag
        gpg --recv-keys {H40}
        age1{a58} is the recipient key
        unexpected token {A20} in JSON at position 4
        "LockToken": "{uuid}"
        --request-token "{uuid}"
        "ClientRequestToken": "{uuid}"
        channelKey: "channel-key-{uuid}"
        Sec-WebSocket-Key: {bytes16}
        "db_password": "ENC[AES256_GCM,data:{b24},iv:{b43}=,tag:{b22}==,type:str]"
        "${SSH_KEY:=$HOME/.ssh/id_ed25519-{d4}}"
        -F x-amz-credential=AAAA/us-east-1/s3/aws4_request
        "access_token": "access-token-1234"
        list of key-value pairs, KEY1=VALUE1&KEY2=VALUE2
        stream/token: com.apple.xpc.activity/{d4}
        캐시 키 {h40} 적중
        S3 키는 uploads/{uuid}.png
        토큰 테스트 {uuid} 실패
        시크릿 스캔 결과 {h64}
        인증번호 발송 이력 {uuid}
        비밀번호 정책 문서 {A4}-{d4} 개정""",
    "integrity": """"integrity": "sha512-{b86}=="
        integrity sha512-{b86}==
        "integrity": "sha1-{b27}="
        github.com/pkg/errors v0.9.1 h1:{b43}=
        <script integrity="sha384-{b64}" crossorigin="anonymous">
        resolution: {integrity: sha512-{b86}==}
        golang.org/x/net v0.30.0/go.mod h1:{b43}=""",
    "docker": """image: postgres@sha256:{h64}
        docker pull ghcr.io/acme/api@sha256:{h64}
        container {h12} exited with code 137
        FROM python:3.11-slim-bookworm
        docker logs {h64}
        Step 4/9 : RUN pip install -r requirements.txt
        registry.corp.kr/team/app:1.4.2-rc.3""",
    "kubernetes": """pod api-{h9}-x7k2p is CrashLoopBackOff
        deployment.apps/payment-worker-7d9c6b8f54
        kubectl logs checkout-6f9d8c5b7b-q4z8m
        secretKeyRef: {name: db-credentials, key: password}
        secretName: tls-wildcard-2026
        serviceAccountName: token-reviewer
        configmap/app-settings-{h8}
        node ip-10-0-3-117.ap-northeast-2.compute.internal
        imagePullSecrets: [{name: regcred}]
        tokenExpirationSeconds: 3600
        automountServiceAccountToken: false""",
    "cloud-id": """arn:aws:iam::{d12}:role/deploy-role
        arn:aws:secretsmanager:ap-northeast-2:{d12}:secret:prod/db-Ab3xYz
        arn:aws:kms:us-east-1:{d12}:key/{uuid}
        i-0{h16}
        vpc-0{h16}
        subnet-{h17}
        ami-0{h16}
        projects/acme-prod/secrets/db-password/versions/3
        /subscriptions/{uuid}/resourceGroups/rg-prod
        s3://acme-logs/2026/03/14/access.log.gz
        sg-{h17}
        alias/aws/secretsmanager
        https://vault.azure.net/secrets/db-password""",
    "stripe-object": """pi_3{A23}
        cus_{A14}
        price_1{A23}
        evt_1{A23}
        in_1{A23}
        sub_1{A23}
        prod_{A14}
        acct_1{A15}
        ch_3{A23}""",
    "chat-id": """channel C0{u9}
        Slack user U0{u9}
        workspace T0{u8}
        Discord guild {d18}
        message ts 1710408413.{d6}
        https://acme.slack.com/archives/C0{u9}/p{d16}
        chat id -100{d10}""",
    "public-key": """ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} dev@corp.kr
        ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ{b300} deploy@ci
        age1{q58}
        pk_live_51{A40}
        pk_test_{A24}
        SHA256:{b43}
        -----BEGIN CERTIFICATE-----\\nMIID{b60}\\n-----END CERTIFICATE-----
        -----BEGIN PUBLIC KEY-----\\nMIIB{b60}\\n-----END PUBLIC KEY-----
        PublicKey = {b43}=
        wireguard peer public key {b43}=
        known_hosts: |1|{b27}=|{b27}= ssh-ed25519
        minisign public key RWQ{b53}
        gpg fingerprint {H40}
        test_ck_{A32}
        live_ck_{A32}
        phc_{A43}
        x509 serial 0{h31}""",
    "reference": """DB_PASSWORD=${DB_PASSWORD}
        password: ${{ secrets.DB_PASSWORD }}
        password = os.environ["DB_PASSWORD"]
        const token = process.env.API_TOKEN;
        api_key: "{{ vault_api_key }}"
        token = os.getenv("GITHUB_TOKEN", "")
        password=$(cat /run/secrets/db_password)
        export TOKEN=$(gcloud auth print-access-token)
        SECRET_KEY = config("SECRET_KEY")
        secret: !Ref DatabaseSecret
        password = var.db_password
        password: <%= ENV['DB_PASS'] %>
        api_key = settings.API_KEY
        Authorization: Bearer $TOKEN
        Authorization: Bearer ${ACCESS_TOKEN}
        Authorization: Bearer {token}
        curl -u "$USER:$PASS" https://ci.corp.kr
        mysql -u root -p"$MYSQL_PWD" app
        postgres://${DB_USER}:${DB_PASS}@db1/app
        set PASSWORD=%DB_PASSWORD%
        $env:API_KEY = $secret.Value
        password: op://infra/postgres/password
        token: vault:secret/data/ci#token
        client_secret = data.vault_generic_secret.app.data["secret"]
        apiKey: import.meta.env.VITE_API_KEY
        val token = System.getenv("API_TOKEN")
        password = keyring.get_password("db", "app")
        token := viper.GetString("auth.token")
        secret = Rails.application.credentials.secret_key_base
        spring.datasource.password=${DB_PASSWORD:}
        password = getpass.getpass()
        api_key = request.headers.get("X-API-Key")
        const secret = await getSecret("db/password");
        password: secretKeyRef
        PGPASSWORD="$PGPASSWORD" psql -h db1
        --password-stdin
        read -s -p "Password: " password
        aws_secret_access_key = <set in the vault>
        token: ${{ github.token }}
        NPM_TOKEN: ${{ secrets.NPM_TOKEN }}
        //registry.npmjs.org/:_authToken=${NPM_TOKEN}
        password_file=/run/secrets/db_password
        POSTGRES_PASSWORD_FILE: /run/secrets/pg_pass
        ssl_key_file = '/etc/ssl/private/server.key'
        keyFile: ~/.ssh/id_ed25519
        tokenPath: /var/run/secrets/kubernetes.io/serviceaccount/token
        GOOGLE_APPLICATION_CREDENTIALS=/etc/gcp/sa.json
        --vault-password-file ~/.vault_pass.txt
        ssh -i ~/.ssh/deploy_key ubuntu@10.0.3.7""",
    "types": """password: str
        def login(username: str, password: str) -> Token:
        token: Optional[str] = None
        apiKey?: string;
        private String password;
        password: SecretStr
        let token: String?
        secret: bytes = b""
        type Token struct { Value string }
        interface Credentials { password: string; token: string }
        password VARCHAR(255) NOT NULL
        token TEXT PRIMARY KEY
        api_key: Annotated[str, Depends(header)]
        char *password = NULL;
        fn verify(token: &str) -> bool
        password = None
        token = ""
        secret: null
        public readonly tokens: number[] = [];
        val key: ByteArray
        password: z.string().min(8)
        passwordHash String @db.VarChar(60)""",
    "counting": """max_tokens: 4096
        max_tokens=8192
        token_limit = 128000
        "prompt_tokens": 1532
        "completion_tokens": 287
        total_tokens=1819
        maxTokens: 2048,
        context window of 200000 tokens
        token_count: 31337
        key_size = 2048
        keySize: 256
        tokens_per_second: 93.4
        password_min_length = 12
        MIN_PASSWORD_LENGTH=10
        passwordMaxAge: 90
        token_ttl = 86400
        access_token_lifetime: 15m
        ACCESS_TOKEN_EXPIRE_MINUTES=30
        secret_version: 7
        api_key_count=3
        password_attempts: 5
        keepalive_timeout 65
        session_timeout=1800
        refresh_token_days: 14
        key_rotation_period = "7776000s"
        num_keys: 16""",
    "names": """reset_password_token
        validatePasswordStrength()
        def test_wrong_password_is_rejected():
        PasswordResetController#create
        is_token_expired(token)
        getApiKeyFromHeader(request)
        SecretsManagerClient
        CSRFTokenMiddleware
        useAccessToken()
        password_changed_at
        tokenizer.encode(text)
        encode_password(raw_password)
        PASSWORD_HASHERS
        TokenBucketRateLimiter
        password-reset-form
        forgot_password_path
        api_key_id
        revoke_all_tokens
        secret_scanner.py
        KeyError: 'password'
        token_type: bearer
        grant_type=password
        grant_type=client_credentials
        auth_method: token
        authType: "api_key"
        WWW-Authenticate: Bearer realm="api"
        "type": "password"
        <input type="password" name="password">
        input[type=password]
        autocomplete="current-password"
        auth: password
        password-authentication = yes
        PasswordAuthentication no
        PermitRootLogin prohibit-password
        IdentitiesOnly yes
        hostssl all all 0.0.0.0/0 scram-sha-256
        secret_type: opaque
        token_endpoint_auth_method=client_secret_basic
        response_type=code id_token
        scope: read:tokens write:keys""",
    "keys": """primary_key=True
        FOREIGN KEY (user_id) REFERENCES users(id)
        PRIMARY KEY (order_id, line_no)
        cache_key = f"user:{user_id}:profile"
        cache key: user:42:profile:v3
        key: node-modules-{{ hashFiles('package-lock.json') }}
        partition_key = "tenant_id"
        sort_key: created_at
        routing_key=orders.created
        i18n key: checkout.payment.error_title
        t('login.password.placeholder')
        translation key "settings.security.token_help"
        shard key customer_region
        sortedWith(compareBy { it.key })
        <li key={item.id}>
        key={`row-${index}`}
        dict.keys()
        Object.keys(config).length
        for key, value in pairs.items():
        unique_key: idx_users_email
        keyPath: 'meta.version'
        registry key HKLM\\SOFTWARE\\Acme\\Agent
        press the Escape key
        keyboard shortcut Ctrl+Shift+K
        key-value store
        key="value"
        keyframes slide-in-left
        "key": "shipping_address"
        key: title
        keyField: customerNumber
        idempotency_key: order-2026-0314-0007
        object key uploads/2026/03/14/report-final.pdf
        dedupe key order.created/{d8}""",
    "words": """compass
        the secretary approved it
        bypass the cache
        passport photo upload
        monkeypatch.setattr(os, "environ", {})
        tokenizer.json was missing
        turkey and donkey are test words
        passive mode FTP
        authoring guide
        passenger_count=3
        keynote slides
        tokenize(source)
        passthrough mode
        secretion rate model
        author: kim
        authority: api.example.com
        passed: 1431, failed: 0
        pass_rate=0.97
        passwordless login
        tokens/sec
        hockey-stick growth chart
        the tokenization step
        keyring backend
        hotkey=F5
        whiskey.js renderer
        encompass all regions
        pwd
        cd "$(pwd)/build"
        echo $PWD""",
    "technology": """password hashing with argon2id
        passwords are hashed with bcrypt12
        stored in 1Password
        password: bcrypt
        password_hasher=argon2id
        password manager Bitwarden
        password_encryption = scram-sha-256
        token format: JWT
        token algorithm RS256
        key type: ed25519
        encryption: AES-256-GCM
        key exchange: curve25519-sha256
        secret backend: HashiCorp Vault
        secrets: SOPS+age
        password policy NIST 800-63B
        auth: OAuth2
        token: opaque
        KDF PBKDF2-HMAC-SHA256
        cipher=TLS_AES_128_GCM_SHA256
        password authentication: disabled
        api_key: required
        password: required|min:8|confirmed
        token: invalid
        token: expired
        password: incorrect
        secret: missing
        API key: not set
        password: true
        auth_token: false
        password: string
        token: optional""",
    "prefixed-name": """struct sk_buff *skb
        risk-adjusted return
        npm_config_registry=https://registry.npmjs.org
        npm_lifecycle_event
        npm_package_version
        hf_hub_download("bert-base-uncased", "config.json")
        re_compile_pattern
        sk-learn pipeline
        sk-SK locale
        sk_sp<SkImage>
        pk_constraint_orders
        task-runner-configuration-v2
        desk-booking-service-internal
        disk-usage-exporter-latest
        key-management-service-client
        pat-matching-engine
        rk_step(state, dt)
        ghp_scheduler_module
        gsk_widget_new()
        s.replace_all_occurrences
        fw_update_state_machine
        whsec_header_name
        glpat-prefix-documentation
        dapi-gateway-controller
        SG.network.security.group
        xoxo-letters-demo
        up_and_running_guide
        fc-cache -fv
        fc-list :lang=ko
        jina_embeddings_v3_small
        pul-request-template
        api-gateway-authorizer-lambda
        sdk-generator-typescript-axios
        key-rotation-policy-document
        oauth2-proxy-configuration
        secret_manager_secret_version""",
    "placeholder": """password: changeme
        password=xxxxxxxx
        DB_PASSWORD=********
        api_key = "your-api-key"
        token: <your-token>
        API_KEY=YOUR_API_KEY_HERE
        password = "REPLACE_ME"
        secret_key: "..."
        Authorization: Bearer <token>
        Authorization: Bearer YOUR_ACCESS_TOKEN
        token=[REDACTED]
        password: [REDACTED]
        client_secret: <client-secret>
        api_key: ""
        API_TOKEN=
        password: "••••••••"
        aws_access_key_id = AKIA¦XXXXXXXXXXXXXXXX
        AKIA¦IOSFODNN7EXAMPLE
        wJalrXUtnFEMI¦/K7MDENG/bPxRfiCYEXAMPLEKEY
        ghp_¦xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        sk-¦xxxxxxxxxxxxxxxxxxxxxxxx
        sk_test_¦...
        xoxb-¦your-token-here
        postgres://user:password@localhost:5432/db
        postgres://<user>:<password>@<host>/<db>
        mysql -u root -p
        curl -u user:password https://example.com
        password: (hidden)
        token: ***
        secret: TODO
        PASSWORD={password}
        token=%s
        password=? and id=?
        api_key=:api_key
        insert_password_here""",
    "assets": """app.{h8}.js
        main-{A8}.css
        /static/js/chunk-vendors.{h8}.js
        assets/index-{w8}.js.map
        logo.{h20}.svg
        class="css-1{a6} e1x{a5}0"
        .Button_primary__{A5}
        sc-{a6} {A6}
        data:image/png;base64,iVBORw0KGgoAAAANSUhEUg{b200}=
        data:font/woff2;base64,d09GMgABAAAAA{b120}
        _next/static/{w21}/_buildManifest.js
        bundle-{h20}.min.js
        __pycache__/settings.cpython-311.pyc
        url(data:image/svg+xml;base64,PHN2ZyB4bWxucz0i{b80}==)""",
    "version": """fastmcp==2.13.0.2
        1.24.0-beta.3+build.{d4}
        v20260314.093
        node v22.14.0
        com.fasterxml.jackson.core:jackson-databind:2.17.1
        github.com/acme/lib v0.0.0-20260314092653-{h12}
        kernel 6.8.0-45-generic
        io.jsonwebtoken:jjwt-api:0.12.6
        passlib==1.7.4
        python-jose[cryptography]>=3.3
        django-rest-knox 5.0.2
        secretstorage==3.3.3
        tokenizers==0.21.0
        keyring~=25.6""",
    "numbers": """2026-03-14T09:26:53.589Z
        epoch 1773480413589
        +82-10-{d4}-{d4}
        02-{d4}-{d4}
        DE{d2} 3704 0044 0532 0130 00
        invoice 2026-03-{d6}
        order #{d12}
        10.0.{d2}.17
        2001:0db8:85a3:0000:0000:8a2e:0370:7334
        fe80::{h4}:{h4}:{h4}:{h4}
        00:1A:{H2}:{H2}:{H2}:{H2}
        #{h6}
        rgba(12, 34, 56, .7)
        color: #{h8};
        0x{h16}
        37.5665, 126.9780
        tracking {d13}
        run 1{d10}
        https://github.com/acme/shop/actions/runs/1{d10}
        job {d11} attempt 2
        build-20260314.{d2}
        pipeline #{d9}
        JIRA-{d5}
        ISBN 978-89-{d4}-{d3}-1
        business number {d3}-{d2}-{d5}
        port 5432
        exit status 139""",
    "paths": """/etc/ssl/private/
        ~/.aws/credentials
        src/auth/password_reset/views.py
        secrets/prod/.gitkeep
        C:\\Users\\kim\\AppData\\Local\\Token\\cache
        docs/api-keys.md
        tests/test_token_refresh.py
        https://docs.example.com/security/rotate-api-keys
        https://example.com/reset-password?lang=ko
        https://github.com/settings/tokens
        https://console.example.com/apikeys?project=shop
        https://hooks.slack.com/services/
        https://discord.com/developers/applications
        git@github.com:acme/secret-service.git
        https://user@git.corp.kr/team/app.git
        ssh://git@git.corp.kr:2222/team/app.git
        redis://cache.internal:6379/0
        postgres://db1.internal:5432/app
        mongodb://localhost:27017
        amqp://mq.internal:5672
        https://api.example.com/v1/tokens/refresh
        oauth/token/introspect
        /users/{id}/password
        mailto:security@corp.kr""",
    "code": """token = secrets.token_urlsafe(32)
        password = generate_password(length=20)
        openssl rand -hex 32
        hashlib.sha256(password.encode()).hexdigest()
        if not check_password(password, user.password):
        bcrypt.hashpw(password, bcrypt.gensalt())
        jwt.encode(payload, key, algorithm="RS256")
        const { password, ...rest } = user;
        if (password === confirmPassword) return;
        raise ValueError("password is too short")
        assert "password" not in response.json()
        logger.info("token refreshed")
        SELECT password FROM users WHERE id = %s
        ALTER TABLE users DROP COLUMN password
        password.strip()
        token.split(".")[1]
        len(token) == 40
        tokens = text.split()
        for token in tokens: print(token)
        key = lambda row: row["created_at"]
        sorted(items, key=len)
        password_field.send_keys(password)
        expect(screen.getByLabelText("Password")).toBeVisible()
        headers = {"Authorization": f"Bearer {token}"}
        headers["X-API-Key"] = api_key
        secret = client.get_secret_value(SecretId=name)
        uuid.uuid4().hex
        crypto.randomBytes(32).toString("hex")
        password: hashed_password,
        User(password=make_password(raw))
        setPassword(event.target.value)
        token ??= await refresh();
        ssh-keygen -t ed25519 -C "ci"
        kubectl create secret generic db --from-env-file=.env
        docker login --username ci --password-stdin
        gh auth token | docker login ghcr.io -u ci --password-stdin""",
}
WRAPPERS_EN = [
    "{}",
    "Check {} before the release",
    "The log shows {} twice",
    "I found {} in the old branch, it is fine",
    "- {}\n- nothing else changed",
    "See `{}` for the details",
    "Lesson: search for {} first",
    "2026-03-14 09:26:53 INFO {}",
    "After the merge we got {} again",
]
WRAPPERS_KO = [
    "배포 전에 {} 부분을 확인한다",
    "로그에 {} 가 두 번 나온다",
    "예전 브랜치에서 {} 를 찾았는데 문제없음",
    "- {}\n- 그 밖의 변경 없음",
    "자세한 내용은 `{}` 참고",
    "교훈: {} 부터 검색할 것",
    "[정보] 09:26:53 {} 처리 완료",
    "병합 뒤에 {} 가 다시 보였다",
    "리뷰에서 {} 이야기가 나왔다",
]
SENTENCES_EN = """The password must have at least 12 characters.
Passwords expire after 90 days and cannot be reused.
Users reset their password with a link sent by mail.
The password field was empty, so the form failed.
We never store the password in the log.
Ask the platform team for the password.
The admin password is stored in 1Password.
The database password is in Vault under secret/data/db.
The password is read from the environment variable DB_PASSWORD.
The password is hashed with argon2id before it is saved.
The password is wrong when the keyboard layout is Korean.
The password is the same on every host, which is bad.
The password is not checked on localhost.
The password is optional for guests.
The password is required.
The password has been rotated; see the wiki.
The root password was changed yesterday by the operations team.
Password authentication is disabled on this host.
password: see the team vault
Password reset emails are delayed by ten minutes.
the passphrase is asked for interactively
The passphrase prompt blocks the nightly job.
Use a password manager instead of a spreadsheet.
Use a strong password for the demo tenant.
Use an API key instead of a session cookie.
The API key is missing from the request.
The API key is sent in the X-API-Key header.
The API key is invalid, the server answers 401.
The API key must be kept on the server.
API keys are scoped per project.
Rotate API keys every quarter.
The API key belongs to the billing project.
Generate a new API key in the console and store it in Vault.
The token expires after 15 minutes.
The token is refreshed in the background.
The access token is valid for one hour.
The access token is passed in the Authorization header.
The token is opaque to the client.
The token was revoked, so the job stopped.
Each token costs about 0.002 cents.
The model stops after 4096 tokens.
The prompt used 1532 tokens and the answer 287.
A token bucket limits requests to 100 per second.
The tokenizer splits Korean words into several tokens.
The parser reads one token at a time.
The CSRF token is checked on every POST.
CSRF tokens must be sent with the form.
Send the token as a bearer token.
Tokens are stored in the keychain, never in a file.
Refresh tokens rotate on every use.
The secret is mounted as a file.
The secret is managed by External Secrets Operator.
The secret of a good cache is a short key.
Secret scanning blocked the push.
Secrets belong in the vault, not in the repository.
The client secret is created in the developer console.
The client secret expires every two years.
The signing key is rotated automatically.
The signing key lives in the HSM.
The encryption key is derived from the master key with HKDF.
The encryption key is 256 bits long.
The public key is published at /.well-known/jwks.json.
The private key never leaves the device.
The private key file must have mode 600.
The SSH key is protected by a passphrase.
The primary key is a UUID, the foreign key an integer.
The key is to write small commits.
The key point is that retries need a limit.
The cache key contains the tenant and the locale.
The license key is checked at startup.
The keyboard shortcut for search is Ctrl+K.
The key difference between both queues is ordering.
Press any key to continue.
Keys are sorted before hashing.
The credentials are loaded from the default chain.
The credentials file is missing on the new runner.
Credentials are injected by the CI system.
Wrong credentials give 401, missing rights give 403.
login failed: wrong password
error: invalid token
error: API key not found
401 Unauthorized: token expired
fatal: Authentication failed, password prompt disabled
warning: password authentication is deprecated
KeyError: 'api_key'
TypeError: token is undefined
The test password_reset_flow fails on Windows.
The column password_hash is 60 characters long.
The function verify_token returns None on errors.
Rename secret_key to signing_key in the settings.
Document the parameter token in the README.
Add password to the list of filtered parameters.
Remove the password argument from the public API.
Set token to None after logout.
Set the password through the environment.
The user forgot the password and locked the account.
Do not log the password or the token.
Never paste a password into a ticket.
Two people knew the password; now nobody does.
Ask for the token in the channel #infra.
We compared bcrypt, scrypt and argon2id for passwords.
Passwordless login with passkeys is planned for 2027.
A passkey replaces the password.
The pass rate rose from 91% to 97%.
He passed the review with two comments.
The secretary booked the meeting room.
We bypass the cache for administrators.
The hotkey for the debugger is F9.
Lesson: mock the token endpoint in tests.
Lesson: a password with a percent sign must be URL-encoded.
Lesson: quote the password in shell scripts.
Lesson: read secrets once at start, then clear them.
Missing context: which team owns the API key rotation.
Rule: no secrets in examples.
The basic plan allows 3 API keys.
Basic authentication is off by default.
The bearer of this ticket may enter.
The bearer scheme is described in RFC 6750.
The cookie is named sessionid and is HttpOnly.
The session cookie expires with the browser.
The webhook secret is configured in the dashboard.
The webhook URL is in the team settings.
The connection string comes from Azure Key Vault.
The seed phrase must be written on paper.
The seed is 42 for reproducible tests.
The PIN has four digits.
The OTP is valid for 30 seconds.
The hash of the password is compared in constant time.
Username and password are required fields.
Username or password is wrong.
user name and password are asked for at first start
Two-factor login needs the password and a code.""".splitlines()
SENTENCES_KO = """비밀번호는 8자 이상이어야 한다
비밀번호는 영문과 숫자를 섞어 12자 이상으로 만든다
비밀번호는 90일마다 바꿔야 합니다
비밀번호는 환경 변수에서 읽는다
비밀번호는 볼트에 저장되어 있다
비밀번호는 1Password에 있습니다
비밀번호는 argon2id로 해시해서 저장한다
비밀번호는 로그에 남기지 않는다
비밀번호는 필수 입력값입니다
비밀번호는 선택 사항이다
비밀번호는 팀장에게 문의하세요
비밀번호는 공백을 허용하지 않는다
비밀번호가 틀리면 401을 반환한다
비밀번호가 일치하지 않습니다
비밀번호가 만료되어 로그인이 안 됐다
비밀번호가 비어 있으면 예외를 던진다
비밀번호가 노출되지 않게 주의한다
비밀번호를 잊어버린 사용자가 많다
비밀번호를 입력하세요
비밀번호를 다시 입력해 주세요
비밀번호를 변경했습니다
비밀번호를 코드에 넣지 말 것
비밀번호를 재설정하는 링크를 보낸다
비밀번호를 파일에 저장하면 안 된다
비밀번호 정책은 8자 이상, 특수문자 1개 포함
비밀번호 재설정 메일이 늦게 도착한다
비밀번호 찾기 화면을 다시 만든다
비밀번호 해시 함수는 bcrypt를 쓴다
비밀번호 인증은 꺼 두었다
비밀번호 입력란에 자동 완성이 안 된다
비밀번호 변경 주기를 90일로 정했다
비밀번호 오류 횟수는 5회로 제한
비밀번호 관리자를 쓰자
비밀번호 없이 로그인하는 방식을 검토했다
비밀번호: 볼트 참고
비밀번호: 담당자에게 문의
비밀번호: 미설정
비밀번호: 필수
비밀번호와 토큰은 커밋하지 않는다
비밀번호란에 한글이 입력되는 문제
초기 비밀번호는 첫 로그인 때 바꾼다
임시 비밀번호는 메일로 보낸다
관리자 비밀번호는 운영팀만 안다
관리자 비밀번호를 바꾼 뒤 서버를 재시작했다
DB 비밀번호는 배포할 때 주입된다
DB 비밀번호를 바꾸면 커넥션 풀을 다시 만들어야 한다
비번은 따로 알려 드릴게요
비번 까먹어서 초기화했음
비번을 바꾸라는 알림이 왔다
비번 관리는 팀 위키 참고
암호는 나중에 정하기로 했다
암호는 대소문자를 구분한다
암호화는 AES-256-GCM으로 한다
암호화 키는 KMS가 관리한다
암호화 키를 주기적으로 교체한다
암호화된 파일은 복호화한 뒤 읽는다
암호를 물어보는 창이 뜨지 않는다
암호학적으로 안전한 난수를 쓴다
암호 정책을 완화하지 않기로 했다
패스워드는 최소 10자
패스워드 입력 칸이 두 개 필요하다
패스워드를 평문으로 저장하지 않는다
패스키를 도입하면 비밀번호가 필요 없다
토큰은 15분 뒤 만료된다
토큰은 헤더로 보낸다
토큰은 메모리에만 보관한다
토큰은 한 시간 동안 유효합니다
토큰이 만료되면 다시 발급받는다
토큰이 없으면 401을 돌려준다
토큰이 폐기되어 배치가 멈췄다
토큰을 갱신하는 코드를 고쳤다
토큰을 로그에 찍지 말 것
토큰을 쿠키에 저장하지 않는다
토큰 수가 4096을 넘으면 잘린다
토큰 수를 먼저 세어 본다
토큰 한도는 128000이다
토큰 갱신 로직에 경쟁 상태가 있었다
토큰 발급은 인증 서버가 맡는다
토큰 사용량이 하루 200만 개를 넘었다
토큰 버킷으로 초당 100건만 허용한다
토큰: 만료됨
토큰: 없음
토크나이저가 한글을 여러 조각으로 나눈다
토큰화 단계에서 공백을 없앤다
한 문장은 약 30토큰이다
max_tokens 값을 2048로 줄였다
액세스 토큰은 헤더에 넣는다
액세스 토큰 유효 시간은 1시간이다
리프레시 토큰은 한 번만 쓸 수 있다
인증 토큰 검증을 게이트웨이로 옮겼다
API 키는 서버에만 둔다
API 키는 프로젝트마다 하나씩 만든다
API 키는 환경 변수 API_KEY로 넘긴다
API 키가 없으면 지도가 나오지 않는다
API 키가 잘못되면 403이 온다
API 키를 콘솔에서 새로 발급받았다
API 키를 코드에 넣지 말자
API 키를 분기마다 교체한다
API 키 발급 절차를 문서로 남겼다
API 키: 콘솔에서 발급
API 키(콘솔에서 발급)를 등록한다
인증키는 공공데이터포털에서 신청한다
인증키 신청에 이틀이 걸린다
시크릿은 쿠버네티스가 관리한다
시크릿은 파일로 마운트된다
시크릿 이름은 db-credentials이다
시크릿 스캔이 푸시를 막았다
클라이언트 시크릿은 2년마다 만료된다
클라이언트 시크릿을 다시 만들어야 한다
비밀키는 장비 밖으로 나가지 않는다
비밀키 파일 권한은 600이어야 한다
공개키는 문서에 올려 두었다
공개키와 비밀키를 한 쌍으로 만든다
서명 키는 자동으로 교체된다
서명 키를 HSM에 보관한다
개인키 없이 검증할 수 있다
기본키는 order_id이고 외래키는 user_id다
기본키를 UUID로 바꿨다
외래키 제약 때문에 삭제가 안 됐다
캐시 키는 user:42:profile 형식이다
캐시 키에 언어 코드를 넣어야 한다
정렬 키는 created_at이다
파티션 키를 잘못 골라 한쪽으로 몰렸다
i18n 키는 login.password.title이다
단축키는 Ctrl+Shift+K이다
키보드 배열이 달라 입력이 깨졌다
키 값은 문자열만 허용한다
키는 알파벳 순으로 정렬한다
키가 없으면 기본값을 쓴다
핵심 키워드는 재시도와 멱등성이다
딕셔너리의 키를 순회한다
엔터 키를 누르면 전송된다
라이선스 키는 시작할 때 확인한다
마스터 키에서 파생한 키로 암호화한다
웹훅 시크릿은 대시보드에서 설정한다
세션 쿠키는 브라우저를 닫으면 사라진다
아이디와 비밀번호를 입력해 주세요
아이디 또는 비밀번호가 올바르지 않습니다
아이디 저장 기능은 빼기로 했다
계정과 비밀번호는 신청서로 받는다
로그인 실패: 비밀번호 오류
오류: 토큰이 유효하지 않음
오류: API 키를 찾을 수 없음
경고: 비밀번호가 곧 만료됩니다
자격 증명은 기본 체인에서 읽는다
자격 증명 파일이 새 서버에 없었다
인증서 비밀번호는 배포 파이프라인이 물어본다
시드 값은 42로 고정한다
복구 구문은 종이에 적어 둔다
PIN은 네 자리 숫자다
OTP는 30초 동안 유효하다
교훈: 비밀번호에 퍼센트 기호가 있으면 URL 인코딩한다
교훈: 토큰 만료를 테스트에서 흉내 낸다
교훈: 셸에서는 비밀번호를 따옴표로 감싼다
교훈: 시크릿은 한 번만 읽고 지운다
놓친 맥락: API 키 교체 담당자가 누구인지
규칙: 예제에 진짜 키를 쓰지 않는다
테스트용 비밀번호는 무작위로 만든다
password_hash 열은 60자다
reset_password_token 함수를 고쳤다
token_type은 bearer로 고정한다
secret_key 이름을 signing_key로 바꿨다
grant_type=password 방식은 쓰지 않는다
os.environ["DB_PASSWORD"]로 읽는다
${DB_PASSWORD}를 그대로 두어야 한다
process.env.API_TOKEN이 비어 있었다
password 매개변수를 없앴다
password는 필터 목록에 있어야 한다
token은 None으로 초기화한다
secret은 볼트에서 가져온다
api_key를 헤더에서 꺼낸다
기본 요금제는 API 키 3개까지
비밀번호 8자 이상 규칙은 유지
비밀번호 변경일 2026-03-14
토큰 만료일은 2026-12-31이다
비밀번호 최소 길이 12
암호 12자리 이상 권장""".splitlines()


def fragments() -> Iterator[tuple[str, str]]:
    """The kind and the template of every fragment."""
    for kind, lines in FRAGMENTS.items():
        for line in lines.splitlines():
            yield kind, line.strip().replace("¦", "")


def lookalikes(seed: int = 0) -> list[tuple[str, str]]:
    """Harmless texts with their kind; the same seed gives the same texts."""
    rng = random.Random(seed)
    texts: dict[str, str] = {}
    for number, (kind, template) in enumerate(fragments()):
        for turn in range(TEXTS_OF_A_FRAGMENT):
            wrappers = (WRAPPERS_EN, WRAPPERS_KO)[turn % 2]
            wrapper = wrappers[(number + turn * 2) % len(wrappers)]
            texts.setdefault(wrapper.replace("{}", fill(template, rng)), kind)
    for sentence in (*SENTENCES_EN, *SENTENCES_KO):
        texts.setdefault(sentence, "sentence")
    return [(kind, text) for text, kind in texts.items()]
