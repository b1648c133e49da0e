import { bytes, duration, grouped, percent } from '../base/format.ts';
import type { PlannedOptions, Plan, PlannedRun } from '../search/plan.ts';

/** The recommended mode in words. */
export function recommendedOf({ recommendation }: Plan): string {
  return `Recommended: ${recommendation.mode === 'inbox' ? 'the inbox' : 'hold requests'}`;
}

/** The recommendation as lines of code. */
export function codeOf({ recommendation, request: { receivers } }: Plan): string[] {
  const { mode, options, concurrency } = recommendation;
  const written = optionsText({ concurrency, ...options });
  if (mode === 'inbox') {
    const store = receivers > 1 ? 'postgresStore({ … })' : "sqliteStore({ path: './webhooks.db' })";
    return [`webhookInbox({ store: ${store}, ${written}, verify, process })`];
  }
  const created = `webhookBackpressure({ ${written} })`;
  if (receivers === 1) return [created];
  const fleet = `registry, resource: 'handlers', concurrency: ${String(concurrency)}, instances: ${String(receivers)}`;
  return [`const backpressure = ${created};`, `joinFleet(backpressure.intake, { ${fleet} });`];
}

/** Options as the fields of an object literal. */
export function optionsText(options: PlannedOptions & { readonly concurrency: number }): string {
  return Object.entries(options)
    .map(([name, value]: [string, number | object]) => `${name}: ${valueOf(value)}`)
    .join(', ');
}

function valueOf(value: number | object): string {
  if (typeof value === 'number') return String(value);
  const fields = Object.entries(value).map(([name, one]) => `${name}: ${String(one)}`);
  return `{ ${fields.join(', ')} }`;
}

/** The request in a sentence or two. */
export function titleOf({ request, drainPerSecond }: Plan): string {
  const { burst, normalPerSecond, concurrency, service, senders, receivers } = request;
  const ordinary = `${grouped(normalPerSecond)}/s`;
  const arriving =
    burst === null
      ? ordinary
      : `${grouped(burst.events)} deliveries in ${duration(burst.seconds)}${normalPerSecond > 0 ? ` beside ${ordinary}` : ''}`;
  const mixture = senders.map(({ name, share }) => `${name} ${percent(share, 1)}`).join(', ');
  const handlers = `${grouped(concurrency)} handlers of ${duration(service.meanMs / 1000)}`;
  const many = receivers > 1 ? ` in ${String(receivers)} receivers` : '';
  return `${arriving} (${mixture}). ${handlers}${many} complete ${grouped(Math.round(drainPerSecond))}/s.`;
}

/** Whether the receiver recovers, in sentences. Empty if that was not simulated. */
export function recoveryOf({ recovery, request }: Plan): string[] {
  if (recovery === null) return [];
  const { stallS, burst, maxStallS, mode, recoveredS, switchedOff: off } = recovery;
  const ours = mode === 'hold' ? 'holding requests' : 'with the inbox';
  const oursAfter =
    recoveredS.ours === null
      ? `${ours}, it does not recover either`
      : `${ours}, the receiver handles the ordinary traffic ${again(recoveredS.ours)}`;
  const cause =
    off.length > 0
      ? `${off.join(' and ')} ${off.length === 1 ? 'disables' : 'disable'} the endpoint`
      : 'its senders give up before their deliveries are handled, and their retries keep its queue long';
  const held = mode === 'hold' ? '' : ' A receiver that holds requests stays down too.';
  if (stallS === null) {
    return [
      `Without the middleware, the receiver recovers from each stall of its handlers up to ${duration(maxStallS)}. After ` +
        `the longest, it handles the ordinary traffic ${recoveredS.nothing === null ? 'not in the simulated time' : again(recoveredS.nothing)}; ${oursAfter}.`,
    ];
  }
  const triggers = `a stall of its handlers of ${duration(stallS)}${burst === null ? '' : `, or a burst of ${grouped(burst)} deliveries`}`;
  return [
    `Without the middleware, ${triggers}, leaves the receiver down, although only ${grouped(request.normalPerSecond)}/s ` +
      `arrive: ${cause}.${held} After the same stall, ${oursAfter}.`,
  ];
}

function again(seconds: number): string {
  return `at the first attempt ${seconds < 1 ? 'immediately' : `again after ${duration(seconds)}`}`;
}

/** The name of a run in a table: its mode, and where its options come from. */
export function nameOf({ name, mode, options }: Pick<PlannedRun, 'name' | 'mode' | 'options'>): string {
  if (name === 'nothing') return 'no middleware';
  if (Object.keys(options).length === 0) return `${mode}, defaults`;
  return name === 'defaults' ? `${mode}, given` : `${mode}, tuned`;
}

/** The memory of the queued deliveries of a run. Those of an inbox are in its store. */
export function memoryOf({ mode, memoryBytes }: Pick<PlannedRun, 'mode' | 'memoryBytes'>): string {
  return mode === 'inbox' ? 'on disk' : bytes(memoryBytes);
}

/** The senders of a run that would disable the endpoint. */
export function switchedOff({ senders }: Pick<PlannedRun, 'senders'>): string[] {
  return senders.filter((sender) => sender.switchedOff).map(({ name }) => name);
}
