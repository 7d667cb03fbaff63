/** Whether an object has the properties that it had, looked at before each step: hundreds of them. */

/** Without a compiler: some programs forbid to make code of text. */
function compareInTurn(keys: readonly PropertyKey[], values: readonly unknown[]): (holder: object) => boolean {
  return (holder) => keys.every((key, i) => (holder as Record<PropertyKey, unknown>)[key] === values[i]);
}

/**
 * What tells whether each of these properties of an object is the value beside it, its own or one that it inherits.
 * Compiled with the names in it: V8 then reads no property at all while classes stay as they are, about a tenth of the
 * time of a loop over names.
 */
export function sameProperties(
  keys: readonly PropertyKey[],
  values: readonly unknown[],
  makeFunction: (...code: string[]) => unknown = (...code) => new Function(...code),
): (holder: object) => boolean {
  const nameOf = (key: PropertyKey, i: number): string => (typeof key === 'symbol' ? `k${i}` : JSON.stringify(key));
  const terms = keys.map((key, i) => `h[${nameOf(key, i)}] === v${i}`);
  const listed = (letter: string): string => `[${keys.map((_, i) => letter + i).join()}]`;
  const code = `const ${listed('k')} = k, ${listed('v')} = v; return (h) => ${terms.join(' && ') || 'true'};`;
  try {
    const make = makeFunction('k', 'v', code) as (k: typeof keys, v: typeof values) => (holder: object) => boolean;
    return make(keys, values);
  } catch (error) {
    if (error instanceof EvalError) return compareInTurn(keys, values);
    throw error;
  }
}
