/**
 * Tables on a disk as a program, in a clone that is set up: `node --import tsx models/per_layer/main.ts --help`. Options
 * are answered before anything else is loaded.
 */
import { runProgram } from '../command_line.mjs';
import * as commandLine from './options.mjs';

await runProgram(commandLine, async (options) => (await import('./job.js')).run(options));
