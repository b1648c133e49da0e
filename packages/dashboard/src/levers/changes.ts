import { BackpressureError } from '@webhook-backpressure/base';
import type { Rate } from '@webhook-backpressure/observe';
import { refused } from '../answers/answers.ts';
import type { Watch } from '../state/watch.ts';
import { fromStore, libraryError, type Outcome, type Source, type Sources } from './sources.ts';

/**
 * Changes options of an intake or inbox: all, or on an error none. `shed` changes the keys that it names and leaves the
 * others, so that two operators do not undo what the other one did.
 */
export function updateOptions(
  body: Readonly<Record<string, unknown>>,
  sources: Sources,
  watch: Watch,
): Outcome {
  const { kind, name, source } = targetOf(body, sources);
  const { options } = body;
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw refused('BAD_REQUEST', 'options must be an object.');
  }
  try {
    source.update(withOtherKeys(options, source));
  } catch (error) {
    if (!(error instanceof BackpressureError)) throw error;
    throw libraryError(error, 400, Object.keys(options));
  }
  const { options: inForce, changed } = watch.readOptions(kind, name);
  const change = changed === undefined ? undefined : { kind, name, options: changed };
  return { answer: { options: inForce }, change };
}

function withOtherKeys(options: object, source: Source): object {
  const { shed } = options as { readonly shed?: unknown };
  // The library says what is wrong with another value.
  if (typeof shed !== 'object' || shed === null || Array.isArray(shed)) return options;
  const inForce = source.snapshot().options.shed.map((key) => [key, true] as const);
  return { ...options, shed: Object.fromEntries([...inForce, ...Object.entries(shed)]) };
}

interface Target {
  readonly kind: 'intake' | 'inbox';
  readonly name: string;
  readonly source: Source;
}

function targetOf({ intake, inbox }: Readonly<Record<string, unknown>>, sources: Sources): Target {
  const kind = intake === undefined ? 'inbox' : 'intake';
  const name = intake ?? inbox;
  if (typeof name === 'string' && (intake === undefined || inbox === undefined)) {
    const source = (kind === 'intake' ? sources.intakes : sources.inboxes).get(name);
    if (source !== undefined) return { kind, name, source };
  }
  throw refused('NOT_FOUND', 'No intake or inbox has this name.');
}

/** Pauses or resumes an endpoint of a sender, or sets its rate until the process ends. */
export async function changeEndpoint(
  { outbox: name, endpoint, action, rate }: Readonly<Record<string, unknown>>,
  { outboxes }: Sources,
): Promise<Outcome> {
  const sender = typeof name === 'string' ? outboxes.get(name) : undefined;
  if (sender === undefined) throw refused('NOT_FOUND', 'No outbox has this name.');
  if (typeof endpoint !== 'string' || endpoint === '') {
    throw refused('BAD_REQUEST', 'endpoint must be a string.');
  }
  const subject = { kind: 'outbox', name: name as string, endpoint } as const;
  switch (action) {
    case 'pause':
    case 'resume':
      await fromStore(() => sender.endpoints[action](endpoint));
      return { answer: { endpoint, action }, change: { ...subject, action } };
    case 'rate': {
      if (rate === undefined) throw refused('BAD_REQUEST', 'rate is missing.');
      const given = rate as Rate | null;
      try {
        sender.endpoints.setRate(endpoint, given);
      } catch (error) {
        if (error instanceof BackpressureError) throw libraryError(error, 400, ['rate']);
        throw error;
      }
      return { answer: { endpoint, action, rate }, change: { ...subject, action, rate: given } };
    }
    default:
      throw refused('BAD_REQUEST', 'action must be pause, resume or rate.');
  }
}
