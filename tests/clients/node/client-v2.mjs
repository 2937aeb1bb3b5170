// The TypeScript client, second line, as it comes: it initializes.

import { connect } from './connect-v2.mjs';
import { session } from './session.mjs';

await session((command, args) => connect(command, args));
