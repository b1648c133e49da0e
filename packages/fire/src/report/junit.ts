import type { Check, Report } from './report.ts';

/** The limits as test cases, in the form of JUnit that CI servers read. Without limits, one case that passes. */
export function junitOf({ url, seconds, senders }: Report, checks: readonly Check[]): string {
  const cases = checks.length > 0 ? checks : [{ name: 'sent', exceeded: undefined }];
  const failures = cases.filter(({ exceeded }) => exceeded !== undefined).length;
  const suite = `name="${escaped(`fire ${url}`)}" tests="${String(cases.length)}" failures="${String(failures)}" time="${seconds.toFixed(3)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite ${suite}>`,
    ...cases.map(({ name, exceeded }) => {
      const start = `    <testcase classname="fire" name="${escaped(name)}"`;
      return exceeded === undefined
        ? `${start}/>`
        : `${start}><failure message="${escaped(exceeded)}"/></testcase>`;
    }),
    `    <system-out>${escaped(senders.map(({ name, conclusion }) => `${name}: ${conclusion}`).join('\n'))}</system-out>`,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
