/**
 * The tables of docs/optimizers.md: names and defaults from the optimizers themselves, descriptions from the
 * types. `node --import tsx test/docs/optimizer_tables.ts` writes them anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import * as emb from '../../src/node.js';
import { ROOT } from '../helpers/project.js';

export const DOCUMENT = join(ROOT, 'docs', 'optimizers.md');

export type Family = 'train' | 'tpu';
export const FAMILIES: readonly Family[] = ['train', 'tpu'];

interface Configurable {
  getConfig(): Record<string, unknown>;
}
type Optimizers = ReadonlyMap<string, () => Configurable>;

/** Classes of `emb.tpu` that are made without arguments, beside the first of them. */
function tpuOptimizers(): Optimizers {
  const base: unknown = Object.getPrototypeOf(emb.tpu.SGD);
  const classes = Object.entries(emb.tpu).filter(([, value]) => Object.getPrototypeOf(value) === base);
  const made = classes.filter(([name]) => name !== 'CustomOptimizer') as [string, new () => Configurable][];
  return new Map(made.map(([name, cls]) => [name, () => new cls()]));
}

export function optimizersOf(family: Family): Optimizers {
  if (family === 'tpu') return tpuOptimizers();
  const factories = Object.entries<unknown>(emb.train);
  return new Map(factories.map(([name, make]) => [name, make as () => Configurable]));
}

/** A row of a table: names of optimizers, a field, and its default there. */
export type Row = readonly [optimizers: string, field: string, value: string];

/** Every field with its defaults: those of all optimizers first, then those of some. */
export function rowsOf(family: Family): Row[] {
  const values = new Map<string, Map<string, string>>();
  const optimizers = optimizersOf(family);
  for (const [name, make] of optimizers) {
    // A config leaves out a dense optimizer that was not given.
    const config = family === 'train' ? { ...make().getConfig(), dense: null } : make().getConfig();
    for (const [field, value] of Object.entries(config)) {
      const byOptimizer = values.get(field) ?? new Map<string, string>();
      values.set(field, byOptimizer.set(name, JSON.stringify(value)));
    }
  }
  const isCommon = ([, by]: [string, Map<string, string>]): boolean => by.size === optimizers.size;
  const fields = [...values];
  return [...fields.filter(isCommon), ...fields.filter((each) => !isCommon(each))].flatMap(([field, by]) =>
    [...new Set(by.values())].map((value): Row => {
      const names = [...by].filter(([, own]) => own === value).map(([name]) => name);
      return [names.length === optimizers.size ? 'all' : names.map((name) => `\`${name}\``).join(', '), field, value];
    }),
  );
}

/** What a description says beside the optimizer and the default, which have columns of their own. */
function withoutDefault(text: string): string {
  const plain = text
    .replace(/\s+/g, ' ')
    .replace(/ ?Default[:,].*$/, '')
    .replace(/[;,] \S+ by default(?=[.;])/, '')
    .replace(/^(\S+) by default: /, '$1: ')
    .replace(/^(Adagrad momentum|Adam|FTRL|SGD|RMSprop): /, '');
  return plain.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase()).replaceAll('|', '\\|');
}

/** Descriptions of the fields, by name: from the arguments of factories and constructors. */
function descriptions(family: Family): Map<string, string> {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    strict: true,
    skipLibCheck: true,
    types: ['node'],
  };
  const path = join(ROOT, 'optimizer_fields.ts');
  const host = ts.createCompilerHost(options);
  const { readFile, getSourceFile } = host;
  const text = `import * as emb from './src/node.js';\nexport const found = emb.${family};\n`;
  host.readFile = (name) => (name === path ? text : readFile(name));
  host.getSourceFile = (name, how, ...rest) =>
    name === path ? ts.createSourceFile(name, text, how) : getSourceFile(name, how, ...rest);
  const program = ts.createProgram([path], options, host);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path)!;
  const [found] = checker.getExportsOfModule(checker.getSymbolAtLocation(source)!);
  const texts = new Map<string, string>();
  for (const name of optimizersOf(family).keys()) {
    const property = checker.getPropertyOfType(checker.getTypeOfSymbol(found!), name);
    const type = checker.getTypeOfSymbol(property!);
    const kind = family === 'tpu' ? ts.SignatureKind.Construct : ts.SignatureKind.Call;
    const [parameter] = checker.getSignaturesOfType(type, kind)[0]!.parameters;
    for (const field of checker.getNonNullableType(checker.getTypeOfSymbol(parameter!)).getProperties()) {
      texts.set(field.name, withoutDefault(ts.displayPartsToString(field.getDocumentationComment(checker))));
    }
  }
  return texts;
}

/** The rows of one table in the document, without descriptions. */
export function documentedRows(family: Family): Row[] {
  const [, section] = new RegExp(`<!-- emb.${family} -->([^]*?)<!-- end -->`).exec(readFileSync(DOCUMENT, 'utf8'))!;
  const lines = section!.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => {
    const [optimizers, field, value] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    return [optimizers!, field!.replaceAll('`', ''), value!.replaceAll('`', '')];
  });
}

function write(): void {
  let text = readFileSync(DOCUMENT, 'utf8');
  for (const family of FAMILIES) {
    const texts = descriptions(family);
    const rows = rowsOf(family).map(
      ([optimizers, field, value]) => `| ${optimizers} | \`${field}\` | \`${value}\` | ${texts.get(field) ?? ''} |`,
    );
    const table = ['| optimizer | field | default | what it does |', '| --- | --- | --- | --- |', ...rows].join('\n');
    text = text.replace(
      new RegExp(`(<!-- emb.${family} -->)[^]*?(<!-- end -->)`),
      (_, from: string, to: string) => `${from}\n\n${table}\n\n${to}`,
    );
  }
  writeFileSync(DOCUMENT, text);
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) write();
