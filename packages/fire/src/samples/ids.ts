import type { Random } from '@webhook-backpressure/planner/parts';

const HEX = '0123456789abcdef';
const SETS = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/**
 * Ids in the form of a sample, such as `evt_1NG8Du2eZv`: what precedes the last underscore stays, each other character is
 * replaced by one of its kind. They differ by their ends, and those of two runs by their beginnings.
 *
 * @returns the id of the `i`th delivery.
 */
export function idsLike(form: string, random: Random): (i: number) => string {
  const start = form.slice(0, form.lastIndexOf('_') + 1);
  const varied = Array.from(form.slice(start.length));
  const isHex = varied.every((one) => HEX.includes(one) || one === '-');
  const sets = varied.map((one) => (isHex && one !== '-' ? HEX : SETS.find((set) => set.includes(one))));
  const own = varied.map((one, at) => {
    const set = sets[at];
    return set === undefined ? one : (set[Math.floor(random() * set.length)] as string);
  });
  return (i) => {
    const characters = [...own];
    let rest = i;
    for (let at = characters.length - 1; at >= 0 && rest > 0; at -= 1) {
      const set = sets[at];
      if (set === undefined) continue;
      const sum = set.indexOf(characters[at] as string) + rest;
      characters[at] = set[sum % set.length] as string;
      rest = Math.floor(sum / set.length);
    }
    return `${start}${characters.join('')}${rest > 0 ? rest.toString(36) : ''}`;
  };
}
