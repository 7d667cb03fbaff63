/** Links of a slice of a pod: chips in a torus of two or three dimensions, each tied to its neighbours. */

/** One dimension of the torus. */
export interface TorusDimension {
  readonly size: number;
  /** Links of a chip along it: none, one to the only neighbour, or two. */
  readonly links: number;
  /** Links that a message between two different chips, any of them as likely, uses along it in the mean. */
  readonly hops: number;
}

/** Mean distance of two places on a ring, equal ones included. */
function ringDistance(size: number): number {
  return size % 2 === 0 ? size / 4 : (size * size - 1) / (4 * size);
}

/** The factors of `chips`, as even as whole numbers allow. */
function evenFactors(chips: number, dimensions: number): number[] {
  if (dimensions === 1) return [chips];
  let best: number[] = [];
  for (let first = 1; first ** dimensions <= chips; first++) {
    if (chips % first !== 0) continue;
    const rest = evenFactors(chips / first, dimensions - 1);
    // The largest smallest factor is the most even; of equal ones the first found has the smaller largest factor.
    if (rest[0]! >= first) best = [first, ...rest];
  }
  return best;
}

/** The most even torus of `chips` chips with `links` links each, all of them wrapped around. */
export function torusOf(chips: number, links: number): TorusDimension[] {
  const distinct = chips === 1 ? 1 : chips / (chips - 1);
  return evenFactors(chips, Math.max(1, Math.round(links / 2))).map((size) => ({
    size,
    links: Math.min(size - 1, 2),
    hops: ringDistance(size) * distinct,
  }));
}

/**
 * Seconds that it takes when each chip sends `meanBytes` to all others alike, and the busiest one `mostBytes`, out or
 * in. Bounded by the links of the busiest chip, and, since messages pass through other chips, by those of a dimension.
 */
export function exchangeSeconds(
  torus: readonly TorusDimension[],
  linkBandwidth: number,
  meanBytes: number,
  mostBytes: number,
): number {
  const links = torus.reduce((sum, dimension) => sum + dimension.links, 0);
  if (links === 0 || mostBytes === 0) return 0;
  const through = torus
    .filter((dimension) => dimension.links > 0)
    .map((dimension) => (meanBytes * dimension.hops) / dimension.links);
  return Math.max(mostBytes / links, ...through) / linkBandwidth;
}

/** Seconds that it takes when neighbours pass sums round: each chip sends `bytes` over all of its links alike. */
export function reduceSeconds(torus: readonly TorusDimension[], linkBandwidth: number, bytes: number): number {
  const links = torus.reduce((sum, dimension) => sum + dimension.links, 0);
  return links === 0 ? 0 : bytes / (links * linkBandwidth);
}
