import { describe } from 'vitest';
import { holdScenarios, type Target } from '../runtimes/hold-scenarios.ts';
import { inboxScenarios } from '../runtimes/inbox-scenarios.ts';
import { tested } from './hosts.ts';
import { Program } from './program.ts';
import { seesDepartures } from './tools.js';

describe.each(tested)('$name', (host) => {
  const target: Target = {
    seesDepartures: seesDepartures(host),
    prefix: '/webhooks',
    // SvelteKit 2 drops a body without it.
    headers: { 'content-type': 'application/json' },
    start: () => Program.start(host),
  };
  describe('withBackpressure', () => {
    holdScenarios(target);
  });
  describe('webhookInbox', () => {
    inboxScenarios(target);
  });
});
