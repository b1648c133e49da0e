/** Never resolves; rejects when the signal is aborted. */
export function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}
