import type { ChildProcess } from 'node:child_process';

const KEPT_CHARACTERS = 10_000;

/**
 * Resolves when a program has logged a text.
 *
 * @throws Error with the end of its log if it ends before.
 */
export async function untilLogged(child: ChildProcess, text: string): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (part: string) => {
        log = (log + part).slice(-KEPT_CHARACTERS);
        if (log.includes(text)) resolve();
      });
    child.once('error', reject).once('exit', () => {
      reject(new Error(log));
    });
  });
}
