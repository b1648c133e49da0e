import type { PlannedOptions } from './configuration.ts';
import type { Plan } from './plan.ts';

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
