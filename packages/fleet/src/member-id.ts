const LENGTH = 16;

/** A random id of 16 letters and digits. */
export function memberId(random: () => number): string {
  let id = '';
  while (id.length < LENGTH)
    id += Math.floor(random() * 36 ** 4)
      .toString(36)
      .padStart(4, '0');
  return id;
}
