import { expect, it } from 'vitest';
import { optionsFrom } from '../../demo/src/options.ts';

it.each([
  [['--watch'], { isWatch: true, port: 0 }],
  [['--watch', '--port', '4000'], { isWatch: true, port: 4000 }],
  [[], { isWatch: false, isInbox: false, isSizeFixed: false, deliveries: 2800 }],
  [['--fleet'], { isFleet: true, isSizeFixed: false, deliveries: 4000 }],
  [['--inbox', '--deliveries', '40'], { isInbox: true, isSizeFixed: true, deliveries: 40 }],
])('understands %j', (given, expected) => {
  expect(optionsFrom(given)).toMatchObject(expected);
});

it.each([
  [['--deliveries', '0'], '--deliveries must be an integer from 1 to 20000, but was 0.'],
  [['--deliveries='], '--deliveries must be an integer from 1 to 20000, but was .'],
  [['--watch', '--port', '65536'], '--port must be an integer from 0 to 65535, but was 65536.'],
  [['--port', '4000'], '--port needs --watch.'],
  [['--watch', '--inbox'], '--watch cannot be combined with --inbox, --fleet or --deliveries.'],
  [['--inbox', '--fleet'], '--inbox cannot be combined with --fleet.'],
  [['--watch', '--deliveries', '4'], '--watch cannot be combined with --inbox, --fleet or --deliveries.'],
])('rejects %j', (given, message) => {
  expect(() => optionsFrom(given)).toThrow(message);
});
