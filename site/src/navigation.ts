import { publishedPackages } from '../../tooling/packages.js';

/** A page in the navigation. */
export interface Entry {
  readonly text: string;
  /** The path of its Markdown file, from the top of the repository. */
  readonly source: string;
}

/** Pages under one heading. */
export interface Group {
  readonly text: string;
  readonly entries: readonly Entry[];
}

const doc = (name: string, text: string): Entry => ({ text, source: `docs/${name}.md` });
const packageOf = (folder: string, text: string): Entry => ({ text, source: `packages/${folder}/README.md` });

/** The quick starts. */
export const frameworks: readonly Entry[] = [
  packageOf('express', 'Express'),
  packageOf('fastify', 'Fastify'),
  packageOf('web', 'Next.js and other Web APIs'),
  doc('nestjs', 'NestJS'),
  packageOf('hono', 'Hono'),
  packageOf('koa', 'Koa'),
  packageOf('node', 'node:http'),
  doc('serverless', 'Serverless'),
];

/** The packages that an adapter for a framework is combined with. */
export const additions: readonly Entry[] = [
  packageOf('sqlite', 'SQLite'),
  packageOf('postgres', 'PostgreSQL'),
  packageOf('redis', 'Redis'),
  packageOf('bullmq', 'BullMQ'),
  packageOf('sender', 'Sender'),
  packageOf('reconcile', 'Reconcile'),
  packageOf('planner', 'Planner'),
  packageOf('fire', 'Fire'),
  packageOf('create', 'Create'),
  packageOf('dashboard', 'Dashboard'),
  packageOf('prometheus', 'Prometheus'),
  packageOf('otel', 'OpenTelemetry'),
];

/** The packages that the others are made of. */
export const parts: readonly Entry[] = [
  packageOf('core', 'Core'),
  packageOf('inbox', 'Inbox'),
  packageOf('observe', 'Observe'),
  packageOf('fleet', 'Fleet'),
  packageOf('senders', 'Senders'),
  packageOf('base', 'Base'),
];

const listed = new Set([...frameworks, ...additions, ...parts].map(({ source }) => source));

/** Packages that no list above names. */
export const others: readonly Entry[] = publishedPackages()
  .map(({ folder }) => packageOf(folder, folder))
  .filter(({ source }) => !listed.has(source));

/** The sidebar. */
export const groups: readonly Group[] = [
  {
    text: 'Start',
    entries: [
      { text: 'Get started', source: 'README.md' },
      { text: 'All pages', source: 'docs/README.md' },
      doc('concepts', 'Concepts'),
      doc('frameworks', 'Frameworks'),
      { text: 'Examples', source: 'examples/README.md' },
    ],
  },
  { text: 'Quick starts', entries: frameworks },
  {
    text: 'Guides',
    entries: [
      doc('sizing', 'Sizing'),
      doc('inbox', 'The inbox'),
      doc('patterns', 'Patterns'),
      doc('reconcile', 'Reconcile'),
      doc('web', 'Web APIs on each host'),
      doc('many-machines', 'Many machines'),
      doc('fleet', 'One limit for many receivers'),
      doc('sending', 'Sending webhooks'),
      doc('production', 'Production'),
      doc('testing', 'Testing your app'),
      doc('fire', 'Sending bursts'),
      doc('migration', 'Migration'),
      doc('troubleshooting', 'Troubleshooting'),
      doc('faq', 'FAQ'),
    ],
  },
  {
    text: 'Reference',
    entries: [
      doc('options', 'Options'),
      doc('refusals', 'Refusals'),
      doc('senders', 'Senders'),
      doc('errors', 'Errors'),
      doc('operations', 'Operations'),
      doc('alarms', 'Alarms and alerts'),
      doc('events', 'Snapshots and events'),
      doc('metrics', 'Metrics'),
      doc('dashboard', 'Dashboard'),
      doc('limits', 'Limits'),
      { text: 'Security', source: 'SECURITY.md' },
      doc('support', 'Versions and support'),
      doc('SKILL', 'For coding agents'),
    ],
  },
  {
    text: 'Packages',
    entries: [...additions, ...parts, ...others],
  },
  {
    text: 'Background',
    entries: [
      doc('architecture', 'Architecture'),
      doc('comparison', 'Comparison'),
      { text: 'Sender lab', source: 'test/simulation/reports/senders.md' },
      { text: 'Simulator', source: 'test/simulation/README.md' },
      { text: 'Benchmarks', source: 'bench/report.md' },
      { text: 'A burst on PostgreSQL', source: 'bench/story/report.md' },
      { text: 'Growth', source: 'bench/scale/report.md' },
    ],
  },
];
