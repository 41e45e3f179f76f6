"""The real command, as a process: pipes, Ctrl-C, a terminal, a full disk, missing permission."""

from __future__ import annotations

import ctypes
import os
import pty
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bursty

BURSTY = [str(Path(sys.executable).with_name("bursty"))]


def command(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*BURSTY, *arguments], capture_output=True, text=True, **options)


def obey_permissions() -> None:
    """The superuser of a test machine is let through everywhere; without these capabilities it is not."""
    if os.geteuid() == 0:
        prctl = ctypes.CDLL(None).prctl
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def small_files() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, 4_096))


def test_a_missing_path(bench):
    done = command("cluster", "nowhere")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "bursty: no such file or directory: nowhere\n")


def test_python_runs_the_command(bench):
    done = subprocess.run([sys.executable, "-m", "bursty", "cluster", "nowhere"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "bursty: no such file or directory: nowhere\n")


def test_results_can_be_piped(bench):
    script = f"{BURSTY[0]} infer found mails 2>/dev/null | cut -f3 | sort | uniq -c"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert sorted(line.split() for line in done.stdout.splitlines()) == [["1", "cluster"], ["20", "0"], ["20", "1"]]


def test_a_reader_that_goes_away(bench):
    script = f"set -o pipefail; {BURSTY[0]} infer found mails --json | head -c 1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "{")
    assert "Broken" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed(bench, closed):
    script = f"{BURSTY[0]} cluster mails --k 2 --out closed {closed}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert bursty.load("closed").n_components == 2


@pytest.mark.parametrize(
    "empty", [["", "--k", "2"], ["mails", "--k", "2", "--out", ""], ["mails", "--k", "2", "--out="]]
)
def test_an_empty_argument_is_not_the_current_directory(bench, empty):
    before = bench.names()
    done = command("cluster", *empty)
    assert (done.returncode, done.stdout, bench.names()) == (2, "", before)
    assert done.stderr.endswith("is empty: is a variable of the shell not set?\n")
    assert done.stderr.count("\n") == 1


def test_a_pipe_instead_of_a_file(bench):
    done = subprocess.run(["bash", "-c", f"{BURSTY[0]} cluster <(echo text) --k 2"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "is a pipe or a device, not a file" in done.stderr


def test_a_full_disk(bench):
    """Files can grow to a few kilobytes only: the model does not fit."""
    before = bench.names()
    done = command("cluster", "mails", "--k", "2", "--out", "new", preexec_fn=small_files)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("bursty: failed: ")
    assert "Traceback" not in done.stderr
    assert bench.names() == before


def test_no_permission(bench):
    (bench.folder / "secret.csv").write_text("text\nhush\n")
    (bench.folder / "secret.csv").chmod(0)
    (bench.folder / "closed").mkdir(mode=0o500)
    before = bench.names()
    for arguments in (["info", "secret.csv"], ["infer", "found", "secret.csv"], ["infer", "secret.csv", "mails"]):
        done = command(*arguments, preexec_fn=obey_permissions)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.splitlines()[-1] == "bursty: secret.csv: Permission denied"
    for arguments in (["cluster", "mails", "--out", "closed/new"], ["import", "mails", "-o", "closed/m.bcorpus"]):
        done = command(*arguments, preexec_fn=obey_permissions)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Permission denied" in done.stderr.splitlines()[-1]
    assert bench.names() == before


@pytest.mark.parametrize(
    ("verb", "number"),
    [
        ("cluster --k 3 --starts 100000", signal.SIGINT),
        ("discover --iterations 1000000", signal.SIGINT),
        ("cluster --k 3 --starts 100000", signal.SIGTERM),
        ("discover --iterations 1000000", signal.SIGTERM),
    ],
)
def test_a_signal_leaves_nothing_behind(verb, number, bench):
    before = bench.names()
    process = subprocess.Popen(
        [*BURSTY, *verb.split(), "mails", "--out", "new"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert "mails: 40 documents" in process.stderr.readline()
    time.sleep(2)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (128 + number, ""), err
    assert err.splitlines()[-1] == "bursty: stopped"
    assert "Traceback" not in err
    assert bench.names() == before


def test_ctrl_c_where_a_fit_keeps_what_it_has(bench):
    """A topic model ends early on Ctrl-C and gives what it has reached; the command stops all the same."""
    script = (
        "import signal, sys; from bursty.cli.main import run; from bursty.models.topics import TopicModel; "
        "TopicModel._on_iteration = lambda self, trace: signal.raise_signal(signal.SIGINT); "
        "sys.exit(run(sys.argv[1:]))"
    )
    before = bench.names()
    arguments = [sys.executable, "-c", script, "topics", "mails", "--k", "2", "--out", "new"]
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert bench.names() == before


def on_a_terminal(arguments: list[str], **environment: str) -> str:
    """What a person sees who runs this."""
    pid, screen = pty.fork()
    if pid == 0:
        os.execve(BURSTY[0], ["bursty", *arguments], {**os.environ, "TERM": "xterm-256color", **environment})
    shown = bytearray()
    while True:
        try:
            block = os.read(screen, 65_536)
        except OSError:
            break
        if not block:
            break
        shown += block
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return shown.decode()


def test_a_terminal_gets_bars_and_tables(bench):
    shown = on_a_terminal(["cluster", "mails", "--k", "2"])
    assert "reading mails" in shown
    assert "clustering" in shown
    assert "\t" not in shown
    assert "log likelihood per document" in shown
    assert "\x1b[1m" in shown


def test_no_colour_where_none_is_wanted(bench):
    shown = on_a_terminal(["info", "mails"], NO_COLOR="1")
    assert "\x1b[3" not in shown.replace("\x1b[2K", "")
