/** With separators: 2,800. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}
