"""The program priornet, run by the scripts of this folder."""

import pathlib
import subprocess


def tool_in(folder, tool):
    """A function that runs the tool with its arguments in `folder` and returns the output; if the tool fails, the script ends."""
    program = str(pathlib.Path(tool).resolve())

    def run(*arguments):
        done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"priornet {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    return run
