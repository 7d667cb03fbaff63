// @ts-check
/** The command line. Needs Node alone: it is read before anything is installed. */
import { helpOf, parse } from '../command_line.mjs';
import { RUN, inputFile, number, outputFolder, whole } from '../option_kinds.mjs';

/** @typedef {ReturnType<typeof readOptions>} Options */

const OPTIONS = {
  train: inputFile('who had what, as an atomic file of RecBole (.inter); without it data are made up'),
  test: inputFile('the same, to score'),
  users: inputFile('features of users, as an atomic file (.user)'),
  items: inputFile('features of items, as an atomic file (.item)'),
  dim: whole(1, 4096, 32, 'numbers in the vector of a user and of an item (default: 32)'),
  epochs: whole(1, 100_000, 10, 'passes over the pairs (default: 10)'),
  batch: whole(2, 1_000_000, 512, 'pairs per step; their items are the negatives of each other (default: 512)'),
  rate: number(0, 1000, 0.005, 'learning rate of Adam (default: 0.005)'),
  temperature: number(0.01, 1000, 0.1, 'what cosines are divided by (default: 0.1)'),
  k: whole(1, 10_000, 20, 'ranks that are looked at (default: 20)'),
  backend: RUN.backend,
  seed: RUN.seed,
  save: outputFolder('where to keep the model that gives the best items for the features of a user'),
  json: RUN.json,
  help: RUN.help,
};

export const HELP = `Trains two towers, one of features of users and one of those of items, and retrieves items for users.

  node models/start.mjs two_tower [options]

${helpOf(OPTIONS)}
Columns of tokens become vocabularies, token_seq bags of ids, and float bins of equal count.
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 */
export function readOptions(args) {
  const { refuseWithout, values } = parse(args, OPTIONS);
  refuseWithout(['test', 'users', 'items'], 'train');
  refuseWithout(['train'], 'test');
  return values(OPTIONS);
}
