import { Graph, type FunctionMessage, type NodeMessage } from '../../../../src/base/protobuf/graph_messages.js';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkOps } from '../../../../src/formats/saved_model/checks/hostile_ops.js';
import type { MetaGraphMessage } from '../../../../src/formats/saved_model/wire/saved_model_messages.js';
import { expectError } from '../../../helpers/errors.js';

function functionOf(name: string, ...node: NodeMessage[]): FunctionMessage {
  return { signature: { name, inputArg: [], outputArg: [], isStateful: true }, node, ret: {} };
}

function calling(name: string, op: string, called: string, input: readonly string[] = []): NodeMessage {
  return { name, op, input, attr: { f: { func: { name: called } } } };
}

/** A graph of which a signature asks for node `out`. */
function metaGraph(
  node: readonly NodeMessage[],
  functions: readonly FunctionMessage[] = [],
  more: Partial<MetaGraphMessage<Uint8Array>> = {},
): MetaGraphMessage<Uint8Array> {
  const graph = Graph.encode({ node, versions: { producer: 1 }, library: { function: functions } });
  return { graph, signatures: { serving_default: { outputs: { y: { name: 'out:0' } } } }, ...more };
}

const OUT: NodeMessage = { name: 'out', op: 'Identity', input: ['x:0'] };
const X: NodeMessage = { name: 'x', op: 'Placeholder' };
const SAVE: NodeMessage = { name: 'save', op: 'SaveV2' };

describe('the check of ops', () => {
  const passes = (...given: Parameters<typeof metaGraph>): void => {
    expect(() => checkOps('/model', metaGraph(...given))).not.toThrow();
  };
  const refuses = (op: string, ...given: Parameters<typeof metaGraph>): void => {
    expectError(() => checkOps('/model', metaGraph(...given)), 'ValueError', 'directory', op);
  };

  it('lets through what computes, and saving that nothing asks for', () => {
    passes([OUT, X]);
    passes(
      [OUT, X, SAVE, calling('saver', 'StatefulPartitionedCall', 'save')],
      [functionOf('save', SAVE, { name: 'merge', op: 'MergeV2Checkpoints' })],
    );
    passes([]);
    expect(() => checkOps('/model', {})).not.toThrow();
  });

  for (const op of ['WriteFile', 'ReadFile', 'PyFunc', 'EagerPyFunc', 'TFRecordDataset', 'SnapshotDatasetV2']) {
    it(`refuses ${op}, wherever the graph leads to it`, () => {
      const other: NodeMessage = { name: 'other', op };
      refuses(op, [OUT, X, other]);
      // No signature asks for the caller either, but it stands in the graph.
      refuses(op, [OUT, X, calling('caller', 'PartitionedCall', 'f')], [functionOf('f', other)]);
      const chain = [functionOf('f', calling('g', 'If', 'g')), functionOf('g', { name: 'h', op: 'h' })];
      refuses(op, [OUT, X, { name: 'f', op: 'f' }], [...chain, functionOf('h', other)]);
      passes([OUT, X], [functionOf('nobody_calls_it', other)]);
    });
  }

  it('lets graphs print, but into no file', () => {
    const print = (stream: string): NodeMessage => ({
      name: 'told',
      op: 'PrintV2',
      input: ['x:0'],
      attr: { output_stream: { s: new TextEncoder().encode(stream) } },
    });
    const shown = { ...OUT, input: ['x:0', '^told'] };
    for (const stream of ['', 'stderr', 'stdout', 'log(info)', 'log(warning)', 'log(error)'])
      passes([shown, X, print(stream)]);
    for (const stream of ['file:///tmp/told', 'file://told', 'stderr.txt']) {
      refuses(`PrintV2 to ${stream}`, [shown, X, print(stream)]);
      refuses(`PrintV2 to ${stream}`, [OUT, X, { name: 'f', op: 'f' }], [functionOf('f', print(stream))]);
    }
  });

  it('refuses saving that a signature, the loader or an initializer runs', () => {
    refuses('SaveV2', [{ ...OUT, input: ['x:0', '^save'] }, X, SAVE]);
    refuses('SaveV2', [OUT, X, SAVE], [], { collections: { saved_model_main_op: { nodeList: { value: ['save'] } } } });
    const saver = { filenameTensorName: 'x:0', saveTensorName: 'x:0', restoreOpName: 'save', version: 2 };
    refuses('SaveV2', [OUT, X, SAVE], [], { saver });
    const init = { __saved_model_init_op: { outputs: { __saved_model_init_op: { name: 'save' } } } };
    refuses('SaveV2', [OUT, X, SAVE], [], { signatures: init });
  });

  it('follows functions that functions call, by attribute, in a list or as an op', () => {
    const inner = functionOf('inner', SAVE);
    refuses(
      'SaveV2',
      [calling('out', 'PartitionedCall', 'outer')],
      [functionOf('outer', calling('branch', 'If', 'inner')), inner],
    );
    refuses(
      'SaveV2',
      [calling('out', 'PartitionedCall', 'outer')],
      [functionOf('outer', { name: 'a', op: 'inner' }), inner],
    );
  });

  it('ends where nodes and functions name each other in circles', () => {
    passes([
      { ...OUT, input: ['x:0'] },
      { name: 'x', op: 'Identity', input: ['out:0'] },
    ]);
    passes(
      [calling('out', 'PartitionedCall', 'a')],
      [
        functionOf('a', calling('call', 'PartitionedCall', 'b')),
        functionOf('b', calling('call', 'PartitionedCall', 'a')),
      ],
    );
  });

  it('refuses a graph that is written twice: TensorFlow would run both', () => {
    const twice = (one: Uint8Array): Uint8Array => Uint8Array.from([...one, ...one]);
    const library = Graph.encode({ node: [], versions: { producer: 1 }, library: { function: [functionOf('f', X)] } });
    expectError(() => checkOps('/model', { graph: twice(library) }), 'ValueError', 'bytes', 'two');
  });
});

/** TensorFlow's numbers of types. */
const [STRING, RESOURCE, VARIANT] = [7, 20, 21];

describe('the files of a graph', () => {
  let room: string;
  let folder: string;

  beforeAll(() => {
    room = realpathSync(mkdtempSync(join(tmpdir(), 'graph-files-')));
    folder = join(room, 'model');
    mkdirSync(join(folder, 'assets'), { recursive: true });
    writeFileSync(join(room, 'secret.txt'), 'secret');
    writeFileSync(join(folder, 'assets', 'words.txt'), 'a');
    symlinkSync(join(room, 'secret.txt'), join(folder, 'assets', 'link.txt'));
    symlinkSync('words.txt', join(folder, 'assets', 'alias.txt'));
  });

  afterAll(() => rmSync(room, { recursive: true, force: true }));

  type Meta = MetaGraphMessage<Uint8Array>;
  interface Given {
    readonly nodes: readonly NodeMessage[];
    readonly functions?: readonly FunctionMessage[];
    readonly more?: Partial<Meta>;
  }
  const check = ({ nodes, functions = [], more = {} }: Given): void => {
    const graph = Graph.encode({ node: nodes, versions: { producer: 1 }, library: { function: functions } });
    checkOps(folder, { graph, signatures: { serving_default: { outputs: { y: { name: 'out:0' } } } }, ...more });
  };
  const refused = (given: Given, part: string): void => {
    expectError(() => check(given), 'ValueError', 'directory', part);
  };
  const text = (name: string, ...values: string[]): NodeMessage => {
    const strings = values.map((value) => new TextEncoder().encode(value));
    return { name, op: 'Const', attr: { dtype: { type: STRING }, value: { tensor: { dtype: STRING, strings } } } };
  };
  const table: NodeMessage = { name: 'table', op: 'HashTableV2' };
  const read = (file: string, name = 'out'): NodeMessage => {
    return { name, op: 'InitializeTableFromTextFileV2', input: ['table', file] };
  };
  const asset = (tensor: string, filename: string): Partial<Meta> => ({
    assets: [{ tensor: { name: `${tensor}:0` }, filename }],
  });
  const withArguments = (name: string, args: readonly string[], ...node: NodeMessage[]): FunctionMessage => ({
    ...functionOf(name, ...node),
    signature: { name, inputArg: args.map((each) => ({ name: each, type: STRING })), outputArg: [], isStateful: true },
  });
  const initializer = withArguments('fill', ['table', 'file'], { ...read('file', 'go') });
  const call = (file: string, name = 'out'): NodeMessage => {
    return calling(name, 'StatefulPartitionedCall', 'fill', ['table', file]);
  };

  it('may lie in the folder, named by a constant or by the loader', () => {
    check({ nodes: [table, text('file', join(folder, 'assets', 'words.txt')), read('file')] });
    check({ nodes: [table, text('file', join(folder, 'assets', 'alias.txt')), read('file')] });
    const given: NodeMessage = { name: 'file', op: 'Placeholder' };
    check({ nodes: [table, given, call('file')], functions: [initializer], more: asset('file', 'words.txt') });
    // Where it was on the machine of whoever wrote it: only the loader runs this, and gives another name.
    const init = { __saved_model_init_op: { outputs: { __saved_model_init_op: { name: 'out' } } } };
    const more = { ...asset('file', 'words.txt'), signatures: init };
    check({ nodes: [table, text('file', '/srv/author/words.txt'), read('file')], more });
    refused(
      { nodes: [table, text('file', '/srv/author/words.txt'), read('file')], more: asset('file', 'words.txt') },
      '/srv/author/words.txt',
    );
  });

  it('may be named through a variable that holds nothing else', () => {
    const variable: NodeMessage = { name: 'v', op: 'VarHandleOp', attr: { dtype: { type: STRING } } };
    const nodes = (...more: NodeMessage[]): NodeMessage[] => [
      table,
      variable,
      { name: 'file', op: 'Placeholder' },
      { name: 'assign', op: 'AssignVariableOp', input: ['v', 'file'] },
      { name: 'read', op: 'ReadVariableOp', input: ['v'] },
      call('read'),
      ...more,
    ];
    const given = { functions: [initializer], more: asset('file', 'words.txt') };
    check({ nodes: nodes(), ...given });
    const secret = text('secret', join(room, 'secret.txt'));
    const write = { name: 'again', op: 'AssignVariableOp', input: ['v', 'secret'] };
    refused({ nodes: nodes(secret, write), ...given }, 'secret.txt');
    const alias = {
      ...variable,
      name: 'w',
      attr: { ...variable.attr, shared_name: { s: new TextEncoder().encode('v') } },
    };
    refused({ nodes: nodes(secret, alias, { ...write, input: ['w', 'secret'] }), ...given }, 'secret.txt');
    const scatter = { name: 'x', op: 'ResourceScatterUpdate', input: ['v', 'file', 'secret'] };
    refused({ nodes: nodes(secret, scatter), ...given }, 'computed');
    refused({ nodes: nodes({ name: 'x', op: 'Identity', input: ['v'] }), ...given }, 'computed');
    const inside = functionOf('hidden', { ...variable, name: 'b' });
    const caller: NodeMessage = { name: 'caller', op: 'hidden' };
    refused({ nodes: nodes(caller), ...given, functions: [initializer, inside] }, 'computed');
    check({ nodes: nodes(), ...given, functions: [initializer, inside] });
  });

  for (const file of ['/etc/passwd', '../../secret.txt', 'file:///etc/passwd', 'ram://x', '']) {
    it(`refuses ${file === '' ? 'no name' : file} as a constant, here and in functions`, () => {
      refused({ nodes: [table, text('file', file), read('file')] }, 'InitializeTableFromTextFileV2');
      refused({ nodes: [table, text('file', file), call('file')], functions: [initializer] }, 'InitializeTable');
      const inner = withArguments('fill', ['table', 'file'], text('own', file), read('own', 'go'));
      refused({ nodes: [table, text('file', 'x'), call('file')], functions: [inner] }, 'InitializeTable');
    });
  }

  it('may be several of one constant, all of which lie in the folder', () => {
    const [words, secret] = [join(folder, 'assets', 'words.txt'), join(room, 'secret.txt')];
    check({ nodes: [table, text('file', words, words), read('file')] });
    refused({ nodes: [table, text('file', words, secret), read('file')] }, 'InitializeTableFromTextFileV2');
    refused({ nodes: [table, text('file', secret, words), read('file')] }, 'InitializeTableFromTextFileV2');
    refused({ nodes: [table, text('file'), read('file')] }, 'InitializeTableFromTextFileV2');
  });

  it('refuses links and paths out of the folder, as constants and as assets', () => {
    refused({ nodes: [table, text('file', join(folder, 'assets', 'link.txt')), read('file')] }, 'link.txt');
    refused({ nodes: [table, text('file', join(folder, '..', 'secret.txt')), read('file')] }, 'secret.txt');
    for (const filename of ['link.txt', '../../../secret.txt', '..', '../../variables/variables.index', '']) {
      const more = asset('file', filename);
      refused({ nodes: [{ name: 'out', op: 'Placeholder' }], more }, filename === '' ? 'asset' : filename);
    }
    const any = new TextEncoder().encode('../../../secret.txt');
    // AssetFileDef {filename}
    const old = { saved_model_assets: { anyList: { value: [{ value: Uint8Array.of(18, any.length, ...any) }] } } };
    refused({ nodes: [{ name: 'out', op: 'Placeholder' }], more: { collections: old } }, 'secret.txt');
  });

  it('refuses names that are computed, or that an input gives', () => {
    const parts = [text('a', folder), { name: 'file', op: 'StringJoin', input: ['a', 'a'] }];
    refused({ nodes: [table, ...parts, read('file')] }, 'StringJoin');
    refused({ nodes: [table, { name: 'file', op: 'Placeholder' }, read('file')] }, 'Placeholder');
    const inputs = { x: { name: 'file:0' } };
    const signatures = { serving_default: { inputs, outputs: { y: { name: 'out:0' } } } };
    const inFolder = text('file', join(folder, 'assets', 'words.txt'));
    refused({ nodes: [table, inFolder, read('file')], more: { signatures } }, 'input');
    const branch = calling('out', 'If', 'fill', ['table', 'file']);
    refused({ nodes: [table, inFolder, branch], functions: [initializer] }, 'computed');
  });

  it('follows a function that TensorFlow may take in place of another', () => {
    const alike = { api_implements: { s: new TextEncoder().encode('lstm') } };
    const [shown, hidden] = [withArguments('shown', ['table', 'file']), { ...initializer, attr: alike }];
    const nodes = [table, text('file', '/etc/passwd'), calling('out', 'PartitionedCall', 'shown', ['table', 'file'])];
    check({ nodes, functions: [shown, initializer] });
    refused({ nodes, functions: [{ ...shown, attr: alike }, hidden] }, '/etc/passwd');
  });

  it('restores the variables of the folder, when it is loaded and at no other time', () => {
    const saver = { filenameTensorName: 'prefix:0', saveTensorName: '', restoreOpName: 'restore', version: 2 };
    const prefix: NodeMessage = { name: 'prefix', op: 'Placeholder' };
    const restored = withArguments('load', ['at'], { name: 'go', op: 'RestoreV2', input: ['at', 'n', 's'] });
    const restore = calling('restore', 'StatefulPartitionedCall', 'load', ['prefix']);
    const out: NodeMessage = { name: 'out', op: 'NoOp' };
    check({ nodes: [out, prefix, restore], functions: [restored], more: { saver } });
    const old = [text('file', 'model'), { name: 'prefix', op: 'PlaceholderWithDefault', input: ['file'] }];
    check({ nodes: [out, ...old, { ...restore }], functions: [restored], more: { saver } });
    refused(
      { nodes: [{ ...out, input: ['^restore'] }, prefix, restore], functions: [restored], more: { saver } },
      'Restore',
    );
    refused(
      { nodes: [out, prefix, text('x', 'a'), { ...restore, input: ['x'] }], functions: [restored], more: { saver } },
      'a',
    );
    const second = calling('second', 'PartitionedCall', 'load', ['file']);
    refused({ nodes: [out, ...old, restore, second], functions: [restored], more: { saver } }, 'model');
  });

  it('are not reached through handles that are written down', () => {
    for (const [op, attribute] of [
      ['Const', 'dtype'],
      ['ParseTensor', 'out_type'],
    ] as const) {
      for (const type of [RESOURCE, VARIANT]) {
        refused({ nodes: [{ name: 'out', op, attr: { [attribute]: { type } } }] }, `${op} of a handle`);
      }
    }
  });
});
