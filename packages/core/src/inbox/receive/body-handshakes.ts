import type { RawDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxAnswer } from '../inbox.ts';

type Fields = Record<string, unknown>;

/** By the sender's name: the answer, or undefined for an ordinary delivery. */
const ANSWERS: Record<string, (body: Fields) => InboxAnswer | undefined> = {
  // Source: docs.slack.dev, "url_verification": the challenge comes back as it is.
  slack: ({ type, challenge }) =>
    type === 'url_verification' && typeof challenge === 'string' ? json({ challenge }) : undefined,
  // Source: discord-api-docs, interactions: PING is type 1, and so is the answer.
  discord: ({ type }) => (type === 1 ? json({ type: 1 }) : undefined),
  // Source: discord-api-docs, webhook events: PING is type 0, and the answer has no body.
  'discord-events': ({ type }) => (type === 0 ? { status: 204, headers: {}, body: '' } : undefined),
};

/** Small as a handshake is; a larger body is not looked at. */
const MAX_BYTES = 16 * 1024;

/**
 * Answers what looks like a delivery and is a handshake: a challenge of Slack, a PING of Discord, a validation of Event
 * Grid. None of them must be stored, and all want an answer of their own.
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
