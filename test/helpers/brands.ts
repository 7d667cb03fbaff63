/** Instances of other copies of the package, which have no module in common with this one. */

/** Expects that each branded class of these exports knows them by the name under which users know the class. Gives their number. */
export function expectKnowsOtherCopies(exports: object, prefix = ''): number {
  const classes = Object.entries(exports).filter((entry): entry is [string, { prototype: object }] => {
    return typeof entry[1] === 'function' && Object.hasOwn(entry[1] as object, Symbol.hasInstance);
  });
  for (const [name, cls] of classes) {
    const marks = [name, `${prefix}${name}`].map((each) => Symbol.for(`tfjs-embeddings.${each}`));
    const isKnown = marks.some((mark) => ({ [mark]: true }) instanceof (cls as never as FunctionConstructor));
    expect(isKnown).withContext(name).toBeTrue();
  }
  return classes.length;
}
