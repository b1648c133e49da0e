import { Pinned, SERVER_CORE } from '../pinned.ts';
import { inScratch } from './scratch.ts';

const FEW = 10_000;
const MANY = 1_000_000;

/** How much more a receiver takes, in bytes of RSS, when many deliveries are stored than when few are. */
export async function measureStored(rounds: number): Promise<number[]> {
  return inScratch(async (newFile) => {
    const [few, many] = [newFile(), newFile()];
    await ask({ path: few, count: FEW });
    await ask({ path: many, count: MANY });
    const growths: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const least = await ask({ path: few });
      // Less than none is what two processes differ by anyway.
      growths.push(Math.max(0, (await ask({ path: many })) - least));
    }
    return growths;
  });
}

/** Each time in a fresh process: what one left behind is not to be counted for the next. */
async function ask(question: { path: string; count?: number }): Promise<number> {
  const child = new Pinned('inbox/stored-child.js', [], { core: SERVER_CORE, nodeFlags: ['--expose-gc'] });
  try {
    return await child.ask<number>(question);
  } finally {
    await child.stop();
  }
}
