// Changes one operator, value or call of a room of the sources at a time, and runs the tests of the room, on Node 24:
// `node tooling/mutants.js [ROOM …]`, by default all rooms of test/mutants/rooms.json. Exits 1 if fewer than 90 % of the
// changes make a test fail.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installIn } from './own-lockfile.js';
import { root } from './packages.js';
import { Steps } from './steps.js';

const folder = 'test/mutants';

/** @type {unknown} */
const rooms = JSON.parse(readFileSync(join(root, folder, 'rooms.json'), 'utf8'));
const names = Object.keys(/** @type {object} */ (rooms));
const given = process.argv.slice(2);
const unknown = given.find((name) => !names.includes(name));
if (unknown !== undefined) throw new Error(`A room is one of ${names.join(', ')}, but was ${unknown}.`);

installIn(folder);
const program = [
  `${folder}/node_modules/@stryker-mutator/core/bin/stryker.js`,
  'run',
  `${folder}/stryker.config.js`,
];
const steps = new Steps();
for (const room of given.length === 0 ? names : given) {
  const env = { MUTANTS_ROOM: room };
  if (Number(process.versions.node.split('.')[0]) >= 24) steps.run(room, process.execPath, program, env);
  else steps.run(room, 'npx', ['--yes', 'node@24', ...program], env);
}
steps.report();
