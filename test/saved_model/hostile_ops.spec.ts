import { Graph, type FunctionMessage, type NodeMessage } from '../../src/protobuf/graph_messages.js';
import { checkOps } from '../../src/saved_model/hostile_ops.js';
import type { MetaGraphMessage } from '../../src/saved_model/wire/saved_model_messages.js';
import { expectError } from '../helpers/errors.js';

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
    it(`refuses ${op}, wherever it stands`, () => {
      refuses(op, [OUT, X, { name: 'other', op }]);
      refuses(op, [OUT, X], [functionOf('nobody_calls_it', { name: 'other', op })]);
    });
  }

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
