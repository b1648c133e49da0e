import { quoted } from './text.ts';

/** The output of a command, or a sentence that says why it failed. */
export type Answer =
  | { readonly problem: string }
  | {
      readonly problem?: never;
      readonly text: string;
      /** For `--json`. */
      readonly data: unknown;
      /** Whether some of the deliveries were not moved. */
      readonly isPartial?: boolean;
    };

export function notFound(id: string, key: string | undefined, where: string): Answer {
  const ofKey = key === undefined ? '' : ` with the key ${quoted(key)}`;
  return { problem: `There is no delivery ${quoted(id)}${ofKey} ${where}.` };
}
