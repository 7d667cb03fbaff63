/**
 * `execute` of graphs with branches and loops: tfjs-converter starts them before it says that only `executeAsync` runs them.
 * What fails in there is an unhandled rejection, which ends Node. So it is refused before anything runs.
 */
import type * as tf from '@tensorflow/tfjs';

/** Ops that give promises, but for those that tfjs-converter refuses by itself. */
const ASYNCHRONOUS: readonly string[] = ['If', 'NonMaxSuppressionV4', 'StatelessIf', 'StatelessWhile', 'While'];

interface Compilation {
  readonly orderedNodes: readonly { readonly name: string; readonly op: string }[];
}

type Compile = ((this: unknown, ...given: unknown[]) => Compilation) & { [MARK]?: true };

const MARK = Symbol.for('tfjs-embeddings.plainRuns');

/** Lets `execute` refuse what it cannot run, for all models at once. */
export function refusePlainRuns(model: tf.GraphModel): void {
  const { executor } = model as unknown as { executor: object };
  const prototype = Object.getPrototypeOf(executor) as { compile: Compile };
  const { compile } = prototype;
  if (compile[MARK] === true) return;
  const checked: Compile = function (this: unknown, ...given) {
    const compilation = compile.apply(this, given);
    const found = compilation.orderedNodes.find(({ op }) => ASYNCHRONOUS.includes(op));
    if (found === undefined) return compilation;
    throw new Error(
      `This execution contains the node '${found.name}', which has the op '${found.op}'. ` +
        'Please use model.executeAsync() instead.',
    );
  };
  checked[MARK] = true;
  prototype.compile = checked;
}
