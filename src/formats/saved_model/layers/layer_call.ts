/** One use of a layer in a model, for what writes its ops. */
import type * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../../base/errors.js';
import type { GraphVariable } from '../graph/function_builder.js';
import type { GraphForm } from '../graph/graph_form.js';
import type { Operations } from '../graph/operations.js';
import type { Shape, Value } from '../graph/value.js';

/** What all layers of a signature share. */
export interface GraphContext {
  readonly operations: Operations;
  /** Whether `EmbeddingBag` may be used, for which the op library must be loaded. */
  readonly customOps: boolean;
  /** The variable under which a weight is saved. */
  variableOf(weight: tf.LayerVariable): GraphVariable;
  readonly form: GraphForm;
  /** Writes the ops of a layer that another one holds. */
  emit(layer: tf.layers.Layer, inputs: readonly Value[], mask: Value | null): Emitted;
}

/** What a layer gives. */
export interface Emitted {
  readonly outputs: readonly Value[];
  /** Of each output: bool, true where it counts. */
  readonly masks: readonly (Value | null)[];
}

/** Writes the ops of one kind of layer. */
export type Emitter = (call: LayerCall) => Value | readonly Value[];

export class LayerCall {
  readonly config: Readonly<Record<string, unknown>>;

  constructor(
    readonly layer: tf.layers.Layer,
    readonly inputs: readonly Value[],
    /** What tfjs passes to the call as `mask`. */
    readonly mask: Value | null,
    readonly context: GraphContext,
    /** The masks of all inputs. */
    readonly masks: readonly (Value | null)[] = [mask],
  ) {
    this.config = layer.getConfig();
  }

  get o(): Operations {
    return this.context.operations;
  }

  /** The first input, often the only one. */
  get input(): Value {
    return this.inputs[0]!;
  }

  /** Numbers of a field that is a list. */
  numbers(field: string): number[] {
    return [...(this.config[field] as readonly number[])];
  }

  /** Whether channels come before the axes of space. */
  get isChannelsFirst(): boolean {
    return this.config['dataFormat'] === 'channelsFirst';
  }

  /** The weight of this name; null where the layer has none. */
  variable(name: string, layer = this.layer): GraphVariable | null {
    const found = layer.weights.filter(({ originalName }) => originalName.split('/').at(-1) === name);
    if (found.length > 1) throw this.refuse(`whose weight ${name} is there ${found.length} times`);
    return found.length === 0 ? null : this.context.variableOf(found[0]!);
  }

  /** The value of a weight; null where the layer has none. */
  optional(name: string, layer = this.layer): Value | null {
    const variable = this.variable(name, layer);
    return variable === null ? null : this.o.read(variable);
  }

  weight(name: string, layer = this.layer): Value {
    const value = this.optional(name, layer);
    if (value === null) throw this.refuse(`that has no weight ${name}`);
    return value;
  }

  /** The error of a layer that cannot be exported. */
  refuse(what: string): ValueError {
    const { layer } = this;
    const received = described(`layer ${layer.name} (${layer.getClassName()}), ${what}`);
    return new ValueError('model', `layers that ${this.context.form.runtime} ops can express`, received);
  }

  /** The shape of the result, as the layer computes it. */
  outputShape(): Shape {
    const shapes = this.inputs.map(({ shape }) => [...shape]);
    const shape = this.layer.computeOutputShape((shapes.length === 1 ? shapes[0] : shapes) as tf.Shape);
    return (Array.isArray(shape[0]) ? shape[0] : shape) as Shape;
  }
}
