/** Writes a model as a file of ONNX. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { pathOf } from '../../io/byte_source.js';
import { toTarget, type FileTarget } from '../../io/weights/write_arrays.js';
import { keyInputKind } from '../../tfjs/models/key_inputs.js';
import { assetsFile, assetsOf } from '../saved_model/assets.js';
import { feed } from '../saved_model/feed.js';
import type { GraphVariable } from '../saved_model/graph/function_builder.js';
import type { Value } from '../saved_model/graph/value.js';
import { layerOf, ModelGraph } from '../saved_model/model_graph.js';
import type { NamedSpec } from '../saved_model/object_graph.js';
import { fedInputs, specsOf } from '../saved_model/ragged_inputs.js';
import { readSignatures, type Signature, type SignatureInput } from '../saved_model/signatures.js';
import { ModelVariables, type SavedVariable } from '../saved_model/variables.js';
import { IR_VERSIONS, checkOnnxOptions, type CheckedOptions } from './export_options.js';
import { finishedGraph, readBy } from './graph/finished.js';
import type { Initializer } from './graph/initializer.js';
import { OnnxForm } from './graph/onnx_form.js';
import { OnnxGraph, type SharedParts } from './graph/onnx_graph.js';
import { LOWERINGS } from './lowering/lowerings.js';
import { sizeOfValues, writeExternal, writeModel, type Checksums, type ModelParts } from './model_file.js';
import { addWeights, largestIn, onnxVariables } from './variables.js';

/** More than a message of Protocol Buffers may have, with room for nodes. */
const MOST_INSIDE = 2 ** 31 - 2 ** 24;
const ML_VERSION = 4;

function sharedParts(): SharedParts {
  return {
    names: new Map(),
    initializers: new Map(),
    known: new Map(),
    domains: new Set(),
    variables: onnxVariables(),
    lowerings: LOWERINGS,
  };
}

/** Open tables are asked for row numbers in place of keys, where that is wanted. */
function inputsOf({ inputs }: Signature, { keys }: CheckedOptions): SignatureInput[] {
  return inputs.map((input) => {
    const isKeyed = keyInputKind(layerOf(input.symbolic)) !== null;
    return isKeyed && keys === 'rows' ? { ...input, dtype: 'int32' } : input;
  });
}

/** What sizes are called that are not known. */
function axisNames({ name, shape }: NamedSpec): string[] {
  // Vectors may be values of rows, or their splits: runtimes take sizes of one name for equal.
  return shape.map((_, axis) => (axis === 0 && shape.length > 1 ? 'batch' : `${name}_${axis}`));
}

/** The initializers that are read, and all weights. */
function usedInitializers(
  all: ReadonlyMap<string, Initializer>,
  used: Set<string>,
  weights: Set<string>,
): Initializer[] {
  return [...all.values()].filter(({ name }) => used.has(name) || weights.has(name));
}

interface Planned {
  readonly parts: ModelParts;
  /** Tables of which it must be known how large their numbers are. */
  readonly asked: ReadonlySet<GraphVariable>;
}

function plan(
  model: tf.LayersModel,
  variables: ModelVariables,
  options: CheckedOptions,
  largest: ReadonlyMap<string, number>,
): Planned {
  const [signature] = readSignatures(model, undefined) as [Signature];
  const inputs = inputsOf(signature, options);
  const shared = sharedParts();
  const graph = new OnnxGraph(shared);
  const form = new OnnxForm(graph, largest);
  const fed = fedInputs({ ...signature, inputs }, options.ragged);
  const specs = specsOf(fed);
  const given = new Map(
    specs.map((spec): [string, Value] => {
      const dtype = spec.dtype === 'int32' ? options.ids : spec.dtype;
      return [spec.name, graph.argument(dtype, spec.shape, spec.name, axisNames(spec))];
    }),
  );
  const names = signature.outputs.map(({ name }) => graph.free(name));
  for (const { name } of variables.list) shared.names.set(name, 1);
  const built = new ModelGraph(graph, form, { customOps: false, variableOf: (weight) => variables.of(weight) });
  const { operations: o } = built;
  for (const spec of specs) if (spec.dtype === 'int32') given.set(spec.name, o.cast(given.get(spec.name)!, 'int32'));
  const values = feed(o, fed, given);
  const part = {
    inputs: inputs.map(({ symbolic }) => symbolic),
    outputs: signature.outputs.map(({ symbolic }) => symbolic),
  };
  const results = built.emitModel(
    part,
    inputs.map(({ symbolic }) => values.get(symbolic.id)!),
  );
  const finished = finishedGraph(graph, results, names, model.name);
  const used = new Set(finished.node!.flatMap(readBy));
  const weights = addWeights(graph, variables);
  const initializers = usedInitializers(shared.initializers, used, weights);
  const domains = [...shared.domains].map((domain) => ({ domain, version: ML_VERSION }));
  const header = {
    irVersion: IR_VERSIONS[options.opset]!,
    producerName: 'tfjs-embeddings',
    opsetImport: [{ domain: '', version: options.opset }, ...domains],
  };
  const metadata = metadataOf(model, variables, weights, options);
  return { parts: { model: header, graph: finished, initializers, metadata }, asked: form.asked };
}

/** What makes a layers model of a file again: layers, and which values are their weights, with their checksums. */
function metadataOf(
  model: tf.LayersModel,
  variables: ModelVariables,
  names: ReadonlySet<string>,
  { keys }: CheckedOptions,
): (checksums: Checksums) => string {
  const keyOf = new Map(variables.list.map(({ key, name }) => [key, name]));
  const assets = assetsOf(model, variables, null);
  const weights = assets.weights.map((each) => ({ ...each, key: keyOf.get(each.key)! }));
  return (checksums) => {
    const kept = [...checksums].filter(([name]) => names.has(name));
    return new TextDecoder().decode(assetsFile({ ...assets, keys, weights, checksums: Object.fromEntries(kept) }));
  };
}

/** The graph; where it depends on the numbers of tables, those are looked at first. */
async function planned(model: tf.LayersModel, variables: ModelVariables, options: CheckedOptions): Promise<ModelParts> {
  const first = plan(model, variables, options, new Map());
  if (first.asked.size === 0) return first.parts;
  const largest = new Map<string, number>();
  for (const table of first.asked) largest.set(table.name, await largestIn(table as SavedVariable));
  return plan(model, variables, options, largest).parts;
}

/** The file beside a file. */
function besides(file: FileTarget): { path: string; location: string } {
  if (typeof file !== 'string') {
    const note = 'Values that lie in a file beside need a path.';
    throw new ValueError('file', 'a path', described('a stream'), note);
  }
  const path = `${pathOf(file)}.data`;
  return { path, location: path.split(/[/\\]/).at(-1)! };
}

export async function exportOnnx(model: unknown, file: FileTarget, options: unknown): Promise<void> {
  if (!(model instanceof tf.LayersModel)) throw new ArgumentTypeError('model', 'a layers model', model);
  const checked = checkOnnxOptions(options);
  const variables = new ModelVariables(model);
  try {
    const parts = await planned(model, variables, checked);
    if (!(checked.externalData ?? sizeOfValues(parts) > MOST_INSIDE)) {
      if (sizeOfValues(parts) > MOST_INSIDE) {
        throw new ValueError('externalData', 'true: a file of ONNX holds 2 GB at most', false);
      }
      return await toTarget(file, (write) => writeModel(parts, null, new Map(), write));
    }
    // First what the model refers to.
    const { path, location } = besides(file);
    const checksums: Checksums = new Map();
    await toTarget(path, (write) => writeExternal(parts, checksums, write));
    await toTarget(file, (write) => writeModel(parts, location, checksums, write));
  } finally {
    variables.dispose();
  }
}
