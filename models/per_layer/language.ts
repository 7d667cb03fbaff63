/**
 * A small language model with a table that has a row for each token: a vector for each of its layers, as per-layer
 * embeddings of published models are. Its weights are drawn, so that it writes nonsense, at the cost of a real one of its
 * shape.
 */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';

/** Numbers of the state that goes through the layers, and tokens that are scored after each. */
const [HIDDEN, CANDIDATES] = [256, 1024];

export interface Shape {
  readonly vocabulary: number;
  readonly layers: number;
  readonly dim: number;
}

/** Makes the file of the table; of zeros it has holes alone, which take no room. */
export function makeTable(
  file: string,
  { vocabulary, layers, dim }: Shape,
  { sparse, cacheBytes, threads, seed }: { sparse: boolean; cacheBytes: number; threads: number; seed: number },
): Promise<emb.DiskTable> {
  return emb.diskTable.create({
    ...{ file, rows: vocabulary, outputDim: layers * dim, dtype: 'bfloat16', cacheBytes, io: { threads } },
    ...{ embeddingsInitializer: sparse ? 'zeros' : 'randomUniform', seed },
  });
}

export class LanguageModel {
  readonly #ofTokens: tf.Tensor2D;
  readonly #ofTable: tf.Tensor2D;
  readonly #mix: tf.Tensor2D[];
  readonly #scores: tf.Tensor2D;

  constructor(
    readonly shape: Shape,
    seed: number,
  ) {
    const draw = (rows: number, columns: number, place: number): tf.Tensor2D =>
      tf.randomNormal([rows, columns], 0, 1 / Math.sqrt(rows), 'float32', seed + place);
    this.#ofTokens = draw(CANDIDATES, HIDDEN, 1);
    this.#ofTable = draw(shape.dim, HIDDEN, 2);
    this.#mix = Array.from({ length: shape.layers }, (_, layer) => draw(HIDDEN, HIDDEN, 3 + layer));
    this.#scores = draw(HIDDEN, CANDIDATES, 1000);
  }

  /** The token that follows one at a place, whose row of the table is [1, layers * dim]. */
  next(token: number, row: tf.Tensor2D, place: number): number {
    const { vocabulary, layers, dim } = this.shape;
    const best = tf.tidy(() => {
      let state = this.#ofTokens.slice([token % CANDIDATES, 0], [1, HIDDEN]);
      const parts = row.reshape([layers, dim]).matMul(this.#ofTable);
      this.#mix.forEach((mix, layer) => {
        state = state.add(tf.relu(state.matMul(mix).add(parts.slice([layer, 0], [1, HIDDEN]))));
        state = state.div(state.norm().add(1e-6));
      });
      return state.matMul<tf.Tensor2D>(this.#scores).argMax(1).dataSync()[0]!;
    });
    // Few tokens are frequent: what is scored stands for tokens of all ranks.
    const share = ((best * 40_503 + place * 2_654_435_761) % 2 ** 32) / 2 ** 32;
    return Math.floor(vocabulary ** share) % vocabulary;
  }

  dispose(): void {
    tf.dispose([this.#ofTokens, this.#ofTable, this.#scores, ...this.#mix]);
  }
}

/** Milliseconds of each token, all of it and what the table took, and the tokens. */
export interface Written {
  readonly tokens: readonly number[];
  readonly ms: readonly number[];
  readonly tableMs: readonly number[];
}

/** Writes tokens one by one, each after the one before it. */
export function write(model: LanguageModel, table: emb.DiskTable, count: number): Written {
  const [tokens, ms, tableMs]: number[][] = [[], [], []];
  let token = 0;
  for (let step = 0; step < count; step++) {
    const from = performance.now();
    const row = emb.embeddingLookup(table, [token]) as tf.Tensor2D;
    tableMs!.push(performance.now() - from);
    token = model.next(token, row, step);
    row.dispose();
    ms!.push(performance.now() - from);
    tokens!.push(token);
  }
  return { tokens: tokens!, ms: ms!, tableMs: tableMs! };
}
