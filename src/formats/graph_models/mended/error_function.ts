/** What is left to 1 above the error function, to the last bit of float32 where that is near 0. */

const TERMS = 60;

/** `erf` of a small number, by its series. */
function series(x: number): number {
  let [term, sum] = [x, x];
  for (let n = 1; n < TERMS; n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

/** `erfc` of a number that is not small, by its continued fraction from the end. */
function fraction(x: number): number {
  let rest = 0;
  for (let n = TERMS; n > 0; n--) rest = n / 2 / (x + rest);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + rest);
}

export function erfc(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (x < 0) return 2 - erfc(-x);
  return x < 2 ? 1 - series(x) : fraction(x);
}
