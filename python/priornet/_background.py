"""Long work of the library, on a thread of its own: meanwhile progress is shown and Ctrl-C works."""

from __future__ import annotations

import atexit
import sys
import threading
import time
import warnings
from typing import Any, NamedTuple, Optional, Union

from ._library import with_files


class _Lines:
    """Progress as text, at most one line per second."""

    def __init__(self) -> None:
        self._last = 0.0

    def show(self, task: str, done: int, total: int, detail: str) -> None:
        now = time.monotonic()
        if now - self._last >= 1.0:
            self._last = now
            print(f"{task}: {done} of {total} {detail}".rstrip(), file=sys.stderr)

    def close(self) -> None:
        pass


class _Bar:
    """The same as a bar of tqdm."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self._bar: Any = None
        self._task: Optional[tuple[str, int]] = None

    def show(self, task: str, done: int, total: int, detail: str) -> None:
        if self._task != (task, total):
            self.close()
            self._bar = self._make(total=total, desc=task, leave=False)
            self._task = (task, total)
        self._bar.set_postfix_str(detail, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = self._task = None


def _progress_shown(wanted: Optional[bool]) -> Union[_Lines, _Bar, None]:
    in_notebook = "ipykernel" in sys.modules
    if wanted is False or (wanted is None and not in_notebook and not sys.stderr.isatty()):
        return None
    try:
        with warnings.catch_warnings():  # about a notebook without ipywidgets, where bars are text
            warnings.simplefilter("ignore")
            import tqdm.auto
    except ImportError:
        return _Lines()
    return _Bar(tqdm.auto.tqdm)


class _Worker:
    """A job on a thread of its own; the interpreter's lock is free meanwhile."""

    _running: set[_Worker] = set()

    def __init__(self, job: Any, arguments: tuple[object, ...]) -> None:
        self.job = job
        self.finished = False
        self.error: Optional[BaseException] = None
        # Not Thread.join(): after Ctrl-C it believes that a running thread has ended.
        self.ended = threading.Event()
        self._arguments = arguments
        self._started = False
        self._taken = threading.Lock()  # held by the thread that works

    def start(self) -> None:
        """Ctrl-C may interrupt it before or after the thread began: call it until it returns."""
        if not self._started:
            threading.Thread(target=self._work, name="priornet", daemon=True).start()
            self._started = True

    def _work(self) -> None:
        if not self._taken.acquire(blocking=False):
            return
        self._running.add(self)
        try:
            self.finished = with_files(self.job.run, *self._arguments)
        except BaseException as error:  # raised again by the thread that waits
            self.error = error
        finally:
            self._running.discard(self)
            self.ended.set()

    @classmethod
    def stop_all(cls) -> None:
        """Called when Python ends: a thread that returned from C++ after that would crash."""
        for worker in list(cls._running):
            worker.job.stop()
            worker.ended.wait()


atexit.register(_Worker.stop_all)


class Outcome(NamedTuple):
    """How a job ended."""

    finished: bool  #: it came to its end
    interrupted: bool  #: by Ctrl-C


def run_job(job: Any, *arguments: object, progress: Optional[bool]) -> Outcome:
    """Calls job.run(*arguments) on a thread of its own; Ctrl-C calls job.stop(). Raises what run() raises.

    progress: a bar by tqdm, or lines without tqdm; None: only on a terminal and in a notebook.
    """
    shown = _progress_shown(progress)
    worker = _Worker(job, arguments)
    interrupted = False
    messages = 0

    def tell() -> None:
        nonlocal messages
        if shown is None:
            return
        for message in job.messages(messages):
            messages += 1
            print(message, file=sys.stderr)
        task, done, total, detail = job.progress()
        if task:
            shown.show(task, done, total, detail)

    while True:
        try:
            worker.start()
            while not worker.ended.wait(0.1):
                tell()
            tell()
            break
        except KeyboardInterrupt:  # the job ends in order: training writes a checkpoint first
            interrupted = True
            job.stop()
    if shown is not None:
        shown.close()
    if worker.error is not None:
        raise worker.error
    return Outcome(worker.finished, interrupted)
