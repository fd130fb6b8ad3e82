"""Progress is for the terminal; what a command prints goes where its user sends it."""

import os
import pty
import subprocess
import sys

CODE = """
from memory_node.app.progress import progress_bar
with progress_bar() as progress:
    for row in progress.track([1, 2], description="rows"):
        print(row)
"""


def on_terminal(code: str) -> tuple[str, str]:
    """Run code with its errors on a terminal and its output in a pipe; return output and errors."""
    terminal, theirs = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(theirs)
    shown = b""
    try:
        while more := os.read(terminal, 4096):
            shown += more
    except OSError:  # Linux' way to say that nobody writes there any more
        pass
    finally:
        os.close(terminal)
    output, _ = run.communicate(timeout=60)
    return output, shown.decode()


def test_rows_go_to_the_pipe_while_the_bar_is_on_the_terminal() -> None:
    output, shown = on_terminal(CODE)
    assert output == "1\n2\n"
    assert "rows" in shown
    assert "2/2" in shown


def test_nothing_is_shown_where_no_terminal_is() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr.strip()) == ("1\n2\n", "")
