/** The one place where names in the style of Python become those of JavaScript. */

/** `input_dim` to `inputDim`; names without underscores stay as they are. */
export function toCamelCase(name: string): string {
  return name.replace(/(?<=[A-Za-z0-9])_+([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The keys of a record in camel case; values stay as they are. */
export function camelKeys(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [toCamelCase(key), value]));
}
