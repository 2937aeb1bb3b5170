// What the two ways to start the TypeScript client, second line, share.

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** A client in the shape `session` asks for. */
export async function connect(command, args, options) {
    const client = new Client({ name: 'typescript-v2', version: '1' }, options);
    await client.connect(new StdioClientTransport({ command, args }));
    return {
        version: () => client.getNegotiatedProtocolVersion(),
        tools: async () => (await client.listTools()).tools,
        call: (name, arguments_) => client.callTool({ name, arguments: arguments_ }),
        close: () => client.close()
    };
}
