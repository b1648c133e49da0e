/**
 * What an async function with this call would return, without its cost: a promise that the call returns is returned
 * itself.
 */
export function promised(call: () => unknown): Promise<unknown> {
  try {
    return Promise.resolve(call());
  } catch (error) {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the value that was thrown
    return Promise.reject(error);
  }
}
