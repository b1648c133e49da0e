import { inBackground } from '@webhook-backpressure/base';
/** How many pages may be open at a time. */
const MAX_PAGES = 200;
/** How many seconds pass before the authorization of an open page is checked again. */
const RECHECK_SECONDS = 60;

const encoder = new TextEncoder();

/** After a lost connection the browser connects again after 2 s. */
const RETRY = encoder.encode('retry: 2000\n\n');

/** A message of server-sent events. */
function message(event: string, data: unknown): Uint8Array {
  return encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** What decides whether a page stays open. */
export interface Conditions {
  /** Whether its server still takes connections. Checked each second. */
  readonly isServing: () => boolean;
  /** Whether it is still authorized. Checked each minute. Never rejects. */
  readonly isAllowed: () => Promise<boolean>;
}

interface Watched extends Conditions {
  secondsAllowed: number;
  isBeingChecked: boolean;
}

/** All open pages. Each message is serialized once, and only if a page is open. */
export class OpenPages {
  readonly #state: () => unknown;
  readonly #pages = new Map<OpenPage, Watched>();
  /** Pages that were closed, and may not have read everything yet. */
  readonly #leaving = new Set<OpenPage>();
  #stateMessage: Uint8Array | undefined;

  /** @param state - reads the last sample. */
  constructor(state: () => unknown) {
    this.#state = state;
  }

  get isFull(): boolean {
    return this.#pages.size >= MAX_PAGES;
  }

  get size(): number {
    return this.#pages.size;
  }

  /** Opens a page, which gets the last state immediately. */
  open(conditions: Conditions): OpenPage {
    const page = new OpenPage(() => this.#pages.delete(page));
    this.#pages.set(page, { ...conditions, secondsAllowed: 0, isBeingChecked: false });
    page.send(RETRY);
    page.send(this.#currentMessage());
    return page;
  }

  /** Sends a new sample to all pages. Called once a second. */
  sampled(): void {
    this.#stateMessage = undefined;
    this.#dropLeaving();
    if (this.#pages.size === 0) return;
    this.#sendToAll(this.#currentMessage());
    for (const [page, conditions] of this.#pages) this.#check(page, conditions);
  }

  send(event: string, data: unknown): void {
    if (this.#pages.size > 0) this.#sendToAll(message(event, data));
  }

  closeAll(): void {
    for (const page of [...this.#pages.keys()]) this.#close(page);
  }

  /** Closes all pages when no more samples follow. */
  end(): void {
    this.closeAll();
    this.#dropLeaving();
  }

  /** A page that does not read would keep a server that closes waiting, so it has until the next sample. */
  #close(page: OpenPage): void {
    page.close();
    this.#leaving.add(page);
  }

  #dropLeaving(): void {
    for (const page of this.#leaving) page.drop();
    this.#leaving.clear();
  }

  #check(page: OpenPage, conditions: Watched): void {
    if (!conditions.isServing()) {
      this.#close(page);
      return;
    }
    conditions.secondsAllowed += 1;
    if (conditions.secondsAllowed < RECHECK_SECONDS) return;
    conditions.secondsAllowed = 0;
    // A check that has not answered for a minute must not keep the page open.
    if (conditions.isBeingChecked) {
      this.#close(page);
      return;
    }
    conditions.isBeingChecked = true;
    inBackground(
      conditions.isAllowed().then((isAllowed) => {
        conditions.isBeingChecked = false;
        if (!isAllowed) this.#close(page);
      }),
    );
  }

  #currentMessage(): Uint8Array {
    this.#stateMessage ??= message('state', this.#state());
    return this.#stateMessage;
  }

  #sendToAll(bytes: Uint8Array): void {
    for (const page of [...this.#pages.keys()]) page.send(bytes);
  }
}

/** How many messages a page may be behind; then it is dropped. A state is sent each second. */
const MAX_BEHIND = 30;

/** The stream of events to one page. */
class OpenPage {
  readonly body: ReadableStream<Uint8Array>;
  readonly #onGone: () => void;
  // The stream calls `start` in its constructor.
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #isOver = false;

  /** @param onGone - called once, when the page has gone or is dropped. */
  constructor(onGone: () => void) {
    this.#onGone = onGone;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => {
          this.#end();
        },
      },
      { highWaterMark: MAX_BEHIND },
    );
  }

  /** Sends a message, or drops a page that is too far behind: its messages would fill the memory. */
  send(message: Uint8Array): void {
    if (this.#isOver) return;
    if ((this.#controller.desiredSize ?? 0) > 0) {
      this.#controller.enqueue(message);
      return;
    }
    this.drop();
  }

  /** Ends the stream after the messages that were sent. */
  close(): void {
    if (this.#isOver) return;
    this.#end();
    this.#controller.close();
  }

  /** Ends the stream even if messages that were sent have not been read. */
  drop(): void {
    this.#end();
    this.#controller.error(new Error('The page reads too slowly.'));
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onGone();
  }
}
