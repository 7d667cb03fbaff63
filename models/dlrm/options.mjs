// @ts-check
/** The command line. Needs Node alone: it is read before anything is installed. */
import { helpOf, parse } from '../command_line.mjs';
import { RUN, inputFile, number, whole } from '../option_kinds.mjs';

/** @typedef {ReturnType<typeof readOptions>} Options */

const OPTIONS = {
  data: inputFile(
    "lines of Criteo's click logs: label, 13 numbers, 26 hexadecimal values; without it data are made up",
  ),
  test: inputFile('the same, to score; without it the last seventh of the lines, the last day of seven'),
  lines: whole(10, 100_000_000, null, 'reads so many lines of each file (default: all)'),
  rows: whole(2, 100_000_000, 10_000, 'rows of each table, to which values are hashed (default: 10000)'),
  hotness: whole(1, 1000, 1, 'ids of each value: its own, and others that follow from it (default: 1)'),
  dim: whole(1, 1024, 16, 'columns of the tables (default: 16)'),
  epochs: whole(1, 1000, 1, 'passes over the lines; more than one trains past the best (default: 1)'),
  batch: whole(1, 1_000_000, 256, 'lines per step (default: 256)'),
  rate: number(0, 1000, 0.005, 'learning rate of Adam (default: 0.005)'),
  backend: RUN.backend,
  seed: RUN.seed,
  json: RUN.json,
  help: RUN.help,
};

export const HELP = `Trains DLRM on click logs in Criteo's layout.

  node models/start.mjs dlrm [options]

${helpOf(OPTIONS)}
All lines are kept in memory, 160 bytes each, and more with --hotness.
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 */
export function readOptions(args) {
  const { refuseWithout, values } = parse(args, OPTIONS);
  refuseWithout(['test', 'lines'], 'data');
  return values(OPTIONS);
}
