// runner: alone
/** Devices that fail under a model: an error at once, no number after it, and new devices that are right again. */
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings';
import type { Command, FaultName } from '../../../src/backends/devices/device.js';
import { running } from '../../../src/backends/emulator/register.js';
import { makeModel, startDevices, trainDistributedModel } from '../../browser/distributed_model.js';
import { skipOrFail } from '../../helpers/backends.js';
import { expectClose } from '../../helpers/tensors.js';
import { HOSTS, emulator, loadHost, stopEmulator, type HostName } from './describe_emulator.js';

type Model = ReturnType<typeof makeModel>;
interface Trained {
  readonly predictions: readonly number[];
}

const FAILING = 2;
/** What stock models leave of the step that fails and of steps before it in the epoch: their losses. */
const MOST_LOSSES = 2;

const fit = ({ model, x, y }: Model, onBatchEnd: (batch: number) => void = () => undefined): Promise<unknown> => {
  const callbacks = { onBatchEnd };
  return model.fit(x, y, { epochs: 1, batchSize: 16, shuffle: false, verbose: 0, callbacks });
};

const save = ({ model }: Model): Promise<unknown> => {
  const written = { modelArtifactsInfo: { dateSaved: new Date(0), modelTopologyType: 'JSON' as const } };
  const handler = tf.io.withSaveHandler(() => Promise.resolve(written));
  return model.save(handler, { includeOptimizer: true });
};

/** Calls `inject` when a device gets its next commands, once it has them. */
function afterPostTo(device: number, inject: () => void): void {
  const found = running()!.machine.set.devices[device]!;
  const post = spyOn(found, 'post');
  post.and.callFake((commands: readonly Command[]) => {
    post.and.callThrough();
    found.post(commands);
    inject();
  });
}

const MOMENTS: Readonly<Record<string, (model: Model, inject: () => void) => unknown>> = {
  'before a lookup': ({ model, x }, inject) => {
    inject();
    return model.predict(x);
  },
  'while a lookup is in flight': ({ layer, x }, inject) => {
    afterPostTo(0, inject);
    return layer.apply(x);
  },
  'after its commands of a lookup': ({ layer, model, x }, inject) => {
    afterPostTo(FAILING, inject);
    // This call or the next: what was asked before the fault may still be right.
    tf.dispose(layer.apply(x) as tf.Tensor[]);
    return model.predict(x);
  },
  'before an update in fit': (model, inject) => {
    const update = spyOn(emulator(), 'update');
    update.and.callFake((updates) => {
      update.and.callThrough();
      inject();
      emulator().update(updates);
    });
    return fit(model);
  },
  'between two batches of fit': (model, inject) => fit(model, (batch) => (batch === 1 ? inject() : undefined)),
  'before weights are read': ({ layer }, inject) => {
    inject();
    return layer.getWeights().map((weight) => weight.dataSync());
  },
  'while weights are read': async ({ model }, inject) => {
    afterPostTo(1, inject);
    for (const weight of model.getWeights()) await weight.data();
  },
  'before weights are set': ({ layer }, inject) => {
    const values = layer.getWeights().map((weight) => weight.dataSync().slice());
    inject();
    // This call or the next.
    layer.setWeights(values);
    return layer.getWeights().map((weight) => weight.dataSync());
  },
  'before the model is saved': (model, inject) => {
    inject();
    return save(model);
  },
};

const TEXTS: Readonly<Record<FaultName, RegExp>> = {
  // Whichever is seen first: that nothing comes from it, or the event of its end.
  terminate: /received (its worker has ended: it was terminated|it ended with exit code 1)/,
  kernelError: /received a kernel failed/,
  outOfMemory: /received its worker has ended: it was terminated or ran out of memory/,
  hang: /received it gave no sign of life for 4 s/,
};

/** What is tried where: some faults take seconds, and the host backend matters to what comes after a fault only. */
const CASES: Readonly<Record<HostName, Partial<Record<FaultName, readonly string[]>>>> = {
  cpu: {
    terminate: Object.keys(MOMENTS),
    kernelError: Object.keys(MOMENTS),
    outOfMemory: ['while a lookup is in flight', 'before the model is saved'],
    hang: ['before an update in fit', 'while weights are read'],
  },
  tensorflow: { terminate: ['while a lookup is in flight', 'before an update in fit'] },
  wasm: { terminate: ['while a lookup is in flight', 'before an update in fit'] },
};

async function thrownBy(body: () => unknown): Promise<Error | null> {
  try {
    await body();
    return null;
  } catch (error) {
    return error as Error;
  }
}

/** Until a device that does nothing is given up; one that fills its memory may take any time for that. */
const PATIENCE_MS = 4000;

async function start(host: HostName, timeoutMs = 60_000): Promise<void> {
  if (running() !== null) tf.removeBackend('tpu-emulator');
  await startDevices(tf, emb, { host, devices: 'worker', timeoutMs });
  expect(running()!.machine.set.devices[FAILING]!.kind).toBe('worker');
}

/** No number comes after a fault, from whichever device. */
async function expectNoNumber(given: Model, text: string | undefined): Promise<void> {
  const { layer, model, x, y } = given;
  const calls = [
    () => model.predict(x),
    () => model.trainOnBatch(x, y),
    () => Promise.all(layer.getWeights().map((weight) => weight.data())),
    () => layer.setWeights(layer.getWeights()),
    () => save(given),
    ...layer.getWeights().map((weight) => () => weight.dataSync()),
  ];
  for (const call of calls) expect((await thrownBy(call))?.message).toBe(text);
}

const train = async (): Promise<readonly number[]> => ((await trainDistributedModel(tf, emb)) as Trained).predictions;

describe('devices that fail under a model', () => {
  let before: string;
  let expected: readonly number[];

  beforeAll(async () => {
    await tf.ready();
    before = tf.getBackend();
    await loadHost('cpu');
    await tf.setBackend('cpu');
    expected = await train();
  });

  for (const host of HOSTS) {
    describe(`[${host}]`, () => {
      let missing: string | null = null;
      let tensors: number;
      beforeAll(async () => {
        missing = await loadHost(host);
        if (missing === null) await start(host);
      });
      beforeEach(() => {
        if (missing !== null) skipOrFail(missing);
        tensors = tf.memory().numTensors;
      });
      afterAll(() => stopEmulator(before));

      async function expectFault(fault: FaultName, moment: string): Promise<void> {
        const model = makeModel(tf, emb);
        await fit(model);
        const inject = (): void => emb.tpuEmulator().injectFault(FAILING, fault);
        const error = await thrownBy(() => MOMENTS[moment]!(model, inject));
        expect(error).toBeInstanceOf(emb.RuntimeError);
        expect(error?.message).toMatch(TEXTS[fault]);
        expect(error?.message).toMatch(/^`device 2`: .* Tables on the devices are lost\. tf\.removeBackend/);
        await expectNoNumber(model, error?.message);
        model.dispose();
      }

      for (const [fault, moments] of Object.entries(CASES[host]) as [FaultName, readonly string[]][]) {
        for (const moment of moments) {
          it(`${fault} ${moment}: an error that says so, and new devices are right`, async () => {
            if (fault === 'hang') await start(host, PATIENCE_MS);
            await expectFault(fault, moment);
            const losses = tf.memory().numTensors - tensors;
            expect(losses).toBeLessThanOrEqual(moment.includes('fit') ? MOST_LOSSES : 0);
            await start(host);
            expectClose(await train(), expected, 0, 'predictions of a new model');
            expect(tf.memory().numTensors).toBe(tensors + losses);
            tf.engine().state.numTensors -= losses; // nobody can reach them
          });
        }
      }
    });
  }

  describe('and slow ones', () => {
    beforeEach(() => start('cpu', PATIENCE_MS));
    afterEach(() => stopEmulator(before));

    it('differ: a model waits for them', async () => {
      const tensors = tf.memory().numTensors;
      const model = makeModel(tf, emb);
      const size = 2e6;
      const part = { firstRow: 0, rowStep: 1, rows: size, firstColumn: 0, columns: 1 };
      const fill = { kind: 'normal', mean: 0, deviation: 1, seed: 1 } as const;
      const long: Command[] = [
        { op: 'allocate', buffer: -1, part, fill },
        { op: 'free', buffer: -1 },
      ];
      const device = running()!.machine.set.devices[FAILING]!;
      const begin = performance.now();
      device.post(long);
      device.finish();
      // More than a device that does nothing may take.
      const times = Math.ceil((1.25 * PATIENCE_MS) / (performance.now() - begin));
      device.post(Array.from({ length: times }, () => long).flat());
      await fit(model);
      model.dispose();
      expectClose(await train(), expected, 0, 'predictions');
      expect(tf.memory().numTensors).toBe(tensors);
    });
  });
});
