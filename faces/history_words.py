"""Every sentence of history, restore and uncompact, in English and Korean, by name."""

from core.messages import Language, sentence

_KEPT = ("Nothing was changed.", "바뀐 것은 없습니다.")

WORDS: dict[str, tuple[str, str]] = {
    # git
    "no_git": (
        "git was not found, and former versions are read through it. The log itself is as it was."
        " Install git, or put it on the PATH, then repeat the command.",
        "git을 찾을 수 없습니다. 이전 버전은 git으로 읽습니다. 로그는 그대로입니다. git을 설치하거나 PATH에 넣은 뒤 명령을"
        " 되풀이하십시오.",
    ),
    "git_failed": (
        f"git could not read the history ({{reason}}). {_KEPT[0]} Try git log in the project; once"
        " that works, repeat the command.",
        f"git이 이력을 읽지 못했습니다({{reason}}). {_KEPT[1]} 프로젝트에서 git log가 되는지 확인한 뒤 명령을"
        " 되풀이하십시오.",
    ),
    "git_slow": (
        f"git did not answer within {{seconds}} s. {_KEPT[0]} Try git log in the project; once that"
        " works, repeat the command.",
        f"git이 {{seconds}}초 안에 답하지 않았습니다. {_KEPT[1]} 프로젝트에서 git log가 되는지 확인한 뒤 명령을"
        " 되풀이하십시오.",
    ),
    "no_repository": (
        "{path} is in no git work tree, so there are no former versions. The log itself is as it"
        " was. From git init and a first commit on, git keeps them.",
        "{path}은(는) git 작업 트리 안에 있지 않아 이전 버전이 없습니다. 로그는 그대로입니다. git init과 첫 커밋을"
        " 하면 그때부터 git이 보관합니다.",
    ),
    "no_commits": (
        "The git repository of {path} has no commit, so there are no former versions. The log"
        " itself is as it was. Commit .context/; from then on git keeps them.",
        "{path}의 git 저장소에 커밋이 없어 이전 버전이 없습니다. 로그는 그대로입니다. .context/를 커밋하면 그때부터 git이"
        " 보관합니다.",
    ),
    "bad_revision": (
        f"git knows no commit by this name: {{name}}. {_KEPT[0]} Give a branch, a tag or the id of a"
        " commit; in CI, fetch it first (fetch-depth: 0).",
        f"git에 이 이름의 커밋이 없습니다: {{name}}. {_KEPT[1]} 브랜치나 태그, 커밋 id를 주십시오. CI에서는 먼저"
        " 가져와야 합니다(fetch-depth: 0).",
    ),
    "ambiguous_revision": (
        f"git knows both a branch and a tag, or another two things, by this name: {{name}}. {_KEPT[0]}"
        " Give the id of the commit, or the whole name: refs/heads/NAME, refs/tags/NAME.",
        f"git에 이 이름으로 브랜치와 태그처럼 서로 다른 것이 둘 있습니다: {{name}}. {_KEPT[1]} 커밋 id나"
        " refs/heads/이름, refs/tags/이름처럼 전체 이름을 주십시오.",
    ),
    "no_merge_base": (
        f"git knows no common ancestor of {{one}} and {{other}}, so what the second brings cannot be"
        f" told. {_KEPT[0]} In CI, fetch the whole history (fetch-depth: 0).",
        f"{{one}}과(와) {{other}}의 공통 조상이 git에 없어, 뒤의 것이 무엇을 가져오는지 알 수 없습니다. {_KEPT[1]} CI에서는"
        " 이력 전체를 가져오십시오(fetch-depth: 0).",
    ),
    "unmerged": (
        f"{{path}}: a merge is still open, and the index holds several versions of it. {_KEPT[0]}"
        " Resolve the conflict and git add the file, then repeat the command.",
        f"{{path}}: 병합이 끝나지 않아 인덱스에 버전이 여럿 있습니다. {_KEPT[1]} 충돌을 풀고 git add 한 뒤 명령을"
        " 되풀이하십시오.",
    ),
    "no_history": (
        "Git has no former version of this log. The log itself is as it was.",
        "git에 이 로그의 이전 버전이 없습니다. 로그는 그대로입니다.",
    ),
    # reasons why git does not know a version
    "cut": (
        "This is a shallow clone, in which older history is missing; git fetch --unshallow gets it.",
        "얕은 복제(shallow clone)라서 오래된 이력이 없습니다. git fetch --unshallow로 받을 수 있습니다.",
    ),
    "ignored": (
        "Git is told to ignore this log. To keep its versions, take it out of .gitignore and commit"
        " it.",
        "이 로그는 git이 무시하도록 설정되어 있습니다. 이전 버전을 남기려면 .gitignore에서 빼고 커밋하십시오.",
    ),
    "not_committed": (
        "This log was never committed. To keep its versions, commit .context/.",
        "이 로그는 커밋된 적이 없습니다. 이전 버전을 남기려면 .context/를 커밋하십시오.",
    ),
    # which record is meant
    "bad_token": (
        f"{{name}}: this is neither an id nor a token such as 201398ff99d0c19e@69ab21. {_KEPT[0]}"
        " Name a record by its id, or a version by id@fp.",
        f"{{name}}: id도 아니고 201398ff99d0c19e@69ab21 같은 토큰도 아닙니다. {_KEPT[1]} 기록은 id로, 버전은 id@fp로"
        " 지정하십시오.",
    ),
    "too_short": (
        f"{{name}}: no record has this id, and a beginning needs {{least}} characters. {_KEPT[0]}"
        " Give more of the id.",
        f"{{name}}: 이 id를 가진 기록이 없고, 앞부분으로 찾으려면 {{least}}자 이상이어야 합니다. {_KEPT[1]} id를 더"
        " 길게 쓰십시오.",
    ),
    "unknown": (
        f"{{name}}: neither the log nor git has a record whose id begins so. {_KEPT[0]} Look at"
        " memory_log.jsonl, or at git log -p .context/, for its id.",
        f"{{name}}: 로그에도 git에도 id가 이렇게 시작하는 기록이 없습니다. {_KEPT[1]} memory_log.jsonl이나"
        " git log -p .context/에서 id를 확인하십시오.",
    ),
    "ambiguous": (
        f"{{name}}: several ids begin so: {{ids}}. {_KEPT[0]} Give more of the id.",
        f"{{name}}: id가 이렇게 시작하는 기록이 여럿입니다: {{ids}}. {_KEPT[1]} id를 더 길게 쓰십시오.",
    ),
    "not_there": (
        f"{{name}}: the log has no record whose id begins so. {_KEPT[0]} cli.py list shows the ids;"
        " cli.py history {name} looks for a former record in git.",
        f"{{name}}: 로그에 id가 이렇게 시작하는 기록이 없습니다. {_KEPT[1]} id는 cli.py list로 볼 수 있고, 이전 기록은 cli.py"
        " history {name}로 git에서 찾을 수 있습니다.",
    ),
    "shared_id": (
        f"{{name}}: two records share this id, since their texts read the same when joined:"
        f" {{tokens}}. {_KEPT[0]} Name one of them by its token.",
        f"{{name}}: 두 기록이 이 id를 함께 씁니다(이어 붙이면 같은 글이 되기 때문): {{tokens}}. {_KEPT[1]} 그중 하나를"
        " 토큰으로 지정하십시오.",
    ),
    "no_version": (
        f"{{token}}: neither the log nor git has this version. {_KEPT[0]} cli.py history {{id}}"
        " --all lists those that git has.",
        f"{{token}}: 로그에도 git에도 이 버전이 없습니다. {_KEPT[1]} cli.py history {{id}} --all로 git에 있는 버전을 볼 수"
        " 있습니다.",
    ),
    "never_committed": (
        f"{{id}}: {{by}} replaced it before any commit had it, so git has no version of it."
        f" {_KEPT[0]} What is left of it is that record.",
        f"{{id}}: 커밋되기 전에 {{by}}(으)로 대체되어 git에 이 기록의 버전이 없습니다. {_KEPT[1]} 남은 것은"
        " 그 기록뿐입니다.",
    ),
    # history
    "now_present": ("Now: in the log as {token}.", "현재: 로그에 있음, {token}."),
    "now_present_new": (
        "Now: in the log as {token}; this version is not committed yet.",
        "현재: 로그에 있음, {token}. 이 버전은 아직 커밋되지 않음.",
    ),
    "now_hidden": (
        "Now: its line is in the file but hidden, because a principle replaced it.",
        "현재: 줄은 파일에 있으나 principle이 대체했으므로 숨겨짐.",
    ),
    "now_gone": ("Now: not in the log.", "현재: 로그에 없음."),
    "now_gone_new": (
        "Now: not in the log; its removal is not committed yet.",
        "현재: 로그에 없음. 제거는 아직 커밋되지 않음.",
    ),
    "replaced_by": (
        "Version {token} was replaced by {by} in topic {topic}.",
        "{token} 버전은 topic {topic}의 {by}(으)로 대체됨.",
    ),
    "versions": (
        "Changes that HEAD has behind it: {count}, the newest first. With --all also those of other"
        " branches.",
        "HEAD까지의 변경 {count}건, 최신순. --all을 쓰면 다른 브랜치도 봅니다.",
    ),
    "versions_all": (
        "Changes in all branches, the stash and the reflog: {count}, the newest first.",
        "모든 브랜치와 stash, reflog의 변경 {count}건, 최신순.",
    ),
    "added": ("added", "추가"),
    "changed": ("changed", "변경"),
    "removed": ("removed", "제거"),
    "replaced": ("replaced by {by}", "{by}(으)로 대체"),
    "hidden": ("hidden behind {by}", "{by}에 가려짐"),
    "originals": (
        "Versions that this principle replaced: {count}, still to be had: {found}.",
        "이 principle이 대체한 버전 {count}개, 되찾을 수 있는 것 {found}개.",
    ),
    "original_missing": ("not in git", "git에 없음"),
    # restore
    "already_there": (
        f"{{id}} is in the log already, as {{token}}. {_KEPT[0]} To put another version in its"
        " place, name that version: cli.py restore {id}@fp. cli.py history {id} lists them.",
        f"{{id}} 기록은 이미 로그에 있습니다({{token}}). {_KEPT[1]} 다른 버전으로 바꾸려면 cli.py restore {{id}}@fp로"
        " 버전을 지정하십시오. 버전 목록은 cli.py history {id}로 봅니다.",
    ),
    "nothing_to_do": (
        "{token} is the version in the log. There is nothing to do.",
        "{token}이(가) 이미 로그에 있는 판입니다. 할 일이 없습니다.",
    ),
    "restored": ("Brought back, from version {token}:", "{token} 버전에서 되살림:"),
    "would_restore": (
        "Would bring back, from version {token} (its new token comes with the time of writing):",
        "{token} 버전에서 되살릴 내용(새 토큰은 쓰는 시각에 정해짐):",
    ),
    "put_away": (
        "It takes the place of this version, in full:",
        "다음 버전을 대신함(전체 내용):",
    ),
    "not_the_replaced": (
        "The version that the principle replaced ({token}) was never committed; this is the last"
        " one that git has.",
        "principle이 대체한 판({token})은 커밋된 적이 없어, git에 있는 마지막 판입니다.",
    ),
    "replacing_stays": (
        "What had replaced it stays in the log: {by}.",
        "이 기록을 대체했던 {by}은(는) 로그에 남아 있습니다.",
    ),
    "hides": (
        "This principle replaces these records again, so they are no longer shown: {tokens}",
        "이 principle이 다음 기록을 다시 대체하므로 더는 보이지 않음: {tokens}",
    ),
    "redacted": (
        "Secrets redacted on the way back: {count} ({kinds}).",
        "되살리면서 가린 비밀 값 {count}개({kinds}).",
    ),
    "next": (
        "Look at it with git diff .context/, then commit.",
        "git diff .context/로 확인한 뒤 커밋하십시오.",
    ),
    "dry": ("Nothing was written (--dry-run).", "쓴 것은 없습니다(--dry-run)."),
    # uncompact
    "not_in_log": (
        f"{{id}} is not in the log, so there is no compaction to undo. {_KEPT[0]} If it is a"
        " principle that was removed, cli.py restore {id} brings it back first.",
        f"{{id}} 기록이 로그에 없어 되돌릴 통합이 없습니다. {_KEPT[1]} 지워진 principle이라면 먼저 cli.py restore {{id}}로"
        " 되살리십시오.",
    ),
    "other_version": (
        f"The log has {{token}}, not {{named}}. {_KEPT[0]} Look at it with cli.py history {{id}},"
        " then name the present version.",
        f"로그에 있는 버전은 {{named}}이(가) 아니라 {{token}}입니다. {_KEPT[1]} cli.py history {{id}}로 확인한 뒤 현재 버전을"
        " 지정하십시오.",
    ),
    "is_log": (
        f"{{id}} is a log: it replaced no other record. {_KEPT[0]} Name a principle.",
        f"{{id}} 기록은 log이며 다른 기록을 대체하지 않았습니다. {_KEPT[1]} principle을 지정하십시오.",
    ),
    "no_originals": (
        f"Principle {{id}} names no originals, so there is nothing to bring back. {_KEPT[0]}"
        " git log -p .context/ shows what was removed when.",
        f"principle {{id}}에 원본 목록이 없어 되살릴 것이 없습니다. {_KEPT[1]} 무엇이 언제 지워졌는지는"
        " git log -p .context/로 볼 수 있습니다.",
    ),
    "some_missing": (
        f"Of {{count}} originals, {{missing}} cannot be had; they were never committed, or git has"
        f" dropped them: {{tokens}}. {_KEPT[0]} With --keep-principle what can be had ({{found}})"
        " is brought back and the principle stays, so that nothing is lost.",
        f"원본 {{count}}건 중 {{missing}}건을 되찾을 수 없습니다. 커밋된 적이 없거나 git에서 사라졌습니다: {{tokens}}."
        f" {_KEPT[1]} --keep-principle을 쓰면 되찾을 수 있는 {{found}}건을 되살리고 principle은 남겨, 잃는 것이 없습니다.",
    ),
    "all_missing": (
        f"None of the {{count}} originals can be had; they were never committed, or git has dropped"
        f" them: {{tokens}}. {_KEPT[0]} What is left of them is the principle.",
        f"원본 {{count}}건을 하나도 되찾을 수 없습니다. 커밋된 적이 없거나 git에서 사라졌습니다: {{tokens}}. {_KEPT[1]}"
        " 남은 것은 principle뿐입니다.",
    ),
    "brought": ("Originals brought back: {count}.", "되살린 원본 {count}건."),
    "would_bring": (
        "Originals to bring back: {count} (their new tokens come with the time of writing).",
        "되살릴 원본 {count}건(새 토큰은 쓰는 시각에 정해짐).",
    ),
    "left_alone": (
        "Left as they are in the log, since they came back after the compaction: {tokens}",
        "통합한 뒤 다시 나타나 로그에 있는 그대로 둔 것: {tokens}",
    ),
    "still_missing": (
        "Not to be had, so still only in the principle: {tokens}",
        "되찾을 수 없어 principle에만 남은 것: {tokens}",
    ),
    "principle_went": (
        "The principle that went for them, in full, then its line as it stood in the file:",
        "원본을 되살리며 뺀 principle 전체와, 파일에 있던 그 줄:",
    ),
    "principle_would_go": (
        "The principle that would go for them, in full, then its line as it stands in the file:",
        "원본을 되살리며 빠질 principle 전체와, 파일에 있는 그 줄:",
    ),
    "principle_kept": (
        "The principle stays (--keep-principle):",
        "principle은 그대로 둠(--keep-principle):",
    ),
}


def word(lang: Language, key: str, /, **facts: str | int) -> str:
    """The sentence `key` in one language with its facts filled in."""
    return sentence(WORDS, lang, key, facts)
