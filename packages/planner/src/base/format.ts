/** With separators: 50,000. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

/** A time with its unit, to two digits or more: 370 ms, 9.8 s, 172 s, 36 min, 4.2 h. A dash without a time. */
export function duration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 0.9995) return `${String(Math.round(1000 * seconds))} ms`;
  if (seconds < 300) return `${short(seconds)} s`;
  if (seconds < 7200) return `${short(seconds / 60)} min`;
  return `${short(seconds / 3600)} h`;
}

/** A part of a whole: 0 %, < 0.1 %, 0.4 %, 22 %. 0 % is none at all. */
export function percent(part: number, whole: number): string {
  if (whole === 0 || part === 0) return '0 %';
  const value = (100 * part) / whole;
  return value < 0.05 ? '< 0.1 %' : `${short(value)} %`;
}

/** 512 bytes, 3.1 MiB. A dash for none. */
export function bytes(count: number): string {
  if (count === 0) return '–';
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, count)) / 10));
  return `${short(count / 1024 ** power)} ${units[power] ?? ''}`;
}

/** One decimal below ten, none above. */
function short(value: number): string {
  const decimals = value < 9.95 ? 1 : 0;
  return value.toFixed(decimals).replace(/\.0$/, '');
}
