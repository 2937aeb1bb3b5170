"""The configurations that the manual offers to copy, against the program: each
starts a server that says nothing and ends well. Other directories are put in
place of those that it names.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Under what each client keeps its servers.
KEYS = {"mcpServers", "servers", "context_servers", "installations"}

program, manual = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
failed = False
for block in re.findall(r"^```json\n(.*?)^```", manual.read_text(), re.MULTILINE | re.DOTALL):
    [(key, servers)] = json.loads(block).items()
    assert key in KEYS, key
    for name, server in servers.items():
        assert server["command"].endswith("/preopen-mcp"), server
        with tempfile.TemporaryDirectory() as root:
            arguments = list(server["args"])
            arguments[1 + next(at for at, word in enumerate(arguments) if word in ("-d", "--root"))] = root
            end = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, env={}, cwd="/")
        silent = not end.stdout and not end.stderr
        well = silent and end.returncode == 0
        failed |= not well
        print("ok" if well else f"FAILED {end.returncode} {end.stderr.decode()!r}", key, name)
sys.exit(failed)
