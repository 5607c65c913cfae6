"""Lists the words that values are made of when they are no secrets."""

# Values which are words of code or of a sentence, not secrets.
COMMON = frozenset(
    "null none nil undefined true false yes no on off string str int integer number bool boolean "
    "object any bytes byte optional text varchar char required secret password passwd pass pwd "
    "token example test todo redacted masked hidden empty unknown invalid missing expired wrong "
    "incorrect correct valid set unset given input prompt hash hashed encrypted plain plaintext "
    "default value user username admin root name key apikey bearer basic refresh access auth login "
    "changeme function return await self this new lambda request response config settings env "
    "credentials credential public private void never void unset disabled enabled deprecated "
    "rotate rotated foo bar baz foobar dummy sample blank static dynamic random generated stdin "
    "vault confirm confirmation forgot reset current old short long weak strong mandatory "
    "sensitive passphrase passcode pw date datetime uuid float double dict list array jwt oauth "
    "oauth2 ipsum lorem keychain keyring manual same different include omit same-origin passwort "
    "kennwort senha contraseña wachtwoord stored shared here there below above".split()
)

# A row of words which holds one of these names a part of a program.
TECHNICAL_WORDS = frozenset(
    "admin agent alias analytics auth backend base batch billing bucket build cache cert change "
    "client cloud cluster code common config configs connection container context control cookie "
    "cred credential credentials cron data database debug default deploy deployment develop "
    "development django docker domain email engine entry error event example export factory field "
    "file folder format frontend function gateway github gitlab global google group handler hash "
    "header host http https image import index infra input instance internal item java json keys "
    "kube legacy level library lists local locale lock logger login main manager master memory "
    "message metadata method metrics middleware mobile model models module mongo monitor mysql "
    "name names namespace network node object oauth option options order output package page "
    "params parser password path payment permission plugin policy port postgres private process "
    "prod production profile project prompt property provider proxy public python query queue "
    "rails random read redis refresh region registry release remote render replace request reset "
    "resource response rest role root router rule runner runtime sample schema scope secret "
    "secrets security server service services session setting settings shared signing source "
    "spring stage staging state static status storage store stream string style support sync "
    "system table target task team temp template tenant test testing tests text time title token "
    "tokens tool type update upload user users util utils vault validator value values variable "
    "vendor version view views webhook window worker write your windows visual studio office "
    "android chrome safari firefox ubuntu debian python angular spring with from this that have "
    "must should will when then here there please enter valid invalid".split()
)

# Names that end in a number of their own: `python3-pip`, `sha256sum`, `argon2-cffi`.
NUMBERED_WORDS = frozenset(
    "argon arch base bzip centos class div drive ecma fedora gnome grade java lambda level line "
    "log macos math mode neo part phase point pypy qt rhel salsa sect sha step tier topic track "
    "utf alpine bullseye bookworm chapter item option room ruby rust sample section slide speed "
    "sprint state status stdlib suse unit week year month quarter bits byte bytes oauth".split()
)

# A row of words which holds one of these is a sentence about a secret.
SENTENCE_WORDS = frozenset(
    "the is are was your must enter please for and or to be not with this that can should use "
    "password passwords token key valid invalid required characters login new old confirm a an "
    "wrong forgot reset has have at least".split()
)
