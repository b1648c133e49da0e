export { ScenarioError } from './scenario/fields.ts';
export type { Results } from './results/results.ts';
export { simulate, type Simulation } from './results/simulate.ts';
