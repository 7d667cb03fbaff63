/** Writes a model as a SavedModel. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError } from '../../base/errors.js';
import {
  ASSETS_FILE,
  assetsFile,
  assetsOf,
  optimizerState,
  type LayersModelAssets,
  type OptimizerTensor,
} from './assets.js';
import { tableOf } from '../../backends/table.js';
import { piecesOf } from '../../io/models/tensor_pieces.js';
import { dataTypeOf } from './wire/data_types.js';
import { BundleWriter, DATA_FILE, INDEX_FILE, type BundleTensor } from './bundle/bundle_writer.js';
import type { SavedModelWriter } from '../../base/platform.js';
import { writeTo } from './destination.js';
import { FunctionBuilder } from './graph/function_builder.js';
import { TensorFlowForm } from './graph/tensorflow_form.js';
import { metaGraphOf, type MetaGraphParts } from './meta_graph.js';
import { feed } from './feed.js';
import { ModelGraph } from './model_graph.js';
import type { CallableSignature, NamedSpec } from './object_graph.js';
import { SERVING_DEFAULT, readSignatures, type Signature } from './signatures.js';
import { fedInputs, specsOf, type FedInput } from './ragged_inputs.js';
import { ModelVariables, type SavedVariable } from './variables.js';
import type { FunctionMessage } from '../../base/protobuf/graph_messages.js';
import { TrackableGraph } from './wire/object_messages.js';
import { SavedModel } from './wire/saved_model_messages.js';
import { checkExportOptions, type CheckedOptions } from './export_options.js';

const SCHEMA_VERSION = 1;

interface SignatureGraph {
  readonly fed: readonly FedInput[];
  readonly signature: CallableSignature;
  readonly functions: readonly FunctionMessage[];
}

/** Python hands the entries of an object to a function by their names in order. */
function byName<T extends { readonly name: string }>(named: readonly T[]): T[] {
  return [...named].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The function of a signature, and what it calls. `isNamed`: its arguments come by name. */
function graphOf(
  signature: Signature,
  { functionName, isNamed }: { readonly functionName: string; readonly isNamed: boolean },
  variables: ModelVariables,
  { customOps, ragged }: CheckedOptions,
): SignatureGraph {
  const { name, inputs } = signature;
  const outputs = byName(signature.outputs);
  const graph = new FunctionBuilder(functionName);
  const form = new TensorFlowForm(functionName, (table) => variables.keysOf(table));
  const model = new ModelGraph(graph, form, { customOps, variableOf: (weight) => variables.of(weight) });
  const fed = fedInputs(signature, ragged);
  const specs = isNamed ? byName(specsOf(fed)) : specsOf(fed);
  const given = new Map(specs.map((spec) => [spec.name, graph.argument(spec.dtype, spec.shape, spec.name)]));
  const values = feed(model.operations, fed, given);
  const part = {
    inputs: inputs.map(({ symbolic }) => symbolic),
    outputs: outputs.map(({ symbolic }) => symbolic),
  };
  const results = model.emitModel(
    part,
    inputs.map(({ symbolic }) => values.get(symbolic.id)!),
  );
  const made = graph.finish(results);
  const resultSpecs = outputs.map((output, i): NamedSpec => {
    return { name: output.name, dtype: results[i]!.dtype, shape: output.symbolic.shape };
  });
  const captures = graph.captures as SavedVariable[];
  return {
    signature: { name, functionName, inputs: specs, outputs: resultSpecs, captures },
    fed,
    functions: [...form.functions, made],
  };
}

function stateOf({ key, snapshot }: OptimizerTensor): BundleTensor {
  const { shape } = snapshot;
  return { key, dtype: dataTypeOf(snapshot.dtype, key), shape, pieces: () => piecesOf(snapshot) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** What is written, made before the first file is: whatever is wrong with the model is told then. */
function plan(model: tf.LayersModel, variables: ModelVariables, options: CheckedOptions): MetaGraphParts {
  const signatures = readSignatures(model, options.signatures);
  // With its number, so that no signature's name makes it the function of another one.
  const graphs = signatures.map((each, i) => {
    return graphOf(each, { functionName: `__inference_${i}_${each.name}`, isNamed: true }, variables, options);
  });
  const takesRagged = graphs.some(({ fed }) => fed.some((each) => each.kind === 'ragged' && each.isComposite));
  const first = signatures.find(({ name }) => name === SERVING_DEFAULT)!;
  // RaggedTensors are taken by the object that Python loads; its signatures take their parts.
  const call = takesRagged
    ? graphOf(first, { functionName: '__inference_call', isNamed: false }, variables, options)
    : null;
  return metaGraphOf(
    variables.list,
    graphs.map(({ signature }) => signature),
    [...graphs, ...(call === null ? [] : [call])].flatMap(({ functions }) => functions),
    call === null ? null : { ...call.signature, fed: call.fed },
  );
}

/** Everything of a model that is written. */
interface ModelParts {
  readonly variables: ModelVariables;
  /** null: it stays here. */
  readonly state: readonly OptimizerTensor[] | null;
  readonly graph: MetaGraphParts;
  readonly assets: LayersModelAssets;
}

/** All files; the one that makes a SavedModel of them comes last. */
async function writeFiles(writer: SavedModelWriter, { variables, state, graph, assets }: ModelParts): Promise<void> {
  const bundle = new BundleWriter();
  const tensors = [...variables.list, ...(state ?? []).map(stateOf)];
  await writer.write(`variables/${DATA_FILE}`, bundle.data(tensors, TrackableGraph.encode(graph.checkpoint)));
  await writer.write(`variables/${INDEX_FILE}`, once(bundle.index()));
  await writer.write(ASSETS_FILE, once(assetsFile(assets)));
  const saved = SavedModel.encode({ schemaVersion: SCHEMA_VERSION, metaGraphs: [graph.metaGraph] });
  await writer.write('saved_model.pb', once(saved));
}

export async function exportModel(model: unknown, destination: unknown, options: unknown): Promise<void> {
  if (!(model instanceof tf.LayersModel)) throw new ArgumentTypeError('model', 'a layers model', model);
  const checked = checkExportOptions(options);
  // Training goes on with rows of float16, whose numbers float32 holds exactly; codes would be others after the way back.
  const hasCodes = model.weights.some((weight) => tableOf(weight.read()).codec.training === null);
  const goesOn = checked.includeOptimizer && !hasCodes;
  const state = goesOn ? await optimizerState(model) : null;
  const variables = new ModelVariables(model);
  try {
    const graph = plan(model, variables, checked);
    const parts = { variables, state, graph, assets: assetsOf(model, variables, state) };
    await writeTo(destination, checked.overwrite, (writer) => writeFiles(writer, parts));
  } finally {
    variables.dispose();
    tf.dispose((state ?? []).map(({ snapshot }) => snapshot));
  }
}
