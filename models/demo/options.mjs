// @ts-check
/** The command line of the demo. Needs Node alone. */
import { helpOf, valuesOf } from '../command_line.mjs';
import { flag, whole } from '../option_kinds.mjs';

/** @typedef {ReturnType<typeof readOptions>} Options */

const TABLE = {
  port: whole(0, 65_535, 8010, 'where the page is served; 0: any that is free (default: 8010)'),
  open: flag('opens the page in the browser of this machine'),
  help: flag('print this'),
};

export const HELP = `Serves a page to this machine alone in which a model learns from made-up data or from a file of your own.

  npm run demo -- [options]

${helpOf(TABLE)}
Nothing leaves the page: reading, training and drawing happen in a worker of the browser.
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 */
export function readOptions(args) {
  return valuesOf(args, TABLE);
}
