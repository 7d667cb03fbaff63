import { withFunctionEffects } from '../../../../src/formats/graph_models/rewrites/function_effects.js';
import type { GraphFunctionDef } from '../../../../src/tfjs/graph_models/graph_loading.js';

const EFFECTS = new Set(['Assert']);

function ended(definition: Partial<GraphFunctionDef>): GraphFunctionDef {
  const whole = { signature: { name: 'f' }, ...definition };
  return withFunctionEffects({ library: { function: [whole] } }, EFFECTS).library!.function![0]!;
}

describe('functions of graphs', () => {
  const check = { name: 'check', op: 'Assert', input: ['x', 'y'] };
  const print = { name: 'print', op: 'PrintV2', input: ['y'] };

  it('end after their checks, and after nothing that nobody runs', () => {
    const { ret, nodeDef } = ended({
      nodeDef: [check, print],
      ret: { a: 'x', b: 'y' },
      controlRet: { check: 'check', print: 'print' },
    });
    expect(ret).toEqual({ a: 'a/after_effects:output:0', b: 'y' });
    expect(nodeDef!.slice(2)).toEqual([{ name: 'a/after_effects', op: 'Identity', input: ['x', '^check'], attr: {} }]);
  });

  it('give a number where they give nothing', () => {
    const { ret, nodeDef, signature } = ended({ nodeDef: [check], controlRet: { check: 'check' } });
    expect(ret).toEqual({ effects: 'after_effects:output:0' });
    expect(nodeDef![1]).toEqual({ name: 'after_effects', op: 'NoOp', input: ['^check'] });
    expect(signature.outputArg).toEqual([{ name: 'effects', type: 'DT_FLOAT' }]);
  });

  it('give a copy of a constant, of which loops dispose', () => {
    const { ret, nodeDef } = ended({ nodeDef: [{ name: 'c', op: 'Const' }], ret: { a: 'x', b: 'c:output:0' } });
    expect(ret).toEqual({ a: 'x', b: 'b/after_effects:output:0' });
    expect(nodeDef![1]!.input).toEqual(['c:output:0']);
  });

  it('stay as they are without checks', () => {
    const plain = { signature: { name: 'f' }, nodeDef: [print], ret: { a: 'x' }, controlRet: { print: 'print' } };
    expect(ended(plain)).toEqual(plain);
  });
});
