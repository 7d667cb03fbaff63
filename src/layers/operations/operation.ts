/** The layer `Operation`: one operation of Keras between the layers of a model, such as `a + b` or `x[:, 0]`. */
import * as tf from '@tensorflow/tfjs';
import { closestName } from '../../base/closest_name.js';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { checkObject, isSymbolic, shapesOf, type SymbolicShape } from '../../base/layer_arguments.js';
import { readLayerConfig } from '../../base/layer_config.js';
import { isRecord } from '../../base/options.js';
import { brand } from '../../base/per_process.js';
import { withoutTape } from '../../tfjs/lazy_gradient.js';
import { FLOAT_LAYER_FIELDS, readFloatLayerArgs, type FloatLayerArgs } from '../float_inputs.js';
import type { AnyTensors, Kwargs } from '../layer_calls.js';
import { distinct } from '../merge/with_mask.js';
import { CONTRACTIONS } from './contractions.js';
import { ELEMENTWISE } from './elementwise.js';
import { listShape, specOf, type Operand, type OperandType, type Rule, type Settings, type Spec } from './operand.js';
import { PLACES } from './places.js';
import { REDUCTIONS } from './reductions.js';

const RULES: Readonly<Record<string, Rule>> = { ...ELEMENTWISE, ...REDUCTIONS, ...PLACES, ...CONTRACTIONS };

/** Names of all operations, those of Keras's classes. */
export const OPERATIONS: readonly string[] = Object.keys(RULES);

export function ruleOf(operation: string): Rule {
  return RULES[operation]!;
}

/**
 * What an operation is called with: `{tensor: i}` for the input of this number, numbers, lists, `{value, dtype}` for
 * numbers of any shape, and for `GetItem` places as in Python: whole numbers, `{start, stop, step}`, null for a new axis,
 * `{ellipsis: true}`.
 */
export type OperandTemplate =
  | number
  | boolean
  | null
  | readonly OperandTemplate[]
  | { readonly tensor: number }
  | { readonly value: unknown; readonly dtype: string }
  | { readonly ellipsis: true }
  | { readonly start?: number | null; readonly stop?: number | null; readonly step?: number | null };

export interface OperationArgs extends FloatLayerArgs {
  /** The name of Keras's class: `Add`, `Multiply`, `Mean`, `ExpandDims`, `GetItem`, `Matmul` and so on. */
  operation: string;
  /** What it is called with. Default: the inputs in their order. */
  operands?: readonly OperandTemplate[] | null | undefined;
  /** What it is told when it is made, such as `{axis: 1, keepdims: true}`. Default: what Keras has by default. */
  settings?: Readonly<Record<string, unknown>> | null | undefined;
}

const FIELDS = ['operation', 'operands', 'settings'] as const;
const EXPECTED = 'a tensor or a list of tensors';

function readOperation(value: unknown): string {
  const expected = 'the name of an operation of Keras';
  if (typeof value !== 'string') throw new ArgumentTypeError('operation', expected, value);
  // Files of tfjs have words in camel case.
  const name = value.charAt(0).toUpperCase() + value.slice(1);
  if (Object.hasOwn(RULES, name)) return name;
  const meant = closestName(value, OPERATIONS);
  throw new ValueError('operation', expected, value, meant && `Did you mean ${meant}?`);
}

function readSettings(operation: string, value: unknown): Settings {
  const known = ruleOf(operation).settings;
  if (value === undefined || value === null) return known;
  if (!isRecord(value)) throw new ArgumentTypeError('settings', 'an object', value);
  const other = Object.keys(value).find((key) => !Object.hasOwn(known, key));
  if (other === undefined) return { ...known, ...value };
  const names = Object.keys(known);
  const expected = names.length === 0 ? `nothing: ${operation} has no settings` : `one of ${names.join(', ')}`;
  throw new ValueError(`settings.${other}`, expected, value[other]);
}

/** How many tensors a template takes: one more than the last number. */
function countOf(template: unknown): number {
  if (Array.isArray(template)) return Math.max(0, ...template.map(countOf));
  return isRecord(template) && Number.isInteger(template['tensor']) ? (template['tensor'] as number) + 1 : 0;
}

/**
 * A layer that computes one operation of Keras, with its shapes, dtypes and broadcasting.
 *
 * Takes a tensor or a list of them, of any dtype; returns what the operation gives: a tensor, or a list where it has
 * several results. `Add` and the like take numbers too: `operands: [{tensor: 0}, 2]`. Whole numbers are int32, and stay so
 * with a whole number. It has no weights, and its result has no mask, as in Keras. Comparisons, `Argmax` and `OneHot`
 * pass no gradient on.
 * Source: keras.ops (Keras 3.15).
 *
 * @throws TypeError for other kinds of arguments and inputs; ValueError for an operation or a setting that is not known,
 * for shapes that do not fit, axes that are not there, and another number of inputs.
 *
 * @example
 * const x = tf.input({shape: [5, 8]});
 * const last = emb.layers.operation({operation: 'GetItem', operands: [{tensor: 0}, [{}, -1]]}).apply(x); // x[:, -1]
 */
export class Operation extends tf.layers.Layer {
  static {
    brand(this, 'Operation');
  }
  static readonly className: string = 'TfjsEmbeddings>Operation';
  readonly operation: string;
  readonly operands: readonly OperandTemplate[] | null;
  readonly settings: Settings;

  constructor(args: OperationArgs) {
    const operation = readOperation(checkObject(args, 'args')['operation']);
    const prefix = operation.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
    const { given, base } = readFloatLayerArgs<OperationArgs>(args, FIELDS, prefix);
    super(base as never);
    this.operation = operation;
    this.settings = readSettings(operation, given.settings);
    const { operands = null } = given;
    if (operands !== null && !Array.isArray(operands)) throw new ArgumentTypeError('operands', 'a list', operands);
    this.operands = operands;
  }

  get #rule(): Rule {
    return ruleOf(this.operation);
  }

  /** The operands, with what stands for each tensor in its place. */
  #given<T>(inputs: readonly T[], constant: (value: unknown, dtype: OperandType) => T): Operand<T>[] {
    const { operands } = this;
    if (operands === null) {
      const most = this.#rule.operands.length;
      const isList = this.#rule.operands[0] === 'xs';
      if (!isList && inputs.length !== most) {
        throw new ValueError('inputs', `${most} for ${this.operation}`, described(`${inputs.length}`));
      }
      return isList ? [[...inputs] as readonly Operand<T>[]] : [...inputs];
    }
    const count = countOf(operands);
    if (inputs.length !== count) throw new ValueError('inputs', `${count} tensors`, described(`${inputs.length}`));
    const fill = (template: unknown): Operand<T> => {
      if (Array.isArray(template)) return template.map(fill);
      if (!isRecord(template)) return template as Operand<T>;
      if (Number.isInteger(template['tensor'])) return inputs[template['tensor'] as number]!;
      if ('value' in template) return constant(template['value'], template['dtype'] as OperandType);
      return template;
    };
    return operands.map(fill);
  }

  #specs(inputs: readonly Spec[]): Spec[] {
    const given = this.#given(inputs, (value, dtype) => ({ shape: listShape(value), dtype }));
    return [this.#rule.spec(given, this.settings)].flat();
  }

  override computeOutputShape(inputShape: SymbolicShape | SymbolicShape[]): SymbolicShape | SymbolicShape[] {
    const shapes = this.#specs(shapesOf(inputShape).map((shape) => ({ shape, dtype: 'float32' }))).map(
      ({ shape }) => shape,
    );
    return shapes.length === 1 ? shapes[0]! : shapes;
  }

  override apply(inputs: tf.SymbolicTensor | tf.SymbolicTensor[], kwargs?: Kwargs): tf.SymbolicTensor;
  override apply(inputs: tf.Tensor | tf.Tensor[], kwargs?: Kwargs): tf.Tensor;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors;
  override apply(inputs: AnyTensors, kwargs?: Kwargs): AnyTensors {
    const list = [inputs].flat() as (tf.Tensor | tf.SymbolicTensor)[];
    for (const each of list) {
      if (!(each instanceof tf.Tensor) && !isSymbolic(each)) throw new ArgumentTypeError('inputs', EXPECTED, each);
    }
    const specs = this.#specs(list.map(specOf));
    const results = super.apply(distinct(inputs), kwargs as never);
    // tfjs takes every result of a layer for floats.
    if (isSymbolic(list[0])) {
      [results].flat().forEach((each, i) => ((each as { dtype: tf.DataType }).dtype = specs[i]!.dtype));
    }
    return results;
  }

  override call(inputs: tf.Tensor | tf.Tensor[], kwargs: Kwargs): tf.Tensor | tf.Tensor[] {
    return tf.tidy(() => {
      this.invokeCallHook(inputs, kwargs as never);
      const list = [inputs].flat();
      const given = this.#given(list, (value, dtype) => tf.tensor(value as number[], undefined, dtype));
      const compute = (): tf.Tensor | tf.Tensor[] => this.#rule.run(given, this.settings);
      // On the tape, ops without a gradient would fail the step.
      const results = this.#rule.isConstant === true ? withoutTape(compute) : compute();
      // What a model gives to a layer is freed before the result.
      const own = [results].flat().map((each) => (list.includes(each) ? each.clone() : each));
      return Array.isArray(results) ? own : own[0]!;
    });
  }

  override getConfig(): tf.serialization.ConfigDict {
    const { operation, operands, settings } = this;
    return { ...super.getConfig(), operation, operands, settings } as unknown as tf.serialization.ConfigDict;
  }

  /** Makes the layer from its config. */
  static override fromConfig<T extends tf.serialization.Serializable>(
    cls: tf.serialization.SerializableConstructor<T>,
    config: tf.serialization.ConfigDict,
  ): T {
    return new cls(readLayerConfig(config, [...FIELDS, ...FLOAT_LAYER_FIELDS]) as tf.serialization.ConfigDict);
  }
}
