/** The rooms whose specs are measured: what is mutated, and which specs are to notice. */

import type { Tally } from './tally.js';

/** Mutated by Stryker. */
export interface SourceRoom {
  /** Globs; with `!` in front, what is left out. */
  readonly sources: readonly string[];
  /** What the paths of spec files begin with, under `test`. The quick ones that see most come first to mind, not slow ones. */
  readonly specs: readonly string[];
  /** Whether the program of devices is bundled again from the mutated sources. */
  readonly hasDevices?: true;
}

/** Measured by a program of its own, which exports `measure` (see `Measure`). */
export interface ProgramRoom {
  readonly program: string;
}

function folder(name: string, ...specs: string[]): SourceRoom {
  return { sources: [`src/${name}/**/*.ts`], specs: [`${name}/`, ...specs] };
}

export const ROOMS: Readonly<Record<string, SourceRoom | ProgramRoom>> = {
  ops: folder('ops', 'bad_input/ops', 'bad_input/lookups', 'bad_input/out_of_range'),
  optimizers: folder('optimizers', 'bad_input/optimizers', 'layers/training'),
  layers: folder('layers', 'bad_input/'),
  partition: folder('partition'),
  ragged: folder('ragged', 'bad_input/ragged'),
  preprocessing: folder('preprocessing', 'bad_input/preprocessing', 'layers/integer_lookup'),
  config: folder('config'),
  io: folder('io'),
  emulator: {
    sources: [
      'src/backends/tpu-emulator/**/*.ts',
      '!src/backends/tpu-emulator/devices/worker_source.ts',
      // How the report looks; what it says is mutated.
      '!src/backends/tpu-emulator/report/page/style.ts',
    ],
    specs: ['backends/tpu-emulator/'],
    hasDevices: true,
  },
  // The C kernels and their hosts, by a list of patches.
  native: { program: 'native/main.ts' },
};

/** How a program measures: it prints what survived and resolves to the counts. */
export type Measure = (request: { readonly sample: number | null; readonly seed: number }) => Promise<Tally>;
