/**
 * Layers of Keras that TensorFlow.js lacks, each told by one description: what it is called, its fields with what they are
 * by default, its weights, the shape of its result and what it computes. Constructor, config, files of Keras in and out
 * follow from that.
 */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { shapesOf, type SymbolicShape } from '../../base/layer_arguments.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { brand } from '../../base/per_process.js';
import { nextName } from '../../base/layer_names.js';
import { readInitializerOf } from '../../tables/initializers.js';
import { readRegularizer } from '../../tables/regularizers.js';
import { readConstraint } from '../../tables/constraints.js';
import { serializeRegistered, type Registered } from '../../tables/registered_objects.js';
import { readActivation, type Activation } from '../feature_interaction/activations.js';
import type { Kwargs } from '../layer_calls.js';

export type Fields = Readonly<Record<string, unknown>>;

/** What a layer computes with. */
export interface Computing {
  readonly isTraining: boolean;
  readonly fields: Fields;
  /** By the name that `weights` gave it; absent where the layer has none. */
  readonly weight: (name: string) => tf.Tensor | null;
  /** The function of a field, `linear` where it has none. */
  readonly activate: (x: tf.Tensor, field?: string) => tf.Tensor;
}

export interface LayerKind {
  /** In Keras. */
  readonly className: string;
  /**
   * Fields by their name here, and what they are by default. Those that end in Initializer, Regularizer, Constraint or
   * activation are read as such.
   */
  readonly fields: Fields;
  /** Weights by name, in the order of Keras, with their shapes; `${name}Initializer` and so on are fields. */
  readonly weights?: (shape: SymbolicShape, fields: Fields) => Readonly<Record<string, readonly number[]>>;
  /** The shape of the result, of an input of this dtype. Default: that of the input. */
  readonly shape?: (shape: SymbolicShape, fields: Fields, dtype: tf.DataType) => SymbolicShape;
  readonly compute: (x: tf.Tensor, computing: Computing) => tf.Tensor;
  /** Fields that only Keras has, with the values under which they have no effect. */
  readonly fixed?: Readonly<Record<string, readonly unknown[]>>;
  /** false: the mask of the input ends here. */
  readonly passesMask?: boolean;
  /** The layer of tfjs of the same name is taken unless this says that it computes something else. */
  readonly isNeeded?: (config: Fields) => boolean;
}

const BASE = ['name', 'trainable', 'inputShape', 'batchInputShape', 'batchSize'] as const;

const KINDS = ['Initializer', 'Regularizer', 'Constraint', 'ctivation'] as const;
type Kind = (typeof KINDS)[number];

function kindOf(field: string): Kind | null {
  return KINDS.find((kind) => field.endsWith(kind)) ?? null;
}

const READERS: Readonly<Record<Kind, (field: string, value: unknown, otherwise: unknown) => Registered | null>> = {
  Initializer: (field, value, otherwise) => readInitializerOf(field, value, otherwise as string),
  Regularizer: (field, value) => readRegularizer(value, field),
  Constraint: (_field, value) => readConstraint(value),
  ctivation: (field, value) => readActivation(field, value),
};

/** Fields of a weight, with what they are by default. */
export function weightFields(name: string, initializer: string): Fields {
  return { [`${name}Initializer`]: initializer, [`${name}Regularizer`]: null, [`${name}Constraint`]: null };
}

/** A layer of one of the kinds. */
export class KerasLayer extends tf.layers.Layer {
  static {
    brand(this, 'KerasLayer');
  }
  static readonly className: string = 'TfjsEmbeddings>KerasLayer';
  static readonly kind: LayerKind;
  readonly fields: Fields;
  readonly #objects: Readonly<Record<string, Registered | null>>;
  readonly #weights = new Map<string, tf.LayerVariable>();
  /** Of the input of the call that is made. */
  #dtype: tf.DataType = 'float32';

  constructor(args: Readonly<Record<string, unknown>> = {}) {
    const { kind } = new.target as unknown as typeof KerasLayer;
    const base = Object.fromEntries(BASE.filter((key) => args[key] !== undefined).map((key) => [key, args[key]]));
    super({ ...base, name: (args['name'] as string | undefined) ?? nextName(kind.className.toLowerCase()) } as never);
    const given = Object.entries(kind.fields).map(([field, value]) => [field, args[field] ?? value] as const);
    this.fields = Object.fromEntries(given.filter(([field]) => kindOf(field) === null));
    this.#objects = Object.fromEntries(
      given.flatMap(([field, value]) => {
        const objectKind = kindOf(field);
        return objectKind === null ? [] : [[field, READERS[objectKind](field, value, kind.fields[field])] as const];
      }),
    );
    this.supportsMasking = kind.passesMask !== false;
  }

  get kind(): LayerKind {
    return (this.constructor as typeof KerasLayer).kind;
  }

  override build(inputShape: tf.Shape | tf.Shape[]): void {
    const [shape] = shapesOf(inputShape) as [SymbolicShape];
    for (const [name, sizes] of Object.entries(this.kind.weights?.(shape, this.fields) ?? {})) {
      const of = (what: Kind): never => (this.#objects[`${name}${what}`] ?? undefined) as never;
      const initializer = of('Initializer') as unknown;
      const made = this.addWeight(
        name,
        [...sizes],
        'float32',
        (initializer ?? readInitializerOf(name, 'ones', 'ones')) as never,
        of('Regularizer'),
        true,
        of('Constraint'),
      );
      this.#weights.set(name, made);
    }
    super.build(inputShape);
  }

  override apply(
    inputs: Parameters<tf.layers.Layer['apply']>[0],
    kwargs?: Parameters<tf.layers.Layer['apply']>[1],
  ): ReturnType<tf.layers.Layer['apply']> {
    this.#dtype = ([inputs].flat()[0] as tf.Tensor).dtype;
    return super.apply(inputs, kwargs);
  }

  override computeOutputShape(inputShape: tf.Shape | tf.Shape[]): tf.Shape {
    const [shape] = shapesOf(inputShape) as [SymbolicShape];
    const axes = /(\d)D/.exec(this.kind.className)?.[1];
    if (axes !== undefined && shape.length !== Number(axes) + 2)
      throw new ValueError('inputs', `rank ${Number(axes) + 2}`, shape);
    const result = [...(this.kind.shape?.(shape, this.fields, this.#dtype) ?? shape)] as tf.Shape;
    const isSize = (size: unknown): boolean =>
      size === null || (Number.isInteger(size) && (size as number) >= 0 && (size as number) < 2 ** 31);
    if (result.every(isSize)) return result;
    throw new ValueError('config', 'settings of which a result has sizes', described(`[${result.join(', ')}]`));
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Kwargs): tf.Tensor {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      const [x] = [inputs].flat() as [tf.Tensor];
      const result = this.kind.compute(x, {
        isTraining: kwargs['training'] === true,
        fields: this.fields,
        weight: (name) => (this.#weights.get(name)?.read() as tf.Tensor | undefined) ?? null,
        activate: (value, field = 'activation') => (this.#objects[field] as Activation).apply(value),
      });
      // What a model gives to a layer is freed before the result.
      return result === x ? x.clone() : result;
    });
  }

  override computeMask(_inputs: tf.Tensor | tf.Tensor[], mask?: tf.Tensor | tf.Tensor[]): tf.Tensor {
    return (this.supportsMasking ? ([mask].flat()[0] ?? null) : null) as tf.Tensor;
  }

  override getConfig(): tf.serialization.ConfigDict {
    const objects = Object.entries(this.#objects).map(([field, object]) => {
      const isFunction = kindOf(field) === 'ctivation';
      return [field, isFunction ? (object?.getClassName() ?? 'linear') : serializeRegistered(object)] as const;
    });
    return { ...super.getConfig(), ...this.fields, ...Object.fromEntries(objects) } as tf.serialization.ConfigDict;
  }

  /** Makes the layer from its config. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    const { fields } = (cls as unknown as typeof KerasLayer).kind;
    return new cls(readLayerConfig(config, [...Object.keys(fields), ...BASE]) as tf.serialization.ConfigDict);
  }
}

/** The class of layers of a kind, under a name that no layer of tfjs has. */
export function layerClass(kind: LayerKind): typeof KerasLayer {
  return class extends KerasLayer {
    static override readonly className: string = `TfjsEmbeddings>${kind.className}`;
    static override readonly kind = kind;
  };
}

/** A field that is one number for all axes, or one for each. */
export function sizesOf(value: unknown, count: number): number[] {
  const list = [value].flat() as number[];
  return Array.from({ length: count }, (_, i) => list[list.length === 1 ? 0 : i]!);
}

/** Whether channels come before the axes of space. */
export function isChannelsFirst({ dataFormat }: Fields): boolean {
  return typeof dataFormat === 'string' && /first/i.test(dataFormat);
}

/** The axes of space of an input of this rank. */
export function spatialAxes(rank: number, fields: Fields): number[] {
  return Array.from({ length: rank - 2 }, (_, i) => i + (isChannelsFirst(fields) ? 2 : 1));
}

/** What a config of Keras tells, in camel case or not. */
export function told(config: Fields, field: string): unknown {
  return config[field] ?? config[field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}
