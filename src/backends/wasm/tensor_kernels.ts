/** The tfjs kernels of the `wasm` backend: they run on tfjs's tensors without copies. */
import * as tf from '@tensorflow/tfjs';
import { ValueError } from '../../base/errors.js';
import { codecOf } from '../../codecs/codecs.js';
import { FLOAT32 } from '../../codecs/float32.js';
import { type BagOptions, type KernelInfo, tooLarge } from '../kernel_set.js';
import { isRowSlot, type UpdateName } from '../../rules/rules.js';
import { HYPER_FIELDS } from '../../rules/hyper.js';
import { beforeDisposal } from '../../tfjs/disposed_backends.js';
import { kernelTable, slotsAmong, type RowAttributes } from '../bag_tensors.js';
import { threadsAskedFor } from '../registry.js';
import { WasmKernels, type BagsAt, type TableAt, type Workspace } from './kernels.js';
import { checkLength, checkSplits, checkTensor } from './sizes.js';
import { TfjsHeap, type WasmBackend } from './tfjs_heap.js';
import { threadsOfKernels } from './threads/team.js';
import { wasmInfo } from './wasm_info.js';

type Inputs = Readonly<Record<string, tf.TensorInfo | undefined>>;

interface Host {
  readonly heap: TfjsHeap;
  readonly kernels: WasmKernels;
}

const BACKEND = 'wasm';
/**
 * Node has no such memory: tfjs 4.22 turns its build with threads off there (WASM_HAS_MULTITHREAD_SUPPORT), and where that
 * is forced on the backend cannot start, as Node takes no worker from the blob: URL that the build starts them with.
 */
const ALONE = 'the memory of tfjs is not shared: it is in pages that are cross-origin isolated';

const hosts = new WeakMap<object, Host>();

export function hostOf(backend: WasmBackend): Host {
  const { wasm } = backend;
  let host = hosts.get(wasm);
  if (host === undefined) {
    const heap = new TfjsHeap(wasm);
    host = { heap, kernels: new WasmKernels(heap) };
    hosts.set(wasm, host);
    const { team } = host.kernels;
    if (team !== null) beforeDisposal(backend, () => void team.close());
  }
  host.kernels.team?.setThreads(threadsWanted(true));
  return host;
}

function threadsWanted(isShared: boolean): number {
  return threadsAskedFor() ?? threadsOfKernels()?.defaultThreads(isShared) ?? 1;
}

/** What runs on the tensors of tfjs, whose memory is shared where tfjs itself has threads. */
export function tensorKernelInfo(): KernelInfo {
  const backend = tf.engine().registry[BACKEND] as WasmBackend | undefined;
  const team = backend === undefined ? null : (hosts.get(backend.wasm)?.kernels.team ?? null);
  const isShared = backend !== undefined && new TfjsHeap(backend.wasm).isShared;
  return wasmInfo(threadsWanted(isShared), team, isShared ? null : ALONE);
}

export function addressOf(backend: WasmBackend, info: tf.TensorInfo | undefined): number {
  return info === undefined ? 0 : backend.dataIdMap.get(info.dataId).memoryOffset;
}

export function tableAt(backend: WasmBackend, info: tf.TensorInfo, { storage, dim }: RowAttributes = {}): TableAt {
  const codec = codecOf(storage);
  checkTensor('table', info, codec.dtype, -1, dim === undefined ? -1 : codec.words(dim));
  return { address: addressOf(backend, info), codec, rows: info.shape[0]!, dim: dim ?? info.shape[1]! };
}

export function bagsOf(backend: WasmBackend, { values, rowSplits, weights }: Inputs): BagsAt {
  checkTensor('values', values!, 'int32', -1);
  checkTensor('rowSplits', rowSplits!, 'int32', -1);
  checkSplits(rowSplits!.shape[0]!);
  if (weights !== undefined) checkTensor('weights', weights, 'float32', values!.shape[0]!);
  return {
    values: addressOf(backend, values),
    rowSplits: addressOf(backend, rowSplits),
    weights: addressOf(backend, weights),
    nnz: values!.shape[0]!,
    batch: rowSplits!.shape[0]! - 1,
  };
}

export function gradientAt(backend: WasmBackend, info: tf.TensorInfo, { batch }: BagsAt, dim: number): number {
  checkTensor('gradient', info, 'float32', batch, dim);
  return addressOf(backend, info);
}

/** Runs with scratch memory of the given size. */
function withWorkspace<T>(heap: TfjsHeap, bytes: number, run: (workspace: Workspace) => T): T {
  const address = heap.malloc(bytes, 'values');
  try {
    return run({ address, bytes });
  } finally {
    heap.free(address);
  }
}

/** A result to be made: what it is called, and the argument that decides over its size. */
export interface Output {
  readonly argument: string;
  readonly what: string;
  readonly shape: number[];
  readonly dtype: tf.DataType;
}

function makeOutput(backend: WasmBackend, { argument, what, shape, dtype }: Output): tf.TensorInfo {
  try {
    return backend.makeOutput(shape, dtype);
  } catch (error) {
    // Of the guarded allocator, which knows bytes alone.
    if (!(error instanceof ValueError)) throw error;
    throw tooLarge(argument, what, shape, `There may be ${error.expected}.`);
  }
}

/** Returns new tensors that `fill` has written; gives them back when it fails. */
export function filled(
  backend: WasmBackend,
  outputs: readonly Output[],
  fill: (...addresses: number[]) => void,
): tf.TensorInfo[] {
  const made: tf.TensorInfo[] = [];
  try {
    for (const output of outputs) made.push(makeOutput(backend, output));
    fill(...made.map((info) => addressOf(backend, info)));
    return made;
  } catch (error) {
    for (const { dataId } of made) backend.disposeData(dataId);
    throw error;
  }
}

interface Call {
  readonly inputs: Inputs;
  readonly backend: WasmBackend;
  readonly attrs: BagOptions & {
    readonly rows?: number;
    readonly hyper?: readonly number[];
  } & RowAttributes;
}

function embeddingBag({ inputs, backend, attrs }: Call): tf.TensorInfo[] {
  const { kernels } = hostOf(backend);
  const table = tableAt(backend, inputs['table']!, attrs);
  const bags = bagsOf(backend, inputs);
  const output: Output = { argument: 'table', what: 'pooled rows', shape: [bags.batch, table.dim], dtype: 'float32' };
  return filled(backend, [output], (pooled) => kernels.embeddingBag(table, bags, attrs, pooled!));
}

function embeddingBagGrad({ inputs, backend, attrs }: Call): tf.TensorInfo[] {
  const { heap, kernels } = hostOf(backend);
  const bags = bagsOf(backend, inputs);
  const dim = inputs['gradient']!.shape[1]!;
  const gradient = gradientAt(backend, inputs['gradient']!, bags, dim);
  const rows = attrs.rows!;
  if (inputs['table'] !== undefined) checkTensor('table', inputs['table'], 'float32', rows, dim);
  const table = { address: addressOf(backend, inputs['table']), codec: FLOAT32, rows, dim };
  return withWorkspace(heap, kernels.gradWorkspace(table, bags), (workspace) => {
    const unique = kernels.gradGroup(table, bags, attrs, workspace);
    const outputs: Output[] = [
      { argument: 'values', what: 'unique ids', shape: [unique], dtype: 'int32' },
      { argument: 'gradient', what: 'row gradients', shape: [unique, dim], dtype: 'float32' },
    ];
    return filled(backend, outputs, (uniqueIds, rowGradients) =>
      kernels.gradRows(table, bags, attrs, gradient, workspace, uniqueIds!, rowGradients!),
    );
  });
}

function embeddingBagWeightsGrad({ inputs, backend, attrs }: Call): tf.TensorInfo[] {
  const { kernels } = hostOf(backend);
  const table = tableAt(backend, inputs['table']!, attrs);
  const bags = bagsOf(backend, inputs);
  const gradient = gradientAt(backend, inputs['gradient']!, bags, table.dim);
  const output: Output = { argument: 'values', what: 'gradients of weights', shape: [bags.nnz], dtype: 'float32' };
  return filled(backend, [output], (out) => kernels.weightsGrad(table, bags, attrs, gradient, out!));
}

/** Slots are like the table, or have one value per row, as a vector or a column. */
export function slotsAt(backend: WasmBackend, optimizer: UpdateName, inputs: Inputs, { rows, dim }: TableAt): number[] {
  return slotsAmong(optimizer, inputs).map((info, i) => {
    if (!isRowSlot(optimizer, i)) checkTensor(`slot${i}`, info, 'float32', rows, dim);
    else checkTensor(`slot${i}`, info, 'float32', rows, ...info.shape.slice(1).map(() => 1));
    return addressOf(backend, info);
  });
}

/** Table and slots. */
function writtenInputs(optimizer: UpdateName, inputs: Inputs): tf.TensorInfo[] {
  return [inputs['table']!, ...slotsAmong(optimizer, inputs)];
}

function sparseApply(optimizer: UpdateName, { inputs, backend, attrs }: Call): tf.TensorInfo[] {
  const { heap, kernels } = hostOf(backend);
  const written = writtenInputs(optimizer, inputs);
  const table = tableAt(backend, written[0]!, attrs);
  const bags = bagsOf(backend, inputs);
  const slots = slotsAt(backend, optimizer, inputs, table);
  const gradient = gradientAt(backend, inputs['gradient']!, bags, table.dim);
  checkLength('hyper', attrs.hyper!.length, HYPER_FIELDS.length);
  withWorkspace(heap, kernels.applyWorkspace(optimizer, table, bags), (workspace) =>
    kernels.apply(optimizer, table, slots, bags, attrs, gradient, attrs.hyper!, workspace),
  );
  for (const info of written) forgetPacked(backend, info);
  return [];
}

/**
 * Makes tfjs forget what it derived from a tensor's values. Its matrix products keep the packed right-hand side by
 * tensor id until the tensor is disposed, so after an in-place step they would go on with old values.
 */
export function forgetPacked({ dataIdMap, wasm }: WasmBackend, { dataId, shape }: tf.TensorInfo): void {
  const { id, memoryOffset } = dataIdMap.get(dataId);
  wasm.tfjs.disposeData(id);
  wasm.tfjs.registerTensor(
    id,
    shape.reduce((size, length) => size * length, 1),
    memoryOffset,
  );
}

/** By kernel name. */
export const KERNEL_FUNCTIONS = kernelTable<Call>({
  embeddingBag,
  embeddingBagGrad,
  embeddingBagWeightsGrad,
  sparseApply,
});
