/** Layer by layer, whether a model of Keras loads here: its topology alone is looked at. */
import { OPERATIONS } from '../../layers/operations/operation.js';
import { inputArguments, makeLayer } from '../keras/import/make_layer.js';
import type { KerasSource } from '../keras/import/model_source.js';
import { readCustomObjects, type CustomObjects } from '../keras/import/names/user_classes.js';
import { asOperation, isLambda } from '../keras/import/lambda_operations.js';
import { isOperation } from '../keras/import/operations.js';
import type { Reading } from '../keras/import/stock_config.js';
import { isStringInput, takesStrings } from '../keras/import/string_inputs.js';
import { isModel, readLayers, type LayerJson } from '../keras/import/topology.js';
import { WRITTEN_OPERATIONS } from '../saved_model/layers/operations.js';
import { emitterOf } from '../saved_model/layers/registry.js';

/** A layer of a file. */
export interface InspectedLayer {
  /** Its name, after those of the models that it lies in. */
  readonly name: string;
  readonly className: string;
  /** Why `loadKerasModel` refuses it, or null where it makes such a layer. */
  readonly refused: string | null;
  /** Whether a SavedModel and a file of ONNX have a form for it; null where that is not known before it is called. */
  readonly exports: boolean | null;
}

/** Which operation stands for a function does not depend on its operands. */
const NO_CALL = { args: [], kwargs: {}, tellsMask: false };

type Found = Pick<InspectedLayer, 'refused' | 'exports'>;

/** Layers that a model takes apart, or that become columns of its pipeline. */
function special(json: LayerJson): Found | null {
  const { className } = json;
  if (isStringInput(json)) return { refused: null, exports: null };
  if (className === 'InputLayer') {
    inputArguments(json);
    return { refused: null, exports: true };
  }
  if (takesStrings(json) || className === 'HashedCrossing') return { refused: null, exports: null };
  if (className === 'TokenAndPositionEmbedding') return { refused: null, exports: true };
  if (!isOperation(json)) return null;
  const name = isLambda(json) ? asOperation(json, NO_CALL).layer.className : className;
  if (OPERATIONS.includes(name)) return { refused: null, exports: WRITTEN_OPERATIONS.includes(name) };
  return { refused: `no operation here computes ${name}`, exports: null };
}

function made(json: LayerJson, reading: Reading): Found {
  const known = special(json);
  if (known !== null) return known;
  const layer = makeLayer(json, reading);
  try {
    return { refused: null, exports: emitterOf(layer.getClassName()) !== null };
  } finally {
    if (layer.built) layer.dispose();
  }
}

function* layersOf(json: LayerJson, reading: Reading, within: string): Generator<InspectedLayer> {
  for (const layer of readLayers(json)) {
    const name = `${within}${layer.name}`;
    if (isModel(layer)) {
      yield* layersOf(layer, reading, `${name}/`);
      continue;
    }
    const told = { name, className: layer.className };
    try {
      yield { ...told, ...made(layer, reading) };
    } catch (error) {
      yield { ...told, refused: (error as Error).message, exports: null };
    }
  }
}

/** All layers of a source, in the order of the file. */
export function inspectLayers({ topology }: KerasSource, customObjects: unknown): InspectedLayer[] {
  const objects: CustomObjects = readCustomObjects(customObjects as never);
  const reading = { version: topology.version, strict: true, sizes: null, customObjects: objects };
  return [...layersOf(topology.root, reading, '')];
}
