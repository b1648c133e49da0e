/// <reference lib="webworker" />
import {
  chartsOf,
  codeOf,
  figuresOf,
  plan,
  reasonsOf,
  recommendedOf,
  requestOf,
  senderNames,
  titleOf,
  triedOf,
  type SimulatedRun,
} from '@webhook-backpressure/planner/parts';

/** The options of the command line, with their texts. */
export type PlanTexts = readonly (readonly [name: string, text: string])[];

/** A message of the worker. The first has the names of senders; the last of a plan has its answer or an error. */
export type Report =
  | { readonly kind: 'senders'; readonly names: readonly string[] }
  | { readonly kind: 'error'; readonly error: string }
  | { readonly kind: 'outcome'; readonly simulated: number; readonly figures: string }
  | { readonly kind: 'plan'; readonly answer: Answer };

/** A complete plan. All but texts is HTML. */
export interface Answer {
  readonly title: string;
  readonly recommended: string;
  readonly code: string;
  readonly figures: string;
  readonly reasons: string;
  readonly charts: string;
  readonly tried: string;
}

/** These are in the order of the search: without the middleware, hold, inbox. */
const FIRST = 3;

const report = (message: Report): void => {
  postMessage(message);
};

// Promises of the inbox and of the simulator settle between immediates, which only Node has. Where there is a scheduler,
// a task of it takes half as long as a message.
const { port1, port2 } = new MessageChannel();
const immediates: (() => void)[] = [];
port1.onmessage = () => immediates.shift()?.();
const { scheduler } = globalThis as { scheduler?: { postTask(task: () => void): unknown } };
Object.assign(globalThis, {
  setImmediate: (callback: () => void) => {
    if (scheduler !== undefined) {
      scheduler.postTask(callback);
      return;
    }
    immediates.push(callback);
    port2.postMessage(undefined);
  },
});

addEventListener('message', ({ data }: MessageEvent<PlanTexts>) => {
  void answer(data);
});
report({ kind: 'senders', names: senderNames() });

async function answer(texts: PlanTexts): Promise<void> {
  const runs: SimulatedRun[] = [];
  let simulated = 0;
  try {
    const planned = await plan(requestOf(new Map(texts)), {
      onOutcome: (configuration, outcome) => {
        simulated += 1;
        const name = simulated === 1 ? 'nothing' : 'defaults';
        if (simulated <= FIRST) runs.push({ name, isRecommended: false, ...configuration, ...outcome });
        report({ kind: 'outcome', simulated, figures: figuresOf(runs) });
      },
    });
    report({
      kind: 'plan',
      answer: {
        title: titleOf(planned),
        recommended: recommendedOf(planned),
        code: codeOf(planned).join('\n'),
        figures: figuresOf(planned.runs),
        reasons: reasonsOf(planned),
        charts: chartsOf(planned),
        tried: triedOf(planned),
      },
    });
  } catch (error) {
    report({ kind: 'error', error: error instanceof Error ? error.message : String(error) });
  }
}
