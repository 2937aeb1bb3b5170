// What the examples do with the tools, however they are reached: list, write,
// search a page at a time, read, and try to get out.

/** `tools` has `list()` and `call(name, arguments)`, which may be promises. */
export async function tour(tools) {
    for (const { name } of await tools.list()) console.log(`tool: ${name}`);

    const content = 'one capability\nheld as a handle\nand no other capability\n';
    const written = await tools.call('write_text_file', { path: 'notes.txt', content });
    console.log(`written: ${written.text}`);

    // The cursor of one page asks for the next.
    let cursor = null;
    do {
        const page = await tools.call('search_text', { query: 'capability', limit: 1, cursor });
        if (page.isError) throw new Error(page.text);
        console.log(`found: ${JSON.stringify(page.structured.items[0].text)}`);
        cursor = page.structured.next_cursor;
    } while (cursor !== null);

    for (const path of ['notes.txt', '../outside.txt', 'link.txt', 'here/notes.txt']) {
        const { isError, text } = await tools.call('read_text_file', { path });
        console.log(`${isError ? 'refused' : 'read'}: ${text}`);
    }
}
