// @ts-check
/** The command line. Needs Node alone: it is read before anything is installed. */
import { helpOf, parse } from '../command_line.mjs';
import { InputError } from '../input_error.mjs';
import { RUN, flag, inputFile, number, oneOf, outputFolder, whole } from '../option_kinds.mjs';

/** @typedef {ReturnType<typeof readOptions>} Options */

const LOSSES = /** @type {const} */ (['softmax', 'ccl', 'bpr']);

const OPTIONS = {
  train: inputFile('who had what: lists (LightGCN), ratings (NCF) or .inter (RecBole); without it data are made up'),
  valid: inputFile('the same, to choose the number of epochs; in the end it is trained on too'),
  test: inputFile('the same, to score; read once'),
  negatives: inputFile('ranks the test item of each user among these (NCF), in place of all items'),
  loss: oneOf(LOSSES, 'softmax', ' (default: softmax; ccl is the cosine contrastive loss)'),
  dim: whole(1, 4096, 64, 'numbers in a vector (default: 64)'),
  epochs: whole(1, 100_000, null, 'passes over the pairs, at most with --valid (default: 40, of bpr 100)'),
  chosen: flag('--epochs was chosen before: trains on --train and --valid at once'),
  rate: number(
    0,
    1000,
    null,
    'learning rate of row-wise Adagrad, which falls to 0 in the end (default: 0.2, of bpr 0.05)',
  ),
  batch: whole(1, 1_000_000, null, 'rows per step: a user and up to --width items (default: 256, of bpr 8192)'),
  width: whole(1, 4096, 32, 'items of a row, but for bpr, which takes pairs (default: 32)'),
  sampled: whole(
    1,
    10_000_000,
    null,
    'negatives that a step draws for all its rows, of bpr for each (default: 4096, 1)',
  ),
  temperature: number(0.02, 1000, 0.1, 'what cosines are divided by in softmax (default: 0.1)'),
  margin: number(-1, 1, 0.7, 'of ccl: negatives below this cosine cost nothing (default: 0.7)'),
  weight: number(0, 1e6, 300, 'of ccl: what the mean over the negatives is multiplied by (default: 300)'),
  balance: number(0, 1, 0.5, 'but for bpr: items of users who have n of them count n ^ -X (default: 0.5)'),
  decay: number(0, 1, 0.05, 'share of a touched row, times the rate, that a step takes off (default: 0.05)'),
  'new-users': number(0, 0.5, 0, 'share of users that a second training leaves out, to fold them in (default: 0)'),
  k: whole(1, 10_000, null, 'ranks that are looked at (default: 20, with --negatives 10)'),
  backend: RUN.backend,
  seed: RUN.seed,
  save: outputFolder('where to keep a model that gives the best items for the number of a user'),
  write: outputFolder("where to write the made-up data, as NCF's files"),
  json: RUN.json,
  help: RUN.help,
};

export const HELP = `Trains vectors of users and items, and ranks for each user the items that it does not have.

  node models/start.mjs matrix_factorization [options]

${helpOf(OPTIONS)}
Vectors have length 1, but for bpr, where scores are plain inner products.
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 */
export function readOptions(args) {
  const { given, refuseWithout, values } = parse(args, OPTIONS);
  refuseWithout(['valid', 'test', 'negatives'], 'train');
  refuseWithout(['train', 'negatives'], 'test');
  refuseWithout(['chosen'], 'epochs');
  const read = values(OPTIONS);
  if (read.train !== null && read.write !== null) {
    throw new InputError('--write is for made-up data, not for those of --train');
  }
  const isPairs = read.loss === 'bpr';
  /** @type {(names: readonly string[], isMeant: boolean, loss: string) => void} */
  const ofLoss = (names, isMeant, loss) => {
    const found = isMeant ? undefined : names.find((name) => given.includes(name));
    if (found !== undefined) throw new InputError(`--${found} needs --loss ${loss}, not "${read.loss}"`);
  };
  ofLoss(['temperature'], read.loss === 'softmax', 'softmax');
  ofLoss(['margin', 'weight'], read.loss === 'ccl', 'ccl');
  ofLoss(['width', 'balance'], !isPairs, 'softmax or ccl');
  return {
    ...read,
    epochs: read.epochs ?? (isPairs ? 100 : 40),
    rate: read.rate ?? (isPairs ? 0.05 : 0.2),
    batch: read.batch ?? (isPairs ? 8192 : 256),
    sampled: read.sampled ?? (isPairs ? 1 : 4096),
    width: isPairs ? 1 : read.width,
    // Made-up data have candidates too.
    k: read.k ?? (read.negatives !== null || read.train === null ? 10 : 20),
  };
}
