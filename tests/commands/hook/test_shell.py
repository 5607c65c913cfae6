"""Tests which files a command line is seen to edit, and that reading one edits nothing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.hook.shell import edits_of
from tests.support.rows import none_of

FILE = "src/pay/refund.py"
# Of each kind, commands that edit FILE; a line is one command.
EDITS = {
    "in place": """
        sed -i s/a/b/ FILE
        sed -i.bak -e s/a/b/ -E ./FILE
        sed -Ei '' s/a/b/ FILE
        perl -pi -e s/a/b/ FILE
        gawk -i inplace 1 FILE
        ruby -i -pe 1 FILE""",
    "output": """
        echo x > FILE
        echo x >>FILE
        echo x &> FILE
        : >|"FILE"
        echo x | tee -a FILE
        curl -o FILE http://x
        sort a -o FILE
        dd if=/dev/zero of=FILE""",
    "files": """
        rm FILE
        rm -rf src/pay
        truncate -s 0 FILE
        cp /tmp/a.py FILE
        cp /tmp/refund.py src/pay/
        ln -sf a FILE
        mv a.py FILE
        mv FILE a.py
        install -m 644 a FILE
        ed -s FILE
        vim -es FILE
        patch FILE a.patch
        Set-Content -Path src\\pay\\refund.py -Value x""",
    "formatters": """
        black FILE
        ruff format src
        ruff check --fix FILE
        npx prettier --write FILE
        uv run ruff format FILE
        python -m black FILE
        gofmt -w FILE
        eslint --fix FILE
        pnpm dlx prettier -w FILE
        poetry run autopep8 -i FILE""",
    "git": """
        git mv FILE a.py
        git mv a.py FILE
        git rm -q FILE
        git checkout -- FILE
        git checkout HEAD~1 FILE
        git restore FILE
        git -C src restore pay/refund.py""",
    "wrapped": """
        sudo -u dev rm FILE
        env A=1 sed -i s/a/b/ FILE
        timeout 5 sed -i s/a/b/ FILE
        if true; then rm FILE; fi
        bash -lc 'rm FILE'
        sh -c "sed -i 's/a/b/' FILE"
        eval 'rm FILE'
        ls && rm FILE || true""",
    "folders": """
        cd src && rm pay/refund.py
        (cd src/pay; rm refund.py)
        (cd src/pay); rm FILE
        pushd src/pay && rm refund.py
        pushd src; popd; rm FILE
        cd ROOT/src/pay && sed -i s/a/b/ ./refund.py""",
    "names": """
        f=FILE; rm "$f"
        f=FILE; rm ${f}
        for g in FILE a.py; do rm $g; done
        rm src/*/refund.py
        rm src/{web,pay}/refund.py
        rm ROOT/FILE
        rm $(pwd)/FILE
        rm 'src'/"pay"/refund.py""",
    "code": """
        python3 -c "open('FILE', 'w').write('x')"
        python -c "import os; os.remove('FILE')"
        node -e "fs.writeFileSync('FILE', 'x')"
        ruby -e "File.write('FILE', 1)\"""",
}
LONG_EDITS = (
    "cat > FILE <<'EOF'\nx = 1\nEOF",
    "cat <<EOF >> FILE\nx = 1\nEOF\nls",
    "cd src\ncat > pay/refund.py <<-\tEOF\n\tx = 1\n\tEOF\n",
    "tee FILE <<EOF\nx = 1\nEOF",
    "python3 - <<'E'\np = 'FILE'\ns = open(p).read()\nopen(p, 'w').write(s)  # x = 1\nE",
    "python3 <<E\nf = Path('src') / 'pay' / 'refund.py'\nf.write_text('x = 1')\nE",
    "python - <<E\nimport os\nos.path.join('src', 'pay', 'refund.py')\nsave  # x = 1\nE",
    "cat > /tmp/a.py <<E\nopen('FILE', 'a').write('x = 1')\nE\npython3 /tmp/a.py",
    "git apply <<'E'\n--- a/FILE\n+++ b/FILE\n@@ -1 +1 @@\n-a\n+x = 1\nE",
    "patch -p1 <<'E'\n--- a/FILE\n+++ b/FILE\n@@ -1 +1 @@\n-a\n+x = 1\nE",
    "bash <<'E'\ncat > FILE <<F\nx = 1\nF\nE",
)
READS = (
    "cat FILE; head -5 FILE; grep -in a FILE; rg a FILE; sed -n 1,20p FILE; awk '{print}' FILE;"
    " wc -l FILE; diff FILE a; ls -la FILE; pytest FILE -k a; python3 FILE; node FILE; mypy FILE;"
    " ruff check FILE; black --check FILE; prettier --check FILE; eslint FILE; git diff FILE;"
    " git add FILE; git log -p FILE; git show HEAD:FILE; git blame FILE; cp FILE /tmp/a.py;"
    " cat < FILE; echo 'rm FILE'; echo \"sed -i FILE\"; git commit -m 'rm FILE'; # rm FILE",
    "python3 -c \"print(open('FILE').read())\"",
    "python3 - <<E\nimport json\nprint(json.load(open('FILE')))\nE",
    "grep -c a FILE > /dev/null 2>&1",
    "git checkout main",
    "cat <<'E'\nrm FILE\nE",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / FILE).parent.mkdir(parents=True)
    (tmp_path / FILE).write_text("x")
    return tmp_path


def filled(command: str, root: Path) -> str:
    return command.replace("FILE", FILE).replace("ROOT", str(root))


@pytest.mark.parametrize("kind", EDITS)
def test_a_command_that_edits_a_file_is_seen_to_do_so(kind: str, root: Path) -> None:
    none_of(
        command
        for command in map(str.strip, EDITS[kind].strip().splitlines())
        if str(root / FILE) not in edits_of(filled(command, root), str(root)).paths
    )


@pytest.mark.parametrize("command", LONG_EDITS)
def test_of_a_here_document_the_file_and_the_text_are_seen(command: str, root: Path) -> None:
    edits = edits_of(filled(command, root), str(root))
    assert str(root / FILE) in edits.paths
    assert "x = 1" in edits.text


@pytest.mark.parametrize("command", READS)
def test_a_command_that_only_reads_edits_nothing(command: str, root: Path) -> None:
    assert edits_of(filled(command, root), str(root)).paths in ((), ("/tmp/a.py",))


def test_what_stands_for_many_files_tells_nothing(root: Path) -> None:
    for at in range(60):
        (root / f"src/{at}.py").write_text("x")
    for command in ("black .", "rm -rf src", "sed -i s/a/b/ src/*.py"):
        assert edits_of(command, str(root)).paths == ()


@given(st.text(st.sampled_from(list("'\"\\$(){}<>|;&\n =-*[]~#aF/.")), max_size=80))
def test_any_text_is_read_to_its_end(text: str) -> None:
    for command in (text, f"sed -i {text}", f"cat <<{text}", f"bash -c {text}", f"A={text}; rm $A"):
        edits_of(command, "/nowhere")


def test_odd_and_long_commands_are_read_soon() -> None:
    """Each would take minutes if its time grew with the square of its length."""
    for text in ("'", '"', '\\"', "$(", "<<a\n", "(", "a=a;$a ", "{a,a}", "bash -c '", "\\", "# "):
        edits_of(f"rm {text * 8_000}", "/nowhere")
