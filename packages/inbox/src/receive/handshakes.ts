import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxAnswer } from './inbox-answers.ts';

const PER_SECOND = 10;
const CONCURRENT = 5;

/**
 * Limits how many handshakes are admitted as critical: 10 per second and 5 concurrently, of all senders together. A
 * handshake is identified by a header, which can be forged, so any more are ordinary deliveries.
 */
export class Handshakes {
  #open = 0;
  #left = PER_SECOND;
  #filledMs = 0;

  /** Whether one more is admitted as critical. It is open until {@link end}. */
  tryBegin(nowMs: number): boolean {
    this.#left = Math.min(PER_SECOND, this.#left + ((nowMs - this.#filledMs) / 1000) * PER_SECOND);
    this.#filledMs = nowMs;
    if (this.#open >= CONCURRENT || this.#left < 1) return false;
    this.#open += 1;
    this.#left -= 1;
    return true;
  }

  end(): void {
    this.#open -= 1;
  }
}

type Fields = Record<string, unknown>;

/** The answer by the sender's name, or undefined for an ordinary delivery. */
const ANSWERS: Record<string, (body: Fields) => InboxAnswer | undefined> = {
  // Source: docs.slack.dev, "url_verification": the answer repeats the challenge.
  slack: ({ type, challenge }) =>
    type === 'url_verification' && typeof challenge === 'string' ? json({ challenge }) : undefined,
  // Source: discord-api-docs, interactions: PING is type 1, and so is its answer.
  discord: ({ type }) => (type === 1 ? json({ type: 1 }) : undefined),
  // Source: discord-api-docs, webhook events: PING is type 0, and its answer has no body.
  'discord-events': ({ type }) => (type === 0 ? { status: 204, headers: {}, body: '' } : undefined),
};

/** Handshakes are small; a larger body is not parsed. */
const MAX_BYTES = 16 * 1024;

/**
 * Answers a handshake that arrives like a delivery but must not be stored: a challenge of Slack, a PING of Discord, a
 * validation of Event Grid.
 */
export function answerHandshake(sender: string | undefined, delivery: RawDelivery): InboxAnswer | undefined {
  if (sender === undefined || delivery.rawBody.byteLength > MAX_BYTES) return undefined;
  if (sender === 'azure-event-grid') return answerEventGrid(delivery);
  if (!Object.hasOwn(ANSWERS, sender)) return undefined;
  const body = parsed(delivery);
  return isFields(body) ? ANSWERS[sender]?.(body) : undefined;
}

/** Source: learn.microsoft.com, Event Grid, "endpoint validation with Event Grid event schema". */
function answerEventGrid(delivery: RawDelivery): InboxAnswer | undefined {
  if (delivery.headers['aeg-event-type'] !== 'SubscriptionValidation') return undefined;
  const events = parsed(delivery);
  const event: unknown = Array.isArray(events) ? events[0] : events;
  const data = isFields(event) ? event['data'] : undefined;
  const code = isFields(data) ? data['validationCode'] : undefined;
  return typeof code === 'string' ? json({ validationResponse: code }) : undefined;
}

function json(body: Fields): InboxAnswer {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

function parsed(delivery: RawDelivery): unknown {
  try {
    return delivery.json();
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
