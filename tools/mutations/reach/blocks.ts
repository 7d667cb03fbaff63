/** The blocks of a source: what runs as a whole. Which spec reaches which block chooses the specs for a change in it. */
import { createHash } from 'node:crypto';
import ts from 'typescript';
import { flat } from '../mutant_text.js';

export interface Block {
  /** First place and the place after the last one. */
  readonly from: number;
  readonly to: number;
  /** Names the block wherever its lines move to: a hash of its text. */
  readonly key: string;
  /** Whether it is an expression, the body of an arrow function, rather than statements in braces. */
  readonly isExpression: boolean;
}

/** Outer blocks come before those inside them. */
export function blocksOf(source: string): Block[] {
  const blocks: Block[] = [];
  const add = (node: ts.Node, isExpression: boolean): void => {
    const [from, to] = [node.getStart(), node.getEnd()];
    const key = createHash('sha256')
      .update(flat(source.slice(from, to)))
      .digest('hex')
      .slice(0, 10);
    blocks.push({ from, to, key, isExpression });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node)) add(node, false);
    else if (ts.isArrowFunction(node.parent) && node.parent.body === node) add(node, true);
    ts.forEachChild(node, visit);
  };
  const tree = ts.createSourceFile('source.ts', source, ts.ScriptTarget.ES2022, true);
  ts.forEachChild(tree, visit);
  return blocks;
}

/** The source, in which each block first calls `__at` with its number; numbers begin at `first`. */
export function withCounters(source: string, blocks: readonly Block[], first: number): string {
  const inserted = blocks.flatMap(({ from, to, isExpression }, i): [number, number, string][] => {
    const call = `globalThis.__at?.(${first + i})`;
    return isExpression
      ? [
          [from, i, `(${call}, `],
          [to, -i, ')'],
        ]
      : [[from + 1, i, `${call};`]];
  });
  inserted.sort(([a, i], [b, j]) => a - b || i - j);
  let text = '';
  let done = 0;
  for (const [place, , what] of inserted) {
    text += source.slice(done, place) + what;
    done = place;
  }
  return text + source.slice(done);
}
