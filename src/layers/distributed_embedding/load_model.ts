/** Layers models whose tables are placed otherwise than when they were saved. */
import * as tf from '@tensorflow/tfjs';
import { ArgumentTypeError, ValueError, described } from '../../base/errors.js';
import { isRecord, readOptions } from '../../base/options.js';
import { OPEN_MODEL } from '../../base/platform.js';
import type { StoredModel } from '../../io/models/stored_model.js';
import { readPlan } from '../../partition/read_plan.js';
import type { PlanData } from '../../partition/plan.js';
import { loadStoredModel } from '../loaded_model.js';
import { openTables } from '../../tables/keys/open_tables.js';
import { ofOurs } from '../../tfjs/models/own_models.js';

/** How the tables of a saved model are placed. */
export interface LoadLayersModelOptions {
  /**
   * A plan to follow: what `planEmbedding` gives, or its JSON text; of several `distributedEmbedding` layers an object of
   * plans by the names of layers. null: tables are planned for the devices in use, whatever plan was saved.
   */
  plan?: PlanData | string | Readonly<Record<string, PlanData | string | null>> | null | undefined;
  /** From so many elements on tables are cut by columns; null: as few as fit. A saved plan is no longer followed. */
  columnSliceThreshold?: number | null | undefined;
  /** Rows of open tables by their names, in place of those that they had. */
  capacity?: Readonly<Record<string, number>> | null | undefined;
}

type Json = Record<string, unknown>;

/** A layer of many tables in a topology. */
interface Found {
  readonly name: string;
  readonly config: Json;
}

/** As it is registered, and as earlier versions wrote it. */
const CLASS = /(^|>)DistributedEmbedding$/;

/** All such layers of a topology, those of models within the model too. */
function layersIn(value: unknown, found: Map<Json, Found> = new Map()): Map<Json, Found> {
  if (Array.isArray(value)) for (const each of value) layersIn(each, found);
  if (!isRecord(value)) return found;
  const { class_name: className, config, name } = value as Json;
  if (typeof className === 'string' && CLASS.test(className) && isRecord(config)) {
    const known = config as Json;
    found.set(known, { name: String(known['name'] ?? name), config: known });
    return found;
  }
  for (const each of Object.values(value)) layersIn(each, found);
  return found;
}

function isPlan(value: unknown): value is PlanData | string {
  return typeof value === 'string' || (isRecord(value) && Array.isArray(value['ranks']));
}

/** The plan for each layer that gets one. */
function plansOf(plan: unknown, layers: readonly Found[]): Map<Found, PlanData | string | null> {
  const names = layers.map(({ name }) => name).join(', ');
  if (plan === null || isPlan(plan)) {
    if (plan !== null && layers.length > 1) {
      throw new ValueError('plan', `an object of plans by layers: ${names}`, described('one plan'));
    }
    return new Map(layers.map((layer) => [layer, plan]));
  }
  if (!isRecord(plan)) throw new ArgumentTypeError('plan', 'a plan, its JSON text, or plans by names of layers', plan);
  return new Map(
    Object.entries(plan).map(([name, own]) => {
      const layer = layers.find((each) => each.name === name);
      if (layer === undefined) throw new ValueError('plan', `plans by names of layers: ${names}`, name);
      if (own === null || isPlan(own)) return [layer, own] as const;
      throw new ArgumentTypeError(`plan.${name}`, 'a plan, or its JSON text', own);
    }),
  );
}

/** Puts plan and threshold into a topology. */
function placeOtherwise(topology: unknown, options: LoadLayersModelOptions): void {
  const { plan, columnSliceThreshold: threshold } = options;
  if (plan === undefined && threshold === undefined) return;
  const layers = [...layersIn(topology).values()];
  if (layers.length === 0) {
    const argument = plan === undefined ? 'columnSliceThreshold' : 'plan';
    throw new ValueError(argument, 'a model with a distributedEmbedding layer', described('one without'));
  }
  if (threshold !== undefined) {
    // Whatever else is wrong with it, the layer says.
    if (threshold !== null && typeof threshold !== 'number') {
      throw new ArgumentTypeError('columnSliceThreshold', 'a number of elements, or null', threshold);
    }
    for (const { config } of layers) {
      config['column_slice_threshold'] = threshold;
      config['plan'] = null;
    }
  }
  if (plan === undefined) return;
  for (const [{ config }, own] of plansOf(plan, layers)) {
    const text = own === null ? null : JSON.stringify(readPlan(own));
    config['plan'] = text === null ? null : { name: text, given: true };
  }
}

function handlerOf(source: unknown): tf.io.IOHandler {
  const expected = 'a URL, or an IOHandler of TensorFlow.js';
  if (isRecord(source) && typeof (source as { load?: unknown }).load === 'function') return source as tf.io.IOHandler;
  if (typeof source !== 'string') throw new ArgumentTypeError('source', expected, source);
  const [handler, ...more] = tf.io.getLoadHandlers(source);
  if (more.length > 0) throw new ValueError('source', 'a URL for which there is one handler', source);
  return handler ?? tf.io.browserHTTPRequest(source);
}

/**
 * Loads a layers model as `tf.loadLayersModel` does, and places the tables of its `distributedEmbedding` layers otherwise
 * than when it was saved.
 *
 * Of a path, what `model.save` wrote is read row by row into the tables of the model, so that no table lies in memory twice;
 * `tf.loadLayersModel` has all weights in one buffer first. Without options it is `tf.loadLayersModel` otherwise: tables are planned anew for the devices in use, and a plan that was made by
 * hand is followed where there are as many devices with room for it; else a warning says that it is not. `plan` is
 * followed, or is an error where there are other devices than it is for. With `capacity` keys of open tables, their rows
 * and slots go into tables of that size, as where `table.capacity` is set.
 *
 * @param source - A URL, or an IOHandler of TensorFlow.js.
 * @param options - The plan, or from which size on tables are cut; capacities of open tables.
 * @returns The model.
 * @throws TypeError and ValueError for wrong options, models without such a layer or table, plans for other tables or
 * devices, and capacities below the number of keys.
 *
 * @example
 * const plan = emb.planEmbedding({ tables: [{ inputDim: 1000, outputDim: 8, combiner: 'sum' }], worldSize: 4 });
 * const model = await emb.loadLayersModel('file://saved/model.json', { plan });
 */
export async function loadLayersModel(source: unknown, options: LoadLayersModelOptions = {}): Promise<tf.LayersModel> {
  const given = readOptions<LoadLayersModelOptions>(options, ['plan', 'columnSliceThreshold', 'capacity'], 'options');
  const capacity = given.capacity ?? {};
  if (!isRecord(capacity))
    throw new ArgumentTypeError('capacity', 'an object of numbers by names of open tables', capacity);
  const handler = handlerOf(source);
  if (handler.load === undefined)
    throw new ValueError('source', 'an IOHandler that loads', described('one that saves'));
  /** Handlers may give the same topology again, which nobody else is to see changed. */
  const placed = <A extends Pick<tf.io.ModelArtifacts, 'modelTopology'>>(artifacts: A): A => {
    const own = { ...artifacts, modelTopology: structuredClone(artifacts.modelTopology)! };
    placeOtherwise(own.modelTopology, given);
    return own;
  };
  const { [OPEN_MODEL]: open } = handler as { [OPEN_MODEL]?: () => Promise<StoredModel | null> };
  const stored = (await open?.call(handler)) ?? null;
  const model =
    stored === null
      ? await tf.loadLayersModel({ load: async () => ofOurs(placed(await handler.load!())) })
      : await loadStoredModel({ ...stored, artifacts: placed(stored.artifacts) });
  try {
    const tables = openTables(model, Object.keys(capacity));
    for (const [name, rows] of Object.entries(capacity)) tables[name]!.capacity = rows;
  } catch (error) {
    (model as { optimizer?: tf.Optimizer }).optimizer?.dispose();
    model.dispose();
    throw error;
  }
  return model;
}
