/** The spec files that run the code of a C source, the nearest and quickest first. */

const NATIVE = ['kernels', 'arguments', 'uses', 'linked_steps', 'aliases', 'threads', 'tables', 'plain_steps'].map(
  native,
);
const NATIVE_SLOW = ['fuzz', 'determinism', 'instruction_sets'].map(native);
const CSR = [
  'backends/native/partition_csr',
  'backends/partition_csr',
  'backends/devices/csr_buckets',
  'tpu/sparse_core/csr_content',
  'tpu/sparse_core/limits',
  'tpu/sparse_core/preprocess_features',
];
const TENSORFLOW = [
  ...[
    'kernels',
    'errors',
    'aliases',
    'shared_tensors',
    'ownership',
    'activations',
    'sizes',
    'tables',
    'fuzz',
    'memory',
  ],
  'huge_pages',
].map((name) => `backends/tensorflow/${name}`);
const SHARED_TENSORS = ['backends/devices/host/shared_tensors', 'backends/tensorflow/shared_tensors'];
const OPS = ['lookup/sizes', 'lookup/shared_memory', 'lookup/sparse_apply'];
const MANY = ['same_ids', 'many_tables', 'united_uses', 'denormals'].map((name) => `backends/${name}`);
const CODECS = ['backends/agreement', 'backends/rounding', 'codecs/', 'backends/dense_kernels'];
const STEP = ['capture/overrides/', 'backends/tensorflow/step_kernels', 'backends/native/plain_steps'];
const CAPTURED = ['capture/runs', 'capture/layers/', 'capture/'];
const WASM = ['backends/wasm/'];
const COLUMNS = ['preprocessing/columns/', 'preprocessing/', 'data/'];
const SERVERS = ['sessions', 'lost_answers', 'arguments'].map(native);
const SERVER_TABLES = [
  'backends/tensorflow/server_tables',
  'backends/tensorflow/tensorflow_tables',
  'backends/cluster/',
];

function native(name: string): string {
  return `backends/native/${name}`;
}

/** The first that fits a path under custom-ops. */
const GROUPS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^hosts\/wasm\/|threads_wasm/, WASM],
  [/csr/, [...CSR, native('arguments')]],
  [/columns/, [...COLUMNS, native('arguments')]],
  [/ranking/, ['ranking/', native('arguments')]],
  [/checksum/, ['io/checksums/', 'io/', native('arguments')]],
  [/^kernels\/fill/, ['backends/fill', 'tables/', native('arguments')]],
  [/sessions\/|\/servers\.|server_(info|saves|tables)|tensorflow\/tables\//, [...SERVERS, ...SERVER_TABLES]],
  [/^kernels\/many_tables|^hosts\/node\/many/, [...MANY, ...NATIVE, 'backends/tensorflow/kernels', ...STEP]],
  [/^kernels\/codecs\//, [...CODECS, ...NATIVE, ...TENSORFLOW]],
  [/shared_tensors/, [...SHARED_TENSORS, ...TENSORFLOW, ...NATIVE]],
  [/graphs\.\w+$/, [...CAPTURED, ...TENSORFLOW]],
  [
    /^kernels\/step\/|^hosts\/tensorflow\/(ops\/|table_step|spans|huge_pages)/,
    [...STEP, ...MANY, ...TENSORFLOW, ...CAPTURED],
  ],
  [/^hosts\/node\/files/, ['io/']],
  [/^hosts\/node\/dense/, ['backends/dense_kernels', ...NATIVE]],
  [/^hosts\/tensorflow\//, [...TENSORFLOW, ...MANY, ...STEP, ...CAPTURED]],
  [/^hosts\//, [...NATIVE, ...OPS, ...NATIVE_SLOW, ...CSR, ...MANY, ...CODECS]],
  [/./, [...NATIVE, ...MANY, ...OPS, 'backends/tensorflow/kernels', 'backends/agreement', ...NATIVE_SLOW]],
];

/** Of some spec files, those for a source; `file` lies under custom-ops. */
export function specsForNative(file: string, specs: readonly string[]): string[] {
  const names = GROUPS.find(([paths]) => paths.test(file))![1];
  return [...new Set(names.flatMap((name) => specs.filter((spec) => spec.startsWith(`test/${name}`))))];
}

/** For the spec that looks for each of them. */
export const ALL_NAMES: readonly string[] = [...new Set(GROUPS.flatMap(([, names]) => names))];
