// @ts-check
/** Command lines: options and their help from one table, read before any work begins. Needs Node alone. */
import { parseArgs } from 'node:util';
import { InputError, isSystemError } from './input_error.mjs';

const WIDTH = 118;

/**
 * One option; option_kinds.mjs has the kinds.
 * @template T
 * @typedef {object} Option
 * @property {string} value how the help names its value; '' for an option without one
 * @property {string} help
 * @property {T} byDefault what it is where it is not given
 * @property {(option: string, text: string) => T} read throws InputError for what cannot be meant
 */
/** @typedef {Readonly<Record<string, Option<any>>>} Options */
/**
 * @template O
 * @typedef {O extends Option<infer T> ? T : never} ValueOf
 */
/**
 * @template O
 * @typedef {{[Name in keyof O]: ValueOf<O[Name]>}} Values
 */

/**
 * What was given, as text. Throws InputError for options that are not in the table.
 * @template {Options} O
 * @param {readonly string[]} args
 * @param {O} table
 */
export function parse(args, table) {
  const options = Object.entries(table).map(([name, { value }]) => {
    return [name, { type: /** @type {'string' | 'boolean'} */ (value === '' ? 'boolean' : 'string') }];
  });
  /** @type {Readonly<Record<string, unknown>>} */
  let given;
  try {
    given = parseArgs({ args: [...args], options: Object.fromEntries(options) }).values;
  } catch (error) {
    throw new InputError(`${/** @type {Error} */ (error).message} (--help lists the options)`);
  }
  /** @type {<Name extends keyof O & string>(name: Name) => ValueOf<O[Name]>} */
  const value = (name) => {
    const { byDefault, read } = /** @type {Option<any>} */ (table[name]);
    return given[name] === undefined ? byDefault : read(`--${name}`, String(given[name]));
  };
  return {
    /** Names of the options that were given. */
    given: Object.keys(given),
    /**
     * Throws InputError where one of some options was given without another one.
     * @type {(names: readonly (keyof O & string)[], needed: keyof O & string) => void}
     */
    refuseWithout(names, needed) {
      const found = given[needed] === undefined ? names.find((name) => given[name] !== undefined) : undefined;
      if (found !== undefined) throw new InputError(`--${found} needs --${needed}`);
    },
    /** Throws InputError for what cannot be meant. */
    value,
    /** @type {<Part extends Partial<O>>(part: Part) => Values<Part>} */
    values(part) {
      return /** @type {any} */ (Object.fromEntries(Object.keys(part).map((name) => [name, value(name)])));
    },
  };
}

/**
 * The values of all options. Throws InputError for what cannot be meant.
 * @template {Options} O
 * @param {readonly string[]} args
 * @param {O} table
 * @returns {Values<O>}
 */
export function valuesOf(args, table) {
  return parse(args, table).values(table);
}

/**
 * The lines of the help about a table of options.
 * @param {Options} table
 */
export function helpOf(table) {
  const entries = Object.entries(table).map(([name, { value, help }]) => ({ name: `--${name} ${value}`, help }));
  const column = Math.max(...entries.map(({ name }) => name.length)) + 2;
  const fits = new RegExp(`(.{1,${WIDTH - column - 2}})(?: |$)`, 'g');
  return entries
    .map(({ name, help }) => {
      const lines = help.replace(fits, '$1\n').trimEnd().split('\n');
      return `  ${name.padEnd(column)}${lines.join(`\n${' '.repeat(column + 2)}`)}\n`;
    })
    .join('');
}

/**
 * @template T
 * @typedef {object} CommandLine
 * @property {string} HELP
 * @property {(args: readonly string[]) => T} readOptions throws InputError for what cannot be meant
 */

/**
 * Returns the options; null where there is nothing more to do: help was asked for (exit code 0), or an option is wrong,
 * which is said in one line (exit code 2).
 * @template T
 * @param {readonly string[]} args
 * @param {CommandLine<T>} commandLine
 * @returns {T | null}
 */
export function optionsIn(args, { HELP, readOptions }) {
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    process.stdout.write(HELP);
    return null;
  }
  try {
    return readOptions(args);
  } catch (error) {
    sayMistake(error, 2);
    return null;
  }
}

/**
 * Runs a program with the options of this process; a mistake of the user's is said in one line, with exit code 1.
 * @template T
 * @param {CommandLine<T>} commandLine
 * @param {(options: T) => Promise<void>} run
 */
export async function runProgram(commandLine, run) {
  const options = optionsIn(process.argv.slice(2), commandLine);
  if (options === null) return;
  try {
    await run(options);
  } catch (error) {
    sayMistake(error, 1);
  }
}

/**
 * Anything but a mistake is worth its stack.
 * @param {unknown} error
 * @param {number} exitCode
 */
function sayMistake(error, exitCode) {
  if (!(error instanceof InputError) && !isSystemError(error)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = exitCode;
}
