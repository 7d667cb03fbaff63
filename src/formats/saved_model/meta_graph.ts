/** The graph that runs without Python: placeholders, variables, calls of the functions, and how values are restored. */
import { DataType } from './wire/data_types.js';
import { nodeName, text, type, types } from './graph/function_builder.js';
import { shapeMessage } from './graph/value.js';
import type { Attributes, FunctionMessage, NodeMessage } from '../../base/protobuf/graph_messages.js';
import type { MetaGraphMessage, SignatureMessage, TensorInfoMessage } from './wire/saved_model_messages.js';
import { objectGraph, type CallableObject, type CallableSignature, type NamedSpec } from './object_graph.js';
import type { SavedVariable } from './variables.js';
import type { TrackableGraphMessage } from './wire/object_messages.js';

/** What this package writes can be read from TensorFlow 2.9 on. */
const TENSORFLOW = '2.9.0';
/** Versions of the graph format: who wrote it, and who at least may read it. */
const VERSIONS = { producer: 1087, minConsumer: 12 };
/** Of the format of saved values: a bundle. */
const SAVER_V2 = 2;
const PREDICT = 'tensorflow/serving/predict';

const encoder = new TextEncoder();

/** Nodes of the outer graph, each name once. */
class OuterGraph {
  readonly nodes: NodeMessage[] = [];
  readonly #names = new Set<string>();

  /** Returns the name of the node: `name` where it is free and TensorFlow takes it. */
  add(name: string, op: string, input: readonly string[] = [], attr: Attributes = {}): string {
    const plain = nodeName(name);
    let free = plain;
    // Signatures are named by the user: a_b of the input c, and a of the input b_c, are one name.
    for (let n = 1; this.#names.has(free); n++) free = `${plain}_${n}`;
    this.#names.add(free);
    this.nodes.push({ name: free, op, input, attr });
    return free;
  }

  strings(name: string, values: readonly string[]): string {
    const strings = values.map((value) => encoder.encode(value));
    const tensor = { dtype: DataType.string, shape: { dim: [{ size: values.length }] }, strings };
    return this.add(name, 'Const', [], { dtype: type('string'), value: { tensor } });
  }
}

function addVariables(graph: OuterGraph, variables: readonly SavedVariable[]): Map<SavedVariable, string> {
  return new Map(
    variables.map((variable, i) => {
      const { name, dtype, shape } = variable;
      const attr = { dtype: type(dtype), shape: { shape: shapeMessage(shape) }, shared_name: text(name) };
      return [variable, graph.add(`variables/${i}`, 'VarHandleOp', [], attr)];
    }),
  );
}

function addSaver(
  graph: OuterGraph,
  handles: ReadonlyMap<SavedVariable, string>,
): NonNullable<MetaGraphMessage['saver']> {
  const variables = [...handles.keys()];
  const attr = { dtype: type('string'), shape: { shape: {} } };
  const prefix = graph.add('saver_filename', 'Placeholder', [], attr);
  const saver = {
    filenameTensorName: `${prefix}:0`,
    saveTensorName: 'save/saved:0',
    restoreOpName: 'save/restored',
    version: SAVER_V2,
  };
  if (variables.length === 0) {
    graph.add('save/saved', 'Identity', [prefix], { T: type('string') });
    graph.add('save/restored', 'NoOp');
    return saver;
  }
  const names = graph.strings(
    'save/keys',
    variables.map(({ key }) => key),
  );
  const slices = graph.strings(
    'save/slices',
    variables.map(() => ''),
  );
  const dtypes = { dtypes: types(variables.map(({ dtype }) => dtype)) };
  const restored = graph.add('save/values', 'RestoreV2', [prefix, names, slices], dtypes);
  const assigned = variables.map((variable, i) => {
    const value = i === 0 ? restored : `${restored}:${i}`;
    return graph.add(`save/assign_${i}`, 'AssignVariableOp', [handles.get(variable)!, value], {
      dtype: type(variable.dtype),
    });
  });
  graph.add(
    'save/restored',
    'NoOp',
    assigned.map((name) => `^${name}`),
  );
  const read = variables.map((variable, i) => {
    return graph.add(`save/read_${i}`, 'ReadVariableOp', [handles.get(variable)!], { dtype: type(variable.dtype) });
  });
  const written = graph.add('save/write', 'SaveV2', [prefix, names, slices, ...read], dtypes);
  graph.add('save/saved', 'Identity', [prefix, `^${written}`], { T: type('string') });
  return saver;
}

function infoOf(name: string, { dtype, shape }: NamedSpec): TensorInfoMessage {
  return { name, dtype: DataType[dtype], shape: shapeMessage(shape) };
}

/** Placeholders, a call of the function, and the signature that names them. */
function addSignature(
  graph: OuterGraph,
  { name, functionName, inputs, outputs, captures }: CallableSignature,
  handles: ReadonlyMap<SavedVariable, string>,
): SignatureMessage {
  const placeholders = inputs.map((input) => {
    const attr = { dtype: type(input.dtype), shape: { shape: shapeMessage(input.shape) } };
    return graph.add(`${name}_${input.name}`, 'Placeholder', [], attr);
  });
  const resources = captures.map((variable) => handles.get(variable)!);
  const call = graph.add(`${name}/call`, 'StatefulPartitionedCall', [...placeholders, ...resources], {
    Tin: types([...inputs.map(({ dtype }) => dtype), ...captures.map(() => 'resource' as const)]),
    Tout: types(outputs.map(({ dtype }) => dtype)),
    f: { func: { name: functionName } },
  });
  return {
    inputs: Object.fromEntries(inputs.map((input, i) => [input.name, infoOf(`${placeholders[i]!}:0`, input)])),
    outputs: Object.fromEntries(outputs.map((output, i) => [output.name, infoOf(`${call}:${i}`, output)])),
    methodName: PREDICT,
  };
}

export interface MetaGraphParts {
  readonly metaGraph: MetaGraphMessage;
  /** For the bundle. */
  readonly checkpoint: TrackableGraphMessage;
}

export function metaGraphOf(
  variables: readonly SavedVariable[],
  signatures: readonly CallableSignature[],
  functions: readonly FunctionMessage[],
  call: CallableObject | null,
): MetaGraphParts {
  const graph = new OuterGraph();
  const handles = addVariables(graph, variables);
  const saver = addSaver(graph, handles);
  const named = signatures.map((each) => [each.name, addSignature(graph, each, handles)] as const);
  const { objects, checkpoint } = objectGraph(variables, signatures, call);
  return {
    metaGraph: {
      info: { tags: ['serve'], tensorflowVersion: TENSORFLOW, strippedDefaultAttributes: true },
      graph: { node: graph.nodes, versions: VERSIONS, library: { function: functions } },
      saver,
      signatures: Object.fromEntries(named),
      objects,
    },
    checkpoint,
  };
}
