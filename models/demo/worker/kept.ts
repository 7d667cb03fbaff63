/** What a visit leaves in IndexedDB for the next one. Nothing of it is sent anywhere. */
import { clear, delMany, getMany, setMany } from 'idb-keyval';
import type * as tf from '@tensorflow/tfjs';
import type { Run, Schema, Settings, Understood } from '../protocol.js';
import type { Learned } from './rows.js';
import type { SourceFile } from './source.js';
import type { Position } from './training.js';

/** The data: what was chosen, and the file itself. */
export interface KeptData {
  readonly file: SourceFile;
  readonly understood: Understood;
}

/** The training of the model that is there. */
export interface KeptTraining {
  readonly runId: number;
  readonly settings: Settings;
  readonly learned: Learned;
  readonly schema: Schema;
  readonly position: Position;
  readonly model: tf.io.ModelArtifacts;
  /** What it trains on: another file may have been chosen since. */
  readonly data: KeptData;
}

/** A model that was loaded from a file of this page. */
export interface KeptModel {
  readonly name: string;
  readonly schema: Schema;
  readonly model: tf.io.ModelArtifacts;
}

export interface KeptAll {
  readonly data?: KeptData | undefined;
  readonly training?: KeptTraining | undefined;
  readonly runs?: readonly Run[] | undefined;
  readonly loaded?: KeptModel | undefined;
}

const NAMES = ['data', 'training', 'runs', 'loaded'] as const;

export async function readKept(): Promise<KeptAll> {
  const found = (await getMany([...NAMES])) as [KeptData?, KeptTraining?, Run[]?, KeptModel?];
  const [data, training, runs, loaded] = found;
  return { data, training, runs, loaded };
}

/** Writes parts in one transaction: all of them or none. */
export async function keep(parts: KeptAll): Promise<void> {
  await setMany(Object.entries(parts));
}

export async function forget(names: readonly (typeof NAMES)[number][]): Promise<void> {
  await delMany([...names]);
}

export const forgetAll = (): Promise<void> => clear();
