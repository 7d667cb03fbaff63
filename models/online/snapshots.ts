/**
 * Snapshots: what serving needs of the model after a batch, as the difference from the snapshot before. Each begins at a
 * checkpoint and goes on with deltas of the tables and the small weights; `newest.json` names them all, and is replaced in
 * one piece, so that whoever reads it finds what it names.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { checkpointPath, loadCheckpoint, type Position } from './checkpoints.js';
import { userTower } from './towers.js';

/** What newest.json holds. */
interface Newest {
  /** The batch of the checkpoint that deltas begin at. */
  readonly base: number;
  /** The batches after which there was a snapshot, ascending: each is the difference from the one before. */
  readonly deltas: readonly number[];
  readonly position: Position;
  /** When it was written, in milliseconds since 1970. */
  readonly at: number;
}

/** Snapshots that may be outrun by newer ones, one after the other, while they are read. */
const TRIES = 20;
const TABLES = ['users', 'items'] as const;

const folderOf = (folder: string): string => join(folder, 'snapshots');
const deltaPath = (folder: string, batch: number, name: string): string =>
  join(folderOf(folder), `${String(batch).padStart(12, '0')}.${name}.safetensors`);

/** Weights that are no table. */
function smallWeights(towers: tf.LayersModel): Record<string, tf.Variable> {
  const found: Record<string, tf.Variable> = {};
  for (const layer of towers.layers) {
    if (layer.getClassName() !== 'Dense') continue;
    layer.weights.forEach((weight, i) => (found[`${layer.name}/${i}`] = weight.read() as tf.Variable));
  }
  return found;
}

function readNewest(folder: string): Newest | null {
  const path = join(folderOf(folder), 'newest.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Newest) : null;
}

/** Writes snapshots of a model that learns. */
export class SnapshotWriter {
  readonly #tables: Record<string, emb.OpenTable>;
  #marks: Record<string, emb.OpenTableMark> = {};
  #newest: Newest;
  /** Deltas of the base before, which followers may still be at. */
  #former: readonly number[] = [];

  /** `position`: of the checkpoint that the model was saved to or loaded from just now. */
  constructor(
    readonly folder: string,
    readonly towers: tf.LayersModel,
    position: Position,
  ) {
    mkdirSync(folderOf(folder), { recursive: true });
    this.#tables = emb.openTables(towers);
    for (const name of TABLES) this.#marks[name] = this.#tables[name]!.mark();
    // Deltas of another life of this process begin at a checkpoint that may not lead here.
    for (const name of readdirSync(folderOf(folder))) rmSync(join(folderOf(folder), name));
    this.#newest = { base: position.batch, deltas: [], position, at: Date.now() };
    this.#announce(this.#newest);
  }

  #announce(newest: Newest): void {
    const path = join(folderOf(this.folder), 'newest.json');
    writeFileSync(`${path}.partial`, JSON.stringify(newest));
    renameSync(`${path}.partial`, path);
    this.#newest = newest;
  }

  /** Where the newest snapshot is. */
  get position(): Position {
    return this.#newest.position;
  }

  /** Writes what changed since the snapshot before. */
  async write(position: Position): Promise<void> {
    if (position.batch === this.position.batch) return;
    // Kept once all is written: what fails half-way is part of the next difference.
    const marks: Record<string, emb.OpenTableMark> = {};
    for (const name of TABLES) {
      const file = deltaPath(this.folder, position.batch, name);
      marks[name] = (await this.#tables[name]!.writeDelta(file, { since: this.#marks[name]! })).mark;
    }
    await emb.weights.writeSafetensors(deltaPath(this.folder, position.batch, 'dense'), smallWeights(this.towers));
    const deltas = [...this.#newest.deltas, position.batch];
    this.#announce({ base: this.#newest.base, deltas, position, at: Date.now() });
    this.#marks = marks;
  }

  /** From now on snapshots begin at a checkpoint of this position, which is that of the newest snapshot. */
  rebase(position: Position): void {
    for (const batch of this.#former) {
      for (const name of [...TABLES, 'dense']) rmSync(deltaPath(this.folder, batch, name), { force: true });
    }
    this.#former = this.#newest.deltas;
    this.#announce({ base: position.batch, deltas: [], position, at: Date.now() });
  }
}

/** A model that follows the snapshots of a folder, for predictions alone. */
export class Follower {
  #towers: tf.LayersModel | null = null;
  #users: tf.LayersModel | null = null;
  #position: Position = { batch: -1, event: 0 };
  /** Whether a delta was applied in part: its tables are no snapshot, and nothing leads on from them. */
  #isTorn = false;
  #at = 0;

  constructor(readonly folder: string) {}

  /** What the model has learned; batch -1: there was no snapshot yet. */
  get position(): Position {
    return this.#position;
  }

  /** When the snapshot was written, in milliseconds since 1970; 0: there was none. */
  get at(): number {
    return this.#at;
  }

  /** Vectors of users and their histories; null: there was no snapshot yet. */
  get users(): tf.LayersModel | null {
    return this.#users;
  }

  /** The tables by name; null: there was no snapshot yet. */
  get tables(): Record<string, emb.OpenTable> | null {
    return this.#towers === null ? null : emb.openTables(this.#towers);
  }

  get items(): emb.OpenTable {
    return this.tables!['items']!;
  }

  /** Goes to the newest snapshot; returns whether it is another one. */
  async update(): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      const newest = readNewest(this.folder);
      if (newest === null || newest.position.batch === this.#position.batch) return false;
      try {
        await this.#follow(newest);
        return true;
      } catch (error) {
        // The writer takes away what newer snapshots do without: what was being read may be gone.
        const isOutrun = readNewest(this.folder)?.position.batch !== newest.position.batch;
        if (!isOutrun || tries === TRIES) throw error;
      }
    }
  }

  async #follow(newest: Newest): Promise<void> {
    if (!this.#leadsTo(newest)) await this.#begin(newest.base);
    for (const batch of newest.deltas) if (batch > this.#position.batch) await this.#apply(batch);
    this.#position = newest.position;
    this.#at = newest.at;
  }

  /** Whether deltas lead from this model to a snapshot. */
  #leadsTo({ base, deltas }: Newest): boolean {
    return !this.#isTorn && (this.#position.batch === base || deltas.includes(this.#position.batch));
  }

  async #begin(batch: number): Promise<void> {
    const { towers, position } = await loadCheckpoint(checkpointPath(this.folder, batch));
    // Nothing is trained here: its slots are as large as the tables.
    towers.optimizer?.dispose();
    this.#towers?.dispose();
    this.#towers = towers;
    this.#users = userTower(towers);
    this.#position = position;
    this.#isTorn = false;
  }

  async #apply(batch: number): Promise<void> {
    const tables = emb.openTables(this.#towers!);
    this.#isTorn = true;
    for (const name of TABLES) await tables[name]!.applyDelta(deltaPath(this.folder, batch, name));
    const dense = await emb.weights.readSafetensors(deltaPath(this.folder, batch, 'dense'));
    for (const [name, variable] of Object.entries(smallWeights(this.#towers!))) variable.assign(dense[name]!);
    tf.dispose(dense);
    this.#position = { ...this.#position, batch };
    this.#isTorn = false;
  }
}
