/** Order of strings by code point, which is the order of their UTF-8 bytes. */

/** Moves surrogates above the rest of the basic plane, where the code points they stand for belong. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit <= 0xdfff ? unit + 0x2000 : unit - 0x800;
}

/** Negative where `a` comes first, positive where `b` does, 0 where they are equal. */
export function compareCodePoints(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
