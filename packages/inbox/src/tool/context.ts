/** What a command needs beside the store and its arguments. */
export interface Context {
  /** Where deliveries are: "the file". */
  readonly noun: string;
  /** Reports progress. */
  readonly report: (text: string) => void;
}
