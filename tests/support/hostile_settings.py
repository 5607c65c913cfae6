"""Lists every way in which a repository or an environment can name a program that git starts.

A value may hold `{run}`, a program that leaves a mark and is named after the key; `{run:NAME}`,
one of another name; `{here}`, the folder of the traps; `{other}`, another repository.
"""

from dataclasses import dataclass

ASKING = "protocol=https\nhost=x.invalid\n\n"
MAIL = "From a\nFrom: a <a@x.invalid>\nDate: Thu, 1 Jan 1970 00:00:00 +0000\nSubject: x\n\nx\n"
HOOKS = """
applypatch-msg commit-msg fsmonitor-watchman p4-changelist post-applypatch post-checkout post-commit
post-index-change post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc
pre-commit pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg proc-receive
push-to-checkout reference-transaction sendemail-validate update
""".split()


@dataclass(frozen=True)
class Setting:
    """One hostile key.

    fires: the words of a plain git that start the program, behind `tty` where it must believe that
    somebody looks; "" where no installed git or none without a person does. given: its input.
    """

    key: str
    value: str = "{run}"
    fires: str = ""
    given: str = ""


# fmt: off
GROUPS: dict[str, tuple[Setting, ...]] = {
    "programs": (
        Setting("core.fsmonitor", fires="status"),
        Setting("core.pager", fires="tty show"),
        Setting("pager.log", fires="tty log"),
        Setting("pager.rev-parse"),
        Setting("pager.rev-list", fires="tty rev-list HEAD"),
        Setting("pager.ls-files", fires="tty ls-files"),
        Setting("pager.ls-tree", fires="tty ls-tree HEAD"),
        Setting("pager.cat-file", fires="tty cat-file -p HEAD"),
        Setting("pager.check-attr", fires="tty check-attr -a code"),
        Setting("pager.check-ignore", fires="tty check-ignore -v -n code"),
        Setting("pager.merge-base", fires="tty merge-base HEAD HEAD"),
        Setting("core.editor", fires="commit --allow-empty"),
        Setting("diff.external", fires="diff HEAD~1 -- code"),
        Setting("diff.command.command", fires="diff other -- code.command"),
        Setting("diff.log.textconv", fires="log -p -- .context/memory_log.jsonl"),
        Setting("filter.log.clean", fires="hash-object --path .context/memory_log.jsonl code"),
        Setting("filter.log.smudge", fires="cat-file --filters HEAD:.context/memory_log.jsonl"),
        Setting("merge.log.driver", fires="merge other"),
        Setting("merge.tool", "hostile"),
        Setting("mergetool.hostile.cmd"),
        Setting("diff.tool", "hostile"),
        Setting("difftool.hostile.cmd", fires="difftool -y HEAD~1 -- code"),
        Setting("guitool.hostile.cmd"),
        Setting("credential.helper", fires="credential fill", given=ASKING),
        Setting("credential.https://x.invalid.helper", fires="credential fill", given=ASKING),
        Setting("core.askPass", fires="credential fill", given=ASKING),
        Setting("log.showSignature", "true"),
        Setting("gpg.program", fires="log HEAD"),
        Setting("gpg.ssh.allowedSignersFile", "{here}/x"),
        Setting("gpg.ssh.program", fires="log HEAD"),
        Setting("gpg.x509.program", fires="log HEAD"),
        Setting("gpg.ssh.defaultKeyCommand",
            fires="-c gpg.format=ssh commit --allow-empty -S -m x"),
        Setting("uploadpack.packObjectsHook"),
        Setting("remote.origin.url", "{other}"),
        Setting("remote.origin.uploadpack", fires="fetch origin"),
        Setting("remote.origin.receivepack", fires="push origin HEAD:refs/heads/x"),
        Setting("remote.helper.url", "x"),
        Setting("remote.helper.vcs", "hostile", fires="fetch helper"),
        Setting("protocol.allow", "always"),
        Setting("protocol.ext.allow", "always"),
        Setting("remote.ext.url", "ext::{run}", fires="fetch ext"),
        Setting("url.ext::{run:insteadOf} x.insteadOf", "https://x.invalid/",
            fires="fetch https://x.invalid/a"),
        Setting("core.sshCommand", fires="fetch ssh://x.invalid/a"),
        Setting("core.gitProxy", fires="fetch git://x.invalid/a"),
        Setting("alias.hostile", "!{run}", fires="hostile"),
        Setting("alias.log", "!{run}"),
        Setting("alias.rev-parse", "!{run}"),
        Setting("color.ui", "always"),
        Setting("core.alternateRefsCommand", fires="rev-list --alternate-refs"),
        Setting("trailer.one.command", fires="interpret-trailers --trailer one=1 code"),
        Setting("trailer.two.cmd", fires="interpret-trailers --trailer two=1 code"),
        Setting("tar.hostile.command", fires="archive --format=hostile HEAD"),
        Setting("web.browser", "hostile"),
        Setting("browser.hostile.cmd", fires="web--browse http://x.invalid"),
        Setting("man.viewer", "hostile"),
        Setting("man.hostile.cmd", fires="help -m log"),
        Setting("imap.tunnel", fires="imap-send", given=MAIL),
        Setting("imap.folder", "x"),
        Setting("sendemail.tocmd"),
        Setting("sendemail.cccmd"),
        Setting("sendemail.headerCmd"),
        Setting("sendemail.sendmailCmd"),
        Setting("instaweb.httpd"),
        Setting("gc.recentObjectsHook"),
        Setting("hook.hostile.command"),
        Setting("hook.hostile.event", "post-index-change"),
        Setting("include.path", "../included", fires="tty tag"),
        Setting("includeIf.gitdir:/**.path", "../included-if", fires="tty branch"),
    ),
    "process": (
        Setting("filter.log.process", fires="cat-file --filters HEAD:.context/memory_log.jsonl"),
    ),
    "rest": (
        Setting("diff.log.command", fires="diff other -- .context"),
        Setting("diff.log.cachetextconv", "true"),
        Setting("log.showSignature", "true"),
        Setting("gpg.openpgp.program", fires="log HEAD"),
        Setting("log.follow", "true"),
        Setting("log.diffMerges", "combined"),
        Setting("diff.relative", "true"),
        Setting("diff.renameLimit", "1"),
        Setting("diff.renames", "copies"),
        Setting("diff.orderFile", "{here}/config"),
        Setting("core.bigFileThreshold", "1"),
        Setting("core.quotePath", "true"),
        Setting("core.abbrev", "4"),
        Setting("color.ui", "always"),
        Setting("sequence.editor", fires="-c i18n.logOutputEncoding= rebase -i --autostash HEAD~1"),
        Setting("submodule.part.url", "{other}"),
        Setting("submodule.part.update", "!{run}",
            fires="-c protocol.file.allow=always submodule update part"),
        Setting("interactive.diffFilter",
            fires="tty -c core.bigFileThreshold=1m add -p", given="q\n"),
        Setting("format.pretty", "raw"),
        Setting("i18n.logOutputEncoding", "UTF-16"),
        Setting("core.attributesFile", "{here}/attributes"),
        Setting("submodule.recurse", "true"),
        Setting("core.untrackedCache", "true"),
    ),
    "hooks": tuple(
        Setting(f"hook {name}", fires=fires) for name, fires in
        (dict.fromkeys(HOOKS, "") | {
            "pre-commit": "commit --allow-empty -m x",
            "prepare-commit-msg": "commit --allow-empty -m x",
            "commit-msg": "commit --allow-empty -m x",
            "post-commit": "commit --allow-empty -m x",
            "reference-transaction": "branch x",
            "post-index-change": "update-index --force-write-index",
            "post-checkout": "checkout -f other",
            "post-merge": "merge -s ours other",
            "pre-merge-commit": "merge -s ours other",
            "post-rewrite": "commit --amend --allow-empty -m x",
            "pre-rebase": "rebase --autostash other",
            "pre-push": "push {other} HEAD:refs/heads/pushed",
        }).items()
    ),
}

ENVIRONMENT: tuple[Setting, ...] = (
    Setting("GIT_EXTERNAL_DIFF", fires="diff HEAD~1 -- code"),
    Setting("GIT_PAGER", fires="tty log"),
    Setting("PAGER", fires="tty log"),
    Setting("GIT_EDITOR", fires="commit --allow-empty"),
    Setting("VISUAL", fires="commit --allow-empty"),
    Setting("EDITOR", fires="commit --allow-empty"),
    Setting("GIT_SEQUENCE_EDITOR", fires="-c i18n.logOutputEncoding= rebase -i --autostash HEAD~1"),
    Setting("GIT_SSH", fires="fetch ssh://x.invalid/a"),
    Setting("GIT_SSH_COMMAND", fires="fetch ssh://x.invalid/a"),
    Setting("GIT_ASKPASS", fires="credential fill", given=ASKING),
    Setting("SSH_ASKPASS", fires="credential fill", given=ASKING),
    Setting("GIT_PROXY_COMMAND", fires="fetch git://x.invalid/a"),
    Setting("GIT_CONFIG_PARAMETERS", "'core.fsmonitor={run}'", fires="status"),
    Setting("GIT_CONFIG_GLOBAL", "{here}/config", fires="status"),
    Setting("GIT_CONFIG_SYSTEM", "{here}/config"),
    Setting("GIT_EXEC_PATH", "{here}/programs"),
    Setting("GIT_TEMPLATE_DIR", "{here}/programs"),
    Setting("GIT_DIR", "{here}/bare", fires="status"),
    Setting("GIT_COMMON_DIR", "{here}/bare", fires="status"),
    Setting("GIT_WORK_TREE", "{here}"),
    Setting("GIT_NAMESPACE", "x"),
    Setting("GIT_OBJECT_DIRECTORY", "{here}/x"),
    Setting("GIT_ALTERNATE_OBJECT_DIRECTORIES", "{here}/x"),
    Setting("GIT_LITERAL_PATHSPECS", "1"),
    Setting("GIT_REPLACE_REF_BASE", "refs/heads"),
    Setting("GIT_ATTR_SOURCE", "HEAD"),
    Setting("GIT_ALLOW_PROTOCOL", "ext:ssh:git:file"),
    Setting("GIT_NO_LAZY_FETCH", "0"),
)

# How the remote from which a partial clone fetches a missing object may name a program.
PROMISORS: dict[str, tuple[tuple[str, str], ...]] = {
    "ssh": (("core.sshCommand", "{run}"), ("remote.origin.url", "ssh://x.invalid/a")),
    "ext": (("protocol.ext.allow", "always"), ("remote.origin.url", "ext::{run}")),
    "path": (("remote.origin.uploadpack", "{run}"), ("remote.origin.url", "{other}")),
    "file": (("remote.origin.uploadpack", "{run}"), ("remote.origin.url", "file://{other}")),
    "helper": (("remote.origin.vcs", "hostile"), ("remote.origin.url", "x")),
    "proxy": (("core.gitProxy", "{run}"), ("remote.origin.url", "git://x.invalid/a")),
    "instead": (
        ("protocol.ext.allow", "always"), ("url.ext::{run} x.insteadOf", "https://x.invalid/"),
        ("remote.origin.url", "https://x.invalid/a"),
    ),
}
# fmt: on
