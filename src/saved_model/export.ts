/** Writes a model as a SavedModel. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError } from '../errors.js';
import { BundleWriter, DATA_FILE, INDEX_FILE, type BundleTensor } from './bundle/bundle_writer.js';
import { writeTo, type SavedModelWriter } from './destination.js';
import { FunctionBuilder } from './graph/function_builder.js';
import { metaGraphOf, type MetaGraphParts } from './meta_graph.js';
import { ModelGraph } from './model_graph.js';
import type { CallableSignature, NamedSpec } from './object_graph.js';
import { readSignatures, type Signature } from './signatures.js';
import { ModelVariables, piecesOf, type SavedVariable } from './variables.js';
import type { FunctionMessage } from './wire/graph_messages.js';
import { TrackableGraph } from './wire/object_messages.js';
import { SavedModel } from './wire/saved_model_messages.js';
import { checkExportOptions, type CheckedOptions } from './export_options.js';

const SCHEMA_VERSION = 1;

interface SignatureGraph {
  readonly signature: CallableSignature;
  readonly functions: readonly FunctionMessage[];
}

/** The function of a signature, and what it calls. */
function graphOf(signature: Signature, variables: ModelVariables, { customOps }: CheckedOptions): SignatureGraph {
  const { name, inputs, outputs } = signature;
  const functionName = `__inference_${name}`;
  const graph = new FunctionBuilder(functionName);
  const model = new ModelGraph(graph, { customOps, variableOf: (weight) => variables.of(weight) });
  const values = inputs.map(({ dtype, shape }) => graph.argument(dtype, shape));
  const part = {
    inputs: inputs.map(({ symbolic }) => symbolic),
    outputs: outputs.map(({ symbolic }) => symbolic),
  };
  const results = model.emitModel(part, values);
  const made = graph.finish(results);
  const specs = outputs.map((output, i): NamedSpec => {
    return { name: output.name, dtype: results[i]!.dtype, shape: output.symbolic.shape };
  });
  return {
    signature: { name, functionName, inputs, outputs: specs, captures: graph.captures as SavedVariable[] },
    functions: [...model.functions, made],
  };
}

function tensorOf({ key, dtype, shape, snapshot }: SavedVariable): BundleTensor {
  return { key, dtype, shape, pieces: () => piecesOf(snapshot) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** What is written, made before the first file is: whatever is wrong with the model is told then. */
function plan(model: tf.LayersModel, variables: ModelVariables, options: CheckedOptions): MetaGraphParts {
  const graphs = readSignatures(model, options.signatures).map((signature) => graphOf(signature, variables, options));
  return metaGraphOf(
    variables.list,
    graphs.map(({ signature }) => signature),
    graphs.flatMap(({ functions }) => functions),
  );
}

/** All files; the one that makes a SavedModel of them comes last. */
async function writeFiles(
  writer: SavedModelWriter,
  variables: ModelVariables,
  { metaGraph, checkpoint }: MetaGraphParts,
): Promise<void> {
  const bundle = new BundleWriter();
  const tensors = variables.list.map(tensorOf);
  await writer.write(`variables/${DATA_FILE}`, bundle.data(tensors, TrackableGraph.encode(checkpoint)));
  await writer.write(`variables/${INDEX_FILE}`, once(bundle.index()));
  const saved = SavedModel.encode({ schemaVersion: SCHEMA_VERSION, metaGraphs: [metaGraph] });
  await writer.write('saved_model.pb', once(saved));
}

export async function exportModel(model: unknown, destination: unknown, options: unknown): Promise<void> {
  if (!(model instanceof tf.LayersModel)) throw new ArgumentTypeError('model', 'a layers model', model);
  const checked = checkExportOptions(options);
  const variables = new ModelVariables(model);
  try {
    const parts = plan(model, variables, checked);
    await writeTo(destination, checked.overwrite, (writer) => writeFiles(writer, variables, parts));
  } finally {
    variables.dispose();
  }
}
