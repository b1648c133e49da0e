import { writePassing } from './report.ts';

await writePassing();
