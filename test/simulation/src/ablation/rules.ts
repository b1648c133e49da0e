import { ADMISSION_RULES } from './admission-rules.ts';
import { RETRY_RULES } from './retry-rules.ts';
import type { Rule } from './rule.ts';

/** Everything that this instrument knows of the insides of the core. */
export const RULES: readonly Rule[] = [...ADMISSION_RULES, ...RETRY_RULES];
