import type {
  AnySource,
  DeadLetterFilter,
  DeadLetterPage,
  Options,
  PageState,
  Problem,
  Source,
  WholeDeadLetter,
} from '../data/wire.ts';

type Named = Pick<AnySource, 'kind' | 'name'>;

export interface Settled {
  readonly count: number;
  readonly isComplete: boolean;
}

/** A request that the server answered with an error, or that did not reach it (`status` 0). */
export class RequestError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

const FALLBACK: Readonly<Record<number, string>> = {
  0: 'The server did not answer.',
  401: 'You are not authorized. Sign in again, then reload the page.',
  403: 'The server does not allow this.',
};

/** A computer that wakes up has requests that are never answered, and the browser would wait for them for minutes. */
const MAX_GET_MS = 15_000;
/** A redrive may take 20 s. */
const MAX_POST_MS = 60_000;

/** The requests of the page, all below its own folder. */
export class Client {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The address of the event stream. */
  get events(): string {
    return `${this.#folder}events`;
  }

  state(): Promise<PageState> {
    return this.#get('state', {}) as Promise<PageState>;
  }

  deadLetters({ kind, name }: Named, filter?: DeadLetterFilter, cursor?: string): Promise<DeadLetterPage> {
    const query = { [kind]: name, ...filter, ...(cursor === undefined ? {} : { cursor }) };
    return this.#get('dead', query) as Promise<DeadLetterPage>;
  }

  deadLetter({ kind, name }: Named, key: string, id: string): Promise<WholeDeadLetter> {
    return this.#get('dead/item', { [kind]: name, key, id }) as Promise<WholeDeadLetter>;
  }

  /** Changes options. Resolves to all options in force. */
  async update({ kind, name }: Pick<Source, 'kind' | 'name'>, options: Options): Promise<Options> {
    return ((await this.#post('update', { [kind]: name, options })) as { options: Options }).options;
  }

  /**
   * Redrives or purges one dead letter, those that match, or all; with `dryRun` only counts them. `isComplete`: false while
   * the inbox has no room for the others, or when there was no time for them.
   */
  async settle(
    action: 'redrive' | 'purge',
    { kind, name }: Named,
    which: {
      readonly key?: string;
      readonly id?: string;
      readonly filter?: DeadLetterFilter | undefined;
      readonly dryRun?: boolean;
    } = {},
  ): Promise<Settled> {
    return (await this.#post(action, { [kind]: name, ...which })) as Settled;
  }

  /** Pauses or resumes an endpoint of an outbox. */
  async switchEndpoint(outbox: string, endpoint: string, action: 'pause' | 'resume'): Promise<void> {
    await this.#post('endpoint', { outbox, endpoint, action });
  }

  /** Sets the rate of an endpoint; null: that of its settings. */
  async setRate(outbox: string, endpoint: string, rate: object | null): Promise<void> {
    await this.#post('endpoint', { outbox, endpoint, action: 'rate', rate });
  }

  #get(path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
    const search = new URLSearchParams(query).toString();
    return ask(`${this.#folder}${path}${search === '' ? '' : `?${search}`}`, {
      signal: AbortSignal.timeout(MAX_GET_MS),
    });
  }

  #post(path: string, body: object): Promise<unknown> {
    return ask(`${this.#folder}${path}`, {
      method: 'POST',
      // The second header makes a browser ask first when another site sends this.
      headers: { 'content-type': 'application/json', 'x-webhook-backpressure': '1' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(MAX_POST_MS),
    });
  }
}

async function ask(address: string, init: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(address, { ...init, cache: 'no-store', credentials: 'same-origin' });
  } catch {
    throw new RequestError(problemOf(0, {}));
  }
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    // The connection may also have been lost in the middle.
    body = undefined;
  }
  if (response.ok && body !== undefined) return body;
  throw new RequestError(problemOf(response.status, body));
}

function problemOf(status: number, body: unknown): Problem {
  const { code, message, help, option } = (body ?? {}) as Partial<Record<string, unknown>>;
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  return {
    status,
    code: text(code) ?? `HTTP ${String(status)}`,
    message: text(message) ?? FALLBACK[status] ?? `The server answered ${String(status)}.`,
    help: text(help),
    option: text(option),
  };
}
