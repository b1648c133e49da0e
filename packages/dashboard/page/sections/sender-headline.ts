import { bytes, count, duration, percent, rate } from '../data/format.ts';
import type { OutboxSource } from '../data/wire.ts';
import { headline, type Tile } from '../parts/headline.ts';
import type { Section } from '../parts/section.ts';

const SENTENCES: Readonly<Record<string, string>> = {
  opening: 'The store is not open yet. Calls of send wait for it.',
  accepting: 'Events are stored.',
  full: 'The outbox is full: calls of send wait, or are refused.',
  closing: 'Shutting down: no more events are accepted.',
  closed: 'Shut down.',
};

/** The headline of a sender. */
export function senderHeadlineSection(spanMs: () => number): Section<OutboxSource> {
  return headline<OutboxSource>(
    spanMs,
    ({ view: { snapshot } }) =>
      snapshot.isPaused ? 'Sending is paused. Events are still stored.' : (SENTENCES[snapshot.state] ?? ''),
    tilesOf,
  );
}

function tilesOf({ view: { snapshot, rates } }: OutboxSource): Tile[] {
  const { depth, capacity, waitingSends, inFlight, deadLetters, oldestAgeMs, states, processes } = snapshot;
  const troubled = states.failing + states.disabled;
  const known = Object.values(states).reduce((sum, endpoints) => sum + endpoints, 0);
  return [
    {
      label: 'Outbox',
      value: count(depth),
      note: waitingSends > 0 ? `${count(waitingSends)} calls of send wait` : `of ${count(capacity)}`,
      look: waitingSends > 0 ? 'warn' : undefined,
    },
    { label: 'Oldest', value: duration(oldestAgeMs), note: 'since send' },
    { label: 'In flight', value: count(inFlight), note: `${rate(rates.attempts)} started` },
    { label: 'Delivered', value: rate(rates.delivered), note: `${rate(rates.accepted)} accepted` },
    {
      label: 'Asked to wait',
      value: rate(rates.limited),
      note: `${percent(rates.attempts === 0 ? 0 : Math.min(1, rates.limited / rates.attempts))} of requests`,
      look: rates.limited > 0 ? 'warn' : undefined,
    },
    {
      label: 'Endpoints failing',
      value: count(troubled),
      note: `of ${count(known)}; ${count(states.waiting)} wait`,
      look: troubled > 0 ? 'bad' : undefined,
    },
    {
      label: 'Dead letters',
      value: count(deadLetters),
      note: `${bytes(snapshot.bytes)} in the outbox`,
      look: deadLetters > 0 ? 'warn' : undefined,
    },
    { label: 'Processes', value: count(processes), note: 'share the rates' },
  ];
}
