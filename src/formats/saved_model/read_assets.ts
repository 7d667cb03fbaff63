/** What travels beside a graph, as it is read again. */
import { describe } from '../../base/errors.js';
import { isRecord } from '../../base/options.js';
import type { StoredModel } from '../../io/models/stored_model.js';
import { readKerasRules } from '../../tfjs/models/keras_rules.js';
import { ASSETS_FORMAT, isAsWritten, type KeptWeight, type LayersModelAssets } from './assets.js';

function isKept(value: unknown): value is KeptWeight {
  return isRecord(value) && typeof value['name'] === 'string' && typeof value['key'] === 'string';
}

function isKeptList(value: unknown): value is KeptWeight[] {
  return Array.isArray(value) && value.every(isKept);
}

/** `refuse`: the error for a text that is no such file; it names where it comes from. */
export function readAssets(text: string, refuse: (found: string, note?: string) => Error): LayersModelAssets {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refuse('where it is no JSON', (error as Error).message);
  }
  if (!isRecord(value) || value['format'] !== ASSETS_FORMAT) throw refuse('where it is of another format');
  if (value['version'] !== 1) throw refuse(`where it is of version ${describe(value['version'])}`);
  if (!isAsWritten(value)) throw refuse('which was changed since it was written');
  if (!isRecord(value['modelTopology'])) throw refuse('where it has no topology');
  if (!isKeptList(value['weights']) || !isKeptList(value['optimizer'])) {
    throw refuse('where weights have no names and keys');
  }
  return value as unknown as LayersModelAssets;
}

/** Everything but the weights. */
export function modelOf({
  modelTopology,
  trainingConfig,
  userDefinedMetadata,
  kerasRules,
}: LayersModelAssets): Pick<StoredModel, 'artifacts' | 'kerasRules'> {
  return {
    artifacts: {
      modelTopology,
      ...(trainingConfig === undefined ? {} : { trainingConfig }),
      ...(userDefinedMetadata === undefined
        ? {}
        : { userDefinedMetadata: userDefinedMetadata as Record<string, object> }),
    },
    kerasRules: readKerasRules(kerasRules),
  };
}
