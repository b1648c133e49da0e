/** The form of the planner. All values are texts of the planner's command line. */
export interface Form {
  readonly senders: { name: string; share: string }[];
  /** The burst: a number of deliveries, and their time. */
  events: string;
  time: string;
  /** The other options by name. Empty: the default. */
  readonly others: Record<string, string>;
}

/** A field with one option. */
export interface Field {
  readonly name: string;
  readonly label: string;
  /** Shown in an empty field. */
  readonly example: string;
}

export const FIELDS: readonly Field[] = [
  { name: 'normal', label: 'Ordinary traffic', example: 'none' },
  { name: 'service', label: 'Time of a handler, on average', example: '80ms' },
  { name: 'concurrency', label: 'Concurrent handlers', example: '10' },
];

export const MORE_FIELDS: readonly Field[] = [
  { name: 'mode', label: 'Only this mode', example: 'hold or inbox' },
  { name: 'receivers', label: 'Receiving processes', example: '1' },
  { name: 'capacity', label: 'Option capacity', example: 'searched' },
  { name: 'max-wait', label: 'Option maxWaitMs', example: 'searched' },
  { name: 'timeout', label: 'Timeout of senders that publish none', example: '15s' },
  { name: 'seed', label: 'Seed of random numbers', example: '1' },
];

const EXAMPLE = '?senders=shopify:70,github:30&burst=2000/2s&normal=5/s&service=80ms&concurrency=10';

/** The form with the scenario of an address; with an example if the address has none. */
export function formOf(search: string): Form {
  const values = new URLSearchParams(hasScenario(search) ? search : EXAMPLE);
  const senders = (values.get('senders') ?? '').split(',').map((entry) => {
    const [name, share] = split(entry, ':');
    return { name: name.trim(), share: share.trim() };
  });
  const [events, time] = split(values.get('burst') ?? '', '/');
  const names = [...FIELDS, ...MORE_FIELDS].map(({ name }) => name);
  return {
    senders,
    events,
    time,
    others: Object.fromEntries(names.map((name) => [name, values.get(name) ?? ''])),
  };
}

/** Whether an address has a scenario. */
function hasScenario(search: string): boolean {
  return new URLSearchParams(search).has('senders');
}

/** The options of the command line, with their texts. */
export function textsOf({ senders, events, time, others }: Form): [name: string, text: string][] {
  const list = senders.map(({ name, share }) => (share.trim() === '' ? name : `${name}:${share.trim()}`));
  const texts = {
    senders: list.join(','),
    burst: `${events}/${time}` === '/' ? '' : `${events.trim()}/${time.trim()}`,
    ...others,
  };
  return Object.entries(texts)
    .map(([name, text]): [string, string] => [name, text.trim()])
    .filter(([, text]) => text !== '');
}

/** The part of an address with a scenario, with the characters that it may have unescaped. */
export function searchOf(texts: [string, string][]): string {
  const search = new URLSearchParams(texts).toString();
  return `?${search.replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%2F', '/')}`;
}

/** The command that prints the same plan. */
export function commandOf(texts: readonly (readonly [string, string])[]): string {
  const options = texts.map(([name, text]) => `--${name} ${text}`);
  return ['npx @webhook-backpressure/planner', ...options].join(' ');
}

function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
