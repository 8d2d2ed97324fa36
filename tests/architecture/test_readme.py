import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(tests/[\w/.]+\.py)`", README))))
def test_every_test_that_the_readme_names_is_there(path):
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`?\bmake (\w+)", README))))
def test_every_target_that_the_readme_names_is_in_the_makefile(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_every_command_that_the_readme_names_has_a_help():
    shown = subprocess.run(
        [str(Path(sys.executable).with_name("leads")), "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    named = set(re.findall(r"(?:^|  |`|/)leads ([a-z]+)", README, re.MULTILINE))

    assert named >= {"send", "import", "memories", "verify", "rebuild", "doctor", "keys"}
    assert [each for each in sorted(named) if f"  {each} " not in shown] == []
