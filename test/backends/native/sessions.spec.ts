// runner: servers
/** Sessions on a server of TensorFlow that runs in another process. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { WITH_SOURCES } from '../../helpers/programs.js';
import { loadAddon, type SessionRun } from '../../../src/backends/native/addon.js';
import { halfValue, nearestHalf } from '../../../src/codecs/half.js';
import { Random } from '../../helpers/random.js';
import { DT, graphDefinition, node, runOptions, sessionConfig } from '../../helpers/servers/messages.js';
import { ServerProcess } from '../../helpers/servers/server_process.js';
import { describeTensorFlow } from '../tensorflow/tensorflow_backend.js';
import { GRAPH, get, openOn, put, runAll, runOf, values } from './session_graph.js';

const EXITS = fileURLToPath(new URL('session_exit_program.ts', import.meta.url));
const [CANCELLED, INVALID, DEADLINE, UNAVAILABLE] = [1, 3, 4, 14];

/** Time that passes, in milliseconds. */
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** As many floats as are asked for, of all sizes that halves have and more. */
function someFloats(count: number): Float32Array {
  const random = new Random(5);
  const exact = [0, -0, 1, 65504, 65519.99, 65520, -1e9, 2 ** -24, 2 ** -25, 1.5 * 2 ** -24, Infinity, -Infinity];
  return Float32Array.from({ length: count }, (_, i) =>
    i < exact.length ? exact[i]! : (random.next() - 0.5) * 2 ** random.whole(-28, 18),
  );
}

describeTensorFlow('a session on a server', () => {
  const { closeSession, extendSession, finishRuns, finishRunsAsync, openSession } = loadAddon();
  const { registerTensorFlow, runsAreDone, sessionInfo, startRuns } = loadAddon();
  let server: ServerProcess;
  let session: number;
  const opened: number[] = [];
  const open = (...args: Parameters<typeof openOn>): number => {
    opened.push(openOn(...args));
    return opened.at(-1)!;
  };
  const twice = (...x: number[]): SessionRun => runOf([['x', Float32Array.from(x)]], ['twice']);

  beforeAll(async () => {
    server = await ServerProcess.start();
  }, 60_000);
  afterAll(() => server.end());
  beforeEach(() => {
    registerTensorFlow();
    session = open(server);
  });
  afterEach(() => {
    for (const each of opened.splice(0)) closeSession(each);
    expect(sessionInfo()).toEqual(jasmine.objectContaining({ sessions: 0, groups: 0 }));
  });

  it('contacts nobody before its first run', async () => {
    const absent = openOn({ port: 1, target: 'grpc://127.0.0.1:1' });
    await wait(10);
    closeSession(absent);
  });

  it('runs what it is fed, of every type and shape', () => {
    const kinds: Record<string, [SessionRun[2][number], number[]]> = {
      float: [Float32Array.of(1.5, -0, NaN), [3]],
      double: [Float64Array.of(1e300, 0.1), [2, 1]],
      int32: [Int32Array.of(-(2 ** 31), 2 ** 31 - 1), [1, 2, 1]],
      uint8: [Uint8Array.of(0, 255), [2]],
      string: [['', 'ä\u{1f600}', 'x'.repeat(100)], [3]],
    };
    for (const [kind, [value, shape]] of Object.entries(kinds)) {
      const [result] = runAll(session, runOf([[kind, value, shape]], [`same_${kind}`]));
      expect(result!.message).toBe('');
      expect(result!.values).toEqual([value as never]);
      expect(result!.shapes).toEqual([Int32Array.from(shape)]);
    }
    const empty = runAll(session, runOf([['float', new Float32Array(0), [0, 3]]], ['same_float']));
    expect(empty[0]!.shapes).toEqual([Int32Array.of(0, 3)]);
    expect(values(runAll(session, runOf([['float', Float32Array.of(4), []]], ['same_float'])))).toEqual([[[4]]]);
    const pair = runOf(
      [
        ['x', Float32Array.of(1, 2, 3, 4)],
        ['axis', Int32Array.of(0), []],
      ],
      ['pair:1', 'pair'],
    );
    expect(values(runAll(session, pair))).toEqual([
      [
        [3, 4],
        [1, 2],
      ],
    ]);
  });

  it('sends float16 on request, and takes it as float32', () => {
    const floats = someFloats(1003);
    const halves = Array.from(floats, (x) => halfValue(nearestHalf(x)));
    expect(values(runAll(session, runOf([['half', floats, [1003], true]], ['same_half', 'rounded'])))).toEqual([
      [halves, halves],
    ]);
    expect(values(runAll(session, runOf([['x', floats]], ['halved'])))).toEqual([[halves]]);
  });

  it('writes into arrays that are given', () => {
    const [floats, halves] = [new Float32Array(3), new Float32Array(3)];
    const both = [twice(1, 2, 3), runOf([['x', Float32Array.of(1, 2, 3)]], ['halved', 'twice'])];
    const results = finishRuns(startRuns(session, both), [[floats], [halves, null]]);
    expect(results[0]!.values[0]).toBe(floats);
    expect(results[1]!.values[0]).toBe(halves);
    expect([...floats, ...halves]).toEqual([2, 4, 6, 1, 2, 3]);
    expect(results[1]!.values[1]).toEqual(Float32Array.of(2, 4, 6));

    const kept = new Float32Array(3);
    for (const wrong of [
      [[kept], [new Float32Array(2), null]],
      [[kept], [new Int32Array(3), null]],
      [[kept], [null]],
      [[kept]],
    ]) {
      expect(() => finishRuns(startRuns(session, both), wrong)).toThrowError(RangeError, /`into`/);
      expect([...kept]).toEqual([0, 0, 0]);
    }
    for (const wrong of [1, [1], [[1], []]]) {
      const group = startRuns(session, both);
      expect(() => finishRuns(group, wrong as never)).toThrowError(TypeError, /`into`/);
      finishRuns(group, null);
    }
  });

  it('runs those of a group side by side, and groups one after the other', () => {
    // Each waits for another one.
    expect(values(runAll(session, get(), put(7)))).toEqual([[[7]], []]);
    const many = Array.from({ length: 12 }, (_, i) => put(i));
    const taken = runAll(session, ...Array.from({ length: 12 }, () => get()), ...many);
    expect(new Set(values(taken).slice(0, 12).flat(2)).size).toBe(12);
    const groups = Array.from({ length: 20 }, (_, i) => startRuns(session, [put(i)]));
    const gets = Array.from({ length: 20 }, () => startRuns(session, [get()]));
    expect(gets.map((group) => values(finishRuns(group, null)))).toEqual(Array.from({ length: 20 }, (_, i) => [[[i]]]));
    for (const group of groups) finishRuns(group, null);
  });

  it('copies what it is fed before it goes on', () => {
    const x = Float32Array.of(1, 2);
    const group = startRuns(session, [runOf([['x', x]], ['twice'])]);
    x.fill(9);
    expect(values(finishRuns(group, null))).toEqual([[[2, 4]]]);
  });

  it('gives promises, which do not block', async () => {
    const group = startRuns(session, [get(), put(3)]);
    const waiting = startRuns(session, [get()]);
    const other = open(server);
    expect(runsAreDone(waiting)).toBeFalse();
    const promise = finishRunsAsync(waiting);
    expect(() => runsAreDone(waiting)).toThrowError(RangeError, /`group`/);
    expect(values(await finishRunsAsync(group))).toEqual([[[3]], []]);
    runAll(other, put(4));
    expect(values(await promise)).toEqual([[[4]]]);
    const done = startRuns(session, [twice(1)]);
    while (!runsAreDone(done)) await wait(1);
    expect(values(await finishRunsAsync(done))).toEqual([[[2]]]);
  });

  it('takes more nodes, also while runs are under way', () => {
    const more = (name: string, of: string) =>
      graphDefinition(node(name, 'AddV2', [of, 'x:0'], { T: { type: DT.float } }));
    const waiting = startRuns(session, [get()]);
    extendSession(session, more('thrice', 'twice'), 'x:0\ntwice:0\n');
    const group = startRuns(session, [runOf([['x', Float32Array.of(2)]], ['thrice'])]);
    for (let i = 0; i < 20; i++) {
      extendSession(
        session,
        more(`sum${i}`, i === 0 ? 'thrice' : `sum${i - 1}`),
        `x\n${i === 0 ? 'thrice' : `sum${i - 1}`}\n`,
      );
    }
    expect(runsAreDone(group)).toBeFalse();
    values(runAll(open(server), put(1)));
    expect(values(finishRuns(waiting, null))).toEqual([[[1]]]);
    expect(values(finishRuns(group, null))).toEqual([[[6]]]);
    expect(values(runAll(session, runOf([['x', Float32Array.of(2)]], ['sum19'])))).toEqual([[[46]]]);
    expect(() => extendSession(session, more('thrice', 'twice'), 'x\ntwice\n')).toThrowError(/thrice/);
    expect(() => extendSession(session, more('other', 'twice'), 'x\nnothing\n')).toThrowError(/no node nothing/);
    expect(() => extendSession(session, more('other', 'twice'), 'x\ntwice:1\n')).toThrowError(/no node twice:1/);
    expect(() => extendSession(session, Uint8Array.of(1, 2, 3), '')).toThrowError();
    expect(values(runAll(session, twice(1)))).toEqual([[[2]]]);
  });

  it('tells the errors of runs, each its own', () => {
    const results = runAll(session, twice(1), runOf([['x', Float32Array.of(1)]], ['pair']), runOf([], ['twice']));
    expect(results.map(({ code }) => code)).toEqual([0, INVALID, INVALID]);
    expect(results[1]!.message).toContain('axis');
    expect(values(runAll(session, twice(1)))).toEqual([[[2]]]);
  });

  it('ends runs at their deadline', () => {
    const [late, other] = runAll(session, get(300), twice(1));
    expect([late!.code, other!.code]).toEqual([DEADLINE, 0]);
    expect(late!.ms).toBeGreaterThan(250);
    expect(values(runAll(session, twice(1)))).toEqual([[[2]]]);
  });

  it('neither keeps threads nor groups of runs that have ended', () => {
    for (let i = 0; i < 20; i++) runAll(session, twice(1), twice(2));
    const { threads } = sessionInfo();
    for (let i = 0; i < 1000; i++) runAll(session, twice(1), twice(2));
    const after = sessionInfo();
    expect([after.sessions, after.groups]).toEqual([1, 0]);
    // Fewer where threads of calls before have ended meanwhile, idle for long enough.
    expect(after.threads).toBeLessThanOrEqual(threads);
  }, 60_000);

  it('is closed at once, with runs under way; those that have not begun are cancelled', async () => {
    const closed = openOn(server);
    const groups = [startRuns(closed, [get()]), startRuns(closed, [twice(1)])];
    await wait(500); // the first is under way
    closeSession(closed);
    expect(finishRuns(groups[1]!, null)[0]!.code).toBe(CANCELLED);
    runAll(session, put(5));
    expect(values(await finishRunsAsync(groups[0]!))).toEqual([[[5]]]);
    expect(() => startRuns(closed, [twice(1)])).toThrowError(RangeError, /`session`: expected one that is open/);
    expect(() => closeSession(closed)).toThrowError(RangeError, /`session`/);
    expect(() => extendSession(closed, GRAPH, '')).toThrowError(RangeError, /`session`/);
  });

  it('notices that its server was killed, and another one takes over its address', async () => {
    const doomed = await ServerProcess.start();
    const [first, second] = [open(doomed), open(doomed, 2000, 'localhost')];
    for (const each of [first, second]) values(runAll(each, twice(1)));
    const groups = [first, second].map((each) => startRuns(each, [get(60_000), get(60_000)]));
    const after = startRuns(first, [twice(1)]);
    doomed.signal('SIGKILL');
    const begun = performance.now();
    const results = groups.map((group) => finishRuns(group, null));
    expect(performance.now() - begun).toBeLessThan(2000);
    for (const { code, message } of results.flat()) {
      expect(code).toBe(UNAVAILABLE);
      expect(message).toMatch(new RegExp(`^nothing listens on (127.0.0.1|localhost):${doomed.port}$`));
    }
    expect(finishRuns(after, null)[0]!.code).toBe(UNAVAILABLE);
    expect(runAll(first, twice(1))[0]!.code).toBe(UNAVAILABLE);
    const next = await ServerProcess.start(doomed.port);
    expect(values(runAll(open(next), twice(4)))).toEqual([[[8]]]);
    await next.end();
    await doomed.end();
  }, 60_000);

  it('ends at its deadline where the server has stopped, before its first run and after', async () => {
    const stopped = await ServerProcess.start();
    const [begun, fresh] = [open(stopped), open(stopped, 60_000)];
    values(runAll(begun, twice(1)));
    stopped.signal('SIGSTOP');
    const late = runOf([['x', Float32Array.of(1)]], ['twice'], { timeoutMs: 1000 });
    const groups = [begun, fresh].map((each) => startRuns(each, [late, late]));
    for (const group of groups) {
      for (const { code, ms } of finishRuns(group, null)) {
        expect(code).toBe(DEADLINE);
        expect(ms).toBeLessThan(1300);
      }
    }
    await stopped.end();
  }, 60_000);

  for (const how of ['exit', 'end', 'closed']) {
    it(`does not keep its process (${how}), whatever the server does`, async () => {
      const other = await ServerProcess.start();
      for (const state of ['begun', 'fresh']) {
        for (const signal of ['SIGCONT', 'SIGSTOP'] as const) {
          if (state === 'fresh') other.signal(signal);
          const child = spawn(process.execPath, [...WITH_SOURCES, EXITS, String(other.port), how, state]);
          let [printed, said] = ['', ''];
          child.stdout.on('data', (text: Buffer) => {
            printed += text.toString();
            if (state === 'begun') other.signal(signal);
          });
          child.stderr.on('data', (text: Buffer) => (said += text.toString()));
          const begun = performance.now();
          const end = await new Promise((resolve) => child.on('close', (code, by) => resolve(code ?? by)));
          expect(end).withContext(`${state} ${signal} ${said}`).toBe(0);
          expect(performance.now() - begun).toBeLessThan(20_000);
          expect(JSON.parse(printed)).toEqual(jasmine.objectContaining({ sessions: 2, groups: 2 }));
          other.signal('SIGCONT');
        }
      }
      await other.end();
    }, 120_000);
  }

  it('refuses what is wrong', () => {
    const config = sessionConfig(1000);
    const opens =
      (...args: readonly unknown[]) =>
      () =>
        openSession(...(args as Parameters<typeof openSession>));
    const { target, port } = server;
    expect(opens('', config, GRAPH, 'a', port)).toThrowError(RangeError, /`target`: expected grpc/);
    expect(opens(1, config, GRAPH, 'a', port)).toThrowError(TypeError, /`target`/);
    expect(opens(target, [], GRAPH, 'a', port)).toThrowError(TypeError, /`config`/);
    expect(opens(target, config, null, 'a', port)).toThrowError(TypeError, /`graph`/);
    expect(opens(target, config, GRAPH, null, port)).toThrowError(TypeError, /`host`/);
    for (const wrong of [0, 65536, 1.5])
      expect(opens(target, config, GRAPH, 'a', wrong)).toThrowError(RangeError, /`port`/);
    expect(opens(target, Uint8Array.of(1, 2, 3), GRAPH, 'a', port)).toThrowError(/ConfigProto/);
    expect(opens(target, config, Uint8Array.of(1, 2, 3), 'a', port)).toThrowError(/GraphDef/);
    expect(opens(target, config, graphDefinition(node('a', 'NoSuchOp')), 'a', port)).toThrowError(/NoSuchOp/);
    expect(sessionInfo().sessions).toBe(1);

    const right = twice(1, 2);
    const refused = (at: number, value: unknown, type: typeof RangeError | typeof TypeError, text: RegExp): void => {
      const wrong = right.map((each, i) => (i === at ? value : each)) as unknown as SessionRun;
      expect(() => startRuns(session, [right, wrong])).toThrowError(type, text);
    };
    refused(0, null, TypeError, /`options`/);
    refused(1, 'y\n', RangeError, /feeds: .* no node y/);
    refused(1, 'x:1\n', RangeError, /no node x:1/);
    refused(1, '', RangeError, /feeds: expected a name for each of 1 values, received 0/);
    refused(1, 1, TypeError, /`feeds`/);
    refused(2, {}, TypeError, /`values`/);
    refused(2, [new Int16Array(2)], TypeError, /`values`/);
    refused(2, [[1, 2]], TypeError, /`values`/);
    refused(2, [], RangeError, /`halves`/);
    for (const shape of [[], [1], [1, 3], [-1], [17, 1], [1, 2, 0], [2, -1, -2], [3, 2 ** 31 - 1, 2 ** 31 - 1, 0]]) {
      refused(3, Int32Array.from(shape), RangeError, /`shapes`/);
    }
    refused(3, [1, 2], TypeError, /`shapes`/);
    refused(4, Uint8Array.of(2), RangeError, /`halves`/);
    refused(4, Uint8Array.of(), RangeError, /`halves`/);
    refused(5, 'twice:7\n', RangeError, /fetches: .* no node twice:7/);
    refused(5, '\n', RangeError, /fetches: .* without a name/);
    refused(6, 'z\n', RangeError, /targets: .* no node z/);
    expect(() => startRuns(session, [right.slice(1)] as never)).toThrowError(TypeError, /`runs`/);
    expect(() => startRuns(session, [])).toThrowError(RangeError, /`runs`/);
    expect(() => startRuns(session, 'runs' as never)).toThrowError(TypeError, /`runs`/);
    expect(() => startRuns(0, [right])).toThrowError(RangeError, /`session`/);
    for (const use of [runsAreDone, finishRunsAsync, (group: number) => finishRuns(group, null)]) {
      expect(() => use(0)).toThrowError(RangeError, /`group`: expected one that was started/);
      expect(() => use('1' as never)).toThrowError(TypeError, /`group`/);
    }
    // What TensorFlow reads is told as the outcome of the run.
    const [bad] = runAll(session, [Uint8Array.of(255), ...right.slice(1)] as unknown as SessionRun);
    expect(bad!.code).toBe(INVALID);
    expect(values(runAll(session, [runOptions(), ...right.slice(1)] as unknown as SessionRun))).toEqual([[[2, 4]]]);
  });

  it('walks through lists whose elements change on the way', () => {
    const x = new Float32Array(1000);
    const list = [x, Float32Array.of(1)];
    const feeds: [string, Float32Array][] = [
      ['x', x],
      ['float', list[1]!],
    ];
    const run = runOf(feeds, ['twice']);
    Object.defineProperty(list, 1, {
      get() {
        if (x.buffer.byteLength > 0) structuredClone(x.buffer, { transfer: [x.buffer] });
        return feeds[1]![1];
      },
    });
    const changed = run.map((each, i) => (i === 2 ? list : each)) as unknown as SessionRun;
    expect(() => startRuns(session, [changed])).toThrowError(RangeError, /`shapes`/);
  });
});
