/** From raw columns to ids: words by a vocabulary, user agents by a hash, ages by buckets. */
import * as tf from '@tensorflow/tfjs-node';
import * as emb from 'tfjs-embeddings/node';

const countries = new emb.preprocessing.StringLookup();
countries.adapt(['fr', 'de', 'fr', 'nl', 'fr', 'de']);
const agents = new emb.preprocessing.Hashing({ numBins: 16 });
const ages = new emb.preprocessing.Discretization({ binBoundaries: [18, 30, 50] });

// One row per visit. Countries outside the vocabulary get the id 0.
const ids = {
  country: countries.apply(['de', 'it', 'fr']),
  agent: agents.apply(['Firefox', 'Safari', 'Chrome']),
  age: ages.apply([17, 64, 33]),
};
console.log(countries.getVocabulary());
console.log(Array.from(ids.country), Array.from(ids.age));

const layer = emb.layers.concatOneHotEmbedding({
  featureSizes: [countries.vocabularySize(), 16, 4],
  embeddingWidth: 4,
});
const columns = [ids.country, ids.agent, ids.age].map((column) => tf.tensor1d(column, 'int32'));
console.log((layer.apply(tf.stack(columns, 1)) as tf.Tensor).shape);
