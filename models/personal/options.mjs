// @ts-check
/** The command line of the personal model. Needs Node alone. */
import { helpOf, parse } from '../command_line.mjs';
import { RUN, flag, inputFile, number, whole } from '../option_kinds.mjs';

/** @typedef {ReturnType<typeof readOptions>} Options */

const TABLE = {
  train: inputFile('who had what, a line for each user: user item item …; without it a bookshop is made up'),
  test: inputFile('the same, to score users that were left out of the training'),
  names: inputFile('what items are called, a line for each'),
  dim: whole(2, 1024, 64, 'numbers in a vector (default: 64)'),
  epochs: whole(1, 100_000, 20, 'passes over the pairs (default: 20)'),
  sampled: whole(1, 10_000_000, 2048, 'negatives that a step draws (default: 2048)'),
  'new-users': number(
    0,
    0.5,
    0,
    'share of users that are folded in, and compared with the same users trained (default: 0)',
  ),
  regularization: number(1e-6, 1e6, 80, 'of folding in (default: 80)'),
  unobserved: number(0, 1e6, 0.02, 'what items count that nobody clicked (default: 0.02)'),
  'no-page': flag('trains and scores, and serves nothing'),
  port: whole(0, 65_535, 8011, 'where the page is served; 0: any that is free (default: 8011)'),
  open: flag('opens the page in the browser of this machine'),
  seed: RUN.seed,
  json: RUN.json,
  help: RUN.help,
};

export const HELP = `Trains vectors of items in Node, freezes them as int8, and serves a page whose visitor gets a row of its own
from what it clicks. The row and the clicks stay in the browser.

  node models/start.mjs personal [options]

${helpOf(TABLE)}`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 */
export function readOptions(args) {
  const { refuseWithout, values } = parse(args, TABLE);
  refuseWithout(['test', 'names'], 'train');
  refuseWithout(['new-users'], 'test');
  return values(TABLE);
}
