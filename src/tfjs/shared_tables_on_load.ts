/**
 * Layers of one model that name one table share it again when the model is loaded.
 *
 * A model's config holds the table once per layer, by name. Names are only meaningful within one model: loading a file
 * twice gives two independent models. tfjs builds a model from its config without interruption, so a scope around the
 * registered builders of models tells exactly which layers belong together, nested models included.
 */
import * as tf from '@tensorflow/tfjs';
import { perProcess } from '../base/per_process.js';

const MODELS = ['Model', 'Functional', 'Sequential'];

/** Shared tables by name while a model is being built from its config; null otherwise. */
const load = (): { tables: Map<string, object> | null } => perProcess('load of a model', () => ({ tables: null }));

type FromConfig = (...args: unknown[]) => unknown;

function withinLoad<T>(build: () => T): T {
  const shared = load();
  if (shared.tables !== null) return build();
  shared.tables = new Map();
  try {
    return build();
  } finally {
    shared.tables = null;
  }
}

/** The table of this name in the model being loaded, made on first use; outside a load always a new one. */
export function tableOfLoad<Table extends object>(name: string, make: () => Table): Table {
  const { tables } = load();
  if (tables === null) return make();
  const known = tables.get(name);
  if (known !== undefined) return known as Table;
  const table = make();
  tables.set(name, table);
  return table;
}

/** Makes tfjs open the scope when it builds a model from a config. */
export function shareTablesOnLoad(): void {
  const map = tf.serialization.SerializationMap.getMap().classNameMap as unknown as Record<
    string,
    [unknown, FromConfig]
  >;
  for (const name of MODELS) {
    const entry = map[name];
    if (entry !== undefined) map[name] = [entry[0], (...args) => withinLoad(() => entry[1](...args))];
  }
}
