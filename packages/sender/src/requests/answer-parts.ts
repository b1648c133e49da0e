import type { Answer } from './request.ts';

/** The most bytes of an answer that are read. */
const MAX_ANSWER_BYTES = 65_536;

/** The body of an answer while it arrives, up to 64 KiB. */
export class AnswerBody {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  /** Returns false when no more is wanted. */
  add(chunk: Uint8Array): boolean {
    const room = MAX_ANSWER_BYTES - this.#length;
    const part = chunk.byteLength > room ? chunk.subarray(0, room) : chunk;
    this.#chunks.push(part);
    this.#length += part.byteLength;
    return chunk.byteLength <= room;
  }

  bytes(): Uint8Array {
    const [only] = this.#chunks;
    if (only && this.#chunks.length === 1) return only;
    const bytes = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at);
      at += chunk.byteLength;
    }
    return bytes;
  }
}

/** An answer with headers as Node.js has them: names in lower case, a list for a repeated header. */
export function answerOf(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: AnswerBody,
): Answer {
  return {
    status,
    header: (name) => {
      const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body: body.bytes(),
  };
}
