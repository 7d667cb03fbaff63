/** The best items of users, from the newest snapshot: requests that come together are answered by one search. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import type { Follower } from './snapshots.js';
import { userInputs } from './towers.js';

/** One item, and its score. */
export interface Recommended {
  readonly item: string;
  readonly score: number;
}

interface Asked {
  readonly user: string;
  readonly history: readonly string[];
  readonly k: number;
  readonly resolve: (items: Recommended[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Users of one search, at most. */
const TOGETHER = 64;

export class Recommender {
  #asked: Asked[] = [];

  constructor(readonly follower: Follower) {}

  /** The items that a user had are left out. Resolves to an empty list before there is a model. */
  recommend(user: string, history: readonly string[], k: number): Promise<Recommended[]> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ user, history, k, resolve, reject });
      if (this.#asked.length === 1) setImmediate(() => this.#answer());
    });
  }

  #answer(): void {
    const asked = this.#asked.splice(0, TOGETHER);
    try {
      const found = this.#search(asked);
      asked.forEach(({ k, resolve }, i) => resolve(found[i]!.slice(0, k)));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
    if (this.#asked.length > 0) setImmediate(() => this.#answer());
  }

  #search(asked: readonly Asked[]): Recommended[][] {
    const { users } = this.follower;
    if (users === null) return asked.map(() => []);
    const histories = asked.map(({ history }) => history);
    const inputs = userInputs(
      asked.map(({ user }) => user),
      histories,
    );
    const most = Math.max(...asked.map(({ k }) => k));
    return tf.tidy(() => {
      const vectors = users.predict(inputs as never, { batchSize: asked.length }) as tf.Tensor2D;
      const [, exclude] = inputs;
      const { keys, values } = emb.topK(vectors, this.follower.items, most, { exclude });
      const scores = values.dataSync();
      return (keys as string[][]).map((items, q) => items.map((item, i) => ({ item, score: scores[q * most + i]! })));
    });
  }
}
