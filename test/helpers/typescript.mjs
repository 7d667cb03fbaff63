// @ts-check
/**
 * Loads TypeScript for programs that tests start: `node --import ./test/helpers/typescript.mjs program.ts`. Unlike tsx it
 * knows no paths of tsconfig.json, so that `tfjs-embeddings` is what is built in `dist`, and leaves all JavaScript alone.
 */
import { register } from 'node:module';

register('./typescript_hooks.mjs', import.meta.url);
