// Values as the messages of alarms contain them.

export function percent(ratio: number): string {
  return `${String(Math.round(ratio * 1000) / 10)} %`;
}

/** 12,345. Not `toLocaleString`, which takes as long as a whole snapshot. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

const PLURALS = {
  delivery: 'deliveries',
  sender: 'senders',
  endpoint: 'endpoints',
  attempt: 'attempts',
  'queued event': 'queued events',
} as const;

export function counted(count: number, one: keyof typeof PLURALS): string {
  return `${grouped(count)} ${count === 1 ? one : PLURALS[one]}`;
}

export function was(count: number): string {
  return count === 1 ? 'was' : 'were';
}

/** 12 s, 4 min, 3 h */
export function duration(ms: number): string {
  if (ms < 120_000) return `${grouped(Math.round(ms / 1000))} s`;
  return ms < 7_200_000
    ? `${grouped(Math.round(ms / 60_000))} min`
    : `${grouped(Math.round(ms / 3_600_000))} h`;
}
