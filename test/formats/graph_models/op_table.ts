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

/** For each op of the families what runs it. */
export function opTable(): string[][] {
  const by = new Map(emb.converter.listOps().map((op) => [op.name, op.by]));
  return Object.entries(families()).flatMap(([family, ops]) => {
    return ops.map((op) => [`\`${op}\``, family, by.get(op) ?? 'none']);
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

/** The document with the table as it is now. */
function text(): string {
  const lines = readFileSync(DOCUMENT, 'utf8').split('\n');
  const isRow = lines.map((line) => line.startsWith('|'));
  const rows = opTable().map((row) => `| ${row.join(' | ')} |`);
  // Behind the head and its rule.
  return [...lines.slice(0, isRow.indexOf(true) + 2), ...rows, ...lines.slice(isRow.lastIndexOf(true) + 1)].join('\n');
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) writeFileSync(DOCUMENT, text());
