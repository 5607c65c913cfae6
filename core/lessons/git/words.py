"""Every sentence about git and the versions that it holds or lacks, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # git
    "no_git": ("git was not found, and earlier versions are read through it. The log itself is unchanged. Install git, or put it on the PATH, then repeat the command.",
        "git을 찾을 수 없습니다. 이전 버전은 git으로 읽습니다. 로그는 그대로입니다. git을 설치하거나 PATH에 넣은 뒤 다시 실행하세요."),
    "git_failed": ("git could not read the history ({reason}). Nothing was changed. Try git log in the project; once that works, repeat the command.",
        "git이 이력을 읽지 못했습니다({reason}). 바뀐 것은 없습니다. 프로젝트에서 git log가 되는지 확인한 뒤 다시 실행하세요."),
    "objects_missing": ("The history cannot be read: git objects are missing or damaged here ({reason}). None is fetched, because the maker of the repository could run a program that way. Nothing was changed. If you trust the repository, git fsck --connectivity-only says which; git log --all -p .context/ fetches them in a partial clone, git fetch --unshallow in a shallow one. Then repeat the command.",
        "이력을 읽을 수 없습니다. 여기 git 객체가 없거나 손상되었습니다({reason}). 저장소를 만든 사람이 이때 자기 프로그램을 실행할 수 있으므로 새로 받아 오지 않습니다. 바뀐 것은 없습니다. 믿을 수 있는 저장소라면 git fsck --connectivity-only로 무엇이 없는지 확인하세요. 부분 클론(partial clone)은 git log --all -p .context/로, 얕은 클론(shallow clone)은 git fetch --unshallow로 받아 온 뒤 다시 실행하세요."),
    "git_slow": ("git did not answer within {seconds} s. Nothing was changed. Try git log in the project; once that works, repeat the command.",
        "git이 {seconds}초 안에 답하지 않았습니다. 바뀐 것은 없습니다. 프로젝트에서 git log가 되는지 확인한 뒤 다시 실행하세요."),
    "no_repository": ("{path} is not in a git work tree, so there are no earlier versions. The log itself is unchanged. Run git init and make a first commit; from then on git keeps them.",
        "{path}은(는) git 작업 트리 안에 있지 않아 이전 버전이 없습니다. 로그는 그대로입니다. git init과 첫 커밋을 하면 그때부터 git이 보관합니다."),
    "no_commits": ("The git repository of {path} has no commit, so there are no earlier versions. The log itself is unchanged. Commit .context/; from then on git keeps them.",
        "{path}의 git 저장소에 커밋이 없어 이전 버전이 없습니다. 로그는 그대로입니다. .context/를 커밋하면 그때부터 git이 보관합니다."),
    "bad_revision": ("git knows no commit by this name: {name}. Nothing was changed. Give a branch, a tag or the id of a commit; in CI, fetch it first (fetch-depth: 0).",
        "git에 이 이름의 커밋이 없습니다: {name}. 바뀐 것은 없습니다. 브랜치나 태그, 커밋 id를 주세요. CI에서는 먼저 가져와야 합니다(fetch-depth: 0)."),
    "ambiguous_revision": ("git knows both a branch and a tag, or another two things, by this name: {name}. Nothing was changed. Give the id of the commit, or the whole name: refs/heads/NAME, refs/tags/NAME.",
        "git에 이 이름으로 브랜치와 태그처럼 서로 다른 것이 둘 있습니다: {name}. 바뀐 것은 없습니다. 커밋 id나 refs/heads/이름, refs/tags/이름처럼 전체 이름을 주세요."),
    "no_merge_base": ("git knows no common ancestor of {one} and {other}, so there is no way to tell what the second adds. Nothing was changed. In CI, fetch the whole history (fetch-depth: 0).",
        "{one}와(과) {other}의 공통 조상이 git에 없어, 뒤의 것이 무엇을 가져오는지 알 수 없습니다. 바뀐 것은 없습니다. CI에서는 이력 전체를 가져오세요(fetch-depth: 0)."),
    "unmerged": ("{path}: a merge is still open, and the index holds several versions of it. Nothing was changed. Resolve the conflict and git add the file, then repeat the command.",
        "{path}: 병합이 끝나지 않아 인덱스에 버전이 여럿 있습니다. 바뀐 것은 없습니다. 충돌을 풀고 git add를 실행한 뒤 다시 실행하세요."),
    # reasons why git does not know a version
    "cut": ("This is a shallow clone without the older history; git fetch --unshallow gets it.",
        "얕은 클론(shallow clone)이라서 오래된 이력이 없습니다. git fetch --unshallow로 받을 수 있습니다."),
    "ignored": ("git ignores this log. To keep its versions, remove it from .gitignore and commit it.",
        "이 로그는 git이 무시하도록 설정되어 있습니다. 이전 버전을 남기려면 .gitignore에서 빼고 커밋하세요."),
    "not_committed": ("This log has never been committed. To keep its versions, commit .context/.",
        "이 로그는 커밋된 적이 없습니다. 이전 버전을 남기려면 .context/를 커밋하세요."),
    # which record or version is meant
    "bad_token": ("{name}: this is not an id and not a token such as 201398ff99d0c19e@69ab21. Nothing was changed. Name a record by its id, or a version by id@fp.",
        "{name}: id도 아니고 201398ff99d0c19e@69ab21 같은 토큰도 아닙니다. 바뀐 것은 없습니다. 기록은 id로, 버전은 id@fp로 지정하세요."),
    "too_short": ("{name}: no record has this id, and a beginning needs {least} characters. Nothing was changed. Give more of the id.",
        "{name}: 이 id를 가진 기록이 없고, 앞부분으로 찾으려면 {least}자 이상이어야 합니다. 바뀐 것은 없습니다. id를 더 길게 쓰세요."),
    "unknown": ("{name}: no record in the log, beside it or in git has an id that begins like this. Nothing was changed. Look up its id in memory_log.jsonl or in git log -p .context/.",
        "{name}: 로그에도, 로그 옆 보관 파일에도, git에도 id가 이렇게 시작하는 기록이 없습니다. 바뀐 것은 없습니다. memory_log.jsonl이나 git log -p .context/에서 id를 확인하세요."),
    "ambiguous": ("{name}: several ids begin like this: {ids}. Nothing was changed. Give more of the id.",
        "{name}: id가 이렇게 시작하는 기록이 여럿입니다: {ids}. 바뀐 것은 없습니다. id를 더 길게 쓰세요."),
    "not_there": ("{name}: no record in the log has an id that begins like this. Nothing was changed. {cli} list shows the ids; {cli} show {name} --versions looks for former ones, in git, too.",
        "{name}: 로그에 id가 이렇게 시작하는 기록이 없습니다. 바뀐 것은 없습니다. id는 {cli} list로 볼 수 있고, 지워진 기록은 {cli} show {name} --versions로 git에서도 찾을 수 있습니다."),
    "shared_id": ("{name}: more than one record has this id (versions of one gap from two branches, or texts that read the same when joined): {tokens}. Nothing was changed. Name one of them by its token.",
        "{name}: 이 id를 쓰는 기록이 둘 이상입니다(두 브랜치에서 온 빠진 정보가 같은 버전이거나, 이어 붙이면 같은 글): {tokens}. 바뀐 것은 없습니다. 그중 하나를 토큰으로 지정하세요."),
    "other_version": ("The log has {token}, not {named}. Nothing was changed. Check it with {cli} show {id} --versions, then name the current version.",
        "로그에 있는 버전은 {named}이(가) 아니라 {token}입니다. 바뀐 것은 없습니다. {cli} show {id} --versions로 확인한 뒤 현재 버전을 지정하세요."),
    "no_version": ("{token}: this version is not in the log, not beside it and not in git. Nothing was changed. {cli} show {id} --versions lists those that there are.",
        "{token}: 로그에도, 로그 옆 보관 파일에도, git에도 이 버전이 없습니다. 바뀐 것은 없습니다. {cli} show {id} --versions로 있는 버전을 볼 수 있습니다."),
    "never_committed": ("{id}: {by} replaced it before any commit, and it is not kept beside the log on this machine, so there is no version to restore. Nothing was changed. Only that record is left.",
        "{id}: 커밋되기 전에 {by}(으)로 대체되었고 이 컴퓨터의 로그 옆에도 보관되어 있지 않아 되찾을 버전이 없습니다. 바뀐 것은 없습니다. 남은 것은 그 기록뿐입니다."),
    # what cannot be brought back
    "already_there": ("{id} is already in the log, as {token}. Nothing was changed. To put another version in its place, name that version: {cli} restore {id}@fp. {cli} show {id} --versions lists them.",
        "{id} 기록은 이미 로그에 있습니다({token}). 바뀐 것은 없습니다. 다른 버전으로 바꾸려면 {cli} restore {id}@fp로 버전을 지정하세요. 버전 목록은 {cli} show {id} --versions로 봅니다."),
    "not_in_log": ("{id} is not in the log, so there is no compaction to undo. Nothing was changed. If it is a principle that was removed, {cli} restore {id} brings it back first.",
        "{id} 기록이 로그에 없어 되돌릴 통합이 없습니다. 바뀐 것은 없습니다. 지워진 principle이라면 먼저 {cli} restore {id}(으)로 되살리세요."),
    "is_log": ("{id} is a log: it replaced no other record. Nothing was changed. Name a principle.",
        "{id} 기록은 log이며 다른 기록을 대체하지 않았습니다. 바뀐 것은 없습니다. principle을 지정하세요."),
    "no_originals": ("Principle {id} names no originals, so there is nothing to bring back. Nothing was changed. git log -p .context/ shows what was removed when.",
        "principle {id}에 원본 목록이 없어 되살릴 것이 없습니다. 바뀐 것은 없습니다. 무엇이 언제 지워졌는지는 git log -p .context/로 볼 수 있습니다."),
    "some_missing": ("Originals that are not beside the log and not in git: {missing} of {count} ({tokens}). Nothing was changed. The principle stays, for it alone has what they said. Each of the others ({found}) can come back beside it: {cli} restore {first}",
        "원본 {count}건 중 {missing}건을 되찾을 수 없습니다. 로그 옆에도 git에도 없습니다: {tokens}. 바뀐 것은 없습니다. 그 내용은 principle에만 있으므로 principle은 그대로 둡니다. 나머지({found})는 하나씩 principle 옆에 되살릴 수 있습니다: {cli} restore {first}"),
    "all_missing": ("None of the originals is beside the log or in git: {count} ({tokens}). Nothing was changed. Only the principle is left.",
        "원본 {count}건을 하나도 되찾을 수 없습니다. 로그 옆에도 git에도 없습니다: {tokens}. 바뀐 것은 없습니다. 남은 것은 principle뿐입니다."),
}
# fmt: on

word = partial(sentence, WORDS)
