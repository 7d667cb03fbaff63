// @ts-check
/** Answers what a command line asks for before any work begins. */
import { InputError } from './wide_and_deep/input_error.mjs';

/**
 * Returns the options; null where there is nothing more to do: help was asked for (exit code 0), or an option is wrong,
 * which is said in one line (exit code 2).
 * @template {{HELP: string, readOptions(args: readonly string[]): object}} Program
 * @param {readonly string[]} args
 * @param {Program} program
 * @returns {ReturnType<Program['readOptions']> | null}
 */
export function optionsIn(args, { HELP, readOptions }) {
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    process.stdout.write(HELP);
    return null;
  }
  try {
    return /** @type {ReturnType<Program['readOptions']>} */ (readOptions(args));
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = 2;
    return null;
  }
}
