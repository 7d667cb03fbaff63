/** The objects that Python gets: signatures, variables, and which values of the bundle are theirs. */
import type { SavedVariable } from './variables.js';
import { shapeMessage, type Shape } from './graph/value.js';
import { DataType, type DataTypeName } from './wire/data_types.js';
import type {
  ConcreteFunctionMessage,
  ObjectReference,
  SavedObjectGraphMessage,
  SavedObjectMessage,
  StructuredValue,
  TrackableGraphMessage,
} from './wire/object_messages.js';

export interface NamedSpec {
  readonly name: string;
  readonly dtype: DataTypeName;
  readonly shape: Shape;
}

/** A signature as Python calls it. */
export interface CallableSignature {
  readonly name: string;
  /** Of the function in the graph's library. */
  readonly functionName: string;
  readonly inputs: readonly NamedSpec[];
  readonly outputs: readonly NamedSpec[];
  /** What the function captures. */
  readonly captures: readonly SavedVariable[];
}

/** One argument of a function that Python calls as it calls any. */
type CallArgument =
  | { readonly kind: 'dense'; readonly spec: NamedSpec }
  | { readonly kind: 'ragged'; readonly values: NamedSpec; readonly rowSplits: NamedSpec };

/** What the loaded object does when it is called. */
export interface CallableObject extends CallableSignature {
  readonly fed: readonly CallArgument[];
}

const VERSION = { producer: 1, minConsumer: 1 };

function specOf({ name, dtype, shape }: NamedSpec): StructuredValue {
  return { tensorSpec: { name, shape: shapeMessage(shape), dtype: DataType[dtype] } };
}

function dictionary(specs: readonly NamedSpec[]): StructuredValue {
  return { dict: { fields: Object.fromEntries(specs.map((spec) => [spec.name, specOf(spec)])) } };
}

const NONE: StructuredValue = { none: {} };

/** Names of arguments, by position or by keyword only, without defaults. */
function argumentsOf(args: readonly string[], keywords: readonly string[]): StructuredValue {
  const strings = (names: readonly string[]): StructuredValue => {
    return { list: { values: names.map((name) => ({ string: name })) } };
  };
  const fields: [string, StructuredValue][] = [
    ['args', strings(args)],
    ['varargs', NONE],
    ['varkw', NONE],
    ['defaults', NONE],
    ['kwonlyargs', strings(keywords)],
    ['kwonlydefaults', NONE],
    ['annotations', { dict: { fields: {} } }],
  ];
  return { namedTuple: { name: 'FullArgSpec', values: fields.map(([key, value]) => ({ key, value })) } };
}

/** Number of TypeSpecProto's class of ragged tensors. */
const RAGGED_TENSOR_SPEC = 3;

function argumentSpec(argument: CallArgument): StructuredValue {
  if (argument.kind === 'dense') return specOf(argument.spec);
  const { values, rowSplits } = argument;
  const state: StructuredValue[] = [
    { tensorShape: shapeMessage([null, null]) },
    { tensorType: DataType[values.dtype] },
    { int64: 1 },
    { tensorType: DataType[rowSplits.dtype] },
  ];
  return {
    typeSpec: {
      typeSpecClass: RAGGED_TENSOR_SPEC,
      typeState: { tuple: { values: state } },
      typeSpecClassName: 'RaggedTensorSpec',
      numFlatComponents: 2,
    },
  };
}

function argumentName(argument: CallArgument): string {
  return argument.kind === 'dense' ? argument.spec.name : argument.values.name;
}

/** Nodes of the graph of objects: the root, the variables, their list, the signatures. */
class Objects {
  readonly nodes: SavedObjectMessage[] = [];

  add(node: SavedObjectMessage): number {
    return this.nodes.push(node) - 1;
  }
}

function userObject(identifier: string, children: readonly ObjectReference[]): SavedObjectMessage {
  return { children, userObject: { identifier, version: VERSION } };
}

function numbered(ids: readonly number[]): ObjectReference[] {
  return ids.map((nodeId, i) => ({ nodeId, localName: String(i) }));
}

const ROOT = 0;

/** Where the nodes of the graph lie. */
interface ObjectLayout {
  readonly objects: SavedObjectGraphMessage;
  readonly checkpoint: TrackableGraphMessage;
}

export function objectGraph(
  variables: readonly SavedVariable[],
  signatures: readonly CallableSignature[],
  call: CallableObject | null,
): ObjectLayout {
  const objects = new Objects();
  objects.add({});
  const ids = new Map(
    variables.map((variable) => {
      const { dtype, shape, trainable, name } = variable;
      const node = { dtype: DataType[dtype], shape: shapeMessage(shape), trainable, name };
      return [variable, objects.add({ variable: node })] as const;
    }),
  );
  const idsOf = (some: readonly SavedVariable[]): number[] => some.map((variable) => ids.get(variable)!);
  const list = (some: readonly SavedVariable[]): number => {
    return objects.add(userObject('trackable_list_wrapper', numbered(idsOf(some))));
  };
  const all = list(variables);
  const trainable = list(variables.filter((variable) => variable.trainable));
  const functions = signatures.map(({ name, functionName, inputs }) => {
    const keywords = inputs.map((input) => input.name);
    const bareConcreteFunction = {
      name: functionName,
      argumentKeywords: keywords,
      // As TensorFlow's own: a lone input may come without its name, as Keras's TFSMLayer gives it.
      allowedPositionalArguments: keywords.length === 1 ? 1 : 0,
      functionSpec: { fullArgSpec: argumentsOf([], keywords), inputSignature: NONE },
    };
    return { nodeId: objects.add({ bareConcreteFunction }), localName: name };
  });
  const map = objects.add(userObject('signature_map', functions));
  const children = [
    { nodeId: all, localName: 'variables' },
    { nodeId: trainable, localName: 'trainable_variables' },
    { nodeId: map, localName: 'signatures' },
    ...(call === null ? [] : [{ nodeId: addCall(objects, call), localName: '__call__' }]),
  ];
  objects.nodes[ROOT] = userObject('_generic_user_object', children);
  const concreteFunctions = Object.fromEntries(
    signatures.map((signature) => [signature.functionName, concreteFunction(signature, idsOf(signature.captures))]),
  );
  if (call !== null) {
    const specs = call.fed.map(argumentSpec);
    concreteFunctions[call.functionName] = {
      ...concreteFunction(call, idsOf(call.captures)),
      inputSignature: { tuple: { values: [{ tuple: { values: specs } }, { dict: { fields: {} } }] } },
    };
  }
  return {
    objects: { nodes: objects.nodes, concreteFunctions },
    checkpoint: checkpointOf(objects.nodes, ids),
  };
}

function addCall(objects: Objects, { functionName, fed }: CallableObject): number {
  const functionSpec = {
    fullArgSpec: argumentsOf(fed.map(argumentName), []),
    inputSignature: { tuple: { values: fed.map(argumentSpec) } },
  };
  return objects.add({ function: { concreteFunctions: [functionName], functionSpec } });
}

function concreteFunction({ inputs, outputs }: CallableSignature, boundInputs: number[]): ConcreteFunctionMessage {
  return {
    boundInputs,
    inputSignature: { tuple: { values: [{ tuple: { values: [] } }, dictionary(inputs)] } },
    outputSignature: dictionary(outputs),
  };
}

/** The same nodes for the bundle, where only variables have values. */
function checkpointOf(
  nodes: readonly SavedObjectMessage[],
  ids: ReadonlyMap<SavedVariable, number>,
): TrackableGraphMessage {
  const byId = new Map([...ids].map(([variable, id]) => [id, variable]));
  return {
    nodes: nodes.map(({ children = [] }, id) => {
      const variable = byId.get(id);
      if (variable === undefined) return { children };
      const attribute = { name: 'VARIABLE_VALUE', fullName: variable.name, checkpointKey: variable.key };
      return { children, attributes: [attribute] };
    }),
  };
}
