/**
 * The table of docs/graph_ops.md. `node --import tsx test/formats/graph_models/op_table.ts` writes it anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import * as emb from '../../../src/node.js';
import { ROOT } from '../../helpers/project.js';

export const DOCUMENT = join(ROOT, 'docs', 'graph_ops.md');

type Families = Readonly<Record<string, readonly string[]>>;

function families(): Families {
  const path = join(ROOT, 'test', 'goldens', 'op_families.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { families: Families }).families;
}

/** For each op of the families who runs it. */
export function opTable(): string[][] {
  const by = new Map(emb.converter.listOps().map((op) => [op.name, op.by]));
  return Object.entries(families()).flatMap(([family, ops]) => {
    return ops.map((op) => [`\`${op}\``, family, by.get(op) ?? 'nobody']);
  });
}

/** The rows of the table in the document, without its head. */
export function documentedTable(): string[][] {
  const rows = readFileSync(DOCUMENT, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'));
  const cells = rows.map((line) => line.split('|').slice(1, -1));
  return cells.slice(2).map((row) => row.map((cell) => cell.trim()));
}

function text(): string {
  const rows = opTable().map((row) => `| ${row.join(' | ')} |`);
  return `# Ops of graph models

\`emb.converter.registerOps()\` makes \`tf.loadGraphModel\` run graphs that hold these ops, and refuse those of them whose outputs need an op that nobody runs; graphs of stock ops load as in stock tfjs, with a warning. On the backend \`tensorflow\` our ops run as TensorFlow's own, but for \`RaggedTensorToTensor\` (tfjs-node cannot pass its list of strings) and those that work with handles; elsewhere plain kernels run, on the CPU. Of the ops that stock tfjs has, kernels that a backend lacks are registered there: \`SparseSegmentSum\`, \`SparseSegmentMean\`, \`SparseReshape\`, \`SparseFillEmptyRows\`, \`SparseToDense\`.

- Integers are int32: a value that needs more is a ValueError. tfjs has no float64, no complex numbers on \`wasm\`, and no variants: \`RaggedTensorToVariant\` gives handles, which functions pass on and \`GatherV2\`, \`Pack\` and their like take; no arithmetic knows them.
- Lookup tables live as long as the model; those of one \`shared_name\` are one. \`LookupTableExport\` gives pairs in the order in which they came, and of dense tables no empty places. Graphs with tables run through \`executeAsync\`, as tfjs-converter demands. A text file as a table's source is refused when the graph is loaded: the converter leaves the file out. Give the table its pairs as tensors before the conversion, with \`tf.lookup.KeyValueTensorInitializer\`.
- Tensor lists are values, as in TensorFlow: what changes a list leaves the list as it was, and elements that nobody wrote are zeros. Those of tfjs give way to ours. Elements may have unequal lengths (\`TensorListConcatV2\`, \`TensorListSplit\`) or be ragged, as \`tf.map_fn\` over ragged rows writes them.
- TensorArray ops of tfjs, which know neither gradients nor lengths, give way to ours in all three forms.
- Gradients that Python wrote into a graph run too: those of lookups, segments and TensorArrays, through loops, and of the functions that stand between them (\`SqrtGrad\`, \`RsqrtGrad\`, \`TanhGrad\`, \`SigmoidGrad\`, \`ReciprocalGrad\`, \`InvGrad\`, \`ReluGrad\`, \`EluGrad\`, \`SoftplusGrad\`).
- In graphs stock ops are as in TensorFlow where stock tfjs is not: reductions of tensors without elements and over no axes, \`OneHot\` along any axis, gathers without indices, strings in \`GatherV2\`, \`BroadcastTo\`, \`Select\`, \`Transpose\`, \`Split\`, \`Pad\` and their like, \`DenseBincount\` and \`StringToHashBucketFast\` on every backend, \`Div\` and \`Mod\` of negative numbers. Outside of graphs stock tfjs stays as it is. \`MatMul\`, \`BatchMatMul\`, \`Einsum\` (also with \`...\`) and \`_FusedMatMul\` of every activation that TensorFlow fuses run on every backend, those of int32 too. Still as in stock tfjs: \`LowerBound\`, \`UpperBound\` and \`StringSplit\` on \`tensorflow\`, which have no kernel.
- Loops and lists of tensors run where stock tfjs-converter loses a constant of a loop, or counts what an op only has to come after as one of its inputs.
- Checks (\`Assert\`) run in functions, loops and branches too, also where nothing reads them but only comes after them; one that fails is a ValueError that names its node.
- Custom ops by name: our \`EmbeddingBag\`, and of NVIDIA distributed-embeddings \`EmbeddingLookupVariableHotness\`, \`EmbeddingLookupVariableHotnessGrad\`, \`RowToSplit\`, \`ReadVariableNoCopy\` and \`IntegerLookup\`.
- Whatever is missing can be registered: \`tf.registerOp(name, (node) => …)\`.

## Families

TensorFlow 2.21 has these ops of the ragged, segment, embedding, lookup, sparse and data-flow families. Stock tfjs-converter is 4.22.

| op | family | run by |
| --- | --- | --- |
${rows.join('\n')}
`;
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) writeFileSync(DOCUMENT, text());
