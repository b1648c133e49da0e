import { build } from './build.js';
import { tested } from './hosts.ts';

/** Installs and builds the hosts, with the Node.js that the tests run on. */
export default function setup(): void {
  for (const host of tested) build(host);
}
