/** Which known name a misspelt one stands for. */

/** A name without case and underscores: `input_dim` and `inputdim` are `inputDim`. */
function plain(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

/** Letters added, left out, changed, or swapped with their neighbour. */
function distance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(change, last[j]! + 1, row[j - 1]! + 1);
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}

/** The first of the known names that are closest, unless more than a third of the letters would have to change. */
export function closestName<T extends string>(name: string, known: readonly T[]): T | undefined {
  const given = plain(name);
  let [closest, least] = [undefined as T | undefined, Infinity];
  for (const each of known) {
    const meant = plain(each);
    const most = Math.max(given.length, meant.length) / 3;
    if (Math.abs(given.length - meant.length) > most) continue;
    const changes = distance(given, meant);
    if (changes <= most && changes < least) [closest, least] = [each, changes];
  }
  return closest;
}
