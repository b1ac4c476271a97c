import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_terminal_summary(terminalreporter):
    """One line in the form that `cargo xtask test` counts."""
    count = {word: len(terminalreporter.stats.get(word, [])) for word in ("passed", "failed", "error", "skipped")}
    failed = count["failed"] + count["error"]
    word = "FAILED" if failed else "ok"
    passed = f"{count['passed']} passed; {failed} failed; {count['skipped']} ignored"
    terminalreporter.write_line(f"test result: {word}. {passed}")
