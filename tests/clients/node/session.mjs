// One session of one client: what a scenario asks for is called, and what comes
// back is compared. It may not know which client that is: a client is a
// function that connects and gives an object with the few methods used here.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { endings } from './processes.mjs';

const INVALID_PARAMS = -32602;

/** Longer than any session: a server that never answers must not hang the run. */
const WATCHDOG_MS = 120_000;

let failed = false;

async function check(name, work) {
    try {
        await work();
        console.log(`ok ${name}`);
    } catch (error) {
        failed = true;
        console.log(`FAILED ${name}: ${String(error?.message ?? error).replaceAll('\n', ' ')}`);
    }
}

/** Whether everything in `part` is in `whole`; lists are compared item by item. */
function within(part, whole) {
    if (part === null || typeof part !== 'object') return Object.is(part, whole);
    if (whole === null || typeof whole !== 'object') return false;
    if (Array.isArray(part) && part.length !== whole.length) return false;
    return Object.keys(part).every(key => within(part[key], whole[key]));
}

function compare(step, result, root) {
    const text = result.content.filter(block => block.type === 'text').map(block => block.text).join('\n');
    assert.equal(result.isError ?? false, step.failure ?? false, text);
    for (const piece of step.contains ?? []) {
        assert.ok(text.includes(piece), `${JSON.stringify(piece)} is not in ${JSON.stringify(text)}`);
    }
    assert.ok(!text.includes(root), `a path of the host is in ${JSON.stringify(text)}`);
    if (step.structured) {
        const found = JSON.stringify(result.structuredContent);
        assert.ok(within(step.structured, result.structuredContent), `${JSON.stringify(step.structured)} is not in ${found}`);
    }
    for (const [path, content] of Object.entries(step.files ?? {})) {
        assert.equal(onDisk(join(root, path)), content?.repeat(step.repeat ?? 1), path);
    }
}

function onDisk(path) {
    try {
        return readFileSync(path, 'utf8');
    } catch (error) {
        if (error.code === 'ENOENT') return undefined;
        throw error;
    }
}

async function play(client, scenario, root) {
    const listed = (await client.tools()).map(tool => tool.name);
    await check('lists the tools', () => assert.deepEqual(listed, scenario.tools));
    await check('tries every tool', () => {
        const tried = new Set(scenario.steps.filter(step => !step.failure).map(step => step.tool));
        assert.deepEqual(listed.filter(name => !tried.has(name)), []);
    });
    let cursor = null;
    for (const step of scenario.steps) {
        await check(step.name, async () => {
            const arguments_ = { ...step.arguments };
            if (step.continues) arguments_.cursor = cursor;
            if (step.repeat) arguments_.content = arguments_.content.repeat(step.repeat);
            const result = await client.call(step.tool, arguments_);
            cursor = result.structuredContent?.next_cursor ?? null;
            compare(step, result, root);
        });
    }
    await check('is told that a tool does not exist', () =>
        assert.rejects(client.call('no_such_tool', {}), error => error.code === INVALID_PARAMS));
}

/**
 * Runs the session that the command line asks for: a version to agree on or
 * `refused`, a scenario, the root, and the server's command.
 */
export async function session(connect) {
    const [expected, file, root, command, ...args] = process.argv.slice(2);
    const scenario = JSON.parse(readFileSync(file, 'utf8'));
    setTimeout(() => {
        console.log('FAILED: the session did not end');
        process.exit(1);
    }, WATCHDOG_MS).unref();

    if (expected === 'refused') {
        await check('is told which version is spoken', () =>
            assert.rejects(connect(command, args), error => error.message.includes('2026-07-28')));
    } else {
        let client;
        await check(`agrees on ${expected}`, async () => {
            client = await connect(command, args);
            assert.equal(client.version(), expected);
        });
        if (client) {
            await play(client, scenario, root);
            await client.close();
        }
    }
    await check('leaves no process and no bad status', async () => {
        const statuses = await endings();
        assert.ok(statuses.length > 0);
        assert.deepEqual(statuses.filter(status => status !== 0), []);
    });
    process.exitCode = failed ? 1 : 0;
}
