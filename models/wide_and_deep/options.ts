/** The command line. */
import { parseArgs } from 'node:util';
import {
  DEVICE_FLAGS,
  DEVICE_HELP,
  EMULATOR,
  readDevices,
  readPlacement,
  type DeviceOptions,
  type Placement,
} from './device_options.js';
import { InputError } from './input_error.js';
import { readFolder } from './output_paths.js';
import { readOneOf, readWhole } from './read_value.js';

export const BACKENDS = ['cpu', 'tensorflow', 'wasm', EMULATOR] as const;
export type BackendName = (typeof BACKENDS)[number];

export interface Options {
  readonly data: string | null;
  readonly test: string | null;
  readonly label: string | null;
  readonly positive: string | null;
  readonly separator: string;
  /** null: TensorFlow where it is there, else cpu. */
  readonly backend: BackendName | null;
  /** null: a backend without devices. */
  readonly onDevices: DeviceOptions | null;
  readonly placement: Placement;
  readonly epochs: number;
  readonly batch: number;
  readonly seed: number;
  readonly save: string | null;
  readonly json: boolean;
  readonly help: boolean;
}

export const HELP = `Trains a wide-and-deep model on a CSV file, saves it, and reloads it in a second process.

  npm start -- [options]

  --data FILE       CSV with a header; without it a click log is made up
  --test FILE       CSV to score; without it a fifth of the rows, picked by the seed
  --label COLUMN    column to predict, which holds two values (default: the last)
  --positive VALUE  the value whose probability is predicted (default: the last in sort order)
  --separator TEXT  between the values of one cell (default: |)
  --backend NAME    ${BACKENDS.join(', ')} (default: tensorflow where it is there, else cpu)
  --epochs N        passes over the training rows (default: 10)
  --batch N         rows per step (default: 512)
  --seed N          of everything random (default: 42)
  --save FOLDER     where to keep the model (default: a temporary folder, removed at the end)
  --json            print the results as one line of JSON, the last line
  --help            print this

${DEVICE_HELP}
Columns of numbers become bins, columns of text a vocabulary with a row for unknown values, and columns with several
values in a cell (a|b|c) bags of ids. A tenth of the training rows chooses the epoch; the test rows are scored once.
`;

export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
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
        backend: text,
        epochs: { ...text, default: '10' },
        batch: { ...text, default: '512' },
        seed: { ...text, default: '42' },
        save: text,
        json: flag,
        help: flag,
        ...DEVICE_FLAGS,
      },
    }));
  } catch (error) {
    throw new InputError(`${(error as Error).message} (--help lists the options)`);
  }
  const { data = null, test = null, label = null, positive = null, save = null, separator, json, help } = values;
  if (data === null && (test ?? label ?? positive) !== null) {
    throw new InputError('--test, --label and --positive need --data');
  }
  const backend = values.backend === undefined ? null : readOneOf('--backend', values.backend, BACKENDS);
  if (separator === '') throw new InputError('--separator must not be empty');
  return {
    data,
    test,
    label,
    positive,
    separator,
    backend,
    onDevices: readDevices(values, backend),
    placement: readPlacement(values),
    epochs: readWhole('--epochs', values.epochs, 1, 100_000),
    batch: readWhole('--batch', values.batch, 1, 1_000_000),
    seed: readWhole('--seed', values.seed, 0, 1_000_000_000),
    save: save === null ? null : readFolder('--save', save),
    json,
    help,
  };
}
