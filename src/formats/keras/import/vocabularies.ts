/** Vocabularies that `adapt` found: Keras 3 keeps each in a file of the archive, under the path of its layer. */
import { ValueError, describe, described } from '../../../base/errors.js';
import type { ZipEntry } from '../../../io/zip_archive.js';
import { NameCounter } from '../layer_paths.js';
import { isModel, readLayers, type Json, type LayerJson } from './topology.js';

/** Beyond it a file is no vocabulary of whole numbers that a page should read into an array. */
const MOST_BYTES = 2 ** 24;
const WHOLE = /^-?\d+$/;

async function readVocabulary(entry: ZipEntry): Promise<number[]> {
  if (entry.size > MOST_BYTES) {
    throw new ValueError(
      'source',
      `a vocabulary of at most ${MOST_BYTES} bytes`,
      described(`${entry.name}, of ${entry.size}`),
    );
  }
  const lines = new TextDecoder().decode(await entry.read()).split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, i) => {
    if (WHOLE.test(line)) return Number(line);
    throw new ValueError(
      'source',
      'whole numbers, one a line',
      described(`${entry.name}, with ${describe(line)} at line ${i + 1}`),
    );
  });
}

/** Puts the vocabularies of a `.keras` archive into the configs of the layers that have none of their own. */
export async function addVocabularies(
  model: LayerJson,
  entries: ReadonlyMap<string, ZipEntry>,
  folder = 'assets/',
): Promise<void> {
  const names = new NameCounter();
  for (const layer of readLayers(model)) {
    const path = `${folder}layers/${names.next(layer.className)}`;
    if (isModel(layer)) await addVocabularies(layer, entries, `${path}/`);
    if (layer.className !== 'IntegerLookup' || (layer.config['vocabulary'] ?? null) !== null) continue;
    const entry = entries.get(`${path}/vocabulary.txt`);
    // The object is that of the topology, of which layers are read again.
    if (entry !== undefined) (layer.config as Json & { vocabulary: unknown }).vocabulary = await readVocabulary(entry);
  }
}
