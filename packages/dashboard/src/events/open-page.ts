/** How many messages a page may be behind; then it is dropped. A state is sent each second. */
const MOST_BEHIND = 30;

/** The stream of events to one page. */
export class OpenPage {
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
      { highWaterMark: MOST_BEHIND },
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
