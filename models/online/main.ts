/** The online recommender as a program: `node models/start.mjs online --help`. */
import { runProgram } from '../command_line.mjs';
import * as commandLine from './options.mjs';

await runProgram(commandLine, async (options) => (await import('./job.js')).run(options));
