// @ts-check
/** The command line. Needs Node alone: it is read before anything is installed. */
import { helpOf, parse } from '../command_line.mjs';
import { InputError } from '../input_error.mjs';
import { RUN, inputFile, number, outputFile, outputFolder, whole } from '../option_kinds.mjs';

/** @typedef {ReturnType<typeof readOptions>} Options */

const OPTIONS = {
  data: inputFile('who had what, as ratings (NCF), .inter (RecBole) or lists; without it data are made up'),
  length: whole(2, 10_000, 30, 'items of a user that are looked at, the last ones (default: 30)'),
  dim: whole(1, 4096, 32, 'numbers in a vector (default: 32)'),
  blocks: whole(1, 64, 2, 'blocks of attention (default: 2)'),
  heads: whole(1, 64, 1, 'heads of each block, by which --dim can be divided (default: 1)'),
  dropout: number(0, 0.99, 0.1, 'share of what blocks give that a step leaves out (default: 0.1)'),
  sampled: whole(1, 1_000_000, 256, 'negatives that a step draws for all its places (default: 256)'),
  epochs: whole(1, 100_000, 20, 'passes over the sequences, at most (default: 20)'),
  batch: whole(1, 100_000, 64, 'sequences per step (default: 64)'),
  rate: number(0, 1000, 0.006, 'learning rate of Adam (default: 0.006)'),
  k: whole(1, 10_000, 10, 'ranks that are looked at (default: 10)'),
  candidates: whole(0, 1_000_000, 0, 'ranks the test item among so many drawn ones; 0: among all (default: 0)'),
  backend: RUN.backend,
  seed: RUN.seed,
  save: outputFolder('where to keep the model that gives the best items for the last items of a user'),
  write: outputFile('where to write the made-up data, as ratings'),
  json: RUN.json,
  help: RUN.help,
};

export const HELP = `Trains SASRec, which predicts the next item of a sequence by attention, and ranks all items.

  node models/start.mjs sasrec [options]

${helpOf(OPTIONS)}
The last item of each user is held back to be scored, the one before it to choose the epoch.
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 */
export function readOptions(args) {
  const { given, values } = parse(args, OPTIONS);
  const read = values(OPTIONS);
  if (read.dim % read.heads !== 0) {
    throw new InputError(`--dim must be a multiple of --heads, which is ${read.heads}, not "${read.dim}"`);
  }
  if (read.data !== null && given.includes('write')) {
    throw new InputError('--write is for made-up data, not for those of --data');
  }
  return read;
}
