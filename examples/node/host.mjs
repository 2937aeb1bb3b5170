// The component in this process: what it may import, and one directory. Both
// the library and the server are made of this.

import { readFileSync } from 'node:fs';
import { WASIShim } from '@bytecodealliance/preview2-shim/instantiation';
import { instantiate } from './component/preopen-guest.js';

// Compiled once; instances are made of it as they are needed.
const compiled = new Map();

function module(name) {
    if (!compiled.has(name)) {
        const code = readFileSync(new URL(`./component/${name}`, import.meta.url));
        compiled.set(name, new WebAssembly.Module(code));
    }
    return compiled.get(name);
}

/** A new instance, which holds `directory` as its only capability; no environment, no network. */
export function instance(directory, args = []) {
    const sandbox = { preopens: { '/': directory }, env: {}, args, enableNetwork: false };
    return instantiate(module, new WASIShim({ sandbox }).getImportObject());
}
