/** Kernels of stock ops, registered for backends that lack them. */
import * as tf from '@tensorflow/tfjs';
import { mendWasmOneHot } from '../../tfjs/graph_models/wasm_one_hot.js';
import { mendWasmStridedSlice } from '../../tfjs/graph_models/wasm_strided_slice.js';
import type { Attributes } from './operation.js';
import { operationNamed } from './operations.js';
import { runOperation } from './run_operation.js';

type Inputs = Readonly<Record<string, tf.TensorInfo | readonly tf.TensorInfo[]>>;

/** What a kernel is given, as inputs and attributes of the op. */
interface Adapter {
  readonly op: string;
  /** Names of the kernel's inputs in the order of the op's. */
  readonly inputs: readonly string[];
  readonly attributes?: (inputs: Inputs, attrs: Attributes) => Attributes;
}

const listLength = (inputs: Inputs, name: string): number => (inputs[name] as readonly unknown[]).length;

/** By the name of the kernel. */
const ADAPTERS: Readonly<Record<string, Adapter>> = {
  SparseSegmentSum: { op: 'SparseSegmentSum', inputs: ['data', 'indices', 'segmentIds'] },
  SparseSegmentMean: { op: 'SparseSegmentMean', inputs: ['data', 'indices', 'segmentIds'] },
  SparseReshape: { op: 'SparseReshape', inputs: ['inputIndices', 'inputShape', 'newShape'] },
  SparseFillEmptyRows: { op: 'SparseFillEmptyRows', inputs: ['indices', 'values', 'denseShape', 'defaultValue'] },
  RaggedRange: { op: 'RaggedRange', inputs: ['starts', 'limits', 'deltas'] },
  RaggedGather: {
    op: 'RaggedGather',
    inputs: ['paramsNestedSplits', 'paramsDenseValues', 'indices'],
    attributes: (inputs, attrs) => ({
      PARAMS_RAGGED_RANK: listLength(inputs, 'paramsNestedSplits'),
      OUTPUT_RAGGED_RANK: attrs['outputRaggedRank'],
    }),
  },
  RaggedTensorToTensor: {
    op: 'RaggedTensorToTensor',
    inputs: ['shape', 'values', 'defaultValue', 'rowPartitionTensors'],
    attributes: (inputs, attrs) => ({
      num_row_partition_tensors: listLength(inputs, 'rowPartitionTensors'),
      row_partition_types: attrs['rowPartitionTypes'],
    }),
  },
};

/** Names of the kernels that may be registered. */
export const ADAPTED_KERNELS: readonly string[] = [...Object.keys(ADAPTERS), 'SparseToDense', 'UnsortedSegmentSum'];

function kernelOf({ op, inputs: names, attributes }: Adapter): tf.KernelFunc {
  return ({ inputs, attrs }) => {
    const given = inputs as unknown as Inputs;
    const tensors = names.flatMap((name) => given[name]!);
    const results = runOperation(
      operationNamed(op),
      tensors,
      attributes?.(given, attrs as unknown as Attributes) ?? {},
    );
    return results.length === 1 ? results[0]! : results;
  };
}

/** Sizes that a kernel has as an attribute and the op as an input. */
function withSizes(op: string, sizes: tf.Tensor, order: (sizes: tf.Tensor) => tf.TensorInfo[]): tf.Tensor {
  try {
    return runOperation(operationNamed(op), order(sizes), { validate_indices: false })[0]!;
  } finally {
    sizes.dispose();
  }
}

const OTHERS: Readonly<Record<string, tf.KernelFunc>> = {
  SparseToDense: ({ inputs, attrs }) => {
    const { sparseIndices, sparseValues, defaultValue } = inputs as tf.NamedTensorInfoMap;
    const shape = tf.tensor1d((attrs as unknown as { outputShape: number[] }).outputShape, 'int32');
    return withSizes('SparseToDense', shape, (sizes) => [sparseIndices!, sizes, sparseValues!, defaultValue!]);
  },
  UnsortedSegmentSum: ({ inputs, attrs }) => {
    const { x, segmentIds } = inputs as tf.NamedTensorInfoMap;
    const count = tf.scalar((attrs as unknown as { numSegments: number }).numSegments, 'int32');
    return withSizes('UnsortedSegmentSum', count, (segments) => [x!, segmentIds!, segments]);
  },
};

/** Registers what each backend lacks. May be called again: a backend may come later. */
export function registerMissingKernels(): void {
  mendWasmOneHot();
  mendWasmStridedSlice();
  const backends = Object.keys((tf.engine() as unknown as { registryFactory: object }).registryFactory);
  for (const backendName of backends) {
    for (const kernelName of ADAPTED_KERNELS) {
      if (tf.getKernel(kernelName, backendName) !== undefined) continue;
      const adapter = ADAPTERS[kernelName];
      const kernelFunc = adapter === undefined ? OTHERS[kernelName]! : kernelOf(adapter);
      tf.registerKernel({ kernelName, backendName, kernelFunc });
    }
  }
}
