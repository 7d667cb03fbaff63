import { mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Message } from './messages.js';
import { hasOwnNetworks } from './own_network.js';
import { runInPool, type PoolOptions } from './pool.js';
import type { SpecFile } from './spec_files.js';

const program = fileURLToPath(new URL('deeds_program.mjs', import.meta.url));

describe('runInPool', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pool-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A spec file; its name says what happens when it is run. */
  function file(name: string, text = ''): SpecFile {
    const path = join(folder, name);
    writeFileSync(path, text);
    return { name, path };
  }

  interface Heard {
    readonly file: string;
    readonly message: Message;
  }

  async function run(files: SpecFile[], options: Partial<PoolOptions> = {}): Promise<Heard[]> {
    const heard: Heard[] = [];
    const hear = ({ name }: SpecFile, message: Message): void => void heard.push({ file: name, message });
    await runInPool({
      files,
      texts: [],
      isShort: false,
      processes: 2,
      silence: 30_000,
      waits: {},
      hear,
      program,
      ...options,
    });
    return heard;
  }

  const kinds = (heard: Heard[], name: string): string[] =>
    heard.filter((each) => each.file === name).map(({ message }) => message.kind);
  const PASSES = ['taken', 'begins', 'ends', 'done'];

  /** Ids of the processes that files ran in. */
  function processOf(heard: Heard[], name: string): string {
    const { message } = heard.find((each) => each.file === name && each.message.kind === 'ends')!;
    return message.kind === 'ends' ? message.result.pendingReason! : '';
  }

  it('runs every file once, in as many processes as asked for', async () => {
    const files = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => file(name));
    const heard = await run(files);
    for (const { name } of files) expect(kinds(heard, name)).withContext(name).toEqual(PASSES);
    expect(new Set(files.map(({ name }) => processOf(heard, name))).size).toBe(2);
    const one = await run(files, { processes: 1 });
    expect(new Set(files.map(({ name }) => processOf(one, name))).size).toBe(1);
    const order = one.filter(({ message }) => message.kind === 'taken').map((each) => each.file);
    expect(order).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  for (const [deed, how] of [
    ['killed', /^The process that ran it ended with SIGKILL, in "spec of killed"\.\na last word$/],
    ['exit', /^The process that ran it ended with 3, in "spec of exit"\.$/],
  ] as const) {
    it(`blames the file whose process ends with it, and goes on: ${deed}`, async () => {
      const heard = await run([file(deed), file('after')], { processes: 1 });
      expect(kinds(heard, deed)).toEqual(['taken', 'begins', 'failed', 'done']);
      const failure = heard.map(({ message }) => message).find(({ kind }) => kind === 'failed');
      expect(failure).toEqual({ kind: 'failed', name: deed, expectations: [{ message: jasmine.stringMatching(how) }] });
      expect(heard.find(({ message }) => message.kind === 'done')!.message).toEqual({ kind: 'done', status: 'failed' });
      expect(kinds(heard, 'after')).toEqual(PASSES);
    });
  }

  it('runs files with servers where nobody else is on loopback, as far as the system allows it', async () => {
    const text = '// runner: servers\n';
    const files = [file('network here'), file('network 1', text), file('network again'), file('network 2', text)];
    const heard = await run(files, { processes: 1 });
    const [here, first, again, second] = files.map(({ name }) => processOf(heard, name));
    expect(second).toBe(first);
    // Files of one kind follow each other: a process for each change would load the package each time.
    const order = heard.filter(({ message }) => message.kind === 'taken').map((each) => each.file);
    expect(order).toEqual(['network here', 'network again', 'network 1', 'network 2']);
    // Without such files a process goes on; where there are no networks these are ids of processes.
    expect(first).not.toBe(here);
    if (!hasOwnNetworks()) return;
    expect([here, again]).toEqual([readlinkSync('/proc/self/ns/net'), here]);
  });

  it('ends a process that says nothing any more, and goes on', async () => {
    const heard = await run([file('hang'), file('after')], { processes: 1, silence: 3000 });
    const failure = heard.map(({ message }) => message).find(({ kind }) => kind === 'failed');
    expect(JSON.stringify(failure)).toContain('said nothing for 3 s, in \\"spec of hang\\"');
    expect(kinds(heard, 'after')).toEqual(PASSES);
  });

  it('leaves files that ask for it to the end, with none beside them', async () => {
    const files = [
      file('first alone', '// runner: alone\n'),
      file('last alone', '// runner: alone\n'),
      file('a'),
      file('b'),
    ];
    const heard = await run(files);
    const order = heard.filter(({ message }) => message.kind === 'taken').map((each) => each.file);
    expect(order).toEqual(['a', 'b', 'first alone', 'last alone']);
    expect(heard.slice(-8).map((each) => each.file)).toEqual([
      ...Array<string>(4).fill('first alone'),
      ...Array<string>(4).fill('last alone'),
    ]);
  });

  it('begins files that need Python, or packages, when these are there', async () => {
    const ends: (() => void)[] = [];
    const [python, packages] = [0, 1].map(() => new Promise<void>((resolve) => void ends.push(resolve)));
    const seen: string[] = [];
    const needy = [file('snake', '// runner: python\n'), file('parcel', '// runner: packages\n')];
    const both = file('both', '// runner: python\n// runner: packages\n');
    const files = [both, ...needy, file('a'), file('b')];
    const hear = ({ name }: SpecFile, { kind }: Message): void => {
      if (kind !== 'done') return;
      seen.push(name);
      if (name === 'b') ends[1]!();
      if (name === 'parcel') ends[0]!();
    };
    const waits = { python: python!, packages: packages! };
    await runInPool({ files, texts: [], isShort: false, processes: 1, silence: 30_000, waits, hear, program });
    expect(seen).toEqual(['a', 'b', 'parcel', 'both', 'snake']);
  });
});
