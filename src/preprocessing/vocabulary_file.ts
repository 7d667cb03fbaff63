/** Vocabularies as text, a token in each line: files of Node, or the text itself. */
import type { readFileSync } from 'node:fs';
import { ArgumentTypeError, RuntimeError, ValueError, described } from '../base/errors.js';
import { isRecord } from '../base/options.js';
import { nodeBuiltin } from '../base/platform.js';

/** A path (in Node), or the text of a file. */
export type VocabularyFile = string | { readonly text: string };

export function isVocabularyFile(vocabulary: unknown): vocabulary is VocabularyFile {
  return typeof vocabulary === 'string' || (isRecord(vocabulary) && 'text' in vocabulary);
}

function textOf(source: VocabularyFile): string {
  if (typeof source !== 'string') {
    if (typeof source.text !== 'string') throw new ArgumentTypeError('vocabulary.text', 'text', source.text);
    return source.text;
  }
  const fs = nodeBuiltin<{ readFileSync: typeof readFileSync }>('node:fs');
  if (fs === null) {
    const note = 'In a page write {text: await (await fetch(url)).text()}.';
    throw new RuntimeError('vocabulary', 'an array or {text} where there are no files', source, note);
  }
  try {
    return fs.readFileSync(source, 'utf8');
  } catch (error) {
    const reason = described(`${JSON.stringify(source)} (${(error as Error).message})`);
    throw new ValueError('vocabulary', 'the path of a file that can be read', reason);
  }
}

/** The lines, without their ends; the last one may have none. */
export function readVocabularyLines(source: VocabularyFile): string[] {
  const lines = textOf(source).split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
