const STEP_MS = 5;

/**
 * Holds handlers until they are released, in the order of their calls.
 *
 * @returns {{ hold: () => Promise<void>, release: () => void }}
 */
export function holding() {
  let released = 0;
  let asked = 0;
  return {
    /** In steps: some runtimes end a request that only another one can wake. */
    async hold() {
      asked += 1;
      const turn = asked;
      while (released < turn) await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    },
    release() {
      released += 1;
    },
  };
}

/**
 * A response in three chunks.
 *
 * @param {() => Promise<void>} hold before each chunk but the first, and before the end
 */
export function streamed(hold) {
  let chunks = 0;
  const encoder = new TextEncoder();
  return new Response(
    new ReadableStream({
      async pull(controller) {
        chunks += 1;
        if (chunks > 1) await hold();
        if (chunks < 4) controller.enqueue(encoder.encode(`${String(chunks)} `));
        else controller.close();
      },
    }),
  );
}
