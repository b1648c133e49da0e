/** Bytes of heap after collection. Needs `--expose-gc`. */
export function heap(): number {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('To be run with --expose-gc.');
  gc();
  gc();
  return process.memoryUsage().heapUsed;
}
