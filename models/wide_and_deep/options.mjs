// @ts-check
/** The command line. Needs Node alone: it is read before anything is installed. */
import { helpOf, parse } from '../command_line.mjs';
import { CLUSTER, EMULATOR, MACHINE, PLACEMENT, RELOAD, SERVERS, machineOf, placementOf } from '../device_options.mjs';
import { InputError } from '../input_error.mjs';
import { RUN, inputFile, oneOf, outputFolder, text, whole } from '../option_kinds.mjs';

/** @typedef {ReturnType<typeof readOptions>} Options */

const BACKENDS = /** @type {const} */ (['cpu', 'tensorflow', 'wasm', EMULATOR, CLUSTER]);
const APIS = /** @type {const} */ (['distributed', 'tpu-v1', 'tpu-v2']);
const API_HELP =
  ': what holds the tables, DistributedEmbedding (the default) or the layer of the TPU embedding API, in its first ' +
  `version or that of SparseCores; these need the devices of ${EMULATOR}, tpu-v2 a power of two of them`;

const JOB = {
  data: inputFile('CSV with a header, or parquet; without it a click log is made up'),
  test: inputFile('the same, to score; without it a fifth of the rows, picked by the seed'),
  label: text('COLUMN', null, 'column to predict, which holds two values (default: the last)'),
  positive: text('VALUE', null, 'the value whose probability is predicted (default: the last in sort order)'),
  separator: text('TEXT', '|', 'between the values of one cell (default: |)'),
  backend: oneOf(BACKENDS, null, ' (default: tensorflow where it is there, else cpu)'),
  api: oneOf(APIS, 'distributed', API_HELP),
  epochs: whole(1, 100_000, 7, 'passes over the training rows (default: 7)'),
  batch: whole(1, 1_000_000, 512, 'rows per step (default: 512)'),
  seed: RUN.seed,
  save: outputFolder('where to keep the model (default: a temporary folder, removed at the end)'),
  export: outputFolder('exports a SavedModel too, and lets tfjs-node and Python run it'),
  json: RUN.json,
  help: RUN.help,
};
const ON_DEVICES = { ...MACHINE, ...RELOAD, ...PLACEMENT };

export const HELP = `Trains a wide-and-deep model on a CSV or parquet file, saves it, and reloads it in a second process.

  npm start -- [options]

${helpOf(JOB)}
With --backend ${EMULATOR}, where tables lie on virtual devices:
${helpOf(ON_DEVICES)}
With --backend ${CLUSTER}, where they lie on TensorFlow servers, the same but --devices, and:
${helpOf(SERVERS)}
Columns of numbers become bins, columns of text a vocabulary with a row for unknown values, and columns with several
values in a cell (a|b|c) bags of ids. A tenth of the training rows chooses the epoch; the test rows are scored once.
`;

/**
 * Throws InputError for what cannot be meant.
 * @param {readonly string[]} args
 */
export function readOptions(args) {
  const { given, refuseWithout, value, values } = parse(args, { ...JOB, ...ON_DEVICES, ...SERVERS });
  /** @type {(names: readonly string[], needed: string) => void} */
  const refuse = (names, needed) => {
    const found = names.find((name) => given.includes(name));
    if (found !== undefined) throw new InputError(`--${found} needs ${needed}`);
  };
  refuseWithout(['test', 'label', 'positive'], 'data');
  const [asked, api] = [value('backend'), value('api')];
  const backend = api === 'distributed' ? asked : EMULATOR;
  if (asked !== null && asked !== backend) {
    throw new InputError(`--api ${api} needs --backend ${EMULATOR}, not "${asked}"`);
  }
  const isCluster = backend === CLUSTER;
  if (backend !== EMULATOR) refuse(isCluster ? ['devices'] : Object.keys(ON_DEVICES), `--backend ${EMULATOR}`);
  if (!isCluster) refuse(Object.keys(SERVERS), `--backend ${CLUSTER}`);
  if (api !== 'distributed') {
    refuse(Object.keys(PLACEMENT), `--api distributed: ${api} deals the rows of every table out to all devices`);
  }
  if (api === 'tpu-v2' && !Number.isInteger(Math.log2(value('devices')))) {
    throw new InputError(`--devices must be a power of two with --api ${api}, not "${value('devices')}"`);
  }
  const job = values(JOB);
  if (job.separator === '') throw new InputError('--separator must not be empty');
  const machine = values({ ...MACHINE, ...RELOAD });
  const onDevices =
    backend === EMULATOR
      ? machineOf(machine)
      : isCluster
        ? { ...machineOf({ ...machine, devices: value('servers') }), onServers: true }
        : null;
  return { ...job, backend, onDevices, placement: placementOf(values(PLACEMENT)) };
}
