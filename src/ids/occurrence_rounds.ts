/** Steps in which every occurrence of an id is a step of its own, in rounds that repeat no id. */

/** Positions of `ids` by round: the first occurrence of each id, then the second one, and so on, in the order of `order`. */
export function occurrenceRounds(ids: Int32Array, order: Iterable<number>): number[][] {
  const seen = new Map<number, number>();
  const rounds: number[][] = [];
  for (const position of order) {
    const round = seen.get(ids[position]!) ?? 0;
    seen.set(ids[position]!, round + 1);
    (rounds[round] ??= []).push(position);
  }
  return rounds;
}
