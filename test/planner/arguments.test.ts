import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../packages/planner/src/cli/arguments.ts';

const SOUND = '--senders shopify:0.7,github:0.3 --service 80ms --burst 50000/40s';

function parse(line: string): ReturnType<typeof parseCommand> {
  return parseCommand(line.split(' ').filter((word) => word !== ''));
}

describe('the arguments of the planner', () => {
  it('are a request', () => {
    const line =
      `${SOUND} --normal 300/min --concurrency 20 --mode inbox --receivers 4 --capacity 500 ` +
      '--max-wait 2min --timeout 1.5s --seed 7 --json --html plan.html';
    expect(parse(line)).toEqual({
      name: 'plan',
      request: {
        senders: [
          { profile: 'shopify', share: 0.7 },
          { profile: 'github', share: 0.3 },
        ],
        service: { meanMs: 80, distribution: 'exponential' },
        burst: { events: 50_000, seconds: 40 },
        normalPerSecond: 5,
        concurrency: 20,
        mode: 'inbox',
        receivers: 4,
        capacity: 500,
        maxWaitMs: 120_000,
        timeoutMs: 1500,
        seed: 7,
      },
      isJson: true,
      html: 'plan.html',
    });
  });

  it.each([
    ['--service 80ms', { meanMs: 80, distribution: 'exponential' }],
    ['--service 0.5s:constant', { meanMs: 500, distribution: 'constant' }],
    ['--service 80ms:exponential', { meanMs: 80, distribution: 'exponential' }],
  ])('have a service time: %s', (option, service) => {
    expect(parse(`--senders slack ${option} --normal 1/s`)).toMatchObject({ request: { service } });
  });

  it.each([
    ['--burst 50,000/40s', { events: 50_000, seconds: 40 }],
    ['--burst 50k/2min', { events: 50_000, seconds: 120 }],
    ['--burst 1.5k/1s', { events: 1500, seconds: 1 }],
    ['--burst=100/500ms', { events: 100, seconds: 0.5 }],
  ])('have a burst: %s', (option, burst) => {
    expect(parse(`--senders slack --service 1s ${option}`)).toMatchObject({ request: { burst } });
  });

  it('name any known sender, also with spaces', () => {
    expect(
      parseCommand(['--senders', 'mailgun: 2, adyen', '--service', '1s', '--normal', '1/s']),
    ).toMatchObject({
      request: {
        senders: [
          { profile: 'mailgun', share: 2 },
          { profile: 'adyen', share: 1 },
        ],
      },
    });
  });

  it.each(['shopify:0.33,github:0.33,slack:0.33', 'shopify:70,github:90', 'slack:1.0', 'slack,shopify'])(
    'have shares that add up to 1 within 1 %%, or whole numbers: %s',
    (senders) => {
      expect(parse(`--senders ${senders} --service 1s --normal 1/s`)).toMatchObject({ name: 'plan' });
    },
  );

  it('name a scenario to simulate', () => {
    expect(parse('simulate a.json')).toEqual({ name: 'simulate', file: 'a.json' });
    expect(parse('simulate -')).toEqual({ name: 'simulate', file: '-' });
  });

  it('ask for help or the version, also without others', () => {
    expect(parse('')).toEqual({ name: 'help' });
    expect(parse('-h')).toEqual({ name: 'help' });
    expect(parse('--help --service')).toEqual({ name: 'help' });
    expect(parse('--version')).toEqual({ name: 'version' });
  });

  it.each([
    ['--sendrs slack', /^Unknown option "--sendrs"\. Did you mean "--senders"\?$/],
    ['plan', /^Unknown command "plan"\. Known commands: simulate\.$/],
    ['simulat a.json', /Did you mean "simulate"\?/],
    ['simulate', 'simulate needs one file with a scenario, or - for standard input.'],
    ['simulate a.json b.json', 'simulate needs one file with a scenario, or - for standard input.'],
    ['simulate a.json --json', 'simulate does not take --json.'],
    ['--service 80ms --burst 1/1s', /^--senders is missing: .*shopify:0\.7,github:0\.3\.$/],
    ['--senders slack --burst 1/1s', /^--service is missing: .*80ms\.$/],
    ['--senders slack --service 1s', /^--burst or --normal is missing: /],
    ['--senders slack --service 1s --normal 0/s', /^--burst or --normal is missing: /],
    [`${SOUND} --seed`, '--seed needs a value.'],
    [`${SOUND} --json=yes`, '--json takes no value.'],
    [`${SOUND} --seed 1 --seed 2`, '--seed must be given once.'],
    [`${SOUND} --mode both`, '--mode must be hold or inbox, but was "both".'],
    [`${SOUND} --normal 5`, /^--normal must be .*such as 5\/s or 300\/min, but was "5"\.$/],
    [`${SOUND} --normal 5/day`, /^--normal must be /],
    [`${SOUND} --normal 2000000/s`, '--normal must be a number from 0 to 1000000, but was "2000000/s".'],
    [`${SOUND} --concurrency 0`, '--concurrency must be an integer from 1 to 10000, but was "0".'],
    [`${SOUND} --concurrency ten`, '--concurrency must be an integer, but was "ten".'],
    [`${SOUND} --concurrency -1`, '--concurrency must be an integer, but was "-1".'],
    [`${SOUND} --receivers 65`, '--receivers must be an integer from 1 to 64, but was "65".'],
    [`${SOUND} --capacity 0`, /^--capacity must be an integer from 1 to /],
    [
      `${SOUND} --max-wait 10`,
      '--max-wait must be a time with its unit, such as 500ms, 40s or 2min, but was "10".',
    ],
    [
      `${SOUND} --max-wait 48h`,
      /^--max-wait must be a number of milliseconds from 1 to 86400000, but was "48h"\.$/,
    ],
    [`${SOUND} --timeout 0s`, /^--timeout must be /],
    [`${SOUND} --seed 1.5`, '--seed must be an integer, but was "1.5".'],
    ['--senders slack --burst 1/1s --service 80', /^--service must be a time with its unit/],
    [
      '--senders slack --burst 1/1s --service 80ms:normal',
      /^--service must be a time, alone or with :constant or/,
    ],
    ['--senders slack --burst 1/1s --service 0ms', /^--service must be a number of milliseconds above 0/],
    ['--senders slack --service 1s --burst lots', /^--burst must be .*such as 50000\/40s, but was "lots"\.$/],
    ['--senders slack --service 1s --burst 10', /^--burst must be /],
    ['--senders slack --service 1s --burst 10/40', /^--burst must be a number of deliveries and a time with/],
    ['--senders slack --service 1s --burst 10/s', /^--burst must be a number of deliveries and a time with/],
    // Fifty, or fifty thousand.
    ['--senders slack --service 1s --burst 50.000/40s', /^--burst must be .* but was "50\.000\/40s"\.$/],
    ['--senders slack --service 1s --burst 1.5/1s', /^--burst must be /],
    [
      '--senders slack --service 1s --normal 1000000/s',
      /^normalPerSecond and burst must give at most 2,000,000 deliveries in the simulated 240 s, but give 240,000,000\.$/,
    ],
    [`${SOUND} --html --json`, '--html needs a value.'],
    [
      '--senders slack --service 1s --burst 0/40s',
      '--burst must be an integer from 1 to 2000000, but was "0/40s".',
    ],
    ['--senders slack --service 1s --burst 3000000/40s', /^--burst must be an integer from 1 to 2000000/],
    ['--senders slack --service 1s --burst 10/0s', /^--burst must be a number of seconds from 0\.001/],
    ['--senders shopfy --service 1s --burst 1/1s', /^Unknown sender "shopfy"\. Did you mean "shopify"\?$/],
    [
      '--senders slack:much --service 1s --burst 1/1s',
      /^--senders must be names of senders with their shares/,
    ],
    [
      '--senders shopify:0.7,github:0.9 --service 1s --burst 1/1s',
      '--senders must have shares that add up to 1, or whole numbers such as shopify:7,github:3, but they add up to 1.6.',
    ],
    ['--senders shopify:0.5 --service 1s --burst 1/1s', /but they add up to 0\.5\.$/],
    // A share that is left out is 1.
    ['--senders shopify:0.7,github --service 1s --burst 1/1s', /but they add up to 1\.7\.$/],
    ['--senders slack:0 --service 1s --burst 1/1s', 'senders[0].share must be a number above 0, but was 0.'],
    [
      '--senders slack,slack --service 1s --burst 1/1s',
      'senders must have different names, but slack is repeated.',
    ],
  ])('are wrong in one sentence: %s', (line, message) => {
    expect(() => parse(line)).toThrow(expect.objectContaining({ name: 'UsageError' }) as Error);
    expect(() => parse(line)).toThrow(message);
  });
});
