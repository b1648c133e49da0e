import { describe } from 'vitest';
import { holdScenarios } from './hold-scenarios.ts';
import { Served } from './served.ts';
import { runtimes } from './tools.js';

const servers = runtimes.flatMap((runtime) =>
  ['Hono', 'web'].map((adapter) => {
    return { name: `${adapter} on ${runtime.name}`, adapter, runtime };
  }),
);

describe.each(servers)('$name', ({ adapter, runtime }) => {
  holdScenarios({
    seesDepartures: runtime.seesDepartures,
    headers: { 'x-adapter': adapter },
    start: () => Served.start(runtime),
  });
});
