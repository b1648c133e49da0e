import { execFileSync } from 'node:child_process';
import { compose, type Choices } from 'create-webhook-backpressure';
import type { Exactly } from './exactly.ts';

export function main(): Promise<unknown> {
  const choices: Choices = { name: 'my-app', framework: 'express', sender: 'stripe', store: 'sqlite' };
  const files = compose(choices, { version: '1.2.3', secret: () => 'ab' });
  const areTexts: Exactly<typeof files, Record<string, string>> = true;

  const tool = ['node_modules/.bin/create-webhook-backpressure', '--help'];
  const help = execFileSync(process.execPath, tool, { encoding: 'utf8' });
  return Promise.resolve({
    middleware: { key: 'shop-1', typed: areTexts, depth: 0 },
    inbox: {
      status: help.includes('--framework NAME') ? 200 : 500,
      completed: 'evt_1',
      typed: files['server.js']?.includes('verifiers.stripe') === true,
    },
  });
}
