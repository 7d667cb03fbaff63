// @ts-check
/** The command line. Needs Node alone: it is read before anything is installed. */
import { parseArgs } from 'node:util';
import { APIS, readApi } from './api_options.mjs';
import { DEVICE_FLAGS, DEVICE_HELP, EMULATOR, readDevices, readPlacement } from './device_options.mjs';
import { InputError } from './input_error.mjs';
import { readFolder, readInputFile } from './read_path.mjs';
import { readOneOf, readWhole } from './read_value.mjs';

export const BACKENDS = /** @type {const} */ (['cpu', 'tensorflow', 'wasm', EMULATOR]);
/** @typedef {typeof BACKENDS[number]} BackendName */

/**
 * @typedef {object} Fields
 * @property {string | null} data
 * @property {string | null} test
 * @property {string | null} label
 * @property {string | null} positive
 * @property {string} separator
 * @property {import('./api_options.mjs').ApiName} api
 * @property {BackendName | null} backend null: TensorFlow where it is there, else cpu
 * @property {import('./device_options.mjs').DeviceOptions | null} onDevices null: a backend without devices
 * @property {Readonly<import('./device_options.mjs').Placement>} placement
 * @property {number} epochs
 * @property {number} batch
 * @property {number} seed
 * @property {string | null} save
 * @property {string | null} export
 * @property {boolean} json
 */
/** @typedef {Readonly<Fields>} Options */

export const HELP = `Trains a wide-and-deep model on a CSV file, saves it, and reloads it in a second process.

  npm start -- [options]

  --data FILE       CSV with a header; without it a click log is made up
  --test FILE       CSV to score; without it a fifth of the rows, picked by the seed
  --label COLUMN    column to predict, which holds two values (default: the last)
  --positive VALUE  the value whose probability is predicted (default: the last in sort order)
  --separator TEXT  between the values of one cell (default: |)
  --backend NAME    ${BACKENDS.join(', ')} (default: tensorflow where it is there, else cpu)
  --api NAME        ${APIS.join(', ')}: what holds the tables, DistributedEmbedding (the default) or the layer of
                    the TPU embedding API, in its first version or that of SparseCores; these need the
                    devices of ${EMULATOR} and are run there, tpu-v2 on a power of two of them
  --epochs N        passes over the training rows (default: 10)
  --batch N         rows per step (default: 512)
  --seed N          of everything random (default: 42)
  --save FOLDER     where to keep the model (default: a temporary folder, removed at the end)
  --export FOLDER   exports a SavedModel too, and lets tfjs-node and Python run it
  --json            print the results as one line of JSON, the last line
  --help            print this

${DEVICE_HELP}
Columns of numbers become bins, columns of text a vocabulary with a row for unknown values, and columns with several
values in a cell (a|b|c) bags of ids. A tenth of the training rows chooses the epoch; the test rows are scored once.
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 * @returns {Options}
 */
export function readOptions(args) {
  const text = /** @type {const} */ ({ type: 'string' });
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        data: text,
        test: text,
        label: text,
        positive: text,
        separator: { ...text, default: '|' },
        api: text,
        backend: text,
        epochs: { ...text, default: '10' },
        batch: { ...text, default: '512' },
        seed: { ...text, default: '42' },
        save: text,
        export: text,
        json: { type: 'boolean', default: false },
        ...DEVICE_FLAGS,
      },
    }));
  } catch (error) {
    throw new InputError(`${/** @type {Error} */ (error).message} (--help lists the options)`);
  }
  const { data = null, test = null, label = null, positive = null, save = null, separator, json } = values;
  if (data === null && (test ?? label ?? positive) !== null) {
    throw new InputError('--test, --label and --positive need --data');
  }
  const asked = values.backend === undefined ? null : readOneOf('--backend', values.backend, BACKENDS);
  const api = readApi(values);
  const backend = api === 'distributed' ? asked : EMULATOR;
  if (separator === '') throw new InputError('--separator must not be empty');
  return {
    data: data === null ? null : readInputFile('--data', data),
    test: test === null ? null : readInputFile('--test', test),
    label,
    positive,
    separator,
    api,
    backend,
    onDevices: readDevices(values, backend),
    placement: readPlacement(values),
    epochs: readWhole('--epochs', values.epochs, 1, 100_000),
    batch: readWhole('--batch', values.batch, 1, 1_000_000),
    seed: readWhole('--seed', values.seed, 0, 1_000_000_000),
    save: save === null ? null : readFolder('--save', save),
    export: values.export === undefined ? null : readFolder('--export', values.export),
    json,
  };
}
