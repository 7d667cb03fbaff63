/** The rooms whose specs are measured: what is mutated, and which specs are to notice. */
import type { Tally } from './tally.js';

/** Mutated by Stryker. */
export interface SourceRoom {
  /** Where the sources lie. */
  readonly folder: string;
  /** Sources that are left alone. */
  readonly without: readonly string[];
  /** What the paths of spec files begin with, under `test`. */
  readonly specs: readonly string[];
  /** Whether the program of devices is bundled again from the mutated sources. */
  readonly hasDevices: boolean;
}

/** Measured by a program of its own, which exports `measure` (see `Measure`). */
export interface ProgramRoom {
  readonly program: string;
}

/** How a program measures: it prints what survived and resolves to the counts. */
export type Measure = (request: { readonly sample: number | null; readonly seed: number }) => Promise<Tally>;

/** A folder of src, whose specs are those of the same path, and others. */
function room(name: string, ...others: string[]): SourceRoom {
  return { folder: `src/${name}`, without: [], specs: [`${name}/`, ...others], hasDevices: false };
}

export const ROOMS: Readonly<Record<string, SourceRoom | ProgramRoom>> = {
  ops: room('ops', 'bad_input/ops', 'bad_input/lookups', 'bad_input/out_of_range', 'bad_input/settings', 'optimizers/'),
  optimizers: room('optimizers', 'bad_input/optimizers', 'layers/training', 'ops/training'),
  layers: room('layers', 'bad_input/', 'tfjs_patches/'),
  partition: room('partition'),
  ragged: room('ragged', 'bad_input/ragged'),
  preprocessing: room('preprocessing', 'bad_input/preprocessing', 'layers/integer_lookup'),
  config: room('config'),
  io: room('io'),
  keras: room('keras'),
  saved_model: room('saved_model'),
  step: room('step'),
  tpu: room('tpu'),
  tensor_array: room('tensor_array', 'converter/'),
  converter: room('converter'),
  report: {
    ...room('report'),
    // How the page looks; what it says is mutated.
    without: ['src/report/page/style.ts'],
  },
  emulator: {
    ...room('backends/tpu-emulator', 'tpu/sparse_core/', 'report/sparse_cores'),
    // Bundled from the others.
    without: ['src/backends/tpu-emulator/devices/worker_source.ts'],
    hasDevices: true,
  },
  // The C kernels and their hosts, by a list of patches.
  native: { program: 'native/main.ts' },
};
