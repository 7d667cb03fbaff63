/** The worker: frozen items, and the row of the visitor. */
import * as tf from '@tensorflow/tfjs';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import { expose } from 'comlink';
import { get, set } from 'idb-keyval';
import * as emb from 'tfjs-embeddings';
import { negativesOf, refinedRow } from '../refined_row.js';
import type { Answer, Item, Opened, PersonalEngine } from './protocol.js';

/** In IndexedDB: what was chosen, and the row that was solved for. */
const KEPT = 'personal';

interface Kept {
  readonly chosen: readonly number[];
  readonly row: Float32Array | null;
}

interface Items {
  readonly table: tf.layers.Layer;
  readonly names: readonly string[];
  readonly settings: { readonly regularization: number; readonly unobservedWeight: number };
  readonly gram: tf.Tensor2D;
  readonly negatives: tf.Tensor2D;
}

class Engine implements PersonalEngine {
  #items: Items | null = null;

  async open(): Promise<Opened> {
    setWasmPaths('tfjs-wasm/');
    await emb.ready();
    await tf.setBackend('wasm');
    const [model, response, kept] = await Promise.all([
      tf.loadLayersModel(new URL('items/model.json', location.href).href),
      fetch('items/names.json'),
      get<Kept>(KEPT),
    ]);
    const { foldIn } = (model as unknown as { userDefinedMetadata: { foldIn: Items['settings'] & { gram: number[] } } })
      .userDefinedMetadata;
    const { gram, regularization, unobservedWeight } = foldIn;
    const dim = Math.sqrt(gram.length);
    const table = model.getLayer('items');
    this.#items = {
      table,
      negatives: negativesOf(table),
      names: (await response.json()) as string[],
      settings: { regularization, unobservedWeight },
      gram: tf.tensor2d(gram, [dim, dim]),
    };
    const count = this.#items.names.length;
    // Items may have changed since.
    const chosen = (kept?.chosen ?? []).filter((id) => id < count);
    return { count, dim, chosen: this.#named(chosen) };
  }

  #named(ids: readonly number[]): Item[] {
    return ids.map((id) => ({ id, name: this.#items!.names[id]! }));
  }

  async find(text: string, count: number): Promise<readonly Item[]> {
    const wanted = text.trim().toLowerCase();
    const found: number[] = [];
    this.#items!.names.forEach((name, id) => {
      if (found.length < count && name.toLowerCase().includes(wanted)) found.push(id);
    });
    return this.#named(found);
  }

  async choose(ids: readonly number[]): Promise<readonly Item[]> {
    await set(KEPT, { chosen: ids, row: null } satisfies Kept);
    return this.#named(ids);
  }

  async recommend(ids: readonly number[], count: number): Promise<Answer> {
    const { table, settings, gram, names, negatives } = this.#items!;
    const begun = performance.now();
    const solved = emb.foldIn(table, { ids: [...ids], ...settings, gram }) as tf.Tensor1D;
    const row = refinedRow(solved, table, ids, negatives);
    const query = row.reshape([1, -1]) as tf.Tensor2D;
    const { values, indices } = emb.topK(query, table, count, { exclude: emb.RaggedTensor.fromRows([[...ids]]) });
    const scores = values.dataSync();
    const best = Array.from(indices.dataSync()).filter((id) => id >= 0);
    const ms = performance.now() - begun;
    await set(KEPT, { chosen: ids, row: row.dataSync<'float32'>().slice() } satisfies Kept);
    tf.dispose([solved, row, query, values, indices]);
    return { best: best.map((id, i) => ({ id, name: names[id]!, score: scores[i]! })), ms };
  }
}

expose(new Engine());
