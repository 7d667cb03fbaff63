// @ts-check
/**
 * Loads TypeScript for programs that tests start: `node --import ./test/helpers/typescript.mjs program.ts`. Unlike
 * register.mjs of custom-ops/typescript it knows no paths of tsconfig.json, so that `tfjs-embeddings` is what is built in
 * `dist`; but while mutations are measured, which are changes of the sources.
 */
import { register } from 'node:module';
import { sourcePaths } from '../../custom-ops/typescript/source_paths.mjs';

const paths = process.env.MUTATIONS_CHILD === undefined ? {} : sourcePaths();
process.setSourceMapsEnabled(true);
register('../../custom-ops/typescript/hooks.mjs', import.meta.url, { data: { paths } });
