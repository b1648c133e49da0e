import { readFileSync } from 'node:fs';
import { deadLettersSuite } from '../core/tool/dead-letters-suite.ts';
import { filterSuite } from '../core/tool/filter-suite.ts';
import { movingSuite } from '../core/tool/moving-suite.ts';
import type { ToolBed } from '../core/tool/tool-bed.ts';
import { tool, toolHere } from './run-tool.ts';
import { Scratch } from './scratch.ts';

function createBed(): ToolBed {
  const scratch = new Scratch();
  return {
    noun: 'the file',
    store: scratch.bed().store,
    tool: (...args) => toolHere(...args, scratch.file()),
    program: (...args) => tool(...args, scratch.file()),
    contents: () => Promise.resolve(readFileSync(scratch.file(), 'latin1')),
    dispose: () => {
      scratch.dispose();
    },
  };
}

movingSuite('of SQLite', createBed);
deadLettersSuite('of SQLite', createBed);
filterSuite('of SQLite', createBed);
