/** A wrong command line. Its message is a sentence. */
export class UsageError extends Error {}
