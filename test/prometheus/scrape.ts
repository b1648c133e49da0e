import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import parse from 'parse-prometheus-text-format';
import type { Registry } from 'prom-client';

/** A server that answers each request with the metrics of a register, as an app does. */
export class MetricsPage {
  readonly #server: Server;

  constructor(register: Registry) {
    this.#server = createServer((_req, res) => {
      void register.metrics().then((text) => {
        res.setHeader('content-type', register.contentType);
        res.end(text);
      });
    }).listen(0);
  }

  async scrape(): Promise<Scrape> {
    if (!this.#server.listening) await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${String(port)}/metrics`);
    return new Scrape(await response.text());
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** A scraped page, as a parser of Prometheus reads it. */
export class Scrape {
  readonly #families: ReturnType<typeof parse>;
  readonly #samples: ReturnType<typeof parse>;

  constructor(text: string) {
    this.#families = parse(text);
    // The parser drops the labels of histograms, but not of samples without a type. It wants those of a name together.
    const samples = text.split('\n').filter((line) => !line.startsWith('#'));
    this.#samples = parse(samples.sort().join('\n'));
  }

  /** The names of the metrics, in order. */
  get names(): string[] {
    return this.#families.map(({ name }) => name);
  }

  /** The type of each metric: `GAUGE`, `COUNTER` or `HISTOGRAM`. */
  get types(): Record<string, string> {
    return Object.fromEntries(this.#families.map(({ name, type }) => [name, type]));
  }

  /** The labels of each sample of a metric. */
  labels(name: string): Readonly<Record<string, string>>[] {
    return this.#metricsOf(name).map(({ labels = {} }) => labels);
  }

  /** The value of the sample that has exactly these labels; undefined if there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const wanted = textOf(labels);
    const found = this.#metricsOf(name).filter((one) => textOf(one.labels ?? {}) === wanted);
    if (found.length > 1) throw new Error(`${name} has two samples with the labels ${wanted}.`);
    return found[0]?.value === undefined ? undefined : Number(found[0].value);
  }

  #metricsOf(name: string): ReturnType<typeof parse>[number]['metrics'] {
    return this.#samples.find((one) => one.name === name)?.metrics ?? [];
  }
}

function textOf(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(labels).sort());
}
