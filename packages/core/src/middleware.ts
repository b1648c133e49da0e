// For adapters of frameworks. `docs/support.md` says which names are public.
export { readableErrors } from '@webhook-backpressure/base';
export {
  type AdmissionControl,
  createAdmissionControl,
  type RequestReader,
  type Skip,
} from './middleware/admission-control.ts';
export { FirstUse } from './middleware/first-use.ts';
export { Handling } from './middleware/handling.ts';
export {
  beginDraining,
  closablesOf,
  createReadiness,
  isProbed,
  markStarting,
  type Readiness,
  type ReadinessStatus,
} from './middleware/readiness.ts';
export { bodyTimedOut, type BodyTimedOut, type HttpAnswer, problem } from './middleware/problem.ts';
