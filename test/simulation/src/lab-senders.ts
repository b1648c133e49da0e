import { builtInSenders, known, type SenderProfile } from '@webhook-backpressure/core';

/** A sender of the lab. */
export interface LabSender {
  readonly name: string;
  readonly profile: SenderProfile;
  /** What its rule of consecutive failures counts, where the sender does not say. */
  readonly rowOf: 'endpoint' | 'delivery';
}

/** All known senders by name, one profile each: profiles with the same name differ only in how they are recognized. */
export const LAB_SENDERS: readonly LabSender[] = sendersOf();

function sendersOf(): LabSender[] {
  const byName = new Map<string, SenderProfile>();
  for (const profile of [...builtInSenders, ...Object.values(known)]) {
    if (!byName.has(profile.name)) byName.set(profile.name, profile);
  }
  const senders = [...byName].map(([name, profile]): LabSender => ({ name, profile, rowOf: 'endpoint' }));
  const shopify = senders.find(({ name }) => name === 'shopify');
  if (shopify === undefined) throw new Error('Shopify has no profile.');
  return senders.flatMap((sender) =>
    sender === shopify
      ? [sender, { ...shopify, name: 'shopify, 8 failures of one delivery', rowOf: 'delivery' }]
      : [sender],
  );
}

export function labSender(name: string): LabSender {
  const found = LAB_SENDERS.find((sender) => sender.name === name);
  if (found === undefined) throw new Error(`The lab has no sender ${name}.`);
  return found;
}

/** With a queue of 10 s and a handling of 100 ms, such a sender never times out in hold mode. */
const LONG_MS = 12_500;

/** Everything in which a sender can differ for a receiver. Senders that are equal in it are simulated once. */
export function behaviorOf({ profile, rowOf }: LabSender, isInbox: boolean, isHeld: boolean): string {
  const { name, timeoutMs = 15_000, status, retries, retryAfter, success, switchOff, id } = profile;
  // An inbox without commit times answers immediately.
  const timeout = isInbox || (isHeld && timeoutMs >= LONG_MS) ? 'long' : timeoutMs;
  const answer = isInbox ? [success ?? 'unknown'] : [];
  const off = switchOff === undefined ? 'never' : { switchOff, rowOf };
  if (retries === 'none') return JSON.stringify([timeout, ...answer, off]);
  // Its wait after a 429 is played by name.
  const isSvix = name === 'svix';
  return JSON.stringify([timeout, ...answer, off, status, retries, retryAfter, id !== undefined, isSvix]);
}
