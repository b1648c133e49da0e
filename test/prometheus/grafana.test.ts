import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inboxMetrics, intakeMetrics, type Metric, outboxMetrics } from '@webhook-backpressure/observe';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { root } from '../../tooling/packages.js';
import { anchorsOf, codeIn, page, rowsOf, sectionOf } from '../docs/pages.ts';
import { entryFile, literalsOf, programOf, typeIn } from '../docs/typescript.ts';
import { parsePromql, type Selector } from './promql.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string; readonly code?: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const alarms = page('docs/alarms.md');
const folder = join(root, 'packages/prometheus');
const alerts = parseYaml(readFileSync(join(folder, 'alerts.yaml'), 'utf8')) as {
  groups: readonly { readonly rules: readonly Rule[] }[];
};
const dashboard = JSON.parse(readFileSync(join(folder, 'grafana-dashboard.json'), 'utf8')) as {
  panels: readonly Panel[];
  templating: {
    list: readonly { readonly name: string; readonly query: string | { readonly query: string } }[];
  };
};
const rules = alerts.groups.flatMap((group) => group.rules);
const targets = dashboard.panels.flatMap(({ title, targets: all = [] }) =>
  all.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
);
const metrics = [...intakeMetrics, ...inboxMetrics, ...outboxMetrics];

/** Labels that Prometheus adds to each scraped sample. */
const SCRAPED = ['job', 'instance'];

/** The expression as Grafana sends it. */
function filledIn(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(job|name)\b/g, '.*');
}

function metricOf({ metric }: Selector): Metric | undefined {
  const base = metric.replace(/_(bucket|sum|count)$/, '');
  return metrics.find(({ prometheusName, kind }) =>
    kind === 'histogram' ? prometheusName === base && base !== metric : prometheusName === metric,
  );
}

function labelsOf(selector: Selector): string[] {
  const { attributes = [], isByKey = false } = metricOf(selector) ?? {};
  return [
    ...SCRAPED,
    ...['name', ...attributes],
    ...(isByKey ? (selector.metric.startsWith('webhook_outbox') ? ['endpoint'] : ['key', 'sender']) : []),
    ...(selector.metric.endsWith('_bucket') ? ['le'] : []),
  ];
}

/** What is wrong with an expression: nothing, if the list is empty. */
function problemsOf(expr: string): string[] {
  const { selectors, groupings, errors } = parsePromql(filledIn(expr));
  const problems = errors.map((text) => `syntax near ${text}`);
  if (selectors.length === 0) problems.push('no metric');
  for (const selector of selectors) {
    const { metric, labels, rangeFunction } = selector;
    const found = metricOf(selector);
    if (found === undefined) problems.push(`no metric ${metric}`);
    const allowed = labelsOf(selector);
    problems.push(
      ...labels.filter((label) => !allowed.includes(label)).map((label) => `${metric} has no ${label}`),
    );
    const isRate = rangeFunction === 'rate' || rangeFunction === 'increase';
    if (isRate !== (found?.kind !== 'gauge')) problems.push(`${rangeFunction ?? 'no function'} of ${metric}`);
  }
  const known = new Set(selectors.flatMap(labelsOf));
  problems.push(...groupings.filter((label) => !known.has(label)).map((label) => `nothing has ${label}`));
  return problems;
}

describe('the check of expressions', () => {
  it.each([
    ['rate(webhook_intake_starts_total[1m])', 'no metric webhook_intake_starts_total'],
    ['rate(webhook_intake_wait_duration_seconds[1m])', 'no metric webhook_intake_wait_duration_seconds'],
    ['rate(webhook_intake_overflow_total{cause="full"}[1m])', 'webhook_intake_overflow_total has no cause'],
    ['sum by (reason) (rate(webhook_intake_started_total[1m]))', 'nothing has reason'],
    ['rate(webhook_intake_active[1m])', 'rate of webhook_intake_active'],
    ['webhook_intake_started_total', 'no function of webhook_intake_started_total'],
    ['sum(webhook_intake_active', 'syntax near'],
  ])('finds what is wrong with %s', (expr, problem) => {
    expect(problemsOf(expr).join()).toContain(problem);
  });
});

describe('the dashboard', () => {
  it.each(targets)('$title asks for $legendFormat by names of the table', ({ expr, legendFormat }) => {
    expect(problemsOf(expr)).toEqual([]);
    const known = parsePromql(filledIn(expr)).selectors.flatMap(labelsOf);
    const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label);
    expect(known).toEqual(expect.arrayContaining(shown));
  });

  it('shows each metric, except a few that are in other panels in another form', () => {
    const shown = new Set(targets.flatMap(({ expr }) => parsePromql(filledIn(expr)).selectors.map(metricOf)));
    const missing = metrics.filter((metric) => !shown.has(metric)).map(({ name }) => name);
    expect(missing).toEqual(NOT_SHOWN);
  });

  it('lets the viewer choose data source, job and name', () => {
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'job', 'name']);
  });
});

const NOT_SHOWN = [
  'webhook.intake.capacity',
  'webhook.intake.fleet.share',
  'webhook.intake.fleet.members',
  'webhook.intake.fleet.lost',
  'webhook.intake.admitted',
  'webhook.inbox.active',
  'webhook.inbox.concurrency',
  'webhook.inbox.capacity',
  'webhook.inbox.effective_capacity',
  'webhook.inbox.booked',
  'webhook.inbox.max_size',
  'webhook.inbox.drain_rate',
  'webhook.inbox.endangered',
  'webhook.inbox.loss_risk',
  'webhook.inbox.promises',
  'webhook.inbox.unverified',
  'webhook.inbox.too_large',
  'webhook.inbox.started',
  'webhook.inbox.overdue',
  'webhook.inbox.store.failures',
  'webhook.inbox.retry_after',
  'webhook.outbox.max_size',
  'webhook.outbox.paused',
  'webhook.outbox.store.resting',
  'webhook.outbox.endpoint.in_flight',
  'webhook.outbox.endpoint.rate',
  'webhook.outbox.duplicates',
];

describe('the alert rules', () => {
  it.each(rules)('$alert asks by names of the table', ({ expr }) => {
    expect(problemsOf(expr)).toEqual([]);
  });

  it('have different names', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  describe('for alarms', () => {
    let codes: string[] = [];

    beforeAll(() => {
      const program = programOf([entryFile('core')]);
      codes = literalsOf(typeIn(program, entryFile('core'), 'AlarmCode'));
    }, 120_000);

    it('cover each code of the library, and lead to its heading', () => {
      expect(codes).toContain('WBP_ALARM_REFUSED');
      const covered = rules.flatMap(({ labels }) => labels.code ?? []);
      expect([...new Set(covered)].sort()).toEqual([...codes].sort());
      for (const { labels, annotations } of rules.filter((rule) => rule.labels.code !== undefined)) {
        expect(annotations.runbook_url).toMatch(new RegExp(`docs/alarms\\.md#${labels.code ?? ''}$`, 'i'));
      }
    });
  });

  it('are those that docs/alarms.md lists, with their alarms or expressions', () => {
    const listed = rowsOf(sectionOf(alarms, 'Alerts for Prometheus'), 'Alert').flatMap((row) =>
      codeIn(row['Alert']).map((alert) => [alert, codeIn(row['Alarm'] ?? row['Expression'])[0]]),
    );
    // The page leaves out what only matters with the option `keys`.
    const said = (expr: string): string =>
      expr.replace(/^sum without \((?:key, sender|endpoint)\) \((.*)\) > 0$/, '$1 > 0');
    expect(listed.sort()).toEqual(
      rules.map(({ alert, expr, labels }) => [alert, labels.code ?? said(expr)]).sort(),
    );
  });

  it('lead to headings that exist', () => {
    const anchors = rules.map(({ annotations }) => annotations.runbook_url.split('#')[1]);
    expect(anchorsOf(alarms)).toEqual(expect.arrayContaining(anchors));
  });
});
