"""Measures the weight of the program: the code that a newcomer would have to read.

    python -m tests.weight             prints it beside the ceilings of weight.toml; 1 above one
    python -m tests.weight --lower     lowers the ceilings to today's figures; none is ever raised

Stories, recorded answers and other data do not count, nor do tables, which stand between
`# fmt: off` and `# fmt: on`.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CEILINGS = ROOT / "tests" / "weight.toml"
LONG_FUNCTION, LONG_FILE = 60, 500
_NO_PRODUCT = {"tests", "benchmarks", "packaging"}
_TABLE = re.compile(r"^# fmt: off\n.*?^# fmt: on\n", re.M | re.S)
_RULES = {"complexity": ("C901", "mccabe.max-complexity"),
          "branches": ("PLR0912", "pylint.max-branches")}  # fmt: skip


def product() -> list[Path]:
    folders = {path.parent for path in ROOT.glob("*/__init__.py")}
    inside = [path for it in folders if it.name not in _NO_PRODUCT for path in it.rglob("*.py")]
    return sorted([ROOT / "server.py", ROOT / "cli.py", *inside])


def weight() -> dict[str, int]:
    """Return the figures that have a ceiling, by their names in weight.toml."""
    texts = {path: path.read_text(encoding="utf-8") for path in product()}
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")
             if "node_modules" not in path.parts]  # fmt: skip
    code_lines = [_TABLE.sub("", text).count("\n") for text in texts.values()]
    return {
        "product_lines": sum(text.count("\n") for text in texts.values()),
        "product_files": len(texts),
        "test_lines": sum(text.count("\n") for text in tests),
        "long_functions": sum(lines > LONG_FUNCTION for lines in _function_lines(texts)),
        "long_files": sum(lines > LONG_FILE for lines in code_lines),
        **{name: _worst(name) for name in _RULES},
    }


def breaches(ceilings: Mapping[str, int], figures: Mapping[str, int]) -> list[str]:
    """Return a sentence for each figure above its ceiling."""
    return [
        f"{name} is {figures[name]:,}, and its ceiling in tests/weight.toml {most:,}: make the"
        " change smaller, or take something else out. A ceiling is never raised."
        for name, most in ceilings.items()
        if figures[name] > most
    ]


def raised(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    """Return a sentence for each ceiling of `before` that `after` raises or leaves out."""
    return [
        f"the ceiling of {name} was {most:,} and is {after.get(name, 'gone')}"
        for name, most in before.items()
        if after.get(name, most + 1) > most
    ]


def ceilings() -> dict[str, int]:
    return tomllib.loads(CEILINGS.read_text(encoding="utf-8"))


def former_ceilings() -> dict[str, int]:
    """Return the lowest that each ceiling has ever been; {} without git."""
    command = ["git", "log", "-p", "--format=", "--", str(CEILINGS.relative_to(ROOT))]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    rows = [(name, int(most)) for name, most in re.findall(r"^\+(\w+) = (\d+)", told, re.M)]
    return {name: min(most for other, most in rows if other == name) for name, _ in rows}


def lower() -> None:
    figures = weight()
    text = CEILINGS.read_text(encoding="utf-8")
    for name, most in ceilings().items():
        line = f"{name} = {min(most, figures[name])}"
        text = re.sub(rf"^{name} = [0-9]+", line, text, flags=re.M)
    CEILINGS.write_text(text, encoding="utf-8")


def _function_lines(texts: Mapping[Path, str]) -> list[int]:
    return [
        (node.end_lineno or 0) - node.lineno + 1
        for text in texts.values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _worst(name: str) -> int:
    """Return the figure of the worst function of the program, as ruff measures it."""
    rule, setting = _RULES[name]
    files = [str(path.relative_to(ROOT)) for path in product()]
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--quiet",
               "--select", rule, "--config", f"lint.{setting}=0", *files]  # fmt: skip
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    return max(map(int, re.findall(r"\((\d+) > 0\)", told)))


def main() -> int:
    """Print the figures; 1 where one is above its ceiling, or where a ceiling was raised."""
    if "--lower" in sys.argv[1:]:
        lower()
    held, figures = ceilings(), weight()
    for name, figure in figures.items():
        print(f"{figure:9,}  {name} (ceiling {held[name]:,})")
    wrongs = breaches(held, figures) + raised(former_ceilings(), held)
    print("\n".join(wrongs), file=sys.stderr, end="\n" if wrongs else "")
    return int(bool(wrongs))


if __name__ == "__main__":
    sys.exit(main())
