import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs';
import {
  BlobReader,
  BlobWriter,
  TextReader,
  Uint8ArrayReader,
  ZipReader,
  ZipWriter,
  type FileEntry,
} from '@zip.js/zip.js';
import { File as H5File, ready, type Group } from 'h5wasm';
import * as emb from '../../../src/node.js';
import { expectNoLeakAsync } from '../../helpers/tensors.js';
import { goldenPath } from './keras_cases.js';

type Json = Record<string, unknown>;

const file = (name: string): Uint8Array => new Uint8Array(readFileSync(goldenPath(`keras_files/${name}`)));

/** A load that must fail with an error of ours, and leave nothing. */
async function expectRefusal(bytes: Uint8Array | tf.io.IOHandler, message: RegExp = /./): Promise<void> {
  await expectNoLeakAsync(async () => {
    let error: (Error & { argument?: string }) | null = null;
    try {
      (await emb.loadKerasModel(bytes)).dispose();
    } catch (thrown) {
      error = thrown as Error;
    }
    expect(error?.name)
      .withContext(error?.message ?? 'it loads')
      .toMatch(/ValueError|TypeError/);
    expect(error?.argument)
      .withContext(error?.message ?? '')
      .toBeDefined();
    expect(error?.message).toMatch(message);
  });
}

function numbersOf(model: tf.LayersModel): number[] {
  return model.weights.flatMap((weight) => Array.from(weight.read().dataSync()));
}

/** The same file with other entries, or more. */
async function rezip(
  bytes: Uint8Array,
  change: (entries: Map<string, Uint8Array | string>) => void,
): Promise<Uint8Array> {
  const reader = new ZipReader(new BlobReader(new Blob([bytes as Uint8Array<ArrayBuffer>])));
  const entries = new Map<string, Uint8Array | string>();
  for (const entry of (await reader.getEntries()) as FileEntry[]) {
    entries.set(entry.filename, new Uint8Array(await (await entry.getData(new BlobWriter())).arrayBuffer()));
  }
  change(entries);
  const writer = new ZipWriter(new BlobWriter());
  for (const [name, data] of entries) {
    const input =
      typeof data === 'string' ? new TextReader(data) : new Uint8ArrayReader(data as Uint8Array<ArrayBuffer>);
    await writer.add(name, input);
  }
  return new Uint8Array(await (await writer.close()).arrayBuffer());
}

/** The file with another model in it. */
function withConfig(bytes: Uint8Array, change: (config: Json) => unknown): Promise<Uint8Array> {
  return rezip(bytes, (entries) => {
    const config = JSON.parse(new TextDecoder().decode(entries.get('config.json') as Uint8Array)) as Json;
    entries.set('config.json', JSON.stringify(change(config) ?? config));
  });
}

/** The file with other weights in it. */
async function withHdf5(bytes: Uint8Array, change: (weights: H5File) => void): Promise<Uint8Array> {
  const { FS } = await ready;
  return rezip(bytes, (entries) => {
    FS.writeFile('/w.h5', entries.get('model.weights.h5') as Uint8Array);
    const weights = new H5File('/w.h5', 'a');
    change(weights);
    weights.close();
    entries.set('model.weights.h5', FS.readFile('/w.h5') as unknown as Uint8Array);
    FS.unlink('/w.h5');
  });
}

const DENSE = 'layers/dense/vars';

describe('hostile model files', () => {
  const model = file('k3_sequential.keras');
  const graph = file('k3_embed_reduce.keras');

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
  });

  it('that are cut off are errors', async () => {
    for (const name of ['k2_nvidia.h5', 'k3_sequential.keras', 'k3_embed_reduce.h5']) {
      const bytes = file(name);
      for (const part of [0, 1, 4, 9, 100, bytes.length >> 1, bytes.length - 30]) {
        await expectRefusal(bytes.slice(0, part));
      }
    }
  });

  it('with flipped bytes are errors, or models in which one number differs at most', async () => {
    // Archives have checksums; plain HDF5 files of Keras have none.
    for (const name of ['k2_nested.h5', 'k3_sequential.keras']) {
      const isPlain = name.endsWith('.h5');
      const bytes = file(name);
      const whole = await emb.loadKerasModel(bytes);
      const shapes = whole.weights.map(({ shape }) => shape);
      const numbers = numbersOf(whole);
      whole.dispose();
      let loads = 0;
      for (let i = 0; i < 120; i++) {
        const flipped = bytes.slice();
        flipped[(i * 7919) % bytes.length]! ^= 1 << (i % 8);
        await expectNoLeakAsync(async () => {
          const model = await emb.loadKerasModel(flipped).catch((error: Error & { argument?: string }) => error);
          if (model instanceof Error) {
            expect(model.argument).withContext(String(model)).toBeDefined();
            return;
          }
          loads++;
          expect(model.weights.map(({ shape }) => shape)).toEqual(shapes);
          const others = numbersOf(model).filter((value, place) => !Object.is(value, numbers[place]));
          expect(others.length)
            .withContext(`${name}, flip ${i}`)
            .toBeLessThanOrEqual(isPlain ? 1 : 0);
          model.dispose();
        });
      }
      if (isPlain) expect(loads).toBeGreaterThan(0);
    }
  });

  it('with a flipped byte in an archive are errors, wherever the byte lies', async () => {
    const whole = Buffer.from(model);
    const [start, end] = [whole.indexOf('HDF', 0, 'latin1'), whole.indexOf('PK\x01\x02', 0, 'latin1')];
    for (let i = 0; i < 40; i++) {
      const flipped = model.slice();
      flipped[start + Math.floor(((end - start) * i) / 40)]! ^= 16;
      await expectRefusal(flipped);
    }
  });

  it('with weights of other shapes, missing or too many are errors that name the layer', async () => {
    const more = await withHdf5(model, (weights) => {
      (weights.get(DENSE) as Group).create_dataset({ name: '2', data: new Float32Array(3) });
    });
    await expectRefusal(more, /weights in the file/);
    const other = await withHdf5(model, (weights) => {
      (weights.get('layers') as Group)
        .create_group('dense_7')
        .create_group('vars')
        .create_dataset({ name: '0', data: new Float32Array(2) });
    });
    await expectRefusal(other, /layers\/dense_7\/vars\/0/);
    await expectRefusal(
      await rezip(model, (entries) => void entries.set('model.weights.h5', new Uint8Array(9))),
      /HDF5/,
    );
    await expectRefusal(await rezip(model, (entries) => void entries.delete('config.json')), /config\.json/);
    await expectRefusal(await rezip(model, (entries) => void entries.delete('model.weights.h5')), /model\.weights\.h5/);
  });

  it('with compressed chunks, which may unpack to anything, are errors', async () => {
    const bomb = await withHdf5(model, (weights) => {
      const vars = (weights.get('layers') as Group).create_group('dense_1').create_group('vars');
      vars.create_dataset({
        name: '0',
        data: new Float32Array(4_000_000),
        shape: [4_000_000],
        chunks: [1_000_000],
        compression: 9,
      });
    });
    expect(bomb.length).toBeLessThan(1e6);
    const claimed = await withConfig(bomb, (config) => {
      const { layers } = config['config'] as { layers: Json[] };
      layers.push({
        ...layers.at(-1)!,
        config: { ...(layers.at(-1)!['config'] as Json), name: 'bomb', units: 4_000_000, use_bias: false },
      });
    });
    await expectRefusal(claimed);
  });

  it('with links in circles and out of the file are errors', async () => {
    const circle = await withHdf5(model, (weights) => {
      (weights.get('layers') as Group).create_hard_link('/layers', 'again');
    });
    await expectRefusal(circle, /at most 100000 names|whole|another/);
    const outside = await withHdf5(model, (weights) => {
      (weights.get('layers') as Group).create_external_link('/etc/passwd', '/', 'elsewhere');
    });
    await expectNoLeakAsync(async () => {
      const [whole, found] = [
        await emb.loadKerasModel(model),
        await emb.loadKerasModel(outside).catch((e: Error) => e),
      ];
      if (found instanceof Error) expect((found as { argument?: string }).argument).toBeDefined();
      else expect(numbersOf(found)).toEqual(numbersOf(whole));
      for (const each of [whole, found]) if (!(each instanceof Error)) each.dispose();
    });
  });

  it('with sizes that their weights do not have are errors before there is memory for them', async () => {
    const huge: [string, unknown][] = [
      ['input_dim', 2 ** 31 - 1],
      ['output_dim', 2 ** 30],
      ['input_dim', 1e300],
      ['input_dim', -1],
      ['output_dim', 'many'],
    ];
    for (const [field, value] of huge) {
      const bytes = await withConfig(graph, (config) => {
        const layers = (config['config'] as { layers: { class_name: string; config: Json }[] }).layers;
        layers.find((layer) => layer.class_name === 'EmbedReduce')!.config[field] = value;
      });
      await expectRefusal(bytes, /_Table|_table/);
    }
    const dense = await withConfig(model, (config) => {
      const { layers } = config['config'] as { layers: { class_name: string; config: Json }[] };
      layers.at(-1)!.config['units'] = 2 ** 40;
    });
    await expectRefusal(dense, /units/);
  });

  it('of thousands of groups are errors in a moment', async () => {
    const { FS } = await ready;
    const many = await withHdf5(model, (weights) => {
      for (let i = 0; i < 3000; i++) {
        weights.create_group(`layers/g${i}`);
        weights.create_dataset({ name: `layers/g${i}/0`, data: [1], shape: [1], dtype: '<f4' });
      }
    });
    FS.writeFile('/many.h5', file('k2_nvidia.h5'));
    const old = new H5File('/many.h5', 'a');
    const root = old.get('model_weights') as Group;
    for (let i = 0; i < 3000; i++) root.create_group(`g${i}`).create_attribute('weight_names', ['a/b']);
    root.delete_attribute('layer_names');
    root.create_attribute(
      'layer_names',
      Array.from({ length: 3000 }, (_, i) => `g${i}`),
    );
    old.close();
    const listed = FS.readFile('/many.h5') as unknown as Uint8Array;
    FS.unlink('/many.h5');
    for (const bytes of [many, listed]) {
      const start = process.cpuUsage();
      await expectRefusal(bytes, /others|weights in the file/);
      expect(process.cpuUsage(start).user / 1e6).toBeLessThan(2);
    }
  });

  it('that take a tensor apart into more than there can be are errors', () => {
    tf.tidy(() => {
      const layer = emb.layers.operation({ operation: 'Unstack', settings: { num: 1e9, axis: 1 } });
      expect(() => layer.apply(tf.input({ shape: [null] }))).toThrowError(/num/);
    });
  });

  it('that are no models are errors', async () => {
    for (const config of [
      null,
      3,
      [],
      {},
      { class_name: 'Functional' },
      { class_name: 'Functional', config: {} },
      { class_name: 'Dense', config: {} },
    ]) {
      await expectRefusal(await withConfig(graph, () => config ?? { class_name: null }));
    }
    const deep = `${'{"config":'.repeat(5000)}1${'}'.repeat(5000)}`;
    await expectRefusal(await rezip(graph, (entries) => void entries.set('config.json', deep)), /levels/);
    await expectRefusal(await rezip(graph, (entries) => void entries.set('config.json', '{')), /JSON/);
  });

  it('whose layers call each other in circles, twice or not at all are errors', async () => {
    const change = (edit: (layers: Json[], config: Json) => void): Promise<Uint8Array> =>
      withConfig(graph, (config) => {
        const inner = config['config'] as Json;
        edit(inner['layers'] as Json[], inner);
      });
    const history = (layer: Json): unknown[] => {
      const nodes = layer['inbound_nodes'] as {
        args: { config: { keras_history: unknown[] } }[] | { config: { keras_history: unknown[] } }[][];
      }[];
      return ([nodes[0]!.args].flat(3)[0] as { config: { keras_history: unknown[] } }).config.keras_history;
    };
    await expectRefusal(await change((layers) => void (history(layers.at(-1)!)[0] = 'Head_1')), /calls that follow/);
    await expectRefusal(await change((layers) => void (history(layers.at(-1)!)[0] = 'nobody')), /calls that follow/);
    await expectRefusal(await change((layers) => void (history(layers.at(-1)!)[2] = 7)), /tensors that the layers/);
    await expectRefusal(await change((layers) => void layers.push(layers.at(-1)!)), /different names/);
    await expectRefusal(await change((_, config) => void (config['output_layers'] = [['nobody', 0, 0]])));
    await expectRefusal(await change((_, config) => void (config['input_layers'] = [])));
    await expectRefusal(await change((layers) => void (layers.at(-1)!['inbound_nodes'] = 'x')));
  });

  it('with the key __proto__ change no object', async () => {
    const text =
      '{"class_name": "Functional", "__proto__": {"polluted": 1}, "config": {"__proto__": {"polluted": 1}, "name": "__proto__", "layers": [{"class_name": "__proto__", "config": {"name": "__proto__"}, "inbound_nodes": []}], "input_layers": {"__proto__": ["__proto__", 0, 0]}, "output_layers": {"constructor": ["__proto__", 0, 0]}}}';
    await expectRefusal(await rezip(graph, (entries) => void entries.set('config.json', text)));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('with entries that lead out of their folder are errors', async () => {
    const bytes = await rezip(model, (entries) => void entries.set('../../outside.txt', 'x'));
    await expectRefusal(bytes, /whole/);
  });

  it('of the converter with weights that are too short or named twice are errors', async () => {
    const topology = { modelTopology: JSON.parse(new TextDecoder().decode(await configOf(model))) as object };
    const spec = { name: 'layers/embedding/vars/0', shape: [7, 4], dtype: 'float32' as const };
    const load = (weightSpecs: tf.io.WeightsManifestEntry[], bytes: number): Promise<void> =>
      expectRefusal({ load: async () => ({ ...topology, weightSpecs, weightData: new ArrayBuffer(bytes) }) });
    await load([spec], 8);
    await load([spec], 7 * 4 * 4);
    await load([{ ...spec, shape: [2 ** 50] }], 8);
    await load([{ ...spec, shape: [-1] }], 8);
    await load([{ ...spec, dtype: 'float99' as never }], 8);
    await load([{ ...spec, name: '__proto__' }], 7 * 4 * 4);
  });
});

async function configOf(bytes: Uint8Array): Promise<Uint8Array> {
  let found = new Uint8Array();
  await rezip(bytes, (entries) => void (found = entries.get('config.json') as Uint8Array<ArrayBuffer>));
  return found;
}
