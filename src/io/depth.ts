/** How deep data from a file are nested: code that follows must not run out of stack. */

/** Whether lists and objects lie within each other on more levels than `limit`. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  const open: [unknown, number][] = [[value, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [each, depth] = next;
    if (typeof each !== 'object' || each === null) continue;
    if (depth > limit) return true;
    for (const inner of Object.values(each)) open.push([inner, depth + 1]);
  }
  return false;
}
