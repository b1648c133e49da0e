/** Does so many operations. */
export type Run = (count: number) => void | Promise<void>;

/** The names of senders, which are the keys of their deliveries. */
const KEYS: readonly string[] = [
  'stripe',
  'github',
  'shopify',
  'slack',
  'svix',
  'hookdeck',
  'twilio',
  'default',
];

/** More ids than an intake remembers, of the length that senders give them. */
const IDS: readonly string[] = Array.from(
  { length: 16_384 },
  (_, i) => `evt_${i.toString(36).padStart(6, '0')}1MqLPeLkdIwHu7ix`,
);

export function keyAt(index: number): string {
  return KEYS[index & 7] as string;
}

export function idAt(index: number): string {
  return IDS[index & 16_383] as string;
}
