// The tools called in this process: `node library.mjs DIR`.

import { Tools } from './tools.mjs';
import { tour } from './tour.mjs';

await tour(new Tools(process.argv[2]));
