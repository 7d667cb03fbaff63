import { setUpModule } from './set_up_module.js';

interface Finding {
  state: string;
  why: string;
  tensorflow?: { version: string };
  make?: () => Promise<Finding>;
}
interface Part {
  name: string;
  readonly after?: readonly string[];
  begin?(): Promise<void>;
  sweep?(): void;
  leaveOut?(): Promise<void>;
  find(context: { tensorflow?: { version: string } }): Finding;
}
type Row = { name: string; state: string; why: string; seconds?: number };
interface PartsModule {
  goThroughParts(options: {
    log: (text: string) => void;
    make: boolean;
    parts: Part[];
    only?: readonly string[];
  }): Promise<Row[]>;
}
interface DependenciesModule {
  difference(wanted: object, installed: object | null, exists: (path: string) => boolean): string | null;
}
interface CommandModule {
  run(program: string, args: string[]): Promise<string>;
  gist(error: Error): string;
}

const log = (): void => {};

describe('the parts of a set-up', () => {
  let goThroughParts: PartsModule['goThroughParts'];
  beforeAll(async () => ({ goThroughParts } = await setUpModule<PartsModule>('parts.mjs')));

  it('begin what needs no packages while these are made, and only then', async () => {
    const said: string[] = [];
    const built: Finding = { state: 'built', why: 'now' };
    const packages = (isThere: boolean, state = 'built'): Part => ({
      name: 'dependencies',
      find: () => (isThere ? { state: 'present', why: '' } : { state: 'missing', why: '', make: making(state) }),
    });
    const making = (state: string) => async (): Promise<Finding> => {
      said.push('packages');
      return { state, why: 'now' };
    };
    const compiled: Part = {
      name: 'compiled',
      begin: async () => {
        said.push('begun');
        await new Promise((resolve) => setTimeout(resolve, 20));
        said.push('half done');
      },
      find: () => ({ state: 'missing', why: '', make: async () => (said.push('made'), built) }),
    };
    const other: Part = { name: 'other', after: [], find: () => (said.push('other'), built) };
    const order = async (first: Part, make = true): Promise<string[]> => {
      said.length = 0;
      await goThroughParts({ log, make, parts: [first, { ...compiled, after: [] }, other] });
      return said;
    };
    expect(await order(packages(false))).toEqual(['begun', 'packages', 'other', 'half done', 'made']);
    expect(await order(packages(true))).toEqual(['other', 'made']);
    expect(await order(packages(false), false)).toEqual([]);
    // Nothing goes on behind the back of a set-up that has ended.
    expect(await order(packages(false, 'missing'))).toEqual(['begun', 'packages', 'half done']);
  });

  it('stand on what is there, though it was not asked for', async () => {
    const heard: (string | undefined)[] = [];
    const tensorflow = (state: string): Part => ({
      name: 'TensorFlow',
      after: [],
      find: () => ({ state, why: '', tensorflow: { version: state }, make: () => Promise.reject(new Error('made')) }),
    });
    const addon: Part = {
      name: 'addon',
      after: ['TensorFlow'],
      find: (context) => (heard.push(context.tensorflow?.version), { state: 'present', why: '' }),
    };
    const packages: Part = { name: 'dependencies', find: () => ({ state: 'present', why: '' }) };
    for (const state of ['present', 'missing']) {
      const parts = [packages, tensorflow(state), addon];
      const rows = await goThroughParts({ log, make: true, parts, only: ['dependencies', 'addon'] });
      expect(rows.map(({ name }) => name)).toEqual(['dependencies', 'addon']);
    }
    expect(heard).toEqual(['present', undefined]);
  });

  it('are made only where they are missing and only when asked', async () => {
    let made = 0;
    const make = async (): Promise<Finding> => {
      made++;
      return { state: 'built', why: 'now' };
    };
    const parts: Part[] = [
      { name: 'here', find: () => ({ state: 'present', why: 'long since' }) },
      {
        name: 'absent',
        find: () => (made > 0 ? { state: 'present', why: 'now' } : { state: 'missing', why: 'not yet', make }),
      },
      { name: 'hopeless', find: () => ({ state: 'missing', why: 'no compiler' }) },
    ];
    const states = async (asked: boolean): Promise<string[]> =>
      (await goThroughParts({ log, make: asked, parts })).map((row) => row.state);
    expect(await states(false)).toEqual(['present', 'missing', 'missing']);
    expect(made).toBe(0);
    expect(await states(true)).toEqual(['present', 'built', 'missing']);
    expect(await states(true)).toEqual(['present', 'present', 'missing']);
    expect(made).toBe(1);
  });

  it('are left alone where others are asked for, but for what sources need of them', async () => {
    const done: string[] = [];
    const part = (name: string, after?: string[]): Part => ({
      name,
      ...(after && { after }),
      find: () => ({
        state: 'missing',
        why: '',
        make: async () => {
          done.push(`make ${name}`);
          return { state: 'built', why: '' };
        },
      }),
      leaveOut: async () => void done.push(`leave out ${name}`),
    });
    const parts = [part('first'), part('second', []), part('third', ['second']), part('fourth')];
    const only = ['first', 'third', 'fourth'];
    const rows = await goThroughParts({ log, make: true, parts, only });
    expect(rows.map(({ name }) => name)).toEqual(only);
    expect(done).toEqual(['make first', 'leave out second', 'make third', 'make fourth']);
    await goThroughParts({ log, make: false, parts, only });
    expect(done.length).toBe(4);
  });

  it('say how long they took, where they were made', async () => {
    const said: string[] = [];
    const make = async (): Promise<Finding> => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      return { state: 'built', why: '' };
    };
    const parts: Part[] = [
      { name: 'here', find: () => ({ state: 'present', why: '' }) },
      { name: 'made', find: () => ({ state: 'missing', why: '', make }) },
    ];
    const [here, made] = await goThroughParts({ log: (text) => said.push(text), make: true, parts });
    expect(here).toEqual({ name: 'here', state: 'present', why: '' });
    expect(made!.seconds).toBeGreaterThan(0.05);
    expect(said).toEqual([`made: built, ${made!.seconds!.toFixed(1)} s`]);
  });

  it('are missing with the reason when looking or making fails, and the others go on', async () => {
    const fails = async (): Promise<Finding> => Promise.reject(new Error('disk full'));
    const parts: Part[] = [
      { name: 'first', find: () => ({ state: 'missing', why: 'not yet', make: fails }) },
      {
        name: 'second',
        find: () => {
          throw new Error('unreadable');
        },
      },
      { name: 'third', find: () => ({ state: 'present', why: 'fine' }) },
    ];
    expect(await goThroughParts({ log, make: true, parts })).toEqual([
      { name: 'first', state: 'missing', why: 'disk full' },
      { name: 'second', state: 'missing', why: 'unreadable' },
      { name: 'third', state: 'present', why: 'fine' },
    ]);
  });

  it('are made beside those that they do not stand on, and swept when all are done', async () => {
    const events: string[] = [];
    let fetched = (): void => {};
    const isFetched = new Promise<void>((resolve) => (fetched = resolve));
    const part = (name: string, after: string[], work: () => Promise<unknown> | void): Part => ({
      name,
      after,
      find: () => ({
        state: 'missing',
        why: 'not yet',
        make: async () => {
          await work();
          events.push(name);
          return { state: 'built', why: 'now' };
        },
      }),
      sweep: () => void events.push(`sweep ${name}`),
    });
    const parts = [
      part('packages', [], () => {}),
      part('library', [], () => isFetched),
      part('addon', ['library'], () => {}),
      part('module', [], () => {}),
      part('bundles', ['module'], () => void setTimeout(fetched)),
    ];
    const rows = await goThroughParts({ log, make: true, parts });
    expect(rows.map(({ name, state }) => [name, state])).toEqual(parts.map(({ name }) => [name, 'built']));
    expect(events).toEqual([
      ...['packages', 'sweep packages', 'module', 'bundles', 'library', 'addon'],
      ...['library', 'addon', 'module', 'bundles'].map((name) => `sweep ${name}`),
    ]);
  });

  it('see the TensorFlow that an earlier part has made', async () => {
    const seen: unknown[] = [];
    const parts: Part[] = [
      { name: 'TensorFlow', find: () => ({ state: 'present', why: '', tensorflow: { version: '2' } }) },
      {
        name: 'addon',
        find: ({ tensorflow }) => {
          seen.push(tensorflow);
          return { state: 'present', why: '' };
        },
      },
    ];
    await goThroughParts({ log, make: true, parts });
    expect(seen).toEqual([{ version: '2' }]);
  });

  it('end with the dependencies where those are missing', async () => {
    const parts: Part[] = [
      { name: 'dependencies', find: () => ({ state: 'missing', why: 'no network' }) },
      { name: 'addon', find: () => ({ state: 'present', why: '' }) },
    ];
    expect((await goThroughParts({ log, make: true, parts })).map((row) => row.name)).toEqual(['dependencies']);
  });
});

describe('the end of a set-up', () => {
  it('is a table with straight columns', async () => {
    const { tableOf } = await setUpModule<{ tableOf(rows: Row[]): string }>('table.mjs');
    const rows = [
      { name: 'dependencies', state: 'built', why: '12 packages' },
      { name: 'addon', state: 'missing', why: 'no compiler' },
    ];
    expect(tableOf(rows).split('\n')).toEqual([
      'part          state    why',
      '------------  -------  ---',
      'dependencies  built    12 packages',
      'addon         missing  no compiler',
    ]);
  });

  it('is a failure for missing dependencies, and under CI for anything that is missing', async () => {
    const { exitCode } = await setUpModule<{ exitCode(rows: Row[], ci?: string): number }>('program.mjs');
    const row = (name: string, state: string): Row => ({ name, state, why: '' });
    expect(exitCode([row('dependencies', 'built'), row('addon', 'missing')])).toBe(0);
    expect(exitCode([row('dependencies', 'built'), row('addon', 'missing')], 'true')).toBe(1);
    expect(exitCode([row('dependencies', 'present'), row('addon', 'built')], 'true')).toBe(0);
    expect(exitCode([row('dependencies', 'missing')])).toBe(1);
    expect(exitCode([row('dependencies', 'missing')], 'false')).toBe(1);
  });
});

describe('dependencies', () => {
  const wanted = {
    '': { version: '0.1.0' },
    'node_modules/a': { version: '1.0.0', integrity: 'x' },
    'node_modules/b': { version: '2.0.0', integrity: 'y', optional: true },
  };
  const present = (): boolean => true;
  let difference: DependenciesModule['difference'];
  beforeAll(async () => ({ difference } = await setUpModule<DependenciesModule>('dependencies.mjs')));

  it('agree with the lock file when every package that must be there is there', () => {
    expect(difference(wanted, { 'node_modules/a': { version: '1.0.0', integrity: 'x' } }, present)).toBeNull();
    expect(difference(wanted, wanted, present)).toBeNull();
  });

  it('differ where a package is absent, removed, or another one', () => {
    expect(difference(wanted, null, present)).toBe('not installed');
    expect(difference(wanted, {}, present)).toBe('node_modules/a is not installed');
    expect(difference(wanted, wanted, (path) => path !== 'node_modules/a')).toBe('node_modules/a is not installed');
    const other = { ...wanted, 'node_modules/a': { version: '1.0.1', integrity: 'x' } };
    expect(difference(wanted, other, present)).toBe('node_modules/a is 1.0.1, not 1.0.0');
    const changed = { ...wanted, 'node_modules/b': { version: '2.0.0', integrity: 'z' } };
    expect(difference(wanted, changed, present)).toBe('node_modules/b is 2.0.0, not 2.0.0');
  });
});

describe('programs that set-up runs', () => {
  let command: CommandModule;
  beforeAll(async () => {
    command = await setUpModule<CommandModule>('command.mjs');
  });

  it('give their output', async () => {
    expect(await command.run(process.execPath, ['-e', 'console.log(1); console.error(2)'])).toMatch(
      /1\n[^]*2\n|2\n[^]*1\n/,
    );
  });

  it('are quoted with the line that tells why they failed', async () => {
    const script = `console.error('x.c:3: error: no such header'); console.error('compilation ended'); process.exit(3)`;
    const error = await command.run(process.execPath, ['-e', script]).catch((reason: Error) => reason);
    expect(command.gist(error as Error)).toBe(`${process.execPath} ended with code 3: x.c:3: error: no such header`);
    const absent = await command.run('no-such-program-here', []).catch((reason: Error) => reason);
    expect(command.gist(absent as Error)).toBe('no-such-program-here: not found');
  });
});

describe('progress of a download', () => {
  it('tells bytes, and percents where the total is known', async () => {
    type Progress = { progressLine(bytes: number, total: number | null): string };
    const { progressLine } = await setUpModule<Progress>('progress.mjs');
    expect(progressLine(61_000_000, 274_000_000)).toBe('  61 of 274 MB (22 %)');
    expect(progressLine(280_000_000, 274_000_000)).toBe('  280 of 274 MB (100 %)');
    expect(progressLine(61_000_000, null)).toBe('  61 MB');
  });
});
