import { expect, it } from 'vitest';
import { HELP, optionsFrom, UsageError } from '../../demo/src/options.ts';

it.each([
  [['--watch'], { isWatch: true, port: 0 }],
  [['--watch', '--port', '4000'], { isWatch: true, port: 4000 }],
  [[], { isWatch: false, isInbox: false, isSizeFixed: false, deliveries: 2800 }],
  [['--fleet'], { isFleet: true, isSizeFixed: false, deliveries: 4000 }],
  [['--sender'], { isSender: true, isSizeFixed: false, deliveries: 50_000 }],
  [['--inbox', '--deliveries', '40'], { isInbox: true, isSizeFixed: true, deliveries: 40 }],
])('understands %j', (given, expected) => {
  expect(optionsFrom(given)).toMatchObject(expected);
});

it.each([
  [['--deliveries', '0'], '--deliveries must be an integer from 1 to 20000, but was 0.'],
  [['--deliveries='], '--deliveries must be an integer from 1 to 20000, but was .'],
  [['--watch', '--port', '65536'], '--port must be an integer from 0 to 65535, but was 65536.'],
  [['--port', '4000'], '--port needs --watch.'],
  [['--watch', '--inbox'], '--watch cannot be combined with --inbox, --fleet, --sender or --deliveries.'],
  [['--inbox', '--fleet'], '--inbox cannot be combined with --fleet.'],
  [['--sender', '--fleet'], '--sender cannot be combined with --inbox or --fleet.'],
  [['--sender', '--deliveries', '50001'], '--deliveries must be an integer from 1 to 50000, but was 50001.'],
  [
    ['--watch', '--deliveries', '4'],
    '--watch cannot be combined with --inbox, --fleet, --sender or --deliveries.',
  ],
  [['--watc'], 'Unknown option "--watc". Did you mean "--watch"?'],
  [['--deliveries'], "Option '--deliveries <value>' argument missing."],
  [['inbox'], "Unexpected argument 'inbox'."],
])('rejects %j', (given, message) => {
  expect(() => optionsFrom(given)).toThrow(UsageError);
  expect(() => optionsFrom(given)).toThrow(message);
});

it('prints help that names every option, also beside others', () => {
  expect(optionsFrom(['--watch', '--help'])).toBeUndefined();
  for (const name of ['inbox', 'fleet', 'sender', 'watch', 'port N', 'deliveries N', 'help'])
    expect(HELP).toContain(`\n  --${name} `);
});
