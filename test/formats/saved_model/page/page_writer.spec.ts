/** Exports of pages, which have no folders and no TensorFlow. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { WITH_SOURCES } from '../../../helpers/programs.js';
import { SavedModel } from '../../../../src/formats/saved_model/wire/saved_model_messages.js';
import { PAGE_OPTIONS, makePageModel } from './page_model.js';

const PROGRAM = fileURLToPath(new URL('page_writer_program.ts', import.meta.url));

interface Told {
  readonly files: readonly [path: string, bytes: string][];
  readonly backends: readonly string[];
}

describe('savedModel.export through a writer', () => {
  let folder: string;
  let told: Told;

  beforeAll(async () => {
    await emb.ready();
    await tf.setBackend('cpu');
    folder = mkdtempSync(join(tmpdir(), 'page-writer-'));
    const model = makePageModel(emb);
    await emb.savedModel.export(model, join(folder, 'model'), PAGE_OPTIONS);
    model.dispose();
    const { stdout, stderr } = spawnSync(process.execPath, [...WITH_SOURCES, PROGRAM], { encoding: 'utf8' });
    const line = stdout.split('\n').find((each) => each.startsWith('{"files"'));
    if (line === undefined) throw new Error(stderr);
    told = JSON.parse(line) as Told;
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('runs without TensorFlow', () => {
    expect(told.backends).toContain('cpu');
    expect(told.backends).not.toContain('tensorflow');
  });

  it('gives the files of an export into a folder, byte for byte', () => {
    const entries = readdirSync(join(folder, 'model'), { recursive: true, withFileTypes: true });
    const written = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const expected = Object.fromEntries(
      written.map((path) => [path.slice(join(folder, 'model').length + 1), readFileSync(path).toString('base64')]),
    );
    expect(Object.keys(expected).length).toBe(4);
    expect(Object.fromEntries(told.files)).toEqual(expected);
  });

  it('gives the file last that makes a SavedModel of them', () => {
    expect(told.files.at(-1)![0]).toBe('saved_model.pb');
  });

  it('writes the signatures that were asked for, with the ops of this package', () => {
    const saved = SavedModel.decode(Buffer.from(told.files.at(-1)![1], 'base64'));
    const [{ signatures = {}, graph }] = saved.metaGraphs as [NonNullable<typeof saved.metaGraphs>[0]];
    const names = Object.keys(signatures).filter((name) => !name.startsWith('__'));
    expect(names.sort()).toEqual(['serving_default', 'vectors', 'wide_only']);
    expect(Object.keys(signatures['vectors']!.inputs ?? {}).length).toBeGreaterThan(0);
    const functions = graph?.library?.function ?? [];
    const ops = functions.flatMap(({ node }) => node.map(({ op }) => op));
    expect(ops).toContain('EmbeddingBag');
  });
});
