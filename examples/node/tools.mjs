// The tools of preopen-mcp as a library: no protocol and no other process.

import { randomBytes } from 'node:crypto';
import { instance } from './host.mjs';

const MiB = 1n << 20n;

export class Tools {
    #directory;
    #settings;

    /**
     * `toolset` is core, workspace or all. Processes that are given the same
     * `cursorKey` accept each other's cursors.
     */
    constructor(directory, options = {}) {
        const { include = ['**'], exclude = [], toolset = 'core', readOnly = false } = options;
        const { cursorKey = randomBytes(32) } = options;
        this.#directory = directory;
        this.#settings = {
            toolset,
            only: [], // names of tools; none means all of the toolset
            readOnly,
            writeMode: 'replace',
            limits: {
                maxFileBytes: 100n * MiB,
                maxWriteBytes: MiB / 16n,
                maxResultBytes: 48_000n,
                maxScanBytes: 64n * MiB,
                maxEntries: 1_000_000n,
                maxDepth: 64n,
                callTimeout: 30_000n
            },
            cursorKey,
            hashKey: undefined, // a key makes the content hashes HMACs
            rootWritable: true,
            filesUnchanged: false,
            hostHashes: false,
            rules: { include, exclude, allowBlocked: false }
        };
    }

    /** The definitions of the tools, as MCP's `tools/list` has them. */
    list() {
        return JSON.parse(instance(this.#directory).tools.listTools(this.#settings));
    }

    /** Calls a tool in an instance of its own, so that no call sees anything of another. */
    call(name, arguments_ = {}) {
        const { tools } = instance(this.#directory);
        const answer = tools.callTool(this.#settings, name, JSON.stringify(arguments_));
        const structured = answer.structured && JSON.parse(answer.structured);
        return { isError: answer.isError, structured, text: answer.text ?? answer.structured };
    }
}
