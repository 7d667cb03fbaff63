/** The JavaScript of README.md as one program. */

/**
 * The first block with its imports, then each later one in a scope of its own, where names of the first are known. Blocks
 * of pages and shells are left out.
 */
export function readmeProgram(readme: string): string {
  const blocks = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code!);
  const [first, ...later] = blocks;
  return [first, ...later.map((code) => `{\n${code}}`)].join('\n');
}
