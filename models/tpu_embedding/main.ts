/**
 * Two tables by both TPU embedding APIs, in a clone that is set up: `node --import tsx models/tpu_embedding/main.ts --help`.
 * Options are answered before anything else is loaded.
 */
import { optionsIn } from '../command_line.mjs';
import * as commandLine from './options.mjs';

const options = optionsIn(process.argv.slice(2), commandLine);
if (options !== null) {
  const { run } = await import('./job.js');
  await run(options);
}
