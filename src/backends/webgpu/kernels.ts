/** The tfjs kernels of `webgpu`: they run on tensors of the GPU. */
import type * as tf from '@tensorflow/tfjs';
import { HYPER_FIELDS } from '../../rules/hyper.js';
import type { UpdateName } from '../../rules/rules.js';
import { HostCopies } from '../../tfjs/webgpu/host_copies.js';
import { checkVersion, type WebgpuBackend } from '../../tfjs/webgpu/webgpu_backend.js';
import { faultsOf } from '../../tfjs/webgpu/faults.js';
import { codecOf } from '../../codecs/codecs.js';
import { kernelTable, slotsAmong, type RowAttributes } from '../bag_tensors.js';
import { checkIds, type BagOptions } from '../kernel_set.js';
import { checkLength } from '../wasm/sizes.js';
import { checkKnownIds, groupsOf, knownIds, uploadedPlan } from './groups.js';
import { groupOnHost } from './host_groups.js';
import { pooledRows, weightsGradient } from './lookups.js';
import type { Bags, TableAt } from './operands.js';
import { willWrite } from './own_buffers.js';
import { withScratch } from './programs.js';
import { sumRows } from './row_sums.js';
import { stepTable } from './steps.js';

type Inputs = Readonly<Record<string, tf.TensorInfo | undefined>>;

interface Call {
  readonly inputs: Inputs;
  readonly backend: WebgpuBackend;
  readonly attrs: BagOptions & {
    readonly rows?: number;
    readonly hyper?: readonly number[];
  } & RowAttributes;
}

/** Watches the backend from the first call on, and throws what the GPU said since the last one. */
export function checkBackend(backend: WebgpuBackend, version: string): void {
  checkVersion(version);
  HostCopies.of(backend);
  faultsOf(backend.device).check();
}

function tableOf({ inputs, attrs }: Call): TableAt {
  const tensor = inputs['table']!;
  return { tensor, codec: codecOf(attrs.storage), dim: attrs.dim ?? tensor.shape[1]! };
}

function bagsOf({ inputs }: Call): Bags {
  return { values: inputs['values']!, rowSplits: inputs['rowSplits']!, weights: inputs['weights'] ?? null };
}

function embeddingBag(call: Call): tf.TensorInfo[] {
  const { backend, attrs } = call;
  const table = tableOf(call);
  const bags = bagsOf(call);
  checkKnownIds(backend, { values: bags.values, options: attrs }, table.tensor.shape[0]!);
  return [pooledRows(backend, table, bags, attrs)];
}

/** The number of unique ids is the shape of the results: ids that only the GPU knows are read. */
function embeddingBagGrad(call: Call): tf.TensorInfo[] {
  const { backend, attrs, inputs } = call;
  const bags = bagsOf(call);
  const gradient = inputs['gradient']!;
  const dim = gradient.shape[1]!;
  const rows = attrs.rows!;
  const options = attrs;
  const ids = knownIds(backend, { values: bags.values, options: { ...options, validate: true } })!;
  checkIds(ids, rows, options);
  const groups = groupOnHost([ids], rows);
  const count = groups.rows.length;
  const uniqueIds = backend.makeTensorInfo([count], 'int32', groups.rows);
  if (count * dim === 0) return [uniqueIds, backend.makeTensorInfo([count, dim], 'float32', new Float32Array(0))];
  const sums = backend.makeTensorInfo([count, dim], 'float32');
  const table = inputs['table'] === undefined ? null : tableOf(call);
  withScratch(backend, (scratch) => {
    const target = { sums, groups: uploadedPlan(scratch, groups, count), dim };
    sumRows(backend, scratch, target, [{ gradient, bags, options }], table);
  });
  return [uniqueIds, sums];
}

function embeddingBagWeightsGrad(call: Call): tf.TensorInfo[] {
  const { backend, attrs, inputs } = call;
  const table = tableOf(call);
  const bags = bagsOf(call);
  checkKnownIds(backend, { values: bags.values, options: attrs }, table.tensor.shape[0]!);
  return [weightsGradient(backend, table, inputs['gradient']!, bags, attrs)];
}

/** Callers made the buffers of table and slots writable. */
function sparseApply(optimizer: UpdateName, call: Call): tf.TensorInfo[] {
  const { backend, attrs, inputs } = call;
  checkLength('hyper', attrs.hyper!.length, HYPER_FIELDS.length);
  const table = tableOf(call);
  const slots = slotsAmong(optimizer, inputs);
  const bags = bagsOf(call);
  withScratch(backend, (scratch) => {
    const use = { gradient: inputs['gradient']!, bags, options: attrs };
    const groups = groupsOf(backend, scratch, [{ values: bags.values, options: attrs }], table.tensor.shape[0]!);
    for (const each of [table.tensor, ...slots]) if (!each.shape.includes(0)) willWrite(backend, each);
    stepTable(backend, scratch, {
      optimizer,
      table,
      slots,
      uses: [use],
      groups,
      hyper: Float32Array.from(attrs.hyper!),
    });
  });
  return [];
}

/** By kernel name; made by a function, so that bundles of lookups alone leave it out. */
export function kernelFunctions(): Readonly<Record<string, tf.KernelFunc>> {
  return kernelTable<Call>({
    embeddingBag,
    embeddingBagGrad,
    embeddingBagWeightsGrad,
    sparseApply,
  });
}
