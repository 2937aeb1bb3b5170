"""Lists, writes, searches a page at a time, reads, and tries to get out: `python library.py COMPONENT DIR`."""

import json
import sys

from tools import Tools

tools = Tools(*sys.argv[1:])
for tool in tools.list():
    print(f"tool: {tool['name']}")

content = "one capability\nheld as a handle\nand no other capability\n"
_, written = tools.call("write_text_file", path="notes.txt", content=content)
print(f"written: {written}")

# The cursor of one page asks for the next.
cursor, more = None, True
while more:
    refused, text = tools.call("search_text", query="capability", limit=1, cursor=cursor)
    if refused:
        raise SystemExit(text)
    page = json.loads(text)
    print("found:", json.dumps(page["items"][0]["text"]))
    cursor = page["next_cursor"]
    more = cursor is not None

for path in ["notes.txt", "../outside.txt", "link.txt", "here/notes.txt"]:
    refused, text = tools.call("read_text_file", path=path)
    print(f"{'refused' if refused else 'read'}: {text}")
