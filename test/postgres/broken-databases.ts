import type { InboxStore } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';

type Answer = (text: string) => readonly object[];

/** A store whose server answers as a broken database does: the docs need no server. */
function storeOf(answer: Answer): InboxStore {
  const client = {
    query: ({ text }: { readonly text: string }) =>
      new Promise<{ rows: object[] }>((resolve) => {
        resolve({ rows: [...answer(text)] });
      }),
    release: () => undefined,
    on: () => undefined,
    off: () => undefined,
  };
  return postgresStore({ pool: { connect: () => Promise.resolve(client) } });
}

/** A schema whose first row of `meta` is this one. */
function schemaWith(meta: { readonly application: string; readonly version: number }): InboxStore {
  return storeOf((text) =>
    text.includes('to_jsonb') ? [meta] : [{ has_meta: true, tables: 1, encoding: 'UTF8' }],
  );
}

function failing(code: string, message: string): InboxStore {
  return storeOf(() => {
    throw Object.assign(new Error(message), { code });
  });
}

export const databases = {
  withoutRights: failing('42501', 'permission denied for database app'),
  ofAnotherProgram: schemaWith({ application: 'shop', version: 1 }),
  ofANewerRelease: schemaWith({ application: 'webhook-backpressure inbox', version: 99 }),
  unreachable: failing('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432'),
};
