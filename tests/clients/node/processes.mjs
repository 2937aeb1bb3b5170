// Every process a client starts, also those it does not speak of: how it ended
// is known to nobody else. It may not know what a client is.

import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

const started = [];
const spawn = childProcess.spawn;

childProcess.spawn = (...args) => {
    const child = spawn(...args);
    started.push(child);
    return child;
};
// Who imported `spawn` by name gets this one too.
syncBuiltinESMExports();

/** The status each started process ends with, or the signal, once all have ended. */
export async function endings() {
    const ended = child => child.exitCode ?? child.signalCode;
    const end = child => ended(child) ?? new Promise(resolve => child.once('exit', () => resolve(ended(child))));
    return Promise.all(started.map(end));
}
