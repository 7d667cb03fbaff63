/** The variables of a model as they are saved. */
import * as tf from '@tensorflow/tfjs';
import { ValueError, described } from '../../base/errors.js';
import { keptValues } from '../../tfjs/kept_values.js';
import { ELEMENT_BYTES, type VariableType } from './wire/data_types.js';
import { knownTable, numbersShape, type TableForm } from '../../backends/table.js';
import { littleEndianBytes } from '../../io/byte_order.js';
import { floatPiecesOf, piecesOf } from '../../io/models/tensor_pieces.js';
import type { OpenTable } from '../../tables/keys/open_table.js';
import type { GraphVariable } from './graph/function_builder.js';
import { RefusedOp } from './graph/refused_op.js';
import type { KeptKeys } from './graph/tensorflow_form.js';

/** A variable whose values go into the bundle. */
export interface SavedVariable extends GraphVariable {
  /** Under which the bundle holds it. */
  readonly key: string;
  readonly trainable: boolean;
  /** How its rows are kept, and those in words; null: as they are. */
  readonly packed: (TableForm & { readonly words: () => AsyncIterable<Uint8Array> }) | null;
  /** Its bytes, as they were when the export began: a step meanwhile does not change them. */
  readonly pieces: () => AsyncIterable<Uint8Array>;
}

function checkType(dtype: tf.DataType, name: string): VariableType {
  if (dtype in ELEMENT_BYTES) return dtype as VariableType;
  const received = described(`${dtype} in ${name}`);
  throw new ValueError('model', `weights of type ${Object.keys(ELEMENT_BYTES).join(', ')}`, received);
}

/** Unique names: TensorFlow shares variables by name. */
function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let n = 1; taken.has(free); n++) free = `${name}_${n}`;
  taken.add(free);
  return free;
}

export class ModelVariables {
  readonly list: SavedVariable[] = [];
  /** Names of the weights, as the model calls them, and where their values are. */
  readonly weights: { readonly name: string; readonly key: string; readonly trainable?: boolean }[] = [];
  readonly #taken = new Set<string>();
  readonly #snapshots: tf.Tensor[] = [];
  readonly #keys = new Map<OpenTable, KeptKeys>();
  readonly #byWeight = new Map<number, SavedVariable>();

  /** All weights of a model, in their order. `dispose` frees the snapshots. */
  constructor(model: tf.LayersModel) {
    const trained = new Set(model.trainableWeights.map(({ id }) => id));
    for (const weight of model.weights) {
      if (this.#byWeight.has(weight.id)) continue;
      const value = weight.read();
      const table = knownTable(value);
      const form = table === undefined || table.isPlain ? null : { codec: table.codec, dim: table.dim };
      const dtype = form === null ? checkType(value.dtype, weight.originalName) : 'float32';
      const snapshot = keptValues(value);
      const saved: SavedVariable = {
        name: freeName(weight.originalName, this.#taken),
        dtype,
        shape: [...numbersShape(value)],
        key: `variables/${this.list.length}/.ATTRIBUTES/VARIABLE_VALUE`,
        trainable: weight.trainable,
        packed: form === null ? null : { ...form, words: () => piecesOf(snapshot) },
        pieces: () => (form === null ? piecesOf(snapshot) : floatPiecesOf(snapshot, form)),
      };
      this.#snapshots.push(snapshot);
      this.list.push(saved);
      // Of models, and of layers that hold others, the weights themselves do not tell.
      const frozen = trained.has(weight.id) ? {} : { trainable: false };
      this.weights.push({ name: weight.originalName, key: saved.key, ...frozen });
      this.#byWeight.set(weight.id, saved);
    }
  }

  of(weight: tf.LayerVariable): SavedVariable {
    const found = this.#byWeight.get(weight.id);
    if (found !== undefined) return found;
    throw new RefusedOp(`whose weight ${weight.originalName} is none of the model, as that of a disk table`);
  }

  /** The keys of an open table that have a row, which become variables of their own. */
  keysOf(table: OpenTable): KeptKeys {
    const known = this.#keys.get(table);
    if (known !== undefined) return known;
    const { keys, rows } = table.frozenKeys();
    const kept = {
      keys: this.#add(`${table.name}/frozen_keys`, 'int64', keys),
      rows: this.#add(`${table.name}/frozen_rows`, 'int32', rows),
    };
    this.#keys.set(table, kept);
    return kept;
  }

  #add(name: string, dtype: SavedVariable['dtype'], values: BigInt64Array | Int32Array): SavedVariable {
    const bytes = littleEndianBytes(new Int32Array(values.buffer, values.byteOffset, values.byteLength / 4));
    const saved: SavedVariable = {
      name: freeName(name, this.#taken),
      dtype,
      shape: [values.length],
      key: `variables/${this.list.length}/.ATTRIBUTES/VARIABLE_VALUE`,
      trainable: false,
      packed: null,
      pieces: async function* () {
        yield bytes;
      },
    };
    this.list.push(saved);
    return saved;
  }

  dispose(): void {
    tf.dispose(this.#snapshots);
  }
}
