import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { adviceFor } from '@webhook-backpressure/senders';
import { lostShare, ofSender } from './src/lab-cells.ts';
import type { LabFigures, LabReport } from './src/lab-figures.ts';
import { LAB_FILE } from './src/lab-files.ts';
import { aloneName, SHAPE_NAMES, type Receiver, type Shape } from './src/lab-runs.ts';
import { LAB_SENDERS, type LabSender } from './src/lab-senders.ts';

const report = JSON.parse(await readFile(LAB_FILE, 'utf8')) as LabReport;

/** A sender alone. */
function figuresOf(sender: LabSender, receiver: Receiver, shapes: readonly Shape[]): LabFigures[] {
  return shapes.map((shape) => {
    const figures = ofSender(report[aloneName(sender, shape, receiver)]);
    if (figures === undefined) throw new Error(`There is no run of ${sender.name}.`);
    return figures;
  });
}

const advised = LAB_SENDERS.map((sender) => ({ ...adviceFor(sender.profile), sender, name: sender.name }));
const middleware = advised.filter(({ use }) => use === 'middleware');
const exceptions = middleware.filter(({ because }) => because === 'uses your response');
const safe = middleware.filter((one) => !exceptions.includes(one));

describe('the advice for each sender, in the figures of the sender lab', () => {
  it.each(safe)('sends $name to the middleware, which loses at most 1 %', ({ sender }) => {
    for (const figures of figuresOf(sender, 'held', SHAPE_NAMES)) {
      expect(lostShare(figures)).toBeLessThanOrEqual(0.01);
      expect(figures.off).toBe(0);
    }
  });

  it.each(advised.filter(({ use }) => use === 'inbox'))('sends $name to the inbox', ({ sender }) => {
    // Ten minutes of it are more than the inbox holds by default.
    for (const figures of figuresOf(sender, 'inbox', ['S1', 'burst'])) {
      expect([lostShare(figures), figures.off]).toEqual([0, 0]);
    }
  });

  it('has two exceptions: who uses the response cannot use the inbox, and loses deliveries', () => {
    expect(exceptions.map(({ name }) => name)).toEqual(['discord', 'twilio']);
    for (const { sender } of exceptions) {
      for (const figures of figuresOf(sender, 'held', SHAPE_NAMES))
        expect(lostShare(figures)).toBeGreaterThan(0.7);
    }
  });
});
