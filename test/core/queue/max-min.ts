/**
 * Max-min fair shares of `capacity`, by filling: all get the same until their demand is met, and the rest is divided
 * equally among the others.
 */
export function maxMinShares(demands: ReadonlyMap<string, number>, capacity: number): Map<string, number> {
  const shares = new Map<string, number>();
  let left = capacity;
  let hungry = [...demands];
  while (hungry.length > 0) {
    const equal = left / hungry.length;
    const content = hungry.filter(([, demand]) => demand <= equal);
    if (content.length === 0) {
      for (const [key] of hungry) shares.set(key, equal);
      return shares;
    }
    for (const [key, demand] of content) {
      shares.set(key, demand);
      left -= demand;
    }
    hungry = hungry.filter(([key]) => !shares.has(key));
  }
  return shares;
}
