import { describe, expect, it } from 'vitest';
import { ScenarioError, parseScenario } from '@webhook-backpressure/planner/parts';

const sound = {
  seed: 1,
  intake: { capacity: 1000, concurrency: 10 },
  policy: 'intake',
  service: { meanMs: 100, distribution: 'constant' },
  arrivals: [{ fromS: 0, toS: 40, perSecond: 1250, process: 'uniform' }],
  senders: [{ key: 'shop', share: 1, identified: true, retry: 'retry-after', maxAttempts: 0, timeoutMs: 0 }],
};
const [arrivals] = sound.arrivals;
const [sender] = sound.senders;

function messageOf(scenario: unknown): string {
  try {
    parseScenario(scenario);
  } catch (error) {
    expect(error).toBeInstanceOf(ScenarioError);
    return (error as Error).message;
  }
  return 'no mistake';
}

describe('a valid scenario', () => {
  it('is parsed', () => {
    expect(parseScenario(sound)).toMatchObject({ seed: 1, service: sound.service, arrivals: sound.arrivals });
  });

  it('has up to two million deliveries, where a rate gives a fraction more', () => {
    const most = [{ fromS: 0, toS: 40, perSecond: 50_000.01 }];
    expect(messageOf({ ...sound, arrivals: most })).toBe('no mistake');
  });

  it('has defaults', () => {
    const { seed, intake, service, senders } = parseScenario({
      service: { meanMs: 5 },
      arrivals: [{ fromS: 0, toS: 1, perSecond: 1 }],
      senders: [{ key: 'shop', retry: 'none' }],
    });
    expect({ seed, intake, distribution: service.distribution }).toEqual({
      seed: 1,
      intake: {},
      distribution: 'constant',
    });
    expect(senders[0]).toMatchObject({
      share: 1,
      identified: true,
      maxAttempts: 0,
      timeoutMs: 0,
      delivery: {},
    });
  });

  it.each([
    'retry-after',
    'retry-after:1,2,4',
    'fixed:2.5',
    'exponential:5:2:3600',
    'schedule:5',
    'schedule:5,300,1800',
    'svix',
    'none',
  ])('may have the retry habit %s', (retry) => {
    expect(messageOf({ ...sound, senders: [{ ...sender, retry }] })).toBe('no mistake');
  });

  it.each(['intake', 'depth-rate', 'queue', 'constant:1', 'constant:60'])(
    'may have the policy %s',
    (policy) => {
      expect(messageOf({ ...sound, policy })).toBe('no mistake');
    },
  );
});

describe('an invalid scenario', () => {
  const service = sound.service;
  it.each([
    [null, 'the scenario must be an object, but was null.'],
    [[], 'the scenario must be an object, but was [].'],
    [
      { ...sound, sead: 1 },
      'sead is not a field of a scenario; known here: seed, mode, inbox, intake, policy, service, process, fleet, arrivals, senders.',
    ],
    [{ ...sound, seed: -1 }, 'seed must be an integer of at least 0, but was -1.'],
    [{ ...sound, seed: '1' }, 'seed must be an integer of at least 0, but was "1".'],
    [{ ...sound, service: undefined }, 'service must be an object, but was absent.'],
    [
      { ...sound, service: { ...service, meanMs: 0 } },
      /^service\.meanMs must be a number of milliseconds above 0, .* but was 0\.$/,
    ],
    [
      { ...sound, service: { ...service, distribution: 'normal' } },
      'service.distribution must be one of "constant", "exponential", but was "normal".',
    ],
    [
      { ...sound, service: { ...service, standStill: [{ fromS: 5, toS: 5 }] } },
      /^service\.standStill\[0\]\.toS must be a number of seconds after fromS \(5\), .* but was 5\.$/,
    ],
    [
      { ...sound, service: { ...service, knee: [{ fromS: 0, concurrency: 0 }] } },
      'service.knee[0].concurrency must be a number of at least 1, but was 0.',
    ],
    [
      { ...sound, service: { ...service, slow: [{ fromS: 0, toS: 1, factor: 0.5 }] } },
      'service.slow[0].factor must be a number from 1 to 1000, but was 0.5.',
    ],
    [{ ...sound, process: 5 }, 'process must be an object, but was 5.'],
    [
      { ...sound, process: { refuseMs: -1 } },
      'process.refuseMs must be a number of milliseconds from 0 to 1000, but was -1.',
    ],
    [
      { ...sound, process: { freeze: [{ fromS: 2, toS: 1 }] } },
      /^process\.freeze\[0\]\.toS must be a number of seconds after fromS \(2\), .* but was 1\.$/,
    ],
    [{ ...sound, process: { thaw: [] } }, /^process\.thaw is not a field of a scenario/],
    [{ ...sound, fleet: {} }, 'fleet.receivers must be an integer from 1 to 64, but was absent.'],
    [{ ...sound, fleet: { receivers: 65 } }, 'fleet.receivers must be an integer from 1 to 64, but was 65.'],
    [
      { ...sound, fleet: { receivers: 2, balancer: 'best' } },
      'fleet.balancer must be one of "random", "round-robin", "least-connections", "hash", but was "best".',
    ],
    [
      { ...sound, fleet: { receivers: 2, registry: 'yes' } },
      'fleet.registry must be true or false, but was "yes".',
    ],
    [
      { ...sound, fleet: { receivers: 2, registryAway: [{ fromS: 2, toS: 1 }] } },
      /^fleet\.registryAway\[0\]\.toS must be a number of seconds after fromS \(2\), .* but was 1\.$/,
    ],
    [
      { ...sound, fleet: { receivers: 2, changes: [{ atS: 1, what: 'sleep' }] } },
      'fleet.changes[0].what must be one of "join", "die", but was "sleep".',
    ],
    [
      { ...sound, fleet: { receivers: 1, changes: [{ atS: 1, what: 'die' }] } },
      /^fleet\.changes must be changes that leave a living receiver, but was /,
    ],
    [{ ...sound, fleet: { receivers: 2 }, process: {} }, /^process must be absent beside fleet, /],
    [{ ...sound, fleet: { receivers: 2 }, policy: 'queue' }, /^policy must be another one beside fleet, /],
    [
      { ...sound, fleet: { receivers: 2 }, senders: [{ ...sender, timeoutMs: 5 }] },
      /^senders\[0\]\.timeoutMs must be 0 beside fleet, .* but was 5\.$/,
    ],
    [
      { ...sound, fleet: { receivers: 2 }, intake: { concurrency: { initial: 1, min: 1, max: 5 } } },
      /^intake\.concurrency must be a number beside fleet, but was /,
    ],
    [{ ...sound, arrivals: [] }, 'arrivals must be an array of at least one entry, but was [].'],
    [{ ...sound, arrivals: {} }, 'arrivals must be an array of at least one entry, but was {}.'],
    [
      { ...sound, arrivals: [arrivals, { ...arrivals, perSecond: null }] },
      'arrivals[1].perSecond must be a number above 0, but was null.',
    ],
    [
      { ...sound, arrivals: [{ ...arrivals, toS: 0 }] },
      /^arrivals\[0\]\.toS must be a number of seconds after fromS \(0\)/,
    ],
    [
      { ...sound, arrivals: [{ ...arrivals, process: 'bursty' }] },
      'arrivals[0].process must be one of "uniform", "poisson", but was "bursty".',
    ],
    [
      { ...sound, arrivals: [{ ...arrivals, perSecond: 1e6 }] },
      'arrivals must be at most 2000000 deliveries in all, but was 40000000.',
    ],
    [{ ...sound, senders: [] }, 'senders must be an array of at least one entry, but was [].'],
    [{ ...sound, senders: [{ ...sender, key: 5 }] }, 'senders[0].key must be a string, but was 5.'],
    [
      { ...sound, senders: [{ ...sender, share: 0 }] },
      'senders[0].share must be a number above 0, but was 0.',
    ],
    [
      { ...sound, senders: [{ ...sender, identified: 'yes' }] },
      'senders[0].identified must be true or false, but was "yes".',
    ],
    [
      { ...sound, senders: [{ ...sender, maxAttempts: 1.5 }] },
      'senders[0].maxAttempts must be an integer of at least 0, but was 1.5.',
    ],
    [
      { ...sound, senders: [{ ...sender, timeoutMs: -1 }] },
      /^senders\[0\]\.timeoutMs must be a number of milliseconds from 0 to 86400000, but was -1\.$/,
    ],
    [
      { ...sound, senders: [{ ...sender, patience: 1 }] },
      /^senders\[0\]\.patience is not a field of a scenario/,
    ],
    [
      { ...sound, senders: [{ ...sender, delivery: { retries: 0 } }] },
      'senders[0].delivery.retries must be true or false, but was 0.',
    ],
    [{ ...sound, senders: [{ ...sender, 'a b': 1 }] }, /^senders\[0\]\["a b"\] is not a field/],
  ])('is rejected with field, rule and value: %j', (scenario, message) => {
    if (typeof message === 'string') expect(messageOf(scenario)).toBe(message);
    else expect(messageOf(scenario)).toMatch(message);
  });

  it.each([
    '',
    'retry',
    'fixed',
    'fixed:',
    'fixed:0',
    'fixed:-1',
    'fixed:1:2',
    'retry-after:',
    'exponential:5:2',
    'exponential:5:0.5:60',
    'schedule:',
    'schedule:5,,6',
    'svix:1',
  ])('is rejected for the retry habit %j', (retry) => {
    expect(messageOf({ ...sound, senders: [sender, { ...sender, retry }] })).toMatch(
      /^senders\[1\]\.retry must be "retry-after", .*, but was ".*"\.$/,
    );
  });

  it.each(['booked', 'constant', 'constant:0', 'constant:1.5', 'constant:-1'])(
    'is rejected for the policy %j',
    (policy) => {
      expect(messageOf({ ...sound, policy })).toMatch(/^policy must be "intake", .*, but was ".*"\.$/);
    },
  );

  it.each([
    [{ capacity: 0 }, /^intake\.capacity must be an integer of at least 1, but was 0\./],
    [{ capacity: null }, /^intake\.capacity must be .*, but was null\./],
    [{ capacty: 5 }, /^intake: Unknown option "capacty"\. Did you mean "capacity"\?/],
    [
      { retryAfter: { strategy: 'guess' } },
      /^intake\.retryAfter\.strategy must be .*, but was the string "guess"\./,
    ],
    [{ lowWaterMark: 0.9 }, /^intake.*lowWaterMark.* must be .*, but were 0\.9 and 0\.8\./],
    [{ random: 4 }, 'intake.random must be absent: the simulator sets it.'],
    [null, 'intake must be an object, but was null.'],
    [[], 'intake must be an object, but was [].'],
  ])('is rejected for the intake options %j', (intake, message) => {
    if (typeof message === 'string') expect(messageOf({ ...sound, intake })).toBe(message);
    else expect(messageOf({ ...sound, intake })).toMatch(message);
  });
});
