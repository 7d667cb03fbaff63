/** The specs that are to notice a patch, the quick ones first. */
import { spawnSync } from 'node:child_process';

export interface SpecGroup {
  readonly specs: readonly string[];
  /** They run what is compiled to WebAssembly. */
  readonly needsWasm?: boolean;
}

const TIMEOUT_MS = 900_000;

const NATIVE: SpecGroup = {
  specs: ['kernels', 'arguments', 'uses', 'linked_steps', 'aliases', 'threads', 'tables'].map(native),
};
const NATIVE_SLOW: SpecGroup = { specs: ['fuzz', 'determinism', 'instruction_sets'].map(native) };
const WASM: SpecGroup = { specs: ['backends/wasm/'], needsWasm: true };
const TENSORFLOW: SpecGroup = {
  specs: ['kernels', 'errors', 'aliases', 'shared_tensors', 'ownership', 'activations', 'sizes', 'fuzz', 'memory'].map(
    (name) => `backends/tensorflow/${name}.spec`,
  ),
};
const SHARED_TENSORS: SpecGroup = { specs: ['tpu-emulator/host/shared_tensors.spec'] };
const PYTHON: SpecGroup = { specs: ['backends/tensorflow/python.spec'] };
const OPS: SpecGroup = { specs: ['test/ops/sizes', 'test/ops/shared_memory', 'test/ops/sparse_apply'] };

const MANY: SpecGroup = { specs: ['same_ids', 'many_tables', 'united_uses', 'denormals'].map(backends) };
const PACKED: SpecGroup = { specs: ['agreement', 'packed/rounding'].map(backends) };
const STEP: SpecGroup = { specs: ['test/step/native/', 'backends/tensorflow/step_kernels.spec'] };

function native(name: string): string {
  return `backends/native/${name}.spec`;
}

function backends(name: string): string {
  return `backends/${name}.spec`;
}

/** All groups, for sources as they are. */
export const ALL_GROUPS: readonly SpecGroup[] = [
  NATIVE,
  NATIVE_SLOW,
  WASM,
  TENSORFLOW,
  SHARED_TENSORS,
  PYTHON,
  OPS,
  MANY,
  PACKED,
  STEP,
];

/** The groups that run code of a file under custom-ops. */
export function groupsFor(file: string): readonly SpecGroup[] {
  if (file.startsWith('hosts/tensorflow_shared_tensors')) return [TENSORFLOW, SHARED_TENSORS];
  if (/^hosts\/tensorflow(_many|\/table_step)/.test(file)) return [MANY, TENSORFLOW];
  if (/^hosts\/(\w+\/)?tensorflow/.test(file)) return [TENSORFLOW, PYTHON];
  if (file.startsWith('kernels/step/')) return [STEP, TENSORFLOW];
  if (file.startsWith('kernels/packed/')) return [PACKED, TENSORFLOW];
  if (file.startsWith('hosts/wasm')) return [WASM];
  if (file.startsWith('hosts/')) return [NATIVE, NATIVE_SLOW, OPS];
  return [NATIVE, NATIVE_SLOW, MANY, WASM, TENSORFLOW, OPS];
}

/** Runs a group in a tree; null where all specs hold, else what tells that they do not. */
export function failureOf({ specs }: SpecGroup, tree: string): string | null {
  const args = ['--import', 'tsx', 'test/run.ts', ...specs];
  const { status, signal, stdout, stderr, error } = spawnSync(process.execPath, args, {
    cwd: tree,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 28,
  });
  if (status === 0) return null;
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT') return 'hangs';
  if (status === null) return `ended by ${signal}`;
  return /^FAILED: (.*\n.*)$/m.exec(stdout)?.[1] ?? `ended with ${status}: ${(stdout + stderr).trim().slice(-1000)}`;
}
