// The TypeScript SDK, first line, which most desktop clients are built on.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { session } from './session.mjs';

await session(async (command, args) => {
    const client = new Client({ name: 'typescript-v1', version: '1' });
    const transport = new StdioClientTransport({ command, args });
    let version;
    // The client says it to transports that want to know, and to nobody else.
    transport.setProtocolVersion = agreed => (version = agreed);
    await client.connect(transport);
    return {
        version: () => version,
        tools: async () => (await client.listTools()).tools,
        call: (name, arguments_) => client.callTool({ name, arguments: arguments_ }),
        close: () => client.close()
    };
});
