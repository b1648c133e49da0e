/** Seconds of the rate that are saved, for one endpoint after the other. */
const SAVED_SECONDS = [5, 1, 0.25];

/**
 * The limits of endpoints: from one a minute to 500 a second, most of them slow, as in practice.
 *
 * @param {number} count
 * @returns {{ amount: number, periodMs: number, burst: number }[]}
 */
export function limitsOfAudit(count) {
  return Array.from({ length: count }, (_, at) => {
    const perMinute = Math.round(30_000 ** ((at / (count - 1)) ** 2));
    const saved = SAVED_SECONDS[at % SAVED_SECONDS.length] ?? 1;
    return { amount: perMinute, periodMs: 60_000, burst: Math.max(1, Math.floor((perMinute * saved) / 60)) };
  });
}
