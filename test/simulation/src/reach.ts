import type { Probe, Subject } from './probe.ts';
import { CONCURRENCY } from './reach-concurrency.ts';
import { DRAIN_RATE } from './reach-drain-rate.ts';
import { FAIRNESS } from './reach-fairness.ts';
import { PROCESS } from './reach-process.ts';
import { RATE } from './reach-rate.ts';

/** The subjects with figures to reach, in addition to the scenarios. */
export const SUBJECTS: readonly Subject[] = [DRAIN_RATE, FAIRNESS, CONCURRENCY, RATE, PROCESS];

export const PROBES: readonly Probe[] = SUBJECTS.flatMap(({ probes }) => probes);
