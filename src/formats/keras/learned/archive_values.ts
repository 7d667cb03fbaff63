/** What layers of a `.keras` archive have learned: vocabularies in files of their own, numbers beside the weights. */
import { ValueError, describe, described } from '../../../base/errors.js';
import type { ZipEntry } from '../../../io/zip_archive.js';
import type { Hdf5File } from '../hdf5.js';
import { NameCounter } from '../layer_paths.js';
import { isModel, pythonName, readLayers, type Json, type LayerJson } from '../import/topology.js';
import { boundariesOf, lacksBoundaries, lacksVocabulary, vocabularyFields, weighs } from './learned_fields.js';

/** Beyond it a file is no vocabulary that a page should read into an array. */
const MOST_BYTES = 2 ** 24;
const WHOLE = /^-?\d+$/;

async function readVocabulary(entry: ZipEntry, isText: boolean): Promise<(number | string)[]> {
  if (entry.size > MOST_BYTES) {
    throw new ValueError(
      'source',
      `a vocabulary of at most ${MOST_BYTES} bytes`,
      described(`${entry.name}, of ${entry.size}`),
    );
  }
  const lines = new TextDecoder().decode(await entry.read()).split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  if (isText) return lines;
  return lines.map((line, i) => {
    if (WHOLE.test(line)) return Number(line);
    throw new ValueError(
      'source',
      'whole numbers, one a line',
      described(`${entry.name}, with ${describe(line)} at line ${i + 1}`),
    );
  });
}

/** Where Keras keeps the factors of a lookup: its own, or those of the lookup within a TextVectorization; both are alike. */
const FACTORS = ['vars/idf_weights', '_lookup_layer/vars/idf_weights'];

/**
 * Puts what layers have learned into their configs.
 *
 * `entries`: the files of the archive; `weights`: the one of them with arrays; `names`: all of these. Returns the names of
 * arrays that are no weights of the model, as they are in configs now.
 */
export async function addLearned(
  root: LayerJson,
  entries: ReadonlyMap<string, ZipEntry>,
  weights: Hdf5File,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const [known, used] = [new Set(names), new Set<string>()];
  const visit = async (model: LayerJson, folder: string): Promise<void> => {
    const counter = new NameCounter();
    for (const layer of readLayers(model)) {
      const path = `${folder}layers/${counter.next(pythonName(layer))}`;
      if (isModel(layer)) await visit(layer, `${path}/`);
      const add = (fields: Json): void => void Object.assign(layer.config, fields);
      const factors = FACTORS.map((name) => `${path}/${name}`).filter((name) => known.has(name));
      if (weighs(layer)) for (const name of factors) used.add(name);
      const file = entries.get(`assets/${path}/vocabulary.txt`);
      if (lacksVocabulary(layer) && file !== undefined) {
        const tokens = await readVocabulary(file, layer.className !== 'IntegerLookup');
        const [stored] = factors;
        add(vocabularyFields(layer, tokens, stored === undefined ? null : Array.from(weights.values(stored))));
      }
      const summary = `${path}/vars/0`;
      if (lacksBoundaries(layer) && known.has(summary)) {
        const values = Float32Array.from(weights.values(summary));
        add({ bin_boundaries: boundariesOf(layer, weights.shape(summary), values) });
      }
      // Also where boundaries were given Keras 2 writes what it has seen.
      if (layer.className === 'Discretization' && known.has(summary)) used.add(summary);
    }
  };
  await visit(root, '');
  return used;
}
