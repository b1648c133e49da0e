import { BackpressureError } from '@webhook-backpressure/base';
import type { ObservableSender, Rate } from '@webhook-backpressure/observe';
import { json, problem } from '../answers/answers.ts';
import type { Change } from '../state/page-state.ts';
import { libraryError, storeError } from './library-error.ts';
import type { Sources } from './sources.ts';

type Action = 'pause' | 'resume' | 'rate';

/** Pauses or resumes an endpoint of a sender, or sets its rate until the process ends. */
export async function changeEndpoint(
  body: Readonly<Record<string, unknown>>,
  { senders }: Sources,
  wallMs: () => number,
): Promise<{ readonly answer: Response; readonly change?: Change | undefined }> {
  const { sender: name, endpoint, action, rate } = body;
  const sender = typeof name === 'string' ? senders.get(name) : undefined;
  if (sender === undefined) return { answer: problem('NOT_FOUND', 'No sender has this name.') };
  if (typeof endpoint !== 'string' || endpoint === '') return wrong('endpoint must be a string.');
  if (!isAction(action)) return wrong('action must be pause, resume or rate.');
  if (action === 'rate' && rate === undefined) return wrong('rate is missing.');
  try {
    await change(sender, endpoint, action, rate as Rate | null);
  } catch (error) {
    // A rate that is wrong is the mistake of the operator; anything else is a failure of the store.
    const isOfRate = action === 'rate' && error instanceof BackpressureError;
    return { answer: isOfRate ? libraryError(error, 400, ['rate']) : storeError(error) };
  }
  const made = action === 'rate' ? { action, rate: rate as Rate | null } : { action };
  return {
    answer: json({ endpoint, ...made }),
    change: { at: wallMs(), kind: 'sender', name: name as string, endpoint, ...made },
  };
}

async function change(
  { endpoints }: ObservableSender,
  endpoint: string,
  action: Action,
  rate: Rate | null,
): Promise<void> {
  if (action === 'rate') endpoints.setRate(endpoint, rate);
  else await endpoints[action](endpoint);
}

function isAction(value: unknown): value is Action {
  return value === 'pause' || value === 'resume' || value === 'rate';
}

function wrong(message: string): { readonly answer: Response } {
  return { answer: problem('BAD_REQUEST', message) };
}
