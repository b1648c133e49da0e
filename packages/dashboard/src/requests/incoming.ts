/** A request, whatever it arrived through. */
export interface Incoming {
  /** As `authorize` and `onChange` get it. Its body is not read. */
  readonly request: Request;
  /** The path as the framework passes it on, without the query. Not decoded. */
  readonly path: string;
  /** Whether the framework has removed the path of the mount from `path`. Not every framework says so. */
  readonly isBelowMount: boolean;
  /** Whether the server still takes connections. One that closes waits until all open pages have gone. */
  readonly isServing: () => boolean;
  /**
   * Reads the body as text.
   *
   * @returns null when it has more bytes than that.
   */
  readonly readBody: (maxBytes: number) => Promise<string | null>;
}
