// @ts-check
/** The command line. Needs Node alone: it is read before anything is installed. */
import { helpOf, parse } from '../command_line.mjs';
import { RUN, flag, number, text, whole } from '../option_kinds.mjs';

/** @typedef {ReturnType<typeof readOptions>} Options */

const OPTIONS = {
  file: text('FILE', null, 'where the table is made; without it in the folder of the system, and removed at the end'),
  vocabulary: whole(100, 100_000_000, 262_144, 'tokens (default: 262144)'),
  layers: whole(1, 1000, 30, 'layers of the model (default: 30)'),
  dim: whole(1, 65_536, 256, 'numbers that the table has for a token and a layer (default: 256)'),
  sparse: flag('a table of zeros, which takes no room on the disk: it shows memory, and no times'),
  tokens: whole(1, 10_000_000, 300, 'tokens that are written (default: 300)'),
  cache: number(0.001, 1000, 0.1, 'gigabytes of the cache (default: 0.1)'),
  threads: whole(1, 64, 16, 'reads at a time (default: 16)'),
  towers: flag('two towers instead, whose table of items is trained on the disk, with a cache of a tenth of it'),
  items: whole(100, 100_000_000, 20_000, 'with --towers: items (default: 20000)'),
  steps: whole(1, 10_000_000, 3000, 'with --towers: steps (default: 3000)'),
  backend: RUN.backend,
  seed: RUN.seed,
  json: RUN.json,
  help: RUN.help,
};

export const HELP = `Runs a small language model whose per-layer table lies on a disk, or two towers that train one there.

  node models/start.mjs per_layer [options]

${helpOf(OPTIONS)}
By default the table is of the shape that a model of 2 billion such weights has, bfloat16: 4 GB, which are written first.
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 */
export function readOptions(args) {
  const { refuseWithout, values } = parse(args, OPTIONS);
  refuseWithout(['items', 'steps'], 'towers');
  return values(OPTIONS);
}
