import { BackpressureError } from '@webhook-backpressure/base';
import { json, problem } from '../answers/answers.ts';
import type { Change } from '../state/page-state.ts';
import type { Watch } from '../state/watch.ts';
import { libraryError } from './library-error.ts';
import type { Source, Sources } from './sources.ts';

/**
 * Changes options of an intake or inbox: all, or on an error none. `shed` changes the keys that it names and leaves the
 * others, so that two operators do not undo what the other one did.
 */
export function updateOptions(
  body: Readonly<Record<string, unknown>>,
  sources: Sources,
  watch: Watch,
): { readonly answer: Response; readonly change?: Change | undefined } {
  const target = targetOf(body, sources);
  if (target === undefined) return { answer: problem('NOT_FOUND', 'No intake or inbox has this name.') };
  const { kind, name, source } = target;
  const { options } = body;
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    return { answer: problem('BAD_REQUEST', 'options must be an object.') };
  }
  try {
    source.update(withOtherKeys(options, source));
  } catch (error) {
    if (!(error instanceof BackpressureError)) throw error;
    return { answer: libraryError(error, 400, Object.keys(options)) };
  }
  const { options: inForce, change } = watch.optionsChanged(kind, name);
  return { answer: json({ options: inForce }), change };
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

function targetOf(
  { intake, inbox }: Readonly<Record<string, unknown>>,
  sources: Sources,
): Target | undefined {
  const kind = intake === undefined ? 'inbox' : 'intake';
  const name = intake ?? inbox;
  if (typeof name !== 'string' || (intake !== undefined && inbox !== undefined)) return undefined;
  const source: Source | undefined = (kind === 'intake' ? sources.intakes : sources.inboxes).get(name);
  return source && { kind, name, source };
}
