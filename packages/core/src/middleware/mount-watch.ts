import { topOf } from './paths.ts';

/** What the watch reads from a request. */
interface MountReader<R> {
  method(request: R): string;
  targets(request: R): readonly string[];
  isForWholeApp?(request: R): boolean;
}

const PLAIN = /^\/[a-z-]{0,20}$/;

/**
 * Warns once if a middleware without a path limits more than webhooks: requests below two top folders, one of them of no
 * known sender. An app that receives at one path, or from known senders alone, needs no path.
 */
export class MountWatch<R> {
  readonly #reader: MountReader<R>;
  readonly #warn: (message: string) => void;
  /** The first delivery; null when there is nothing to watch any more. */
  #first: { readonly name: string; readonly top: string; readonly isRecognized: boolean } | null | undefined;

  #last: string | undefined;

  constructor(reader: MountReader<R>, warn: (message: string) => void) {
    this.#reader = reader;
    this.#warn = warn;
  }

  note(request: R, isRecognized: boolean): void {
    if (this.#first === null || (isRecognized && this.#first?.isRecognized === true)) return;
    const [target = ''] = this.#reader.targets(request);
    // Most deliveries arrive at the same target.
    if (target === this.#last) return;
    this.#last = target;
    const top = topOf(target);
    if (top === undefined) return;
    if (this.#first === undefined) {
      const isWatched = this.#reader.isForWholeApp?.(request) === true;
      this.#first = isWatched ? { name: this.#nameOf(request, top), top, isRecognized } : null;
    } else if (top !== this.#first.top) {
      const { name } = this.#first;
      this.#first = null;
      this.#warn(
        `The middleware is mounted for the whole app: it limits ${name} and also ${this.#nameOf(request, top)}. Mount it ` +
          "at the path of the webhooks, or set the option path; '/' means the whole app.",
      );
    }
  }

  #nameOf(request: R, top: string): string {
    // A path may be a secret.
    return `${this.#reader.method(request)} ${PLAIN.test(top) ? top : '/…'}`;
  }
}
