import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { builtInSenders } from '@webhook-backpressure/senders';
import { intakeMetrics } from '@webhook-backpressure/observe';
import { codeIn, page, rowsOf, sectionOf, tokensOf } from './pages.ts';

const production = page('docs/production.md');
const code = tokensOf('code', production.tokens);
const blocks = (lang: string): string[] => code.filter((one) => one.lang === lang).map(({ text }) => text);
const block = (lang: string, words: string): string => {
  const found = blocks(lang).find((text) => text.includes(words));
  if (found === undefined) throw new Error(`There is no block ${lang} with ${words}.`);
  return found;
};
const times = new Map(
  rowsOf(sectionOf(production, 'Timeouts that must fit together'), 'Time').map((row) => [
    row['Time'] ?? '',
    row['Here'] ?? '',
  ]),
);

/** The seconds in the column "Here", in the row that begins with this. */
function seconds(beginning: string): number {
  const found = [...times].filter(([time]) => time.startsWith(beginning));
  expect(found, beginning).toHaveLength(1);
  return Number(/^\d+/.exec(found[0]?.[1] ?? '')?.[0]);
}

/** A number in the app or another configuration. */
function valueIn(text: string, name: string): number {
  const found = new RegExp(`\\b${name}\\W+([\\d_]+)`).exec(text)?.[1];
  if (found === undefined) throw new Error(`There is no ${name}.`);
  return Number(found.replaceAll('_', ''));
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly {
    readonly name: string;
    readonly ports: readonly { readonly containerPort: number }[];
    readonly readinessProbe: {
      readonly httpGet: { readonly path: string; readonly port: number };
      readonly periodSeconds: number;
      readonly failureThreshold: number;
    };
    readonly resources?: { readonly limits: { readonly memory: string } };
    readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
}
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: unknown };
    readonly template: { readonly metadata: { readonly labels: unknown }; readonly spec: Pod };
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
    readonly scaleTargetRef: { readonly kind: string; readonly name: string };
    readonly maxReplicas: number;
    readonly metrics: readonly {
      readonly pods: {
        readonly metric: { readonly name: string };
        readonly target: { readonly averageValue: string };
      };
    }[];
  };
}

const app = block('js', '// server.mjs');
const manifests = blocks('yaml').flatMap((text) =>
  parseAllDocuments(text, { strict: true }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  }),
);
const manifest = (kind: string): Manifest => {
  const found = manifests.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`There is no ${kind}.`);
  return found;
};
const dockerfile = block('dockerfile', 'FROM').split('\n');

describe('the times of docs/production.md', () => {
  it('are those of the app', () => {
    for (const [row, name] of [
      ['`maxWaitMs`', 'maxWaitMs'],
      ['`maxHandlingMs`', 'maxHandlingMs'],
      ['`server.keepAliveTimeout`', 'keepAliveTimeout'],
      ['`drainDelayMs`', 'drainDelayMs'],
      ['`timeoutMs`', 'timeoutMs'],
    ] as const)
      expect(valueIn(app, name), name).toBe(seconds(row) * 1000);
  });

  it('are those of the section on SIGTERM', () => {
    const section = sectionOf(production, 'SIGTERM during a burst');
    const text = section.map(({ raw }) => raw).join('');
    for (const name of ['drainDelayMs', 'timeoutMs'])
      expect(text).toContain(`${String(seconds(`\`${name}\``))} s`);
  });

  it('are those of nginx', () => {
    const nginx = block('nginx', 'upstream');
    expect(valueIn(nginx, 'proxy_read_timeout')).toBe(seconds("the proxy's read timeout"));
    expect(valueIn(nginx, 'keepalive_timeout')).toBe(seconds("the proxy's time for idle connections"));
  });

  it('fit together', () => {
    const [wait, handling] = [seconds('`maxWaitMs`'), seconds('`maxHandlingMs`')];
    expect(seconds("the proxy's read timeout")).toBeGreaterThan(wait + handling);
    expect(seconds("the proxy's time for idle")).toBeLessThan(seconds('`server.keepAliveTimeout`'));
    expect(seconds('`server.requestTimeout`')).toBeGreaterThan(wait);
    const [, interval = NaN, failures = NaN] = (
      /(\d+) s × (\d+)/.exec(times.get('interval × failures of the readiness probe') ?? '') ?? []
    ).map(Number);
    const drain = seconds('`drainDelayMs`');
    expect(drain).toBeGreaterThanOrEqual(interval * failures + 1);
    expect(seconds('`timeoutMs`')).toBeGreaterThan(wait);
    expect(seconds("the platform's grace period")).toBeGreaterThan(drain + seconds('`timeoutMs`') + 2);
  });

  it('name the range of the known timeouts', () => {
    const known = builtInSenders.flatMap(({ timeoutMs }) => (timeoutMs === undefined ? [] : [timeoutMs]));
    expect(times.get("the sender's timeout")).toContain(
      `${String(Math.min(...known) / 1000)} to ${String(Math.max(...known) / 1000)} s`,
    );
  });

  it('are the grace periods of Docker, Kubernetes and PM2', () => {
    const grace = seconds("the platform's grace period");
    expect(valueIn(block('sh', 'docker run'), 'stop-timeout')).toBe(grace);
    expect(production.source).toContain(`\`stop_grace_period: ${String(grace)}s\``);
    expect(valueIn(block('js', 'ecosystem'), 'kill_timeout')).toBe(grace * 1000);
    for (const kind of ['Deployment', 'StatefulSet'])
      expect(manifest(kind).spec.template.spec.terminationGracePeriodSeconds, kind).toBe(grace);
  });
});

describe('the manifests for Kubernetes', () => {
  it.each(['Deployment', 'StatefulSet'])('probe the route and the port of the app: %s', (kind) => {
    const { selector, template } = manifest(kind).spec;
    expect(selector.matchLabels).toEqual(template.metadata.labels);
    const [container] = template.spec.containers;
    const { httpGet, periodSeconds, failureThreshold } = container?.readinessProbe ?? {};
    expect(app).toContain(`app.get('${httpGet?.path ?? ''}', readiness(`);
    expect(app).toContain(`?? ${String(httpGet?.port)},`);
    expect(container?.ports).toEqual([{ containerPort: httpGet?.port }]);
    expect(times.get('interval × failures of the readiness probe')).toBe(
      `${String(periodSeconds)} s × ${String(failureThreshold)}`,
    );
  });

  it('mount the volume of the StatefulSet where the image has a directory for it', () => {
    const { template, volumeClaimTemplates, replicas } = manifest('StatefulSet').spec;
    expect(replicas).toBe(1);
    const [mount] = template.spec.containers[0]?.volumeMounts ?? [];
    expect(volumeClaimTemplates?.map(({ metadata }) => metadata.name)).toEqual([mount?.name]);
    expect(dockerfile).toContain(`VOLUME ${mount?.mountPath ?? ''}`);
    expect(dockerfile).toContain(
      `RUN mkdir ${mount?.mountPath ?? ''} && chown node:node ${mount?.mountPath ?? ''}`,
    );
  });

  it('scale the Deployment by a metric that exists', () => {
    const { scaleTargetRef, maxReplicas, metrics } = manifest('HorizontalPodAutoscaler').spec;
    const deployment = manifest('Deployment');
    expect(scaleTargetRef).toMatchObject({ kind: 'Deployment', name: deployment.metadata.name });
    expect(maxReplicas).toBeGreaterThan(deployment.spec.replicas);
    const named = metrics[0]?.pods.metric.name ?? '';
    const exported = intakeMetrics.map(({ name }) => name.replaceAll('.', '_'));
    expect(exported).toContain(named.replace('_queue_depth', '_depth'));
    expect(page('docs/metrics.md').source).toContain(`\`${named}\``);
    // Far below the high-water mark, by default 800.
    expect(Number(metrics[0]?.pods.target.averageValue)).toBeLessThan(80);
  });
});

describe('the Dockerfile', () => {
  const of = (instruction: string): string[] =>
    dockerfile
      .filter((line) => line.startsWith(`${instruction} `))
      .map((line) => line.slice(instruction.length + 1));

  it('installs before it copies the app, so that a change of the app keeps the layer', () => {
    const install = dockerfile.indexOf('RUN npm ci --omit=dev');
    expect(install).toBeGreaterThan(dockerfile.indexOf('COPY package.json package-lock.json ./'));
    expect(install).toBeLessThan(dockerfile.indexOf('COPY server.mjs ./'));
  });

  it('starts node itself, as another user than root, and ends by a signal that closeOnSignals handles', () => {
    expect(JSON.parse(of('CMD')[0] ?? '')).toEqual(['node', 'server.mjs']);
    expect(of('USER')).toEqual(['node']);
    expect(dockerfile.indexOf('USER node')).toBeLessThan(dockerfile.indexOf('CMD ["node", "server.mjs"]'));
    expect(of('STOPSIGNAL')).toEqual(['SIGTERM']);
  });

  it('has two stages of the same supported image', () => {
    const [build = '', run = ''] = of('FROM');
    expect(build).toBe(`${run} AS build`);
    const supported = rowsOf(page('docs/support.md').tokens, 'Runtime or framework');
    expect((supported[0]?.['Versions'] ?? '').match(/\d+/g)).toContain(/\d+/.exec(run)?.[0]);
    expect(of('COPY').at(-1)).toBe('--from=build /app ./');
  });

  it('gives the heap less memory than the container has', () => {
    const heap = valueIn(dockerfile.join('\n'), 'max-old-space-size');
    expect(heap).toBeLessThan(valueIn(block('sh', 'docker run'), 'memory'));
    const [container] = manifest('Deployment').spec.template.spec.containers;
    expect(container?.resources?.limits.memory).toBe(
      `${String(valueIn(block('sh', 'docker run'), 'memory'))}Mi`,
    );
  });
});

it('sets PM2 up to wait for the message that the app sends', () => {
  const module = { exports: {} as { apps?: Record<string, unknown>[] } };
  runInNewContext(block('js', 'ecosystem'), { module });
  const [settings] = module.exports.apps ?? [];
  expect(app).toContain(`// ${String(settings?.['script'])}`);
  expect(settings).toMatchObject({ exec_mode: 'cluster', wait_ready: true });
  expect(app).toContain("process.send?.('ready')");
});

it('names defaults of nginx that none of its configurations changes', () => {
  const directives = rowsOf(sectionOf(production, 'nginx'), 'Directive').flatMap((row) =>
    codeIn(row['Directive']),
  );
  expect(directives).toHaveLength(4);
  for (const directive of directives) {
    for (const path of ['docs/production.md', 'docs/many-machines.md'])
      for (const { text } of tokensOf('code', page(path).tokens)) expect(text).not.toContain(directive);
  }
});
