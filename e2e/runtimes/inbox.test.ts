import { describe } from 'vitest';
import { inboxScenarios } from './inbox-scenarios.ts';
import { Served } from './served.ts';
import { runtimes } from './tools.js';

const servers = runtimes.flatMap((runtime) =>
  (runtime.entry === 'on-workerd.js' ? ['Hono', 'web'] : ['Hono', 'web', 'node:http']).map((adapter) => {
    return { name: `${adapter} on ${runtime.name}`, adapter, runtime };
  }),
);

describe.each(servers)('webhookInbox by $name', ({ adapter, runtime }) => {
  inboxScenarios({
    seesDepartures: runtime.seesDepartures,
    headers: { 'x-adapter': adapter },
    async start() {
      const served = await Served.start(runtime);
      const port = adapter === 'node:http' ? (served.nodePort ?? 0) : served.port;
      return { port, stop: () => served.stop() };
    },
  });
});
