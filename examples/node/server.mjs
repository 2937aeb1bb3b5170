// The same component as an MCP server on stdin and stdout. DIR takes the place
// of --root, the other flags are those of `--help`:
// `node server.mjs DIR --include '**'`.

import { instance } from './host.mjs';

const [directory = '.', ...flags] = process.argv.slice(2);
const { run } = instance(directory, ['preopen-mcp', ...flags]);
try {
    run.run();
} catch (error) {
    // With a payload it is the component's own answer: what was wrong it has said on stderr.
    if (!('payload' in error)) throw error;
    process.exitCode = 1;
}
