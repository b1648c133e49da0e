import { describe } from 'vitest';
import { deadLettersSuite } from '../core/tool/dead-letters-suite.ts';
import { filterSuite } from '../core/tool/filter-suite.ts';
import { movingSuite } from '../core/tool/moving-suite.ts';
import type { ToolBed } from '../core/tool/tool-bed.ts';
import { isSkipped, PostgresBed } from './bed.ts';
import { tool, toolHere } from './run-tool.ts';

function createBed(): ToolBed {
  const bed = new PostgresBed({ isReused: true });
  const { schema, connectionString, pool } = bed;
  return {
    noun: 'the schema',
    store: () => bed.store(),
    tool: (...args) => toolHere([...args, '--schema', schema, connectionString]),
    program: (...args) => tool([...args, '--schema', schema, connectionString]),
    contents: async () => {
      const { rows } = await pool.query<{ text: string }>(
        "SELECT schema_to_xml($1, true, true, '')::text AS text",
        [schema],
      );
      return rows.map(({ text }) => text).join('');
    },
    dispose: () => bed.dispose(),
  };
}

describe.skipIf(isSkipped)('on a real server', () => {
  movingSuite('of PostgreSQL', createBed);
  deadLettersSuite('of PostgreSQL', createBed);
  filterSuite('of PostgreSQL', createBed);
});
