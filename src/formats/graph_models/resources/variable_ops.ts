/** Variables of graphs that were not frozen. A variable whose value is a weight of the model is that weight. */
import * as tf from '@tensorflow/tfjs';
import { RuntimeError, ValueError, described } from '../../../base/errors.js';
import { atEndOfModel, modelOf, nodeName, textAttribute } from '../../../tfjs/graph_models/graph_run.js';
import { graphOp, type GraphOp } from '../graph_op.js';
import { gatheredAt } from '../mended/moves.js';
import { findObject, forget, handleFor, objectOfKind } from './handles.js';

/** A variable of a model. */
export class GraphVariable {
  private value: tf.Tensor | null = null;

  constructor(
    readonly name: string,
    private readonly weight: tf.Tensor | null,
  ) {}

  get isInitialized(): boolean {
    return this.current !== null;
  }

  /** The value, which stays the variable's. */
  read(): tf.Tensor {
    const { current } = this;
    if (current !== null) return current;
    throw new RuntimeError('resource', 'a variable that has a value', described(`${this.name}, which has none`));
  }

  assign(value: tf.Tensor): void {
    const copy = tf.keep(value.clone());
    this.dispose();
    this.value = copy;
  }

  dispose(): void {
    this.value?.dispose();
    this.value = null;
  }

  private get current(): tf.Tensor | null {
    return this.value ?? this.weight;
  }
}

/** The variables of each model, by name. */
const variables = new WeakMap<object, Map<string, GraphVariable>>();

function variableOf(node: tf.GraphNode): GraphVariable {
  const model = modelOf(node);
  const known = variables.get(model) ?? new Map<string, GraphVariable>();
  variables.set(model, known);
  const shared = textAttribute(node, 'shared_name');
  const name = shared === '' ? nodeName(node) : shared;
  const found = known.get(name);
  if (found !== undefined) return found;
  const variable = new GraphVariable(name, model[name]?.[0] ?? null);
  known.set(name, variable);
  atEndOfModel(node, () => {
    variable.dispose();
    forget(variable);
    known.delete(name);
  });
  return variable;
}

/** The value behind a handle; a frozen variable is its value. */
export function valueOf(resource: tf.Tensor): tf.Tensor {
  return findObject(resource, GraphVariable)?.read() ?? resource;
}

function gather([resource, indices]: tf.Tensor[], node: tf.GraphNode): tf.Tensor {
  const params = valueOf(resource!);
  const batchDims = Number(node.attrs['batch_dims'] ?? 0);
  const rows = params.shape[batchDims] ?? 0;
  const stray = indices!.dataSync().findIndex((index: number) => index < 0 || index >= rows);
  if (stray >= 0) {
    const received = described(`${indices!.dataSync()[stray]} at position ${stray}`);
    throw new ValueError('indices', `indices in [0, ${rows})`, received);
  }
  return tf.gather(params, indices as tf.Tensor1D, batchDims, batchDims);
}

/** Ops without outputs give something that other nodes can come after. */
const done = (): tf.Tensor => tf.scalar(0);

export const VARIABLE_OPS: readonly GraphOp[] = [
  graphOp('VarHandleOp() -> resource: resource', (_inputs, node) => handleFor(variableOf(node))),
  graphOp('ReadVariableOp(resource: resource) -> value: dtype', ([resource]) => valueOf(resource!).clone()),
  graphOp('ReadVariableNoCopy(resource: resource) -> value: dtype', ([resource]) => valueOf(resource!).clone()),
  graphOp('VarIsInitializedOp(resource: resource) -> is_initialized: bool', ([resource]) =>
    tf.scalar(findObject(resource!, GraphVariable)?.isInitialized ?? true),
  ),
  graphOp('AssignVariableOp(resource: resource, value: dtype) -> ', ([resource, value]) => {
    objectOfKind(resource!, GraphVariable, 'resource').assign(value!);
    return done();
  }),
  graphOp('ResourceGather(resource: resource, indices: Tindices) -> output: dtype', gather),
  graphOp('ResourceGatherNd(resource: resource, indices: Tindices) -> output: dtype', ([resource, indices]) =>
    gatheredAt(valueOf(resource!), indices!, false),
  ),
];
