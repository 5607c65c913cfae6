"""Tests which command lines are recorded."""

import pytest

from rooms.sessions.actions.policy import MOST_CHARS, commands_in, is_recorded
from rooms.sessions.config import EXCLUDED, INCLUDED

RECORDED = r"""
npm test
npm  test  --watch
cd web && npm test
cd web; npm run build
sudo -u me npm test
sudo npm install left-pad
NODE_ENV=test CI=1 npm test
env -u A B=1 npm test
time npm test
nice -n 5 nohup npm test
timeout -k 5 30s npm test
(cd web && npm test)
if true; then npm test; fi
git status && git push
git -C shop commit -m "a; ls"
git --no-pager -c user.name=x commit
npm --prefix web test
docker --context prod compose up
docker-compose up -d
/usr/bin/python3 tool.py
.venv/bin/python -m pytest -q
C:/tools/python.exe tool.py
python3.11 -V
pip3 install x
cat data | python -
find . -name '*.txt' | xargs -n 1 python
bash -lc 'cd a && npm test'
bash -lc npm test
sh -c "sh -c 'npm test'"
echo $(npm test)
npm test # all of them
cat <<'END' > a && npm test
"npm" 'test'
yarn
npm test &
npm.cmd test
"""
PASSED_OVER = r"""
npmx test
npm
npm ls
xnpm test
npm-check test
npm "test it"
npm run-script x
ls
cd npm
pwd
echo npm test
echo 'npm test'
echo "a && npm test"
git status
git -C shop status
git --no-pager log
git diff | cat
git branch commit
# npm test
pythonic x
sudo
A=1

bash -lc 'echo npm test'
grep -r "npm test" .
"""


@pytest.mark.row("003 T26", "003 T29", "003 T30")
def test_a_command_line_is_recorded_for_a_command_that_is_included_and_not_excluded() -> None:
    wrong = [line for line in RECORDED.strip().splitlines() if not is_default(line)]
    wrong += [line for line in PASSED_OVER.strip().splitlines() if is_default(line)]
    assert wrong == []


def is_default(line: str) -> bool:
    return is_recorded(line, INCLUDED, EXCLUDED)


def test_lines_that_a_command_reads_are_no_commands() -> None:
    assert not is_default("cat > a <<'END'\nnpm test\nEND")
    assert not is_default("cat > a <<-EOF\nnpm test\n  EOF")
    assert not is_default("cat > a <<END\nnpm test")
    assert is_default("cat > a <<END\nls\nEND\nnpm test")
    assert is_default("ls\nnpm test")


@pytest.mark.row("003 T30")
def test_what_is_excluded_wins() -> None:
    assert is_recorded("git push", ["git"], ["git status"])
    assert not is_recorded("git status", ["git"], ["git status"])
    assert not is_recorded("git status", ["git status"], ["git"])
    assert not is_recorded("npm test", ["npm"], ["npm test"])
    assert is_recorded("npm run x && npm test", ["npm"], ["npm test"])


@pytest.mark.row("003 T29")
def test_no_include_stands_for_every_command() -> None:
    assert is_recorded("cargo build", [], EXCLUDED)
    assert not is_recorded("cd a; ls", [], EXCLUDED)
    assert not is_recorded("", [], [])
    assert not is_recorded("cargo build", ["", "  "], [])


def test_a_version_at_the_end_of_a_name_may_be_left_out() -> None:
    assert is_recorded("python3 x.py", ["python"], [])
    assert is_recorded("python3 x.py", ["python3"], [])
    assert not is_recorded("python x.py", ["python3"], [])
    assert not is_recorded("7z x", [""], [])


def test_the_words_of_each_command_are_read_as_a_shell_does() -> None:
    line = r"""A=1 git -c "user.name=a b" commit -m 'it'\''s; done' && (npm test) | tee out"""
    assert list(commands_in(line)) == [
        ["git", "-c", "user.name=a b", "commit", "-m", "it's; done"],
        ["npm", "test"],
        ["tee", "out"],
    ]


@pytest.mark.long  # it costs much
def test_odd_lines_end_soon() -> None:
    for text in ("'", '"', "`", "\\", "$(", "<<A\n", "a 'b\" ", "sudo ", "sh -c ", "-", "&", "\0"):
        assert not is_recorded(text * (2 * MOST_CHARS), ["npm test"], ())
