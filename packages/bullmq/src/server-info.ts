/** What `INFO` says about the server. */
export interface ServerInfo {
  /** The part of `maxmemory` that is used; 0 without a limit. */
  readonly memory: number;
  /** Why acknowledged deliveries could be lost, in sentences; empty if Redis keeps them. */
  readonly dangers: readonly string[];
}

/** @param text - undefined when the server forbids `INFO`. */
export function serverInfoOf(text: string | undefined): ServerInfo {
  if (text === undefined)
    return {
      memory: 0,
      dangers: ['it is unknown whether it keeps its data, because the user may not call INFO.'],
    };
  const fields = new Map(
    text.split(/\r?\n/).map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1)];
    }),
  );
  const maximum = Number(fields.get('maxmemory') ?? 0);
  const memory = maximum > 0 ? Number(fields.get('used_memory') ?? 0) / maximum : 0;
  const dangers: string[] = [];
  if (fields.get('aof_enabled') === '0')
    dangers.push('appendonly is off, so a crash loses what Redis has acknowledged since its last snapshot.');
  const policy = fields.get('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    dangers.push(`maxmemory-policy is ${policy}, so Redis may delete jobs when its memory is full.`);
  return { memory, dangers };
}
