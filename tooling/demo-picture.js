// Runs `npm run demo`, and draws what it printed as the picture of the README: `node tooling/demo-picture.js`, after a
// build, on a machine that does nothing else. The output is kept beside the picture, and a test draws it again.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './packages.js';

/** 360 units wide, so that on a phone the text is as large as the page's. */
const [WIDTH, LEFT, RIGHT, PANEL, BARS] = [360, 12, 348, 132, 70];

const STYLE = `
  text { font: 14px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328; }
  .lost { font-size: 20px; font-weight: 600; }
  .back { fill: #ffffff; } .queued { fill: #8c959f; } .bound { stroke: #59636e; stroke-dasharray: 4 3; }
  .bad { fill: #b3261e; } .good { fill: #0b6e4f; } .faint { fill: #59636e; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .back { fill: #0d1117; } .queued { fill: #656c76; } .bound { stroke: #9198a1; }
    .bad { fill: #ff8b80; } .good { fill: #3fb68b; } .faint { fill: #9198a1; }
  }`;

/**
 * What the demo printed for each of its two runs.
 *
 * @param {string} output
 * @returns {{ title: string, lost: string, delivered: string, errors: string, bound: number, depths: number[] }[]}
 */
export function runsIn(output) {
  return ['without', 'with'].map((title, column) => {
    /** @type {number[]} */
    const depths = [];
    for (const [, second, depth] of output.matchAll(
      new RegExp(`^${title} +(\\d+) s {2}queued ([\\d,]+)`, 'gm'),
    ))
      depths[Number(second)] = numberIn(depth);
    const cell = (/** @type {string} */ label) => {
      const cells = new RegExp(`^${label}.*? {3,}(\\S.*?) {3,}(\\S.*)$`, 'm').exec(output)?.slice(1);
      if (cells === undefined) throw new Error(`The demo printed no line ${label}.`);
      return /** @type {string} */ (cells[column]);
    };
    const [, bound = 0] = /of ([\d,]+)/.exec(cell('deepest queue')) ?? [];
    return {
      title,
      lost: cell('lost'),
      delivered: cell('delivered'),
      errors: cell('errors and timeouts'),
      bound: numberIn(String(bound)),
      // A busy machine skips a second.
      depths: Array.from({ length: depths.length }, (_, second) => depths[second] ?? 0),
    };
  });
}

/**
 * @param {string} output - of the demo.
 * @returns {string} an SVG document.
 */
export function pictureOf(output) {
  const runs = runsIn(output);
  const perSecond = (RIGHT - LEFT) / Math.max(...runs.map(({ depths }) => depths.length));
  const perDelivery = BARS / Math.max(...runs.flatMap(({ depths, bound }) => [...depths, bound]));
  const height = 2 * PANEL + 28;
  const root = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${String(WIDTH)} ${String(height)}`,
    width: WIDTH,
    height,
    role: 'img',
    'aria-label': runs.map(({ title, lost }) => `${title} the middleware ${lost} lost`).join(', '),
  };
  const parts = [
    element('style', {}, STYLE),
    element('rect', { class: 'back', width: WIDTH, height, rx: 6 }),
    ...runs.flatMap((run, index) => panel(run, index * PANEL, perSecond, perDelivery)),
    element(
      'text',
      { class: 'faint', x: LEFT, y: height - 10 },
      'bars: queued requests; dashed: their limit',
    ),
  ];
  return `${element('svg', root, `\n${parts.join('\n')}\n`)}\n`;
}

/**
 * @param {ReturnType<typeof runsIn>[number]} run
 * @param {number} top
 * @param {number} perSecond - width of a second.
 * @param {number} perDelivery - height of a queued delivery.
 */
function panel({ title, lost, delivered, errors, bound, depths }, top, perSecond, perDelivery) {
  const floor = top + PANEL - 6;
  const bars = depths.map((depth, second) => {
    const height = depth * perDelivery;
    const place = { x: LEFT + second * perSecond, y: floor - height, width: 0.85 * perSecond, height };
    return element('rect', { class: 'queued', ...place });
  });
  const limit = { x1: LEFT, x2: RIGHT, y1: floor - bound * perDelivery, y2: floor - bound * perDelivery };
  return [
    element('text', { class: `lost ${lost === '0' ? 'good' : 'bad'}`, x: LEFT, y: top + 26 }, `${lost} lost`),
    element('text', { x: RIGHT, y: top + 24, 'text-anchor': 'end' }, `${title} the middleware`),
    element('text', { class: 'faint', x: LEFT, y: top + 44 }, `delivered ${delivered}, errors ${errors}`),
    ...bars,
    ...(bound === 0 ? [] : [element('line', { class: 'bound', ...limit })]),
  ];
}

/**
 * @param {string} name
 * @param {Record<string, string | number>} attributes - numbers are rounded to tenths.
 * @param {string} content
 */
function element(name, attributes, content = '') {
  const given = Object.entries(attributes).map(([key, value]) => {
    const shown = typeof value === 'number' ? Math.round(value * 10) / 10 : value;
    return ` ${key}="${String(shown)}"`;
  });
  return `<${name}${given.join('')}>${content}</${name}>`;
}

/** @param {string | undefined} text */
function numberIn(text = '') {
  return Number(text.replaceAll(',', ''));
}

if (process.argv[1] === import.meta.filename) {
  const { stdout, status } = spawnSync(
    process.execPath,
    [join(root, 'demo/dist/main.js'), '--deliveries', '2800'],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error('The demo failed.');
  const output = stdout.replaceAll(/^Live page.*\n/gm, '');
  writeFileSync(join(root, 'docs/images/demo.txt'), output);
  writeFileSync(join(root, 'docs/images/demo.svg'), pictureOf(output));
}
