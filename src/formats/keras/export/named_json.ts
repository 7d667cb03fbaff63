/** The JSON of a model under the names that Keras has for its layers, inputs and outputs. */
import { isRecord } from '../../../base/options.js';
import type { KerasNames, NamedEnds } from '../../../tfjs/models/keras_names.js';
import type { LayerEntry } from './layer_json.js';

type Place = readonly [layer: string, node: number, tensor: number];

/** Places under the keys of an object, where the model had one; in a list otherwise. */
function keyed(places: unknown, ends: NamedEnds | null): unknown {
  if (ends?.isKeyed !== true || !Array.isArray(places)) return places;
  return Object.fromEntries(ends.names.map((name, i) => [name, places[i] as Place]));
}

/** All places of tensors in the calls of layers, and the layers, under other names. */
function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => renamed(each, names));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      if (key !== 'keras_history') return [key, renamed(each, names)];
      const [layer, ...place] = each as Place;
      return [key, [names.get(layer) ?? layer, ...place]];
    }),
  );
}

/** The model itself; models within keep the names that they have. */
export function withKerasNames(json: LayerEntry, { inputs, outputs, layers }: KerasNames): LayerEntry {
  const names = new Map(Object.entries(layers));
  const { config } = json;
  const own = (config['layers'] as (LayerEntry & { name?: string })[]).map((layer) => {
    const called = names.get(String(layer.config['name']));
    const inNames = 'inbound_nodes' in layer ? { inbound_nodes: renamed(layer['inbound_nodes'], names) } : {};
    const entry = { ...layer, ...inNames };
    if (called === undefined) return entry;
    return { ...entry, ...('name' in layer && { name: called }), config: { ...layer.config, name: called } };
  });
  if (!('input_layers' in config)) return { ...json, config: { ...config, layers: own } };
  const placed = (places: unknown): unknown =>
    (places as Place[]).map(([layer, ...place]) => [names.get(layer) ?? layer, ...place]);
  return {
    ...json,
    config: {
      ...config,
      layers: own,
      input_layers: keyed(placed(config['input_layers']), inputs),
      output_layers: keyed(placed(config['output_layers']), outputs),
    },
  };
}
