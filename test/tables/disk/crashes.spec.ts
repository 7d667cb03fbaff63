/** Whatever ends a training, the file is that of its last checkpoint; one process writes it at a time. */
import { spawn, type ChildProcess } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs';
import * as emb from 'tfjs-embeddings/node';
import { fileSystem } from '../../../src/tables/disk/file_systems.js';
import { journalPath } from '../../../src/tables/disk/row_journal.js';
import { casesOf } from '../../forms/forms.js';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { Random } from '../../helpers/random.js';
import { inFolder, numbers, rejects } from './setup.js';
import { DIM, START, modelOf, steps } from './trained_model.js';

const PROGRAM = fileURLToPath(new URL('train_program.ts', import.meta.url));
const [ROWS, BETWEEN] = [2000, 20];

async function rowsOf(file: string): Promise<string> {
  const table = await emb.diskTable({ file });
  const rows: number[] = [];
  for await (const chunk of table.export()) rows.push(...numbers(chunk.rows));
  table.close();
  return rows.join();
}

/** The rows of the same training in memory at each checkpoint. */
class Expected {
  readonly #table = emb.embeddingTable({ inputDim: ROWS, outputDim: DIM, ...START });
  readonly #model = modelOf(this.#table, emb.train.adagrad({ learningRate: 0.1 }));
  readonly #random: Random;
  readonly #rows: string[] = [];

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#rows.push(this.#now());
  }

  #now(): string {
    return Array.from(this.#table.variable!.dataSync()).join();
  }

  async at(checkpoint: number): Promise<string> {
    while (this.#rows.length <= checkpoint) {
      await steps(this.#model, this.#random, BETWEEN, ROWS);
      this.#rows.push(this.#now());
    }
    return this.#rows[checkpoint]!;
  }

  dispose(): void {
    this.#model.dispose();
  }
}

/** A training in a process of its own, and what it said. */
class Training {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  readonly ended: Promise<number | null>;
  #said = '';

  constructor(file: string, seed: number, limit: number | null = null) {
    const args = [...WITH_SOURCES, PROGRAM, file, `${seed}`, `${ROWS}`, `${BETWEEN}`];
    const bounded = ['-c', `ulimit -f ${limit}; exec "$0" "$@"`, process.execPath, ...args];
    this.child = limit === null ? spawn(process.execPath, args) : spawn('bash', bounded);
    this.child.stdout!.on('data', (chunk: Buffer) => {
      this.#said += chunk.toString();
      this.lines.splice(0, Infinity, ...this.#said.split('\n').slice(0, -1));
    });
    this.ended = new Promise((resolve) => this.child.on('close', resolve));
  }

  /** The last checkpoint that it told of. */
  get checkpoint(): number {
    return Math.max(0, ...this.lines.map(Number).filter((number) => !Number.isNaN(number)));
  }

  async opened(): Promise<void> {
    while (!this.lines.includes('open')) {
      if (this.child.exitCode !== null) throw new Error(`it ended: ${this.lines.join()}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

describe('crashes of trainings of disk tables', () => {
  const seed = 0;
  let expected: Expected;

  beforeAll(async () => {
    await tf.setBackend('cpu');
    expected = new Expected(seed);
  });

  afterAll(() => expected.dispose());

  async function create(file: string): Promise<void> {
    const table = await emb.diskTable.create({ file, rows: ROWS, outputDim: DIM, ...START });
    table.close();
  }

  it(
    `leave the last checkpoint, by kill -9 at ${casesOf('DISK_TABLE_KILLS')} moments`,
    inFolder(async (folder) => {
      const random = new Random(3);
      let unfinished = 0;
      for (let kill = 0; kill < casesOf('DISK_TABLE_KILLS'); kill++) {
        const file = join(folder, `table-${kill}`);
        await create(file);
        const training = new Training(file, seed);
        await training.opened();
        await new Promise((resolve) => setTimeout(resolve, random.whole(20, 500)));
        if (kill === 0) {
          await rejects(emb.diskTable({ file, trainable: true }), 'RuntimeError', 'file', /process \d+ writes/);
        }
        training.child.kill('SIGKILL');
        await training.ended;
        unfinished += existsSync(journalPath(file)) ? 1 : 0;
        expect(existsSync(`${file}.lock`)).toBeTrue();
        const found = await rowsOf(file);
        const { checkpoint } = training;
        // It may have been killed before it told of the next one.
        const isOne = found === (await expected.at(checkpoint)) || found === (await expected.at(checkpoint + 1));
        expect(isOne).withContext(`kill ${kill}, checkpoint ${checkpoint}`).toBeTrue();
        expect(existsSync(journalPath(file))).toBeFalse();
        const again = await emb.diskTable({ file, trainable: true });
        again.close();
        expect(await rowsOf(file)).toBe(found);
        expect(existsSync(`${file}.lock`)).toBeFalse();
      }
      expect(unfinished).toBeGreaterThan(0);
    }),
    600_000,
  );

  it(
    `leave the last checkpoint where ${casesOf('DISK_TABLE_FULL')} disks are full, and say it`,
    inFolder(async (folder) => {
      const random = new Random(8);
      for (let full = 0; full < casesOf('DISK_TABLE_FULL'); full++) {
        const file = join(folder, `table-${full}`);
        await create(file);
        let before = await expected.at(0);
        // Every other file has room for slots already: then it is rows that find none, after some that did.
        if (full % 2 === 1) {
          const table = await emb.diskTable({ file, trainable: true });
          const model = modelOf(table, emb.train.adagrad({ learningRate: 0.1 }));
          await steps(model, new Random(full), 5, ROWS);
          model.dispose();
          table.close();
          before = await rowsOf(file);
        }
        // In 1,024 bytes.
        const training = new Training(file, seed, random.whole(5, 46));
        expect(await training.ended).toBe(3);
        expect(training.lines.at(-1)).toMatch(/RuntimeError: `file`: expected a file that rows.*EFBIG/);
        expect(training.checkpoint).toBe(0);
        expect((await rowsOf(file)) === before)
          .withContext(training.lines.join())
          .toBeTrue();
      }
    }),
    600_000,
  );

  it(
    'leave a file that is opened as it was whatever of the journal reached the disk',
    inFolder(async (folder) => {
      const file = join(folder, 'table');
      const table = await emb.diskTable.create({
        file,
        rows: ROWS,
        outputDim: DIM,
        ...START,
        cacheBytes: 40 * DIM * 4,
      });
      const model = modelOf(table, emb.train.adagrad({ learningRate: 0.1 }));
      const before = readFileSync(file);
      await steps(model, new Random(seed), BETWEEN, ROWS);
      const journal = readFileSync(journalPath(file));
      expect(readFileSync(file).equals(before)).toBeFalse();
      const other = join(folder, 'other');
      const random = new Random(6);
      for (let round = 0; round < 12; round++) {
        copyFileSync(file, other);
        // Whole, or followed by what was being written.
        const rest = round === 0 ? [] : [journal.subarray(random.whole(24, 500), random.whole(500, 900))];
        writeFileSync(journalPath(other), Buffer.concat([journal, ...rest]));
        expect(await rowsOf(other)).toBe(await expected.at(0));
        expect(statSync(other).size).toBe(before.length);
        expect(readFileSync(other).equals(before)).toBeTrue();
      }
      // One that was begun holds nothing that was overwritten; another program's stays.
      for (const [text, isLeft] of [
        [journal.subarray(0, 13), false],
        ['', false],
        ['a list of mine', true],
      ] as const) {
        writeFileSync(other, before);
        writeFileSync(journalPath(other), text);
        expect(await rowsOf(other)).toBe(await expected.at(0));
        expect(existsSync(journalPath(other))).toBe(isLeft);
      }
      await rejects(emb.diskTable({ file }), 'RuntimeError', 'file', /this process, \d+ trains/);
      model.dispose();
      table.close();
      expect(await rowsOf(file)).toBe(await expected.at(1));
    }),
  );

  it(
    'leave locks that others take over, but those of processes that may be at work',
    inFolder(async (folder) => {
      const file = join(folder, 'table');
      await create(file);
      const lock = `${file}.lock`;
      const open = async (): Promise<void> => {
        const table = await emb.diskTable({ file, trainable: true, cacheBytes: 1000 });
        const readers = await Promise.all([emb.diskTable({ file }), emb.diskTable({ file })]);
        for (const each of readers) {
          (each.lookup([1]) as tf.Tensor).dispose();
          each.close();
        }
        table.close();
      };
      const host = JSON.parse(
        await (async () => {
          const table = await emb.diskTable({ file, trainable: true });
          const text = readFileSync(lock, 'utf8');
          table.close();
          return text;
        })(),
      ) as { pid: number; host: string; start: string };
      const write = (told: object | string): void => {
        writeFileSync(lock, typeof told === 'string' ? told : JSON.stringify({ ...host, ...told }));
      };
      write({ pid: 4_100_000 });
      await open();
      // Another process has the number now.
      write({ start: '1' });
      await open();
      for (const [told, text] of [
        [{}, /this process/],
        [
          {
            pid: process.ppid,
            start: readFileSync(`/proc/${process.ppid}/stat`, 'latin1').split(') ').at(-1)!.split(' ')[19],
          },
          new RegExp(`process ${process.ppid} writes`),
        ],
        [{ host: 'other' }, /another machine/],
        ['{', /about to lock/],
        ['{}', /does not know/],
      ] as const) {
        write(told);
        await rejects(open(), 'RuntimeError', 'file', text);
        expect(existsSync(lock)).toBeTrue();
      }
      write({ pid: 4_100_000 });
      const real = fileSystem.kindOf;
      fileSystem.kindOf = () => 0x6969;
      try {
        await rejects(open(), 'RuntimeError', 'file', /a mount of NFS/);
      } finally {
        fileSystem.kindOf = real;
      }
      await open();
    }),
  );
});
