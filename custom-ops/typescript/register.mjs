// @ts-check
/**
 * Loads the TypeScript of this clone: `node --import ./custom-ops/typescript/register.mjs program.ts`. Names of the
 * package stand for its sources, as in tsconfig.json. What was compiled once is kept in custom-ops/build/typescript.
 */
import { register } from 'node:module';
import { sourcePaths } from './source_paths.mjs';

process.setSourceMapsEnabled(true);
register('./hooks.mjs', import.meta.url, { data: { paths: sourcePaths() } });
