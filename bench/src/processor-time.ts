/**
 * Seconds of processor time that this process has used, its collector and compiler included.
 *
 * Rates are per second of it and not of the wall clock: on its own core a busy process gets one for the other,
 * and what another process on the machine takes away, or what the load generator cannot supply, does not count.
 */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
