import { type Clock, systemClock } from '@webhook-backpressure/base';
import { drawTraffic, ScenarioError, stream, UsageError } from '@webhook-backpressure/planner/parts';
import { type Requester, undiciRequester } from '@webhook-backpressure/sender/parts';
import { checksOf, figuresOf, type Check, type Report } from '../report/report.ts';
import { checkedUrl, isNear, resolveBySystem, type Resolve } from '../requests/addresses.ts';
import { Composer } from '../requests/composer.ts';
import { predict, scenarioOf, sendersOf } from '../run/scenario.ts';
import { type Tally, Volley } from '../run/volley.ts';
import { signerOf } from '../signing/signer.ts';
import { type FireCommand, OWN_PER_SECOND } from './arguments.ts';

/** What a run uses of the outside. */
export interface Surroundings {
  /** Ends the run, with the report so far. */
  readonly signal: AbortSignal;
  /** Called with the figures, which change while the run lasts, and with its lines about signatures. */
  readonly onStart?: ((tally: Readonly<Tally>, events: number) => void) | undefined;
  readonly resolve?: Resolve | undefined;
  readonly requester?: Requester | undefined;
  readonly clock?: Clock | undefined;
  readonly wallClock?: (() => number) | undefined;
}

/**
 * Sends what a command asks for, and waits until each delivery is acknowledged or given up.
 *
 * @throws UsageError for what is wrong with the command.
 */
export async function fireAt(
  command: FireCommand,
  surroundings: Surroundings,
): Promise<[Report, readonly Check[]]> {
  const {
    resolve = resolveBySystem,
    clock = systemClock,
    wallClock = Date.now,
    signal,
    onStart,
  } = surroundings;
  const { shot, secrets, ownHost, endMs, limits } = command;
  const { senders, scenario } = inUsage(() => ({ senders: sendersOf(shot), scenario: scenarioOf(shot) }));
  const url = await checkedUrl(command.url, ownHost, resolve);
  const isAllowed = ownHost === undefined ? isNear : (): boolean => true;
  const requester = surroundings.requester ?? undiciRequester({ allowPrivateAddresses: true, isAllowed });
  const signers = senders.map(({ name }) => signerOf(name, secrets.get(name) ?? secrets.get('')));
  const random = stream(shot.seed, 'ids');
  const traffic = drawTraffic(scenario);
  const volley = new Volley({
    scenario,
    traffic,
    url,
    composers: senders.map(
      ({ name }, at) => new Composer(name, url, signers[at] as (typeof signers)[0], random, wallClock),
    ),
    requester,
    clock,
    wallClock,
    endMs,
    maxPerSecond: ownHost === undefined ? Infinity : OWN_PER_SECOND,
  });
  const startedMs = clock.now();
  onStart?.(volley.tally, traffic.count);
  try {
    await volley.run(signal);
  } finally {
    await requester.close();
  }
  const figures = figuresOf(
    volley,
    traffic,
    senders,
    signers.map(({ note }) => note),
  );
  const checks = checksOf(figures, limits);
  const report: Report = {
    url: url.href,
    speed: shot.speed,
    seconds: Math.round(clock.now() - startedMs) / 1000,
    ...figures,
    predicted: shot.service === undefined || signal.aborted ? null : await predict(shot, traffic),
    exceeded: checks.flatMap(({ exceeded }) => exceeded ?? []),
  };
  return [report, checks];
}

/** A mistake in the scenario is one of the command line. */
function inUsage<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw error instanceof ScenarioError ? new UsageError(error.message) : error;
  }
}
