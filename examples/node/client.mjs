// The tools called through an MCP client, which starts the server given to it:
// `node client.mjs node server.mjs DIR --include '**'`.

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { tour } from './tour.mjs';

const [command, ...args] = process.argv.slice(2);
const options = { versionNegotiation: { mode: 'auto' } };
const client = new Client({ name: 'example', version: '1' }, options);
await client.connect(new StdioClientTransport({ command, args }));
await tour({
    list: async () => (await client.listTools()).tools,
    call: async (name, arguments_) => {
        const answer = await client.callTool({ name, arguments: arguments_ });
        const { isError = false, structuredContent: structured, content } = answer;
        return { isError, structured, text: content[0].text };
    }
});
await client.close();
