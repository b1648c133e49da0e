import type { Change, PageState } from '../data/wire.ts';
import { RequestError, type Client } from './client.ts';

export type ConnectionStatus = 'connecting' | 'live' | 'lost' | 'unauthorized';

export interface ConnectionEvents {
  /** `isWhole`: with the history of each source. */
  onState(state: PageState, isWhole: boolean): void;
  onChange(change: Change): void;
  onStatus(status: ConnectionStatus): void;
}

/** The server sends a state each second. Without one for this long, the connection is lost though it looks open. */
const SILENCE_MS = 6000;
/**
 * A larger step between two states means that some were missed, or that the clock of the server was set: the history is
 * loaded again.
 */
const GAP_MS = 3500;
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 10_000;

/** Loads the state with its history, follows it by server-sent events, and starts again when the connection is lost. */
export class Connection {
  readonly #client: Client;
  readonly #events: ConnectionEvents;
  #stream: EventSource | undefined;
  #status: ConnectionStatus = 'connecting';
  #startedAt = 0;
  #lastAt = 0;
  #heardMs = 0;
  #isLoading = false;
  #delayMs = FIRST_DELAY_MS;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(client: Client, events: ConnectionEvents) {
    this.#client = client;
    this.#events = events;
  }

  start(): void {
    void this.#load();
    setInterval(() => {
      if (this.#stream !== undefined && performance.now() - this.#heardMs > SILENCE_MS) this.#lose();
    }, 1000);
    addEventListener('online', () => {
      this.retry();
    });
  }

  /** Connects now instead of after the delay. */
  retry(): void {
    if (this.#retry === undefined) return;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    void this.#load();
  }

  async #load(): Promise<void> {
    // The states that arrive meanwhile have the same gap.
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      const state = await this.#client.state();
      this.#take(state, true);
      if (this.#stream === undefined) this.#follow();
      else this.#setStatus('live');
    } catch (error) {
      const status = error instanceof RequestError ? error.problem.status : 0;
      this.#lose(status === 401 || status === 403 ? 'unauthorized' : 'lost');
    } finally {
      this.#isLoading = false;
    }
  }

  #follow(): void {
    const stream = new EventSource(this.#client.events);
    this.#stream = stream;
    this.#heardMs = performance.now();
    stream.addEventListener('open', () => {
      this.#heardMs = performance.now();
      this.#setStatus('live');
    });
    stream.addEventListener('state', ({ data }) => {
      this.#heardMs = performance.now();
      // Not earlier: loading may work while the stream is refused, because too many pages are open.
      this.#delayMs = FIRST_DELAY_MS;
      const state = JSON.parse(data as string) as PageState;
      const isContinued = state.startedAt === this.#startedAt && Math.abs(state.at - this.#lastAt) < GAP_MS;
      if (isContinued) this.#take(state, false);
      else void this.#load();
    });
    stream.addEventListener('change', ({ data }) => {
      this.#events.onChange(JSON.parse(data as string) as Change);
    });
    stream.addEventListener('error', () => {
      // The browser's own retry would use a stream whose end it noticed late; after a restart the history is needed too.
      if (this.#stream === stream) this.#lose();
    });
  }

  #take(state: PageState, isWhole: boolean): void {
    this.#startedAt = state.startedAt;
    this.#lastAt = state.at;
    this.#events.onState(state, isWhole);
  }

  #lose(status: ConnectionStatus = 'lost'): void {
    this.#stream?.close();
    this.#stream = undefined;
    this.#setStatus(status);
    clearTimeout(this.#retry);
    // Half of the delay is random, so that many open pages do not load their histories together after a restart.
    const delayMs = this.#delayMs * (0.5 + Math.random() / 2);
    this.#delayMs = Math.min(MAX_DELAY_MS, this.#delayMs * 2);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      void this.#load();
    }, delayMs);
  }

  #setStatus(status: ConnectionStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    this.#events.onStatus(status);
  }
}
