import { medianOf, type Row } from './peers-report.ts';
import { EVENTS, PEERS } from './peers-setup.ts';

/** 360 units wide, so that on a phone the text is as large as the page's. */
const [WIDTH, LEFT, RIGHT, ROW, BAR] = [360, 12, 348, 38, 8];

const STYLE = `
  text { font: 14px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328; }
  .back { fill: #ffffff; } .all { fill: #d1d9e0; } .bad { fill: #b3261e; } .good { fill: #0b6e4f; } .ours { font-weight: 600; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .back { fill: #0d1117; } .all { fill: #3d444d; } .bad { fill: #ff8b80; } .good { fill: #3fb68b; }
  }`;

/** Redis has its defaults: with an append-only file it loses none. */
const KILLED = [
  ['BullMQ and a 200', 'BullMQ on a default Redis, killed'],
  ['inbox', 'inbox, killed'],
] as const;

/** The README's: a bar for each receiver, of the deliveries that were lost. */
export function pictureOf(rows: readonly Row[]): string {
  const calm = rows.filter(({ isKilled }) => !isKilled);
  const killed = rows.filter(({ isKilled, redis }) => isKilled === true && redis !== 'everysec');
  const lines = [
    ...PEERS.map((peer) => ({ peer, value: medianOf(calm, peer, ({ lost }) => lost), what: 'lost' })),
    ...KILLED.map(([of, peer]) => {
      const value = medianOf(killed, of, ({ unhandled }) => unhandled);
      return { peer, value, what: 'lost after a 200' };
    }),
  ];
  const height = lines.length * ROW + 10;
  const parts = lines.flatMap(({ peer, value, what }, index) => {
    const y = index * ROW + 22;
    const lost = `${String(Math.round(value))} ${what}`;
    const kind = value === 0 ? 'good' : 'bad';
    const bar = `x="${String(LEFT)}" y="${String(y + 7)}" height="${String(BAR)}"`;
    const isOurs = peer === 'middleware' || peer.startsWith('inbox');
    return [
      `<text x="${String(LEFT)}" y="${String(y)}"${isOurs ? ' class="ours"' : ''}>${peer}</text>`,
      `<text x="${String(RIGHT)}" y="${String(y)}" class="${kind}" text-anchor="end">${lost}</text>`,
      `<rect class="all" ${bar} width="${String(RIGHT - LEFT)}"/>`,
      `<rect class="bad" ${bar} width="${(((RIGHT - LEFT) * value) / EVENTS).toFixed(1)}"/>`,
    ];
  });
  const size = `viewBox="0 0 ${String(WIDTH)} ${String(height)}" width="${String(WIDTH)}" height="${String(height)}"`;
  const label = lines
    .map(({ peer, value, what }) => `${peer}: ${String(Math.round(value))} ${what}`)
    .join(', ');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${label}">`,
    `<style>${STYLE}</style>`,
    `<rect class="back" width="${String(WIDTH)}" height="${String(height)}" rx="6"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
