/** Makes models with layers of tables load, and what tfjs needs to run them: all that `tfjs-embeddings/layers` registers. */
import * as tf from '@tensorflow/tfjs';
import { ConstantValues } from '../tables/constant_values.js';
import { showKindsInSummaries } from '../tfjs/model_summary.js';
import { shareTablesOnLoad } from '../tfjs/shared_tables_on_load.js';
import { addOnce, watchModels } from '../tfjs/models/own_models.js';
import { listSharedWeightsOnce } from '../tfjs/shared_weights.js';
import { feedUncast } from '../tfjs/uncast_inputs.js';
import { ConcatOneHotEmbedding } from './embedding/concat_one_hot_embedding.js';
import { Embedding } from './embedding/embedding.js';
import { RaggedEmbedding } from './embedding/ragged_embedding.js';
import { DotInteraction } from './feature_interaction/dot_interaction.js';
import { FeatureCross } from './feature_interaction/feature_cross.js';
import { saveRaggedInputs } from './ragged_input.js';

const LAYERS = [Embedding, RaggedEmbedding, ConcatOneHotEmbedding, DotInteraction, FeatureCross] as const;

/** Registers the layers under their own names, which no stock layer has. May be called again. */
export function registerTableLayers(): void {
  for (const layer of LAYERS) tf.serialization.registerClass(layer as never);
  tf.serialization.registerClass(ConstantValues as never);
  addOnce('models with tables', () => {
    for (const add of [watchModels, shareTablesOnLoad, listSharedWeightsOnce, feedUncast]) add();
    showKindsInSummaries();
    saveRaggedInputs();
  });
}
