/** Saves that are whole or not there. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { partsOf, saveModel } from '../../../src/io/models/model_folder.js';
import { draftName, weightsName } from '../../../src/io/models/model_leftovers.js';
import { deadProcess, loadNumber, numberedArtifacts, saveNumber } from './numbered_model.js';
import { watchDisk } from './watched_disk.js';

const WEIGHTS = /^weights-[0-9a-f]{16}\.bin$/;

interface Failure {
  readonly name: string;
  readonly argument: string;
  readonly received: string;
  readonly message: string;
}

/** The error of a save, which must name the folder. */
async function failureOf(saving: Promise<unknown>, name: string, folder: string): Promise<Failure> {
  const error = (await saving.then(
    () => new Error('nothing thrown'),
    (thrown: unknown) => thrown,
  )) as Failure;
  expect(error.name).withContext(error.message).toBe(name);
  expect(error.argument).withContext(error.message).toBe('path');
  expect(error.received).withContext(error.message).toContain(folder);
  return error;
}

describe('a save in a folder', () => {
  let parent = '';
  let folder = '';

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'saves-'));
    folder = join(parent, 'model');
  });

  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  /** `model.json` and one file of weights, and nothing else. */
  function expectTidy(where = folder): void {
    const [json, weights, ...others] = readdirSync(where).sort();
    expect(json).toBe('model.json');
    expect(weights).toMatch(WEIGHTS);
    expect(others).toEqual([]);
  }

  /** A save of which half of the weights find room. */
  function onFullDisk(number: number): Promise<unknown> {
    return watchDisk(
      async ({ name, half }) => {
        await half();
        if (name === 'write') throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
      },
      () => saveNumber(folder, number),
    );
  }

  it('comes back, and leaves nothing of the one before', async () => {
    for (const number of [1, 2, 3]) {
      const { modelArtifactsInfo } = await saveNumber(folder, number);
      expect(modelArtifactsInfo.weightDataBytes).toBe(4000);
      expect(modelArtifactsInfo.modelTopologyType).toBe('JSON');
      expect(await loadNumber(folder)).toBe(number);
      expectTidy();
    }
  });

  it('is the old one or the new one, whole, whenever the process is killed', async () => {
    await saveNumber(folder, 1, 3000);
    const moments: string[] = [];
    const keep = (): void => {
      const moment = join(parent, `moment-${moments.length}`);
      cpSync(folder, moment, { recursive: true });
      moments.push(moment);
    };
    await watchDisk(
      async ({ half }) => {
        keep();
        await half();
        keep();
      },
      () => saveNumber(folder, 2, 3000),
    );
    const pid = deadProcess();
    const found = new Set<number>();
    for (const moment of moments) {
      for (const name of readdirSync(moment)) {
        renameSync(join(moment, name), join(moment, name.replace(`.${process.pid}.`, `.${pid}.`)));
      }
      found.add(await loadNumber(moment));
      await saveNumber(moment, 3);
      expect(await loadNumber(moment)).toBe(3);
      expectTidy(moment);
    }
    expect([...found].sort()).toEqual([1, 2]);
  });

  it('has everything on disk before it takes the place of the one before', async () => {
    const calls: string[] = [];
    await watchDisk(
      ({ name }) => void calls.push(name),
      () => saveNumber(folder, 1),
    );
    const steps = calls.filter((name) => ['write', 'writeFile', 'sync', 'rename', 'readdir'].includes(name));
    const [claim, weights, draft, names] = [['writeFile'], ['write', 'write', 'sync'], ['writeFile', 'sync'], ['sync']];
    expect(steps).toEqual([...claim!, ...weights!, ...draft!, ...names!, 'rename', 'sync', 'readdir', 'readdir']);
  });

  it('fails with an error that names the place, and leaves the old one and nothing else', async () => {
    await saveNumber(folder, 0);
    let failed = 'begin';
    for (let fault = 0; failed !== ''; fault++) {
      const before = readdirSync(folder);
      const old = await loadNumber(folder);
      failed = '';
      let isReplaced = false;
      const saving = watchDisk(
        ({ number, name }) => {
          if (number === fault) {
            failed = name;
            throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
          }
          isReplaced ||= name === 'rename';
        },
        () => saveNumber(folder, fault + 1),
      );
      const outcome = await saving.then(
        () => 'saved',
        ({ message }: Failure) => message,
      );
      const now = await loadNumber(folder);
      expect(now)
        .withContext(failed)
        .toBe(isReplaced ? fault + 1 : old);
      if (outcome === 'saved') expect(isReplaced).toBeTrue();
      else expect(outcome).toMatch(/^`path`: expected a place that can be written, received .*model.*ENOSPC/);
      if (!isReplaced) expect(readdirSync(folder)).withContext(failed).toEqual(before);
    }
    await saveNumber(folder, 77);
    expectTidy();
  });

  it('splits weights over files that Node reads at once', async () => {
    await saveNumber(folder, 1, 1500);
    const names = readdirSync(folder).sort();
    expect(names.length).toBe(4);
    expect(
      names
        .slice(1)
        .map((name) => statSync(join(folder, name)).size)
        .sort(),
    ).toEqual([1000, 1500, 1500]);
    expect(await loadNumber(folder)).toBe(1);
    await saveNumber(folder, 2);
    expectTidy();
  });

  it('has a file of weights even without weights', async () => {
    const { weightData: _none, ...artifacts } = numberedArtifacts(1);
    await saveModel(folder, partsOf({ ...artifacts, weightSpecs: [] }));
    expectTidy();
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    expect(Math.min(...sizes)).toBe(0);
  });

  it('takes weights in one buffer or in several', async () => {
    const { weightData, ...artifacts } = numberedArtifacts(4);
    const joined = tf.io.concatenateArrayBuffers(weightData as ArrayBuffer[]);
    await saveModel(folder, partsOf({ ...artifacts, weightData: joined }));
    expect(await loadNumber(folder)).toBe(4);
  });

  it('replaces a save of tfjs-node, and leaves it where it fails', async () => {
    mkdirSync(folder);
    const { weightData, weightSpecs, ...rest } = numberedArtifacts(5);
    const weightsManifest = [{ paths: ['weights.bin'], weights: weightSpecs }];
    writeFileSync(join(folder, 'model.json'), JSON.stringify({ ...rest, weightsManifest }));
    writeFileSync(
      join(folder, 'weights.bin'),
      Buffer.concat((weightData as ArrayBuffer[]).map((each) => Buffer.from(each))),
    );
    await failureOf(onFullDisk(6), 'RuntimeError', folder);
    expect(await loadNumber(folder)).toBe(5);
    expect(readdirSync(folder).sort()).toEqual(['model.json', 'weights.bin']);
    await saveNumber(folder, 6);
    expect(await loadNumber(folder)).toBe(6);
    expectTidy();
  });

  it('keeps files that are not its own', async () => {
    mkdirSync(folder);
    const others = ['group1-shard1of1.bin', 'notes.part', 'weights-old.bin', 'model.json.part', 'weights.bin.bak'];
    for (const name of others) writeFileSync(join(folder, name), 'mine');
    // Weights of tfjs-node, of a model that somebody gave another name.
    writeFileSync(join(folder, 'weights.bin'), 'mine');
    await failureOf(onFullDisk(1), 'RuntimeError', folder);
    expect(readdirSync(folder).sort()).toEqual([...others, 'weights.bin'].sort());
    await saveNumber(folder, 1);
    await saveNumber(folder, 2);
    expect(readdirSync(folder)).toEqual(jasmine.arrayContaining(others));
  });

  it('closes what it opened, however it ends', async () => {
    const count = (): number => readdirSync('/proc/self/fd').length;
    if (process.platform !== 'linux') return pending('open files are counted on Linux');
    const open = count();
    await saveNumber(folder, 1, 1500);
    await failureOf(onFullDisk(2), 'RuntimeError', folder);
    expect(count()).toBe(open);
  });

  it('leaves what another process is writing, and removes what a dead one was', async () => {
    await saveNumber(folder, 1);
    const make = (id: string, pid: number, host?: string): string[] => {
      const [, , , , ourHost] = draftName(id).split('.');
      const weights = [0, 1, 12].map((number) => weightsName(id, number));
      const names = [`model.json.${id}.${pid}.${host ?? ourHost}.part`, ...weights];
      for (const name of names) writeFileSync(join(folder, name), 'partial');
      return names;
    };
    // As versions called them that did not tell the machine.
    const old = (...names: string[]): string[] => {
      for (const name of names) writeFileSync(join(folder, name), 'partial');
      return names;
    };
    const age = (names: string[], seconds: number): string[] => {
      const then = Date.now() / 1000 - seconds;
      for (const name of names) utimesSync(join(folder, name), then, then);
      return names;
    };
    const kept = [
      ...make('a'.repeat(16), process.ppid),
      ...make('b'.repeat(16), process.pid),
      ...age(make('c'.repeat(16), deadProcess(), '00000000'), 3600),
      ...age(old('model.json.7.part', 'weights.bin.7.part'), 3600),
      ...age(old('model.json.x.part', 'notes.7.part'), 2 * 86_400),
    ];
    const removed = [
      ...make('d'.repeat(16), deadProcess()),
      ...age(make('e'.repeat(16), process.pid), process.uptime() + 60),
      ...age(make('f'.repeat(16), process.pid, '00000000'), 2 * 86_400),
      ...make('0'.repeat(16), deadProcess()).slice(1),
      ...age(old('model.json.8.part', 'weights.bin.8.part'), 2 * 86_400),
    ];
    await saveNumber(folder, 2);
    const left = readdirSync(folder);
    expect(left).toEqual(jasmine.arrayContaining(kept));
    expect(left.filter((name) => removed.includes(name))).toEqual([]);
    expect(await loadNumber(folder)).toBe(2);
  });

  it('fails where another process took its draft for a leftover', async () => {
    await saveNumber(folder, 1);
    const saving = watchDisk(
      ({ name }) => {
        const draft = readdirSync(folder).find((each) => each.endsWith('.part'));
        if (name === 'write' && draft !== undefined) rmSync(join(folder, draft));
      },
      () => saveNumber(folder, 2),
    );
    await failureOf(saving, 'RuntimeError', folder);
    expect(await loadNumber(folder)).toBe(1);
    expectTidy();
  });

  it('is one of several that happen at once, and loads meanwhile', async () => {
    await saveNumber(folder, 0);
    let isSaving = true;
    const saves = Promise.all(Array.from({ length: 12 }, (_, i) => saveNumber(folder, i + 1))).finally(
      () => (isSaving = false),
    );
    while (isSaving) expect(await loadNumber(folder)).toBeLessThan(13);
    await saves;
    expect(await loadNumber(folder)).toBeGreaterThan(0);
    await saveNumber(folder, 99);
    expectTidy();
  });

  it('makes missing folders and goes through links to folders', async () => {
    const deep = join(parent, 'a', 'b', 'c');
    await saveNumber(deep, 1);
    expectTidy(deep);
    symlinkSync(deep, folder);
    await saveNumber(folder, 2);
    expect(await loadNumber(deep)).toBe(2);
    expect(await loadNumber(folder)).toBe(2);
    expectTidy(deep);
  });

  it('is refused where a folder is called model.json, or a file stands in the way', async () => {
    mkdirSync(join(folder, 'model.json'), { recursive: true });
    await failureOf(saveNumber(folder, 1), 'ValueError', join(folder, 'model.json'));
    expect(readdirSync(folder)).toEqual(['model.json']);
    const file = join(parent, 'file');
    writeFileSync(file, 'mine');
    await failureOf(saveNumber(file, 1), 'RuntimeError', file);
    await failureOf(saveNumber(join(file, 'deeper'), 1), 'RuntimeError', file);
    expect(existsSync(file)).toBeTrue();
  });

  it('is refused in a folder that may not be written, and leaves it', async () => {
    await saveNumber(folder, 1);
    const before = readdirSync(folder);
    for (const each of [parent, folder]) chmodSync(each, 0o555);
    const isRoot = process.geteuid?.() === 0;
    // Root may write anywhere.
    if (isRoot) process.seteuid!(65534);
    try {
      await failureOf(saveNumber(folder, 2), 'RuntimeError', folder);
      await failureOf(saveNumber(join(parent, 'new'), 2), 'RuntimeError', join(parent, 'new'));
      expect(await loadNumber(folder)).toBe(1);
    } finally {
      if (isRoot) process.seteuid!(0);
      for (const each of [parent, folder]) chmodSync(each, 0o755);
    }
    expect(readdirSync(folder)).toEqual(before);
  });

  it('refuses topologies that are no JSON', async () => {
    const artifacts = { ...numberedArtifacts(1), modelTopology: new ArrayBuffer(8) };
    await expectAsync(saveModel(folder, partsOf(artifacts))).toBeRejectedWithError(TypeError, /modelTopology/);
    expect(existsSync(folder)).toBeFalse();
  });
});
