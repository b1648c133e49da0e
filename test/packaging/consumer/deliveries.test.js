// Runs in Jest, which resolves and loads only CommonJS.
const { basename } = require('node:path');
const { BackpressureError } = require('@webhook-backpressure/core');

/** @type {string[]} */
const programs = JSON.parse(process.env.PROGRAMS);

test('loads the CommonJS modules', () => {
  expect(basename(require.resolve('@webhook-backpressure/core'))).toBe('index.cjs');
});

test.each(programs)('runs the %s program', async (program) => {
  const { main } = require(`./built/${program}.js`);
  expect(await main()).toEqual(JSON.parse(process.env.REPORT));
});

test('shares the error class between the packages', () => {
  const { webhookBackpressure } = require('@webhook-backpressure/express');
  expect(() => webhookBackpressure({ capacity: -1 })).toThrow(BackpressureError);
});
