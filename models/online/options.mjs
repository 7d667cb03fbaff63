// @ts-check
/** The command line of the online recommender. Needs Node alone. */
import { InputError } from '../input_error.mjs';
import { helpOf, parse } from '../command_line.mjs';
import { RUN, flag, number, outputFolder, text, whole } from '../option_kinds.mjs';

/** @typedef {ReturnType<typeof readOptions>} Options */

const SERVING = {
  folder: outputFolder(
    'where events, checkpoints and snapshots are kept (default: a temporary folder, removed at the end)',
  ),
  database: text(
    'URL',
    null,
    'a PostgreSQL database that keeps the events, postgres://… (default: SQLite in --folder)',
  ),
  host: text('NAME', '127.0.0.1', 'the address that is listened on; there is no password (default: 127.0.0.1)'),
  port: whole(0, 65_535, 8012, 'where is listened; 0: any that is free (default: 8012)'),
  k: whole(1, 1000, 10, 'items of a recommendation, where it asks for no other number (default: 10)'),
};

const TRAINING = {
  dim: whole(2, 1024, 32, 'numbers in a vector (default: 32)'),
  users: whole(16, 100_000_000, 200_000, 'users that have rows at a time (default: 200000)'),
  items: whole(16, 100_000_000, 200_000, 'items that have rows at a time (default: 200000)'),
  history: whole(1, 1000, 20, 'last items of a user that its vector is made from (default: 20)'),
  batch: whole(2, 65_536, 128, 'events of a step; their items are the negatives of each other (default: 128)'),
  wait: number(0, 3600, 2, 'seconds after which a smaller step is made (default: 2)'),
  rate: number(0, 1000, 0.2, 'learning rate of Adagrad (default: 0.2)'),
  temperature: number(0.01, 1000, 0.2, 'what scores are divided by (default: 0.2)'),
  publish: number(0.01, 3600, 0.5, 'seconds between two snapshots (default: 0.5)'),
  checkpoint: number(0.1, 86_400, 30, 'seconds between two checkpoints (default: 30)'),
  backend: RUN.backend,
  seed: RUN.seed,
};

const OTHER = {
  follow: flag('serves the snapshots that another process writes to --folder; takes no events'),
  replay: flag('trains on the recorded batches anew, says whether the newest checkpoint is what comes out, and ends'),
};

const LOAD = {
  load: whole(1, 86_400, null, 'seconds for which made-up users send events and ask for recommendations; then it ends'),
  'made-up-items': whole(100, 10_000_000, 100_000, 'items of the made-up users (default: 100000)'),
  'events-per-second': whole(1, 1_000_000, 600, 'events that they send (default: 600)'),
  'asks-per-second': whole(1, 1_000_000, 250, 'recommendations that they ask for (default: 250)'),
  json: RUN.json,
  help: RUN.help,
};

export const HELP = `Recommends while it learns: takes events by HTTP, keeps them, trains two towers of open tables on them as they
come, and serves the best items of each user from the newest snapshot. It may be killed at any moment.

  node models/start.mjs online [options]

${helpOf(SERVING)}
How it learns:
${helpOf(TRAINING)}
Other ways to run:
${helpOf(OTHER)}
A test of its own:
${helpOf(LOAD)}
  curl -X POST localhost:8012/events -H 'content-type: application/json' -d '{"user": "ann", "item": "tea"}'
  curl localhost:8012/recommend/ann?k=5
  curl localhost:8012/metrics
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 */
export function readOptions(args) {
  const { given, refuseWithout, value, values } = parse(args, { ...SERVING, ...TRAINING, ...OTHER, ...LOAD });
  refuseWithout(['made-up-items', 'events-per-second', 'asks-per-second', 'json'], 'load');
  const [database, follow, replay] = [value('database'), value('follow'), value('replay')];
  if (database !== null && !/^postgres(ql)?:\/\//.test(database)) {
    throw new InputError(`--database must begin with postgres://, not be "${database}"`);
  }
  refuseWithout(['follow', 'replay'], 'folder');
  const ofTraining = Object.keys(TRAINING).find((name) => given.includes(name));
  if (follow && ofTraining !== undefined)
    throw new InputError(`--${ofTraining} is of a process that trains, not --follow`);
  if (follow && (replay || given.includes('load') || database !== null)) {
    throw new InputError('--follow serves snapshots alone: leave --replay, --load and --database out');
  }
  if (replay && given.includes('load')) throw new InputError('--replay and --load are two ways to run');
  return values({ ...SERVING, ...TRAINING, ...OTHER, ...LOAD });
}
