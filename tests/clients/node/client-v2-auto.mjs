// The TypeScript client, second line, left to find out which era is spoken: it
// asks a process of its own, ends that with a signal, and starts another.

import { connect } from './connect-v2.mjs';
import { session } from './session.mjs';

await session((command, args) => connect(command, args, { versionNegotiation: { mode: 'auto' } }));
