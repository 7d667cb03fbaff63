/** The objects that Python gets: signatures, variables, and which values of the bundle are theirs. */
import type { SavedVariable } from './variables.js';
import { shapeMessage, type Shape } from './graph/value.js';
import { DataType, type DataTypeName } from './wire/data_types.js';
import type {
  ConcreteFunctionMessage,
  FunctionSpecMessage,
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

const VERSION = { producer: 1, minConsumer: 1 };

function specOf({ name, dtype, shape }: NamedSpec): StructuredValue {
  return { tensorSpec: { name, shape: shapeMessage(shape), dtype: DataType[dtype] } };
}

function dictionary(specs: readonly NamedSpec[]): StructuredValue {
  return { dict: { fields: Object.fromEntries(specs.map((spec) => [spec.name, specOf(spec)])) } };
}

/** Keywords only, no defaults. */
function keywordsOnly(names: readonly string[]): FunctionSpecMessage {
  const none: StructuredValue = { none: {} };
  const fields: [string, StructuredValue][] = [
    ['args', { list: { values: [] } }],
    ['varargs', none],
    ['varkw', none],
    ['defaults', none],
    ['kwonlyargs', { list: { values: names.map((name) => ({ string: name })) } }],
    ['kwonlydefaults', none],
    ['annotations', { dict: { fields: {} } }],
  ];
  const values = fields.map(([key, value]) => ({ key, value }));
  return { fullArgSpec: { namedTuple: { name: 'FullArgSpec', values } }, inputSignature: none };
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
      allowedPositionalArguments: 0,
      functionSpec: keywordsOnly(keywords),
    };
    return { nodeId: objects.add({ bareConcreteFunction }), localName: name };
  });
  const map = objects.add(userObject('signature_map', functions));
  const children = [
    { nodeId: all, localName: 'variables' },
    { nodeId: trainable, localName: 'trainable_variables' },
    { nodeId: map, localName: 'signatures' },
  ];
  objects.nodes[ROOT] = userObject('_generic_user_object', children);
  const concreteFunctions = Object.fromEntries(
    signatures.map((signature) => [signature.functionName, concreteFunction(signature, idsOf(signature.captures))]),
  );
  return {
    objects: { nodes: objects.nodes, concreteFunctions },
    checkpoint: checkpointOf(objects.nodes, ids),
  };
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
