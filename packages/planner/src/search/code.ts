import type { Plan } from './plan.ts';

/** The recommendation as lines of code. */
export function codeOf({ recommendation, request: { receivers } }: Plan): string[] {
  const { mode, options, concurrency } = recommendation;
  const written = Object.entries({ concurrency, ...options })
    .map(([name, value]) => `${name}: ${valueOf(value)}`)
    .join(', ');
  if (mode === 'inbox') {
    const store = receivers > 1 ? 'postgresStore({ … })' : "sqliteStore({ path: './webhooks.db' })";
    return [`webhookInbox({ store: ${store}, ${written}, verify, process })`];
  }
  const lines = [`const backpressure = webhookBackpressure({ ${written} });`];
  if (receivers > 1)
    lines.push(
      `joinFleet(backpressure.intake, { registry, resource: 'handlers', concurrency: ${String(concurrency)}, instances: ${String(receivers)} });`,
    );
  return lines;
}

function valueOf(value: number | object): string {
  if (typeof value === 'number') return String(value);
  return `{ ${Object.entries(value)
    .map(([name, one]) => `${name}: ${String(one)}`)
    .join(', ')} }`;
}
