"""The program priornet, run by the scripts of this folder."""

import pathlib
import subprocess


def tool_in(folder, tool):
    """A function of the tool's arguments that runs it in `folder` and gives what it prints; where it fails, the script ends."""
    program = str(pathlib.Path(tool).resolve())

    def run(*arguments):
        done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"priornet {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    return run
