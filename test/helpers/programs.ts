/** How tests start programs that use this package as a user does. */

/** Options of Node for a TypeScript program that imports `tfjs-embeddings`: it gets what is built in `dist`. */
export const WITH_DIST = ['--import', new URL('typescript.mjs', import.meta.url).href] as const;

/** The same with the sources in its place, as they are now. */
export const WITH_SOURCES = [
  '--import',
  new URL('../../custom-ops/typescript/register.mjs', import.meta.url).href,
] as const;
