/** Inputs of a model that hold rows of different lengths, and how a signature takes them. */
import type * as tf from '@tensorflow/tfjs';
import { DistributedEmbedding } from '../../layers/distributed_embedding/layer.js';
import { TableLayer } from '../../layers/embedding/table_layer.js';
import { isOpenTable } from '../../tables/keys/is_open_table.js';
import { RaggedEmbedding } from '../../layers/embedding/ragged_embedding.js';
import { TPUEmbeddingLayer } from '../../tpu/layer/tpu_embedding_layer.js';
import type { RaggedForm } from './export_options.js';
import { isInput, layerOf, nodeOf, type LayerNode } from './model_graph.js';
import type { Signature, SignatureInput } from './signatures.js';
import type { DataTypeName } from './wire/data_types.js';
import type { NamedSpec } from './object_graph.js';

/** One input of a signature as the caller feeds it. */
export type FedInput =
  | { readonly kind: 'dense'; readonly input: SignatureInput; readonly spec: NamedSpec }
  | {
      /** Values and row splits that become a padded input, or the two inputs `rowSplits` is one of. */
      readonly kind: 'ragged';
      readonly input: SignatureInput;
      readonly values: NamedSpec;
      readonly rowSplits: NamedSpec;
      /** The input of the model that takes row splits as they are; null: rows are padded. */
      readonly splitsInput: SignatureInput | null;
      /** What stands behind the end of a row. */
      readonly padding: number;
      /** How long all rows become, where what follows has steps of that number; null: as long as the longest. */
      readonly length: number | null;
      readonly isComposite: boolean;
    };

/** What an input is to a layer that reads it. */
type Use = 'ids' | 'steps' | 'weights' | 'values' | 'other';

function useOf(layer: tf.layers.Layer, node: LayerNode, place: number): Use {
  const { shape } = node.inputTensors[place]!;
  if (layer instanceof TableLayer && isOpenTable(layer.table) && shape.length === 2) {
    if (place > 0) return 'weights';
    return layer.combiner === null ? 'steps' : 'ids';
  }
  if (layer instanceof RaggedEmbedding) {
    if (node.inputTensors[0]!.shape.length === 1) return place === 0 ? 'values' : 'other';
    if (shape.length !== 2) return 'other';
    if (place > 0) return 'weights';
    return layer.combiner === null ? 'steps' : 'ids';
  }
  if (layer instanceof DistributedEmbedding && shape.length === 2) {
    const { features } = layer.lookups;
    const feature = features[place] ?? features[layer.weightedFeatures[place - features.length]!];
    if (feature?.kind === 'embedding' || feature === undefined || feature.combiner === null) return 'other';
    return place < features.length ? 'ids' : 'weights';
  }
  if (shape.length === 2 && layer instanceof TPUEmbeddingLayer) return 'ids';
  return 'other';
}

interface Uses {
  /** How each input is used, by the id of its tensor. */
  readonly byInput: Map<number, Set<Use>>;
  /** Row splits of values, by the id of the values. */
  readonly splitsOf: Map<number, tf.SymbolicTensor>;
}

function usesIn(outputs: readonly tf.SymbolicTensor[]): Uses {
  const uses: Uses = { byInput: new Map(), splitsOf: new Map() };
  const seen = new Set<LayerNode>();
  const visit = (symbolic: tf.SymbolicTensor): void => {
    if (isInput(symbolic)) return;
    const node = nodeOf(symbolic);
    if (seen.has(node)) return;
    seen.add(node);
    node.inputTensors.forEach((input, place) => {
      const use = useOf(layerOf(symbolic), node, place);
      uses.byInput.set(input.id, (uses.byInput.get(input.id) ?? new Set()).add(use));
      if (use === 'values') uses.splitsOf.set(input.id, node.inputTensors[1]!);
      visit(input);
    });
  };
  outputs.forEach(visit);
  return uses;
}

const PADDING: Partial<Record<Use, number>> = { ids: -1, steps: -1, weights: 0 };

/** As TensorFlow calls the parts of a RaggedTensor that a signature takes. */
function partNames(name: string, form: RaggedForm): [values: string, rowSplits: string] {
  return form === 'composite' ? [name, `${name}_1`] : [`${name}_values`, `${name}_row_splits`];
}

function splitsType(form: RaggedForm): DataTypeName {
  return form === 'composite' ? 'int64' : 'int32';
}

function denseInput(input: SignatureInput): FedInput {
  return { kind: 'dense', input, spec: input };
}

/** The inputs of a signature as they are fed: without a form as the model has them. */
export function fedInputs({ inputs, outputs }: Signature, form: RaggedForm | null): FedInput[] {
  if (form === null) return inputs.map(denseInput);
  const { byInput, splitsOf } = usesIn(outputs.map(({ symbolic }) => symbolic));
  const taken = new Set([...splitsOf.values()].map(({ id }) => id));
  return inputs.flatMap((input): FedInput[] => {
    const { id } = input.symbolic;
    const [use, ...more] = [...(byInput.get(id) ?? [])];
    if (taken.has(id)) return [];
    const splits = splitsOf.get(id);
    const splitsInput =
      splits === undefined ? null : (inputs.find(({ symbolic }) => symbolic.id === splits.id) ?? null);
    const padding = use === undefined ? undefined : PADDING[use];
    if (more.length > 0 || (padding === undefined && splitsInput === null)) return [denseInput(input)];
    const [valuesName, splitsName] = partNames(input.name, form);
    return [
      {
        kind: 'ragged',
        input,
        values: { name: valuesName, dtype: input.dtype, shape: [null] },
        rowSplits: { name: splitsName, dtype: splitsType(form), shape: [null] },
        splitsInput,
        padding: padding ?? 0,
        length: use === 'steps' ? (input.symbolic.shape[1] ?? null) : null,
        isComposite: form === 'composite',
      },
    ];
  });
}

/** What each is called and looks like, in the order in which functions take them. */
export function specsOf(fed: readonly FedInput[]): NamedSpec[] {
  return fed.flatMap((each) => (each.kind === 'dense' ? [each.spec] : [each.values, each.rowSplits]));
}
