"""One session of one client: what a scenario asks for is called, and what
comes back is compared. It may not know which client that is: a client is an
asynchronous context manager whose object has the few methods used here.
"""

import json
import pathlib
import sys

import anyio
from processes import endings

INVALID_PARAMS = -32602

# Longer than any session, in seconds: a server that never answers must not hang the run.
WATCHDOG = 120

_failed = False


def _report(name, complaint):
    global _failed
    if complaint is None:
        print("ok", name)
    else:
        _failed = True
        print(f"FAILED {name}: {' '.join(str(complaint).splitlines())}")


def within(part, whole):
    """Whether everything in `part` is in `whole`; lists are compared item by item."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and within(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(within, part, whole))
    return type(part) is type(whole) and part == whole


def complaint(step, failed, text, structured, root):
    """What about an answer is not as the step wants it, or None."""
    if failed != step.get("failure", False):
        return f"failure: {failed}: {text}"
    for piece in step.get("contains", []):
        if piece not in text:
            return f"{piece!r} is not in {text!r}"
    if str(root) in text:
        return f"a path of the host is in {text!r}"
    if "structured" in step and not within(step["structured"], structured):
        return f"{step['structured']} is not in {structured}"
    for path, content in step.get("files", {}).items():
        file = root / path
        found = file.read_bytes().decode() if file.exists() else None
        if found != (content and content * step.get("repeat", 1)):
            return f"{path} holds {found!r}"
    return None


async def _play(client, scenario, root):
    listed = await client.tools()
    _report("lists the tools", None if listed == scenario["tools"] else listed)
    tried = {step["tool"] for step in scenario["steps"] if not step.get("failure")}
    _report("tries every tool", [name for name in listed if name not in tried] or None)
    cursor = None
    for step in scenario["steps"]:
        arguments = dict(step["arguments"])
        if "continues" in step:
            arguments["cursor"] = cursor
        if "repeat" in step:
            arguments["content"] *= step["repeat"]
        failed, text, structured = await client.call(step["tool"], arguments)
        cursor = (structured or {}).get("next_cursor")
        _report(step["name"], complaint(step, failed, text, structured, root))
    try:
        answer = await client.call("no_such_tool", {})
        _report("is told that a tool does not exist", answer)
    except client.error as error:
        code = error.error.code
        _report("is told that a tool does not exist", None if code == INVALID_PARAMS else code)


def _leaves(group):
    """The exceptions in a group of groups."""
    if isinstance(group, BaseExceptionGroup):
        return [leaf for member in group.exceptions for leaf in _leaves(member)]
    return [group]


async def _session(connect, expected, scenario, root, command):
    try:
        async with connect(command) as client:
            _report(f"agrees on {expected}", None if client.version == expected else client.version)
            await _play(client, scenario, root)
    except Exception as error:
        texts = [str(leaf) or repr(leaf) for leaf in _leaves(error)]
        told = expected == "refused" and any("2026-07-28" in text for text in texts)
        _report("is told which version is spoken" if told else "has a session", None if told else texts)


def session(connect):
    """Runs the session that the command line asks for: a version to agree on
    or `refused`, a scenario, the root, and the server's command."""
    expected, file, root, *command = sys.argv[1:]
    scenario = json.loads(pathlib.Path(file).read_text())

    async def bounded():
        with anyio.fail_after(WATCHDOG):
            await _session(connect, expected, scenario, pathlib.Path(root), command)

    anyio.run(bounded)
    statuses = endings()
    well = bool(statuses) and all(status == 0 for status in statuses)
    _report("leaves no process and no bad status", None if well else statuses)
    sys.exit(1 if _failed else 0)
