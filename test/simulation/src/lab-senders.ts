import { builtInSenders, known, type SenderProfile } from '@webhook-backpressure/senders';

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
  const byHand = Object.values(known).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const profile of [...builtInSenders, ...byHand]) {
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

/** What a receiver sees of a sender: `held` is the middleware, and `stored` an inbox that is never full. */
export type View = 'queued' | 'held' | 'stored';

/** Everything in which a sender can differ for a receiver. Senders that are equal in it are simulated once. */
export function behaviorOf({ profile, rowOf }: LabSender, view: View): string {
  const {
    name,
    timeoutMs = 15_000,
    status,
    retries,
    retryAfter,
    success = 'unknown',
    switchOff,
    id,
  } = profile;
  // It gets an acknowledgement immediately, in the status that it accepts.
  if (view === 'stored') return JSON.stringify(success);
  const isLong = view === 'held' && timeoutMs >= LONG_MS;
  const off = switchOff === undefined ? 'never' : { switchOff, rowOf };
  const common = [isLong ? 'long' : timeoutMs, off];
  if (retries === 'none') return JSON.stringify(common);
  // Its wait after a 429 is played by name.
  return JSON.stringify([...common, status, retries, retryAfter, id !== undefined, name === 'svix']);
}
