import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { root } from '../../tooling/packages.js';
import { run } from './run.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Answers when the packages are built, which the first request starts. */
    readonly buildAt: string;
  }
}

/** Builds once for all tests of a run that start programs from the build, and never for a run without such tests. */
export default async function setup(project: TestProject): Promise<() => void> {
  let building: Promise<string> | undefined;
  const broker = createServer((_, response) => {
    building ??= run('npm', ['run', '--silent', 'build'], root);
    building.then(
      () => response.end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(broker, 'listening');
  project.provide('buildAt', `http://127.0.0.1:${String((broker.address() as AddressInfo).port)}`);
  return () => {
    broker.close();
  };
}
